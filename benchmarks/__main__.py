"""``python -m benchmarks [TASK …] [--rounds N] [--only LIBRARY,…] [--before PYTHON] [--out FILE]``; see ``--help``."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks import machine
from benchmarks.rounds import BEFORE, Row, play
from benchmarks.table import CHANGES, changes, section
from benchmarks.task import Task
from benchmarks.tasks import declared
from lowdim.data import names

_RESULTS = Path(__file__).with_name("results.md")
_READING = """\
Every run is a fresh process; systems take turns, one at a time, with the same number of threads. A small warm-up fit
keeps imports and thread pools out of the figures.

- **time**: a full fit once the process has fitted the same data before; median over rounds, with the smallest and
  largest. This is the headline, since it compares the algorithms: how long a machine takes to hand out memory for the
  first time varies much more.
- **ratio**: time divided by that of the first row in the same round, median over rounds; 2 is twice as long.
- **first fit**: the same fit on its first run in the process, new memory included.
- **memory**: highest peak of the resident set in the first fit, over its level before, when the data were loaded.
- **quality**: the worst of all rounds.
"""
_CHANGES = """\
The tasks are those of this commit; both take turns, each run a fresh
process. A ratio below 1 is faster now; its spread is that over rounds. Quality is what the table of the task shows.
"""


def main(argv: list[str] | None = None) -> int:
    args = _arguments(argv)
    if args.device == "cuda":
        if args.before:
            print("benchmarks: --before compares methods on the CPU; leave out --device cuda.", file=sys.stderr)
            return 2
        return _on_gpu(args)
    chosen = [(m, t) for m, t in declared() if not args.tasks or any(t.name.startswith(part) for part in args.tasks)]
    if not chosen:
        every = ", ".join(task.name for _, task in declared())
        print(f"benchmarks: no task starts with {' or '.join(args.tasks)}; there are {every}.", file=sys.stderr)
        return 2
    out = args.out or (None if args.tasks or args.only else _RESULTS)
    if out is None:
        print(f"A part of the tables is printed only, {_RESULTS.name} is left alone; pass --out FILE to write one.")
    if not os.environ.get("LOWDIM_DATA"):
        print("LOWDIM_DATA is not set: only tasks on generated data and data that come with scikit-learn are run.")
    try:
        parts, lines = [_head(argv)], [_head_of_changes(args.before) if args.before else ""]
    except (OSError, subprocess.CalledProcessError):
        print(
            f"benchmarks: --before needs a Python interpreter that imports another lowdim; {args.before} does not. "
            "Pass that of its environment, such as OTHER/.venv/bin/python.",
            file=sys.stderr,
        )
        return 2
    for module, task in chosen:
        rows = _rows(module, task, args)
        parts.append(section(task, rows) if rows else _missing(task))
        lines.extend(filter(None, [changes(task, rows)]))
        print(f"\n{parts[-1]}\n{lines[-1] if args.before else ''}", flush=True)
        if out:  # after each task, so that an interrupted run keeps what it has
            out.write_text("\n".join(parts), encoding="utf-8")
            if args.before:
                out.with_stem(f"{out.stem}_before").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Time, memory and quality beside the peers."
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="beginning of the names of tasks to run, such as pca")
    parser.add_argument("--rounds", type=int, help="runs of each system (default: what each task asks for, mostly 3)")
    parser.add_argument("--only", default="", help="libraries to run, with commas between, such as lowdim,scikit-learn")
    parser.add_argument("--before", metavar="PYTHON", help="interpreter with another lowdim: its systems run beside")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: the methods on one GPU")
    parser.add_argument("--out", type=Path, help=f"file for the tables (default for a whole run: {_RESULTS.name})")
    return parser.parse_args(argv)


def _on_gpu(args: argparse.Namespace) -> int:
    """The tables of one GPU; 2 where there is none."""
    if find_spec("torch") is None or not __import__("torch").cuda.is_available():
        print("benchmarks: --device cuda needs a GPU that PyTorch can use.", file=sys.stderr)
        return 2
    from benchmarks import gpu

    return gpu.run(args.tasks, args.out or (None if args.tasks else gpu.RESULTS))


def _rows(module: str, task: Task, args: argparse.Namespace) -> dict[str, Row]:
    """What the runs of one task gave; nothing where its data are missing."""
    if task.needs and task.needs not in names():
        return {}
    systems, rounds = systems_of(task, args.only, bool(args.before)), args.rounds or task.rounds
    with tempfile.TemporaryDirectory(prefix="lowdim-benchmarks-") as folder:
        say = partial(print, flush=True)
        return play(module, task, systems, rounds, Path(folder), say, args.before or sys.executable)


def _missing(task: Task) -> str:
    return f"## {task.title}\n\nNot run: {task.needs!r} is not in a folder named by LOWDIM_DATA.\n"


def systems_of(task: Task, only: str, before: bool = False) -> list[str]:
    """Systems of a task: all, or those of the libraries named with commas between; ours twice with ``before``."""
    wanted = [task.subtract, *only.split(",")]
    chosen = [name for name in task.systems if not only or name in wanted or _library(name) in wanted]
    twice = [name for name in chosen if before and _library(name) == "lowdim"]
    return [label for name in chosen for label in ([name, name + BEFORE] if name in twice else [name])]


def _library(system: str) -> str:
    """First word of a system's name."""
    return system.split(maxsplit=1)[0].rstrip(":,")


def _head(argv: list[str] | None) -> str:
    command = " ".join(["python -m benchmarks", *(sys.argv[1:] if argv is None else argv)])
    command = re.sub(r"--before[ =]\S+", "--before PYTHON", command)  # of this machine alone
    facts = {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "command": f"`{command}`"} | machine.describe()
    lines = "\n".join(f"| {label} | {value} |" for label, value in facts.items())
    return f"# lowdim beside its peers\n\n{_READING}\n| | |\n|---|---|\n{lines}\n"


def _head_of_changes(python: str) -> str:
    """What was compared, and the heads of the table."""
    told = subprocess.run(
        [python, "-c", "import lowdim; print(lowdim.__version__, lowdim.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    version, _, file = told.stdout.strip().partition(" ")
    git = ["git", "-C", str(Path(file).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return (
        f"# Before and now\n\nBefore: lowdim {version}{f', commit {commit}' if commit else ''}. {_CHANGES}\n{CHANGES}"
    )


if __name__ == "__main__":
    sys.exit(main())
