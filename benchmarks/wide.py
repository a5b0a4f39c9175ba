"""``python -m benchmarks.wide ROWS COLUMNS|FILE [SYSTEM …]``: 15 neighbours of all rows, by cosine, beside the peers.

``python -m benchmarks.wide millions`` prints the table of a million rows, ``python -m benchmarks.wide columns`` that of
twice the columns, and ``python -m benchmarks.wide starts`` what share of a fit of UMAP its start takes.

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

K, _SAMPLE, _WARM = 15, 300, 3000
_SETS = ("optdigits", "letter", "satimage", "shuttle", "mammoth_50k", "mnist", "fashion_mnist", "glove_100d_100k")
_RESULTS = Path(__file__).with_name("results_wide.md")


def units(X: NDArray[Any]) -> NDArray[np.float32]:
    X = X.astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def _ours(how: str) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        from lowdim.relate.neighbors import nearest

        return nearest(X, K, None, "cosine", how).indices

    return run


def _pynndescent(trees: int | None) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        from pynndescent import NNDescent

        return NNDescent(X, metric="cosine", n_neighbors=K + 1, n_trees=trees, n_jobs=threads()).neighbor_graph[0]

    return run


def _inverted(probes: int, *, short: bool) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        import faiss

        faiss.omp_set_num_threads(threads())
        (n, d), lists = X.shape, int(1.2 * len(X) ** 0.5)
        flat = faiss.IndexFlatL2(d)
        bits = faiss.ScalarQuantizer.QT_8bit
        index = faiss.IndexIVFScalarQuantizer(flat, d, lists, bits) if short else faiss.IndexIVFFlat(flat, d, lists)
        index.train(X[np.random.default_rng(0).permutation(n)[: 40 * lists]])
        index.add(X)
        index.nprobe = probes
        return index.search(X, K + 1)[1]

    return run


def _layers(links: int, built: int, searched: int) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        import hnswlib

        index = hnswlib.Index(space="ip", dim=X.shape[1])
        index.init_index(len(X), M=links, ef_construction=built)
        index.set_num_threads(threads())
        index.add_items(X)
        index.set_ef(searched)
        return index.knn_query(X, K + 1)[0]

    return run


def _faiss_layers(links: int, built: int, searched: int) -> Callable[[Any], Any]:
    def run(X: Any) -> Any:
        import faiss

        faiss.omp_set_num_threads(threads())
        index = faiss.IndexHNSWFlat(X.shape[1], links)
        index.hnsw.efConstruction, index.hnsw.efSearch = built, searched
        index.add(X)
        return index.search(X, K + 1)[1]

    return run


def threads() -> int:
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
    "hnswlib": ("hnswlib, M 12, ef 60 and 32", _layers(12, 60, 32)),
    "hnswlib-low": ("hnswlib, M 8, ef 32 and 20", _layers(8, 32, 20)),
    "hnswlib-high": ("hnswlib, M 16, ef 120 and 64", _layers(16, 120, 64)),
    "faiss-hnsw": ("faiss HNSW, M 16, ef 40 and 24", _faiss_layers(16, 40, 24)),
    "faiss-hnsw-low": ("faiss HNSW, M 8, ef 32 and 20", _faiss_layers(8, 32, 20)),
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
    Q = units(X[ids]).astype(np.float64)
    for start in range(0, len(X), 20_000):
        S[:, start : start + 20_000] = Q @ units(X[start : start + 20_000]).T
    S[np.arange(len(ids)), ids] = -np.inf
    least = np.partition(S, -K, axis=1)[:, -K] - 1e-6
    kept = [row[row != i][:K] for i, row in zip(ids, found[ids], strict=True)]
    return float(np.mean([S[q, row] >= least[q] for q, row in enumerate(kept)]))


def run(name: str, what: list[str]) -> None:
    """Time one system and print its row."""
    X = rows(what)
    title, search = SYSTEMS[name]
    given = X if title.startswith("lowdim") else units(X)
    search(given[:_WARM])  # compiled, loaded, and threads started
    with Resident() as peak:
        start, cores = time.perf_counter(), time.process_time()
        found = search(given)
        start, cores = time.perf_counter() - start, time.process_time() - cores
    size = f"{(peak.growth or 0) / 1e9:.2f} GB"
    print(f"| {title} | {start:.1f} s | {cores:.1f} s | {recall(X, found):.3f} | {size} |", flush=True)


def run_auto(n: int, d: int) -> None:
    """Time the search that "auto" chooses, and print its row: recall as the search itself measured it."""
    from lowdim.relate.neighbors import nearest

    X = embeddings(n, d)
    nearest(X[:_WARM], K, None, "cosine", "approximate")
    with Resident() as peak:
        start, cores = time.perf_counter(), time.process_time()
        found = nearest(X, K, None, "cosine", "auto")
        start, cores = time.perf_counter() - start, time.process_time() - cores
    how = f'{found.how}, chosen by "auto"'
    size = f"{(peak.growth or 0) / 1e9:.2f} GB"
    print(f"| {n:,} × {d} | {how} | {start:.1f} s | {cores:.1f} s | {found.recall:.3f} | {size} |", flush=True)


def run_columns(d: int) -> None:
    """Time the exact search of 30,000 rows, the better of two, and print its row."""
    from lowdim.relate.neighbors import nearest

    X = embeddings(30_000, d)
    nearest(X[:_WARM], K, None, "cosine", "exact")
    best = (float("inf"), float("inf"))
    for _ in range(2):
        start, cores = time.perf_counter(), time.process_time()
        nearest(X, K, None, "cosine", "exact")
        best = min(best, (time.perf_counter() - start, time.process_time() - cores))
    print(f"| {d:,} | {best[0]:.2f} s | {best[1]:.2f} s |", flush=True)


def run_start(*what: str) -> None:
    """Fit UMAP to rows, and print by the clock what its start takes of the whole."""
    from lowdim import UMAP

    X = rows([*what])
    UMAP(n_epochs=2, random_state=0).fit(X[:_WARM])
    model = UMAP(metric="cosine" if X.dtype == np.float16 else "euclidean", random_state=0).fit(X)
    whole, start = sum(model.timings_.values()), model.timings_["start"]
    size = f"{len(X):,} × {X.shape[1]}"
    print(f"| {what[0] if len(what) == 1 else 'made'} | {size} | {whole:.2f} s | {start:.2f} s | {start / whole:.0%} |")


# Whole tables: title, head, and the words of each row.
TABLES = {
    "millions": (
        "A million rows, 15 neighbours by cosine (recall as the search measured it)",
        "| rows | search | clock | cores | recall | growth |\n|---|---|---:|---:|---:|---:|",
        (("1000000", "768"), ("1000000", "128")),
    ),
    "columns": (
        "Twice the columns, exact search, 30,000 made rows",
        "| columns | clock | cores |\n|---|---:|---:|",
        (("768",), ("1536",)),
    ),
    "starts": (
        "The start of UMAP, by the clock",
        "| rows | size | fit | start | share |\n|---|---|---:|---:|---:|",
        (*((name,) for name in _SETS), ("100000", "768")),
    ),
}


def _add(line: str) -> None:
    print(line, flush=True)
    with _RESULTS.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _play(title: str, head: str, calls: list[tuple[str, list[str]]]) -> None:
    """Add a table whose rows are printed by processes of their own; each call is what the row is of, and its words."""
    _add(f"\n## {title}\n\n{head}")
    columns = head[: head.index("\n")].count("|") - 1
    for what, words in calls:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.wide", *words], capture_output=True, text=True, check=False
        )
        _add(done.stdout.strip() or f"| {what} | failed" + " |" * (columns - 1))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide")
    parser.add_argument("words", nargs="+")
    parser.add_argument("--one", action="store_true", help="run the system, or the row of a table, here")
    args = parser.parse_args(argv)
    chosen = [word for word in args.words if word in SYSTEMS]
    what = [word for word in args.words if word not in SYSTEMS]
    table = what[0] if what and what[0] in TABLES else None
    if args.one and table is not None:
        if table == "starts":
            run_start(*what[1:])
        else:
            (run_auto if table == "millions" else run_columns)(*map(int, what[1:]))
    elif args.one:
        run(chosen[0], what)
    elif table is not None:
        title, head, rows_of = TABLES[table]
        _play(title, head, [(" × ".join(row), ["--one", table, *row]) for row in rows_of])
    else:
        head = "| system | clock | cores | recall | growth |\n|---|---:|---:|---:|---:|"
        calls = [(SYSTEMS[name][0], ["--one", name, *what]) for name in chosen or SYSTEMS]
        _play(f"{' × '.join(what)}, 15 neighbours by cosine", head, calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
