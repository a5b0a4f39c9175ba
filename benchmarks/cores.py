"""``python -m benchmarks.cores [TASK …] [--threads 1,2,4] [--out FILE]``: seconds by number of threads.

One process runs every task with each number of threads, after a run that warms memory and threads up, and compares
the bits of the results with those of one thread.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import machine
from lowdim import LDA, LLE, PCA, TSNE, UMAP, Isomap, KernelPCA, KLExpansion, PaCMAP, SequentialFeatureSelector, quality
from lowdim.work import thread_limit

RESULTS = Path(__file__).with_name("results_cores.md")
_SHORT = 1.0  # seconds below which a run is repeated
_ROUNDS = 3
_READING = """\
Seconds by `n_jobs`, and how many times faster than one thread. One process runs each task with each number of
threads, once to warm up (with most threads) and then timed; runs below a second three times, of which the fastest
counts. **same bits**: whether the results are the same to the bit for all numbers of threads.
"""


class Run(NamedTuple):
    """Seconds, the result as an array, and seconds by stage where the method tells."""

    seconds: float
    result: Any
    stages: dict[str, float]


@cache
def _load(name: str) -> dict[str, Any]:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz") as stored:
        return {key: stored[key] for key in stored.files}


@cache
def pixels() -> Any:
    return np.ascontiguousarray(_load("mnist")["X"].reshape(70_000, -1), np.float32)


@cache
def mnist() -> Any:
    """Scores (70000, 50) of the leading principal components."""
    return PCA(50).fit_transform(pixels())


@cache
def _roll(n: int) -> Any:
    t, height = np.random.default_rng(0).random((2, n))
    angle = 1.5 * np.pi * (1 + 2 * t)
    return np.column_stack([angle * np.cos(angle), 21 * height, angle * np.sin(angle)])


def _select(n_jobs: int) -> Any:
    X, y = load_digits(return_X_y=True)
    return SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=10, n_jobs=n_jobs).fit(X, y)


def _trust(n_jobs: int) -> Any:
    X = mnist()
    with thread_limit.using(n_jobs):
        return np.asarray(quality.trustworthiness(X, X[:, :2].copy(), sample=None))


def _tasks() -> dict[str, Callable[[int], Any]]:
    few = slice(10_000)
    y = _load("mnist")["y"]
    return {
        "t-SNE, MNIST 70,000 × 50": lambda j: TSNE(random_state=0, n_jobs=j).fit(mnist()),
        "LLE, MNIST 10,000 × 50": lambda j: LLE(2, n_neighbors=10, random_state=0, n_jobs=j).fit(mnist()[few]),
        "LLE, swiss roll 20,000": lambda j: LLE(2, n_neighbors=12, random_state=0, n_jobs=j).fit(_roll(20_000)),
        "kernel PCA, 50 of MNIST 10,000 × 784": lambda j: KernelPCA(50, random_state=0, n_jobs=j).fit(pixels()[few]),
        "kernel PCA, 50 of MNIST 10,000 × 50": lambda j: KernelPCA(50, random_state=0, n_jobs=j).fit(mnist()[few]),
        "LDA, MNIST 70,000 × 784": lambda j: LDA(n_jobs=j).fit(pixels(), y),
        "KLExpansion, MNIST 70,000 × 784": lambda j: KLExpansion(50, n_jobs=j).fit(pixels(), y),
        "PCA, 50 of MNIST 70,000 × 784": lambda j: PCA(50, n_jobs=j).fit(pixels()),
        "Isomap, MNIST 10,000 × 50": lambda j: Isomap(2, n_neighbors=10, random_state=0, n_jobs=j).fit(mnist()[few]),
        "3-NN forward selection, digits": _select,
        "trustworthiness, MNIST 70,000 × 50": _trust,
        "UMAP, MNIST 70,000 × 50": lambda j: UMAP(random_state=0, n_jobs=j).fit(mnist()),
        "PaCMAP, MNIST 70,000 × 50": lambda j: PaCMAP(random_state=0, n_jobs=j).fit(mnist()),
    }


def _timed(task: Callable[[int], Any], n_jobs: int) -> Run:
    start = time.perf_counter()
    found = task(n_jobs)
    seconds = time.perf_counter() - start
    named = ("embedding_", "eigenvectors_", "components_", "support_")
    result = next((getattr(found, name) for name in named if hasattr(found, name)), found)
    return Run(seconds, np.array(result), dict(getattr(found, "timings_", {})))


def _best(task: Callable[[int], Any], n_jobs: int) -> Run:
    first = _timed(task, n_jobs)
    more = [_timed(task, n_jobs) for _ in range(_ROUNDS - 1)] if first.seconds < _SHORT else []
    return min([first, *more], key=lambda run: run.seconds)


def _rows(name: str, task: Callable[[int], Any], counts: list[int]) -> Iterator[str]:
    """One line for the task and one for each of its stages."""
    task(counts[-1])
    runs = [_best(task, n) for n in counts]
    same = all(np.array_equal(runs[0].result, run.result) for run in runs)
    yield _line(name, [run.seconds for run in runs], "yes" if same else "no")
    for stage in runs[0].stages:
        yield _line(f"– {stage}", [run.stages.get(stage, 0.0) for run in runs], "")


def _line(name: str, seconds: list[float], same: str) -> str:
    cells = [f"{t:.3g}" for t in seconds]
    return f"| {name} | {' | '.join(cells)} | {seconds[0] / seconds[-1]:.1f} × | {same} |"


def head(title: str, reading: str, command: str) -> str:
    """Title, how to read the table, and the machine."""
    facts = {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "command": f"`{command}`"} | machine.describe()
    lines = "\n".join(f"| {label} | {value} |" for label, value in facts.items())
    return f"# {title}\n\n{reading}\n| | |\n|---|---|\n{lines}\n"


def _columns(counts: list[int]) -> str:
    return f"| task | {' | '.join(map(str, counts))} | gain | same bits |\n|---|{'---:|' * (len(counts) + 1)}---|"


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description="Seconds by number of threads.")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="beginnings of the names of tasks (default: all)")
    parser.add_argument("--threads", help="numbers of threads, with commas between (default: powers of 2 up to all)")
    parser.add_argument("--out", type=Path, help=f"file for the table (default for all tasks: {RESULTS.name})")
    args = parser.parse_args(argv)
    if not os.environ.get("LOWDIM_DATA"):
        print("benchmarks.cores: set LOWDIM_DATA to the folder of mnist.npz.", file=sys.stderr)
        return 2
    most = thread_limit.available()
    powers = [2**i for i in range(most.bit_length()) if 2**i < most]
    counts = sorted({int(n) for n in args.threads.split(",")} if args.threads else {*powers, most})
    command = " ".join(["python -m benchmarks.cores", *argv])
    lines = [head("More cores", _READING, command), _columns(counts)]
    for name, task in _tasks().items():
        if not args.tasks or any(name.startswith(part) for part in args.tasks):
            for line in _rows(name, task, counts):
                lines.append(line)
                print(line, flush=True)
            out = args.out or (None if args.tasks else RESULTS)
            if out is not None:
                out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
