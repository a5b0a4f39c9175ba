"""The rounds of one task: every system in turn, each run a fresh process, never two at a time."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.older import VARIABLE
from benchmarks.task import Task
from lowdim.work import thread_limit

_ROOT = Path(__file__).resolve().parent.parent
_LIMIT = 1800  # seconds for one run
BEFORE = ", before"  # ends the name of a system whose lowdim is another one


@dataclass
class Row:
    """What the runs of one system gave: one report a round, or why there is none."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""

    @property
    def once(self) -> bool:
        """Whether the time is that of one first fit."""
        return any(run.get("once") for run in self.runs)


def play(
    module: str,
    task: Task,
    systems: list[str],
    rounds: int,
    folder: Path,
    say: Callable[[str], None],
    python: str = sys.executable,
) -> dict[str, Row]:
    """Run ``systems`` of ``task`` (declared in ``module``), A B C A B C …; one that fails is not tried again.

    A system whose name ends with ``BEFORE`` is run by the interpreter ``python``, which has another lowdim.
    """
    data = task.data(folder)  # also where the task needs no reference: files are written here, not inside a run
    if task.reference:
        say(f"{task.name}: reference in float64")
        np.save(folder / f"{task.name}.npy", task.reference(data))
    del data
    rows = {name: Row() for name in systems}
    for turn in range(rounds):
        for name, row in rows.items():
            if row.error or row.once:
                continue
            runner = python if name.endswith(BEFORE) else sys.executable
            more = {VARIABLE: "1"} if name.endswith(BEFORE) else {}
            report = _run(runner, module, task.name, name.removesuffix(BEFORE), folder, more)
            row.error = report.get("error", "")
            if row.error:
                say(f"{task.name}: {name}: {row.error}")
                continue
            row.runs.append(report)
            say(f"{task.name}: round {turn + 1} of {rounds}: {name}: {report['again']:.4g} s")
    return rows


def _run(
    python: str, module: str, task: str, system: str, folder: Path, more: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Report of one process; its death is a report too."""
    command = [python, "-m", "benchmarks.worker", module, task, system, str(folder)]
    threads = str(thread_limit.available())
    env = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, **more}
    try:
        ended = subprocess.run(
            command,
            cwd=_ROOT,
            env=os.environ | env,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {_LIMIT} s"}
    if ended.returncode < 0:
        return {"error": f"ended by signal {-ended.returncode}"}
    if ended.returncode:
        return {"error": (ended.stderr.strip() or f"exit status {ended.returncode}").splitlines()[-1]}
    return json.loads(ended.stdout.splitlines()[-1])
