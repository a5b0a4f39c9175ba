"""``python -m benchmarks.instruction_sets [TASK …] [--out FILE]``: seconds of one thread by instruction set of kernels.

One process runs every task with each set that its processor has, in turns, after a run that warms memory up. BLAS
keeps its own choice.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.cores import head, mnist, pixels
from lowdim import PCA, TSNE, UMAP, _native
from lowdim.relate import neighbors
from lowdim.work import thread_limit

RESULTS = Path(__file__).with_name("results_instruction_sets.md")
_SETS = ("default", "avx2", "avx512", "avx512vnni")
_ROUNDS = 5
_READING = """\
Median seconds of one thread, and fastest to slowest of five runs in turns, by the clock of the processor, which
stands still while the thread has no core. `default` is what every x86-64 processor has (SSE2). **to AVX2**: median of
`default` by that of `avx2`. BLAS chooses for itself whatever the column. Square roots of pixels disable the kernels
for integers.
"""


def _nearest(X: Any, how: str) -> Any:
    with thread_limit.using(1):
        return neighbors.nearest(X, 15, how=how).indices


def _tasks() -> dict[str, Callable[[int], Any]]:
    few, roots = slice(10_000), np.sqrt(pixels()[:20_000])
    return {
        "t-SNE, MNIST 10,000 × 50": lambda j: TSNE(random_state=0, n_jobs=j).fit(mnist()[few]),
        "UMAP, MNIST 10,000 × 50": lambda j: UMAP(random_state=0, n_jobs=j).fit(mnist()[few]),
        "PCA, 50 of MNIST 20,000 × 784": lambda j: PCA(50, n_jobs=j).fit(pixels()[:20_000]),
        "PCA, 50 of MNIST 20,000 × 784, square roots": lambda j: PCA(50, n_jobs=j).fit(roots),
        "15 neighbours, MNIST 10,000 × 784": lambda _: _nearest(pixels()[few], "exact"),
        "15 neighbours, MNIST 10,000 × 784, square roots": lambda _: _nearest(roots[few], "exact"),
        "15 neighbours, MNIST 10,000 × 50": lambda _: _nearest(mnist()[few], "exact"),
        "15 neighbours, approximate, MNIST 20,000 × 50": lambda _: _nearest(mnist()[:20_000], "approximate"),
    }


def _sets() -> list[str]:
    """Those of this processor."""
    before = _native.isa()
    try:
        return [name for name in _SETS if _native.set_isa(name) == name]
    finally:
        _native.set_isa(before)


def _rows(sets: list[str], tasks: dict[str, Callable[[int], Any]]) -> Iterator[str]:
    best = _native.isa()
    for name, task in tasks.items():
        task(1)
        seconds: dict[str, list[float]] = {which: [] for which in sets}
        for _ in range(_ROUNDS):
            for which in sets:
                _native.set_isa(which)
                start = time.process_time()
                task(1)
                seconds[which].append(time.process_time() - start)
        _native.set_isa(best)
        cells = [f"{median(t):.3g} ({min(t):.3g}–{max(t):.3g})" for t in seconds.values()]
        ratio = f"{median(seconds['default']) / median(seconds['avx2']):.2f} ×" if "avx2" in sets else "–"
        yield f"| {name} | {' | '.join(cells)} | {ratio} |"


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instruction_sets", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="beginnings of the names of tasks (default: all)")
    parser.add_argument("--out", type=Path, help=f"file for the table (default for all tasks: {RESULTS.name})")
    args = parser.parse_args(argv)
    if not os.environ.get("LOWDIM_DATA"):
        print("benchmarks.instruction_sets: set LOWDIM_DATA to the folder of mnist.npz.", file=sys.stderr)
        return 2
    sets = _sets()
    command = " ".join(["python -m benchmarks.instruction_sets", *argv])
    heads = f"| task | {' | '.join(sets)} | to AVX2 |\n|---|{'---:|' * (len(sets) + 1)}"
    lines = [head("Instruction sets", _READING, command), heads]
    wanted = {
        name: task
        for name, task in _tasks().items()
        if not args.tasks or any(name.startswith(part) for part in args.tasks)
    }
    for line in _rows(sets, wanted):
        lines.append(line)
        print(line, flush=True)
    out = args.out or (None if args.tasks else RESULTS)
    if out is not None:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
