"""Other kernels beside the libraries that a Python program would use instead; prints lines as the programs do."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from benchmarks.libraries.scipy_fft import seconds
from lowdim import _native
from lowdim.relate.geodesics import geodesics
from lowdim.relate.graph import neighbor_graph
from lowdim.relate.neighbors import nearest
from lowdim.relate.weights import barycentric
from lowdim.solve.sparse_lu import SparseLU
from lowdim.work import products, thread_limit

Systems = dict[str, Callable[[], Any]]
THREADS = 2


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        return None
    faiss.omp_set_num_threads(THREADS)
    return faiss


def _roll(n: int) -> Any:
    t, height = np.random.default_rng(0).random((2, n))
    angle = 1.5 * np.pi * (1 + 2 * t)
    return np.column_stack([angle * np.cos(angle), 21 * height, angle * np.sin(angle)])


def _tasks(rng: np.random.Generator) -> Iterator[tuple[str, Systems]]:
    X = (rng.normal(size=(10_000, 20)) @ rng.normal(size=(20, 50))).astype(np.float32)
    systems: Systems = {"lowdim": lambda: nearest(X, 31)}
    if faiss := _faiss():
        index = faiss.IndexFlatL2(50)
        index.add(X)
        systems["faiss, IndexFlatL2"] = lambda: index.search(X, 32)
    yield "exact 31 neighbours of 10,000 × 50", systems

    D = rng.random((500, 20_000), np.float32)

    def partitioned() -> Any:
        some = np.argpartition(D, 15, axis=1)[:, :15]
        return np.take_along_axis(some, np.take_along_axis(D, some, 1).argsort(axis=1), 1)

    systems = {"lowdim": lambda: _native.smallest(D, 15, n_threads=1), "NumPy, argpartition": partitioned}
    yield "15 smallest of 500 rows of 20,000, one thread", systems

    graph = neighbor_graph(_roll(10_000), 12, None, "euclidean")
    W = sp.csr_array((graph.lengths, graph.ends, graph.starts), shape=(10_000, 10_000)).astype(float)
    some = np.arange(0, 10_000, 50)
    systems = {"lowdim": lambda: geodesics(graph, some), "SciPy, dijkstra": lambda: dijkstra(W, True, some)}
    yield "geodesics, 200 of 10,000 nodes", systems

    degrees = np.asarray(W.sum(axis=1)).ravel()
    A = sp.csc_array(sp.diags_array(degrees + 1e-3) - W)
    B = rng.normal(size=(10_000, 8))
    ours = SparseLU(A, 0.1)
    theirs = sla.splu(A, "MMD_AT_PLUS_A", diag_pivot_thresh=0.1, options={"SymmetricMode": True})
    yield "solves with sparse factors, 8 columns", {"lowdim": lambda: ours.solve(B), "SuperLU": lambda: theirs.solve(B)}

    starts, ends = W.indptr.astype(np.int32), W.indices.astype(np.int32)
    product = {
        "lowdim": lambda: _native.csr_product(starts, ends, W.data, B, n_threads=THREADS),
        "SciPy": lambda: W @ B,
    }
    yield "sparse rows times 8 columns", product

    near = nearest(X, 12)[0].astype(np.int32)
    lengths = np.arange(0, 12 * len(X) + 1, 12)

    def batched() -> Any:
        Z = X[near].astype(np.float64) - X[:, None]
        G = Z @ Z.transpose(0, 2, 1)
        G += 1e-3 * np.trace(G, axis1=1, axis2=2)[:, None, None] * np.eye(12)
        w = np.linalg.solve(G, np.ones((len(X), 12, 1)))[..., 0]
        return w / w.sum(axis=1, keepdims=True)

    weights = {"lowdim": lambda: barycentric(X, lengths, near.ravel(), 1e-3), "NumPy, solve": batched}
    yield "barycentric weights of 12 neighbours, 10,000 rows", weights

    G = rng.normal(size=(5_000, 12, 12))
    G = G @ G.transpose(0, 2, 1)
    small = {"lowdim": lambda: _native.spectra(G.copy(), n_threads=THREADS), "NumPy, eigh": lambda: np.linalg.eigh(G)}
    yield "eigenvectors of 5,000 matrices of 12", small

    out = np.empty((2_000, 10_000))
    far = {
        "lowdim": lambda: _native.euclidean(X[:2_000], X, out, n_threads=THREADS),
        "SciPy, cdist": lambda: cdist(X[:2_000], X),
    }
    yield "distances from 2,000 to 10,000 rows of 50", far

    pixels = rng.integers(0, 256, (20_000, 784)).astype(np.uint8)
    floats = pixels.astype(np.float32)
    scatter = {
        "lowdim, uint8": lambda: _native.scatter(pixels, n_threads=THREADS),
        "lowdim, float32": lambda: _native.scatter(floats, n_threads=THREADS),
        "OpenBLAS of NumPy, float32": lambda: floats.T @ floats,
    }
    yield "scatter of 20,000 × 784", scatter

    P, Q = rng.normal(size=(10_000, 2_000)).astype(np.float32), rng.normal(size=(2_000, 64)).astype(np.float32)
    thin = {"lowdim (pieces by BLAS)": lambda: products.multiply(P, Q), "OpenBLAS of NumPy": lambda: P @ Q}
    yield "product of 10,000 × 2,000 and 64 columns", thin


def main() -> None:
    with thread_limit.using(THREADS), threadpool_limits(THREADS):
        for task, systems in _tasks(np.random.default_rng(0)):
            for system, call in systems.items():
                print(f"{task}|{system}|{seconds(call):.9g}|-1", flush=True)


if __name__ == "__main__":
    main()
