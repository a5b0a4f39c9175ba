"""One run in a process of its own: ``python -m benchmarks.worker MODULE TASK SYSTEM FOLDER`` prints one line of JSON.

A warm-up on a small cut takes imports, thread pools and the choice of kernels out of the figures, unless these are what
a system is there to show. Then the full fit runs for the first time (its memory is new and must be had from the system)
and again (it need not be), unless it took minutes.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.older import VARIABLE, adapt
from benchmarks.task import System, Task

_LONG_ENOUGH = 0.5  # seconds: short fits are repeated until they add up to this, and their median counts
_TOO_LONG = 60.0  # seconds of a first fit that is not repeated: new memory is a small part of it
_FEW = 100  # features


def measure(task: Task, system: System, folder: Path) -> dict[str, Any]:
    """Seconds of the first fit and of the later ones, bytes at the peak of the first, and the quality reached."""
    X = system.prepare(task.data(folder))
    if not system.fresh:
        system.fit(_cut(X, task, system))
    with task.memory() as peak:
        start = perf_counter()
        fitted = system.fit(X)
        first = perf_counter() - start
    again: list[float] = []
    repeated = not system.once and first < _TOO_LONG
    while repeated and sum(again) < _LONG_ENOUGH:
        del fitted
        start = perf_counter()
        fitted = system.fit(X)
        again.append(perf_counter() - start)
    reference = np.load(folder / f"{task.name}.npy") if task.reference else None
    quality = task.quality(fitted, reference)
    report = {"first": first, "again": median(again or [first]), "memory": peak.growth, "quality": quality}
    report["once"] = not repeated
    return report | ({"details": task.details(fitted, reference)} if task.details else {})


def _cut(X: Any, task: Task, system: System) -> Any:
    """Part of the data to warm up on; systems that are slow for many features get few."""
    if task.warm_up is None:
        return X
    return X[: task.warm_up, :_FEW] if system.once else X[: task.warm_up]


def main(module: str, name: str, system: str, folder: str) -> None:
    if os.environ.get(VARIABLE):
        import lowdim

        adapt(lowdim)
    task = next(task for task in import_module(module).TASKS if task.name == name)
    try:
        report = measure(task, task.systems[system], Path(folder))
    except Exception as error:
        text = str(error).strip() or "no reason given"
        report = {"error": f"{type(error).__name__}: {text.splitlines()[0]}"}
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
