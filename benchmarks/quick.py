"""``python -m benchmarks.quick``: twelve short tasks beside their peers, and beside the ratios of the last release.

Each task is one process in which both systems fit the same generated rows in turns, five times after a warm-up. The
ratio, the peer's time over ours, is taken round by round. A task is red if the median ratio is more than 15 % below
the stored one and below its whole stored spread, and again in a second process at the end; then the exit status is 1.
``--store`` adds this session to the stored ones: the spread is that of all of them, since from one state of the machine
to another a peer may gain or lose a fifth while we do not, and the ratio is the median of their medians. ``--store
--anew`` forgets the earlier ones. ``--before PYTHON`` puts another lowdim, imported by that interpreter, in the place
of the peer, which tells a slower machine from slower code.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.older import VARIABLE, adapt
from benchmarks.reading import charts

STORED = Path(__file__).with_name("results_quick.md")
_ROOT = Path(__file__).resolve().parent.parent
ROUNDS, ALLOWED = 5, 0.85
HEAD = (
    "| task | time | of the peer | ratio | lowest | highest | peer | medians |\n|---|---:|---:|---:|---:|---:|---|---|"
)


@dataclass(frozen=True)
class Quick:
    """Rows, our fit of them and a peer's, each by the names in ``benchmarks.tasks``."""

    rows: Callable[[], Any]
    ours: str
    peer: str
    given: dict[str, Any] | None = None  # to both
    ours_given: dict[str, Any] | None = None
    peer_given: dict[str, Any] | None = None


def groups(n: int, d: int) -> np.ndarray:
    """Ten Gaussian groups of other widths along each column."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    return (3 * rng.normal(size=(10, d))[y] + rng.uniform(0.2, 2, (10, d))[y] * rng.normal(size=(n, d))).astype("f4")


def labelled(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    return groups(n, d), np.random.default_rng(0).integers(0, 10, n)


def roll(n: int) -> np.ndarray:
    from lowdim import data

    return data.load("swissroll", n_samples=n)[0]


def mapped(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = groups(n, d)
    return X, np.ascontiguousarray(X[:, :2])


TASKS = {
    "pca": Quick(partial(groups, 40_000, 300), "pca.lowdim", "pca.sklearn", {"k": 20}, None, {"solver": "auto"}),
    "lda": Quick(partial(labelled, 30_000, 200), "lda.lowdim", "lda.sklearn"),
    "kernel_pca": Quick(
        partial(groups, 4000, 50), "kernel_pca.lowdim", "kernel_pca.sklearn", {"k": 10}, None, {"solver": "randomized"}
    ),
    "isomap": Quick(partial(groups, 2000, 20), "manifold.isomap", "manifold.sklearn_isomap"),
    "lle": Quick(partial(roll, 4000), "manifold.lle", "manifold.sklearn_lle", {"n_neighbors": 12}),
    "laplacian": Quick(partial(groups, 5000, 30), "spectral.laplacian", "spectral.sklearn_laplacian"),
    "mds": Quick(partial(groups, 500, 20), "spectral.mds", "spectral.sklearn_mds"),
    "neighbors": Quick(partial(groups, 10_000, 50), "neighbors.lowdim", "neighbors.sklearn"),
    "tsne": Quick(partial(groups, 4000, 50), "tsne.lowdim", "tsne.intelex"),
    "umap": Quick(partial(groups, 3000, 50), "umap.lowdim_umap()", "umap.umap_learn(0)"),
    "pacmap": Quick(partial(groups, 3000, 50), "umap.lowdim_pacmap()", "umap.pacmap(0)"),
    "trustworthiness": Quick(partial(mapped, 4000, 50), "quality.trustworthiness", "quality.sklearn_trustworthiness"),
}


def fit_of(name: str, *given: dict[str, Any] | None) -> Callable[[Any], Any]:
    """A function of the tasks' modules: ``module.name``, or ``module.name(number)`` for one that makes it."""
    module, _, function = name.partition(".")
    function, made, number = function.partition("(")
    found = getattr(import_module(f"benchmarks.tasks.{module}"), function)
    if made:
        found = found(*[int(number[:-1])] if number[:-1] else [])
    return partial(found, **{key: value for values in given if values for key, value in values.items()})


def in_turns(name: str) -> dict[str, list[float]]:
    """Seconds of each round, ours and the peer's, one after the other."""
    if os.environ.get(VARIABLE):
        import lowdim

        adapt(lowdim)
    task, times = TASKS[name], {"ours": [], "peer": []}
    X = task.rows()
    fits = {"ours": fit_of(task.ours, task.given, task.ours_given)}
    if not os.environ.get("LOWDIM_ALONE"):
        fits["peer"] = fit_of(task.peer, task.given, task.peer_given)
    for turn in range(ROUNDS + 1):
        for who, fit in fits.items():
            start = perf_counter()
            fit(X)
            if turn:
                times[who].append(perf_counter() - start)
    return times


