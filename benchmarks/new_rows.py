"""Which neighbours new rows keep in a map that stays as it is: ``LOWDIM_DATA=… python -m benchmarks.new_rows [sets]``.

``python -m benchmarks.new_rows speed [systems]``: rows placed in a second, of MNIST in 50 columns, 8,750 of which are
fitted, and the accuracy of 5 nearest neighbours in the map. Peers place the first tenth of them.

Of the K nearest training rows of each new row, the share that are among its K nearest in the map, for several K; and
how near it lies to the closest point, in that distance between points of the map: 0 is on top of it, 1 is usual.
"""

import sys
import warnings
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import lowdim
from benchmarks.map_sets import rows
from lowdim.data import load

_KEPT = (1, 3, 15, 50)
_FITTED, _NEW = 1900, 500
_MANY, _ROUNDS = 8750, 3  # rows fitted, and rounds of which the median counts, where speed is measured
_SETS = ("letter", "mnist", "fashion_mnist", "wine_quality", "torus")


def _nearest(X: np.ndarray, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    return NearestNeighbors(n_neighbors=k).fit(X).kneighbors(Q)


def kept(X: np.ndarray, Q: np.ndarray, Y: np.ndarray, Z: np.ndarray) -> list[float]:
    """Shares for each K, the share of strays (none of 15 neighbours among 50 in the map), and the nearness."""
    there, here = (_nearest(A, B, max(_KEPT))[1] for A, B in ((X, Q), (Y, Z)))

    def common(k: int, among: int) -> np.ndarray:
        return np.array([len(np.intersect1d(a[:k], b[:among])) for a, b in zip(there, here, strict=True)]) / k

    usual = np.median(_nearest(Y, Y, 2)[0][:, 1])
    near = np.median(_nearest(Y, Z, 1)[0]) / usual
    return [*(float(common(k, k).mean()) for k in _KEPT), float((common(15, 50) == 0).mean()), float(near)]


def fitted(name: str, X: np.ndarray) -> tuple[np.ndarray, Any]:
    """The map of X by a system, and the function that places rows."""
    if name == "openTSNE":
        from openTSNE import TSNE

        embedding = TSNE(random_state=0, n_jobs=-1).fit(X)
        return np.asarray(embedding), embedding.transform
    if name == "umap-learn":
        from umap import UMAP

        peer = UMAP().fit(X)
        return peer.embedding_, peer.transform
    model = getattr(lowdim, name)(random_state=0).fit(X)
    return model.embedding_, model.transform


def systems() -> list[str]:
    """Names of what can be compared here."""
    peers = {"openTSNE": "openTSNE", "umap-learn": "umap"}
    return ["TSNE", "UMAP", "PaCMAP", *(name for name, module in peers.items() if find_spec(module))]


def speed(names: list[str]) -> None:
    """Print rows placed in a second."""
    images, labels = load("mnist")
    order = np.random.default_rng(0).permutation(len(images))
    A, y = lowdim.PCA(50).fit_transform(np.asarray(images, np.float32))[order], np.asarray(labels)[order]
    print("| system | rows | seconds | rows a second | 5-NN |\n|---|---:|---:|---:|---:|")
    for name in names or systems():
        Y, place = fitted(name, A[:_MANY])
        Q = A[_MANY:] if hasattr(lowdim, name) else A[_MANY : _MANY + (len(A) - _MANY) // 10]
        place(Q[:100])
        seconds = []
        for _ in range(_ROUNDS if hasattr(lowdim, name) else 1):
            start = perf_counter()
            Z = np.asarray(place(Q))
            seconds.append(perf_counter() - start)
        t = float(np.median(seconds))
        right = KNeighborsClassifier(5).fit(Y, y[:_MANY]).score(Z, y[_MANY : _MANY + len(Z)])
        print(f"| {name} | {len(Z):,} | {t:.2f} | {len(Z) / t:,.0f} | {right:.3f} |", flush=True)


def main(sets: list[str]) -> None:
    warnings.simplefilter("ignore")
    if sets[:1] == ["speed"]:
        return speed(sets[1:])
    heads = ["set", "system", *(f"K = {k}" for k in _KEPT), "strays", "nearness"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * 2}{'---:|' * 6}")
    for name in sets or _SETS:
        A = rows(name, _FITTED + _NEW)
        X, Q = A[:_FITTED], A[_FITTED:]
        for system in systems():
            Y, place = fitted(system, X)
            Z = np.asarray(place(Q))
            print("|", " | ".join([name, system, *(f"{value:.2f}" for value in kept(X, Q, Y, Z))]), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
