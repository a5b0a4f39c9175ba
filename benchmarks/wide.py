"""``python -m benchmarks.wide ROWS COLUMNS|FILE [SYSTEM …]``: 15 neighbours of all rows, by cosine, beside the peers.

ROWS and COLUMNS are of made rows (:mod:`benchmarks.embeddings`); FILE is a file of LOWDIM_DATA. Every system runs in a
process of its own, one after another, and prints a row of a table that is added to benchmarks/results_wide.md: seconds
on the clock and on the cores (a busy machine changes the first), recall on 300 rows, and the growth of the process.
Rows are float16 or uint8; peers get them as float32, of length 1, which is not timed. Nothing compiles meanwhile.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.embeddings import embeddings
from benchmarks.memory import Resident

_K, _SAMPLE, _WARM = 15, 300, 3000
_RESULTS = Path(__file__).with_name("results_wide.md")


def _units(X: NDArray[Any]) -> NDArray[np.float32]:
    X = X.astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def _ours(how: str) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        from lowdim.relate.neighbors import nearest

        return nearest(X, _K, None, "cosine", how).indices

    return run


def _pynndescent(trees: int | None) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        from pynndescent import NNDescent

        return NNDescent(X, metric="cosine", n_neighbors=_K + 1, n_trees=trees, n_jobs=_threads()).neighbor_graph[0]

    return run


def _inverted(probes: int, *, short: bool) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        import faiss

        faiss.omp_set_num_threads(_threads())
        (n, d), lists = X.shape, int(1.2 * len(X) ** 0.5)
        flat = faiss.IndexFlatL2(d)
        bits = faiss.ScalarQuantizer.QT_8bit
        index = faiss.IndexIVFScalarQuantizer(flat, d, lists, bits) if short else faiss.IndexIVFFlat(flat, d, lists)
        index.train(X[np.random.default_rng(0).permutation(n)[: 40 * lists]])
        index.add(X)
        index.nprobe = probes
        return index.search(X, _K + 1)[1]

    return run


def _layers(X: Any) -> Any:
    import hnswlib

    index = hnswlib.Index(space="ip", dim=X.shape[1])
    index.init_index(len(X), M=12, ef_construction=60)
    index.set_num_threads(_threads())
    index.add_items(X)
    index.set_ef(32)
    return index.knn_query(X, _K + 1)[0]


def _faiss_layers(X: Any) -> Any:
    import faiss

    faiss.omp_set_num_threads(_threads())
    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction, index.hnsw.efSearch = 40, 24
    index.add(X)
    return index.search(X, _K + 1)[1]


def _threads() -> int:
    from lowdim.work import thread_limit

    return thread_limit.available()


SYSTEMS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "approximate": ("lowdim, approximate", _ours("approximate")),
    "exact": ("lowdim, exact", _ours("exact")),
    "pynndescent": ("pynndescent", _pynndescent(None)),
    "pynndescent-8": ("pynndescent, 8 trees", _pynndescent(8)),
    "ivf-bytes-2": ("faiss IVF, 8 bits, 2 lists", _inverted(2, short=True)),
    "ivf-bytes-4": ("faiss IVF, 8 bits, 4 lists", _inverted(4, short=True)),
    "ivf-bytes-32": ("faiss IVF, 8 bits, 32 lists", _inverted(32, short=True)),
    "ivf-4": ("faiss IVF, 4 lists", _inverted(4, short=False)),
    "hnswlib": ("hnswlib, M 12, ef 60 and 32", _layers),
    "faiss-hnsw": ("faiss HNSW, M 16, ef 40 and 24", _faiss_layers),
}


def rows(what: list[str]) -> NDArray[Any]:
    """Made rows of these sizes, or those of a file."""
    if len(what) == 2:
        return embeddings(int(what[0]), int(what[1]))
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{what[0]}.npz") as stored:
        return stored["X"]


def recall(X: NDArray[Any], found: NDArray[Any]) -> float:
    """Share of the true neighbours of some rows among those found, by products in float64."""
    ids = np.random.default_rng(1).permutation(len(X))[:_SAMPLE]
    S = np.empty((len(ids), len(X)))
    Q = _units(X[ids]).astype(np.float64)
    for start in range(0, len(X), 20_000):
        S[:, start : start + 20_000] = Q @ _units(X[start : start + 20_000]).T
    S[np.arange(len(ids)), ids] = -np.inf
    least = np.partition(S, -_K, axis=1)[:, -_K] - 1e-6
    kept = [row[row != i][:_K] for i, row in zip(ids, found[ids], strict=True)]
    return float(np.mean([S[q, row] >= least[q] for q, row in enumerate(kept)]))


def run(name: str, what: list[str]) -> None:
    """Time one system and print its row."""
    X = rows(what)
    title, search = SYSTEMS[name]
    given = X if title.startswith("lowdim") else _units(X)
    search(given[:_WARM])  # compiled, loaded, and threads started
    with Resident() as peak:
        start, cores = time.perf_counter(), time.process_time()
        found = search(given)
        start, cores = time.perf_counter() - start, time.process_time() - cores
    size = f"{(peak.growth or 0) / 1e9:.2f} GB"
    print(f"| {title} | {start:.1f} s | {cores:.1f} s | {recall(X, found):.3f} | {size} |", flush=True)


def _add(line: str) -> None:
    print(line, flush=True)
    with _RESULTS.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide")
    parser.add_argument("words", nargs="+")
    parser.add_argument("--one", action="store_true", help="run the system here")
    args = parser.parse_args(argv)
    chosen = [word for word in args.words if word in SYSTEMS]
    what = [word for word in args.words if word not in SYSTEMS]
    if args.one:
        run(chosen[0], what)
        return 0
    _add(f"\n## {' × '.join(what)}, 15 neighbours by cosine\n")
    _add("| system | clock | cores | recall | growth |\n|---|---:|---:|---:|---:|")
    for name in chosen or SYSTEMS:
        command = [sys.executable, "-m", "benchmarks.wide", "--one", name, *what]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        _add(done.stdout.strip() or f"| {SYSTEMS[name][0]} | failed | | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