def measured(name: str, before: str | None) -> dict[str, list[float]]:
    """The same in processes of their own; with ``before`` one process for each lowdim, in turns."""
    from lowdim.work import thread_limit  # here alone: another lowdim runs the tasks, too

    threads = str(thread_limit.available())
    shared = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}

    def run(python: str, **more: str) -> dict[str, list[float]]:
        command = [python, "-m", "benchmarks.quick", "--task", name]
        ended = subprocess.run(
            command, cwd=_ROOT, env=os.environ | shared | more, capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise RuntimeError((ended.stderr.strip() or "no reason given").splitlines()[-1])
        return json.loads(ended.stdout.splitlines()[-1])

    if before is None:
        return run(sys.executable)
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(ROUNDS):
        for who, python, more in (("ours", sys.executable, {}), ("peer", before, {VARIABLE: "1"})):
            times[who].append(median(run(python, LOWDIM_ALONE="1", **more)["ours"]))
    return times


def line(name: str, peer: str, times: dict[str, list[float]]) -> str:
    """A row of the table."""
    ratios = [b / a for a, b in zip(times["ours"], times["peer"], strict=True)]
    ours, theirs = (median(times[who]) for who in ("ours", "peer"))
    middle = f"{median(ratios):.2f}"
    shown = f"{middle} | {min(ratios):.2f} | {max(ratios):.2f} | {peer} | {middle}"
    return f"| {name} | {1000 * ours:.3g} ms | {1000 * theirs:.3g} ms | {shown} |"


def added(row: str, before: dict[str, str] | None) -> str:
    """A row with the spread of the sessions stored ``before`` as well, and the median of all medians.

    >>> row = "| pca | 1 ms | 2 ms | 2.00 | 1.90 | 2.10 | scikit-learn | 2.00 |"
    >>> added(row, {"lowest": "1.95", "highest": "2.80", "medians": "2.20 2.60"})
    '| pca | 1 ms | 2 ms | 2.20 | 1.90 | 2.80 | scikit-learn | 2.20 2.60 2.00 |'
    """
    if before is None:
        return row
    cells = [cell.strip() for cell in row.strip("| ").split("|")]
    medians = [*before["medians"].split(), cells[3]]
    low, high = min(cells[4], before["lowest"], key=float), max(cells[5], before["highest"], key=float)
    cells[3:] = [f"{median(map(float, medians)):.2f}", low, high, cells[6], " ".join(medians)]
    return f"| {' | '.join(cells)} |"


def stored(text: str) -> dict[str, dict[str, str]]:
    """Rows of a stored table by task."""
    return {row["task"]: row for row in next(charts(text)).rows}


def verdict(row: str, before: dict[str, str] | None) -> str:
    """``red`` if the ratio fell by more than allowed and out of the stored spread; else what it was.

    >>> row = "| pca | 1 ms | 2 ms | 2.00 | 1.90 | 2.10 | scikit-learn | 2.00 |"
    >>> verdict(row, {"ratio": "2.60", "lowest": "2.30"}), verdict(row, {"ratio": "2.60", "lowest": "1.95"})
    ('RED: 2.00, stored 2.60 (lowest 2.30)', '2.00, stored 2.60')
    """
    ratio = float(row.split("|")[4])
    if before is None:
        return f"{ratio:.2f}, none stored"
    was, lowest = float(before["ratio"]), float(before["lowest"])
    if ratio < ALLOWED * was and ratio < lowest:
        return f"RED: {ratio:.2f}, stored {was:.2f} (lowest {lowest:.2f})"
    return f"{ratio:.2f}, stored {was:.2f}"


def main(argv: list[str] | None = None) -> int:
    """Run the tasks; 1 if one is red or failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quick", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="TASK", help=f"tasks to run: {', '.join(TASKS)}")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--store", action="store_true", help=f"add this session to {STORED.name}")
    parser.add_argument("--anew", action="store_true", help="with --store, forget the earlier sessions")
    parser.add_argument("--before", metavar="PYTHON", help="interpreter with another lowdim, in the place of the peer")
    args = parser.parse_args(argv)
    if args.task:
        print(json.dumps(in_turns(args.task)))
        return 0
    if unknown := set(args.names) - set(TASKS):
        parser.error(f"tasks must be of {', '.join(TASKS)}; got {', '.join(sorted(unknown))}.")
    if args.store and (args.names or args.before):
        parser.error("--store writes the table of all tasks and their peers; leave out TASK and --before.")
    old = stored(STORED.read_text(encoding="utf-8")) if STORED.is_file() and not args.before else {}
    start = perf_counter()
    lines: dict[str, str] = {}
    wrong: dict[str, str] = {}

    def run(name: str) -> None:
        peer = "another lowdim" if args.before else _library(TASKS[name].peer)
        wrong.pop(name, None)
        try:
            lines[name] = line(name, peer, measured(name, args.before))
        except RuntimeError as error:
            wrong[name] = "failed"
            print(f"| {name} | failed: {error} |", flush=True)
            return
        told = "" if args.before else f" {verdict(lines[name], old.get(name))}"
        if "RED" in told:
            wrong[name] = told.strip()
        print(lines[name] + told, flush=True)

    print(HEAD)
    for name in args.names or TASKS:
        run(name)
    for name in [name for name, told in wrong.items() if "RED" in told]:
        run(name)  # again: the machine may have been in another state
    summary = "; ".join(f"{name}: {told}" for name, told in wrong.items()) or "Nothing is red."
    print(f"{perf_counter() - start:.0f} s. {summary}")
    if args.store and "failed" not in wrong.values():
        facts = "\n".join(f"| {key} | {value} |" for key, value in machine.describe().items())
        text = f"# Ratios that `make bench-quick` compares with\n\n{__doc__.partition(chr(10))[2].strip()}\n\n"
        rows = [added(row, None if args.anew else old.get(name)) for name, row in lines.items()]
        STORED.write_text(f"{text}| | |\n|---|---|\n{facts}\n\n{HEAD}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return int(bool(wrong))


def _library(peer: str) -> str:
    named = {"intelex": "scikit-learn-intelex", "umap_learn": "umap-learn", "pacmap": "pacmap"}
    return named.get(peer.partition(".")[2].partition("(")[0], "scikit-learn")


if __name__ == "__main__":
    raise SystemExit(main())
