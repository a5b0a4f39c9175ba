"""Which neighbours new rows keep in a map that stays as it is: ``LOWDIM_DATA=… python -m benchmarks.new_rows [sets]``.

Of the K nearest training rows of each new row, the share that are among its K nearest in the map, for several K; and
how near it lies to the closest point, in that distance between points of the map: 0 is on top of it, 1 is usual.
"""

import sys
import warnings
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

import lowdim
from benchmarks.map_sets import rows

_KEPT = (1, 3, 15, 50)
_FITTED, _NEW = 1900, 500
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


def systems() -> Iterator[tuple[str, Any]]:
    """Names, and functions that give the map of a set and the positions of new rows."""

    def fitted(cls: Any, X: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = cls(random_state=0).fit(X)
        return model.embedding_, model.transform(Q)

    def open_tsne(X: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from openTSNE import TSNE

        embedding = TSNE(random_state=0).fit(X)
        return np.asarray(embedding), np.asarray(embedding.transform(Q))

    yield from ((cls.__name__, partial(fitted, cls)) for cls in (lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP))
    if find_spec("openTSNE"):
        yield "openTSNE", open_tsne
    if find_spec("umap"):
        from umap import UMAP

        yield "umap-learn", partial(fitted, UMAP)


def main(sets: list[str]) -> None:
    warnings.simplefilter("ignore")
    heads = ["set", "system", *(f"K = {k}" for k in _KEPT), "strays", "nearness"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * 2}{'---:|' * 6}")
    for name in sets or _SETS:
        A = rows(name, _FITTED + _NEW)
        X, Q = A[:_FITTED], A[_FITTED:]
        for system, place in systems():
            Y, Z = place(X, Q)
            print("|", " | ".join([name, system, *(f"{value:.2f}" for value in kept(X, Q, Y, Z))]), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
