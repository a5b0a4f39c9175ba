"""The fuzzy graph of UMAP: degrees of membership of neighbours (McInnes, Healy and Melville 2018).

``v_{j|i} = exp(−max(0, d_ij − ρ_i)/σ_i)``, ``ρ_i`` the distance to the nearest distinct neighbour and ``σ_i`` such that
they sum to ``log₂ k``; then the fuzzy union of both directions, ``v = v_{j|i} + v_{i|j} − v_{j|i} v_{i|j}``.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

OTHER = 5.0  # −log of the factor on edges between classes at a supervision of one half
UNKNOWN = 1.0  # the same for edges to rows without a label, at most
LEAST, MOST_ABSENT = 1e-8, 1e-4  # membership of edges that a graph has not, at least, and in that of targets at most


class FuzzyGraph(NamedTuple):
    """Symmetric memberships as sparse rows: starts (n + 1,), columns and values between 0 and 1."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]


class Memberships(NamedTuple):
    """Memberships (n, k) of neighbours, and the ``ρ`` and ``σ`` (n,) of each row."""

    values: NDArray[np.float32]
    rho: NDArray[np.float32]
    sigma: NDArray[np.float32]


@operation
def memberships(
    distances: NDArray[np.floating], local_connectivity: float = 1.0, typical: float | None = None
) -> Memberships:
    """Memberships of neighbours at ascending ``distances`` (n, k); the row itself is the (k + 1)st.

    ``typical`` is the mean distance in the graph, by default that of ``distances``; it bounds ``σ`` of rows whose
    neighbours are all duplicates.

    >>> memberships(np.array([[1.0, 2.0, 3.0]])).values.sum(axis=1)
    array([2.], dtype=float32)
    """
    k = distances.shape[1]
    most = distances.max(initial=0)
    if not np.isfinite(most):
        raise ValueError(f"Memberships: distances must be finite in {distances.dtype}; got {most}. Scale the data.")
    with stage("memberships", total=len(distances)) as tick:
        found = _native.memberships(
            distances,
            local=min(float(local_connectivity), float(k)),
            target=float(np.log2(k + 1)),
            typical=typical_distance(distances) if typical is None else typical,
            n_threads=thread_limit.current(),
            tick=tick,
        )
    return Memberships(*found)


@operation
def typical_distance(distances: NDArray[np.floating]) -> float:
    """Mean of ``distances`` (n, k), the distance 0 of each row to itself included."""
    k = distances.shape[1]
    return float(distances.mean(dtype=np.float64)) * k / (k + 1)


@operation
def fuzzy_union(indices: NDArray[np.int32], v: NDArray[np.float32], mix: float = 1.0) -> FuzzyGraph:
    """Graph of the neighbours (n, k) of each row and their memberships (n, k): union (``mix`` = 1) to intersection (0).

    >>> fuzzy_union(np.array([[1], [0]], np.int32), np.array([[1.0], [0.5]], np.float32)).values
    array([1., 1.], dtype=float32)
    """
    with stage("graph"):
        return FuzzyGraph(*_native.fuzzy_union(indices, v, mix=mix, n_threads=thread_limit.current()))


@operation
def sharpened(graph: FuzzyGraph, codes: NDArray[np.int32], supervision: float) -> FuzzyGraph:
    """Graph with weaker edges between classes ``codes`` (n,), −1 for rows without a label.

    Memberships are multiplied by ``exp(−5 α/(1 − α))`` between two classes and, where a label is unknown, by
    ``exp(−min(1, α/(1 − α)))``. Then each row is scaled to a largest membership of 1, and both directions are united.

    >>> graph = fuzzy_union(np.array([[1], [0]], np.int32), np.ones((2, 1), np.float32))
    >>> sharpened(graph, np.array([0, 1], np.int32), 0.5).values
    array([1., 1.], dtype=float32)
    """
    indptr, indices, values = graph
    _n, far = len(indptr) - 1, supervision / max(1 - supervision, 1e-12)
    a, b = np.repeat(codes, np.diff(indptr)), codes[indices]
    factor = np.where((a < 0) | (b < 0), np.exp(-min(UNKNOWN, far)), np.where(a == b, 1.0, np.exp(-OTHER * far)))
    return _connected(indptr, indices, values * factor)


@operation
def intersected(graph: FuzzyGraph, targets: FuzzyGraph, weight: float) -> FuzzyGraph:
    """Fuzzy intersection of a graph with that of the targets: their product, with a ``weight`` of 0 to 1 of the latter.

    ``v u^(α/(1 − α))`` up to a weight of one half, ``v^((1 − α)/α) u`` above. An edge that only one has counts in the
    other as half of its least membership, at least 1e-8, and at most 1e-4 among targets. Then each row is scaled to a
    largest membership of 1, and both directions are united.

    >>> one, other = (fuzzy_union(np.array([[1], [0], [k]], np.int32), np.ones((3, 1), np.float32)) for k in (1, 0))
    >>> (intersected(one, other, 0.5).values * 1e4).round().astype(int).tolist()
    [10000, 10000, 10000, 3, 10000, 3]
    """
    n = len(graph.indptr) - 1
    keys = [_keys(part, n) for part in (graph, targets)]
    every = np.union1d(*keys)
    v, u = (np.full(len(every), floor) for floor in absent(graph.values, targets.values))
    v[np.searchsorted(every, keys[0])], u[np.searchsorted(every, keys[1])] = graph.values, targets.values
    starts = np.searchsorted(every, np.arange(n + 1, dtype=np.int64) * n)
    return _connected(starts, every % n, together(v, u, weight))


def _keys(graph: FuzzyGraph, n: int) -> NDArray[np.int64]:
    return np.repeat(np.arange(n, dtype=np.int64) * n, np.diff(graph.indptr)) + graph.indices


def absent(values: Any, targets: Any) -> tuple[float, float]:
    """Memberships of edges that a graph, or that of the targets, has not."""
    least, less = (float(of[of > 0].min()) / 2 if len(of) else LEAST for of in (values, targets))
    return max(least, LEAST), min(max(less, LEAST), MOST_ABSENT)


def together(v: Any, u: Any, weight: float) -> Any:
    """Product of memberships of which the second has this weight."""
    if weight < 0.5:
        return v * u ** (weight / (1 - weight))
    return v ** ((1 - weight) / weight) * u


def _connected(indptr: NDArray, indices: NDArray, weighed: NDArray) -> FuzzyGraph:
    """Rows scaled to a largest membership of 1, and both directions of their edges united."""
    n = len(indptr) - 1
    most = np.maximum.reduceat(weighed, indptr[:-1])
    weighed = weighed / np.repeat(np.where(most > 0, most, 1.0), np.diff(indptr))
    A = sp.csr_array((weighed, indices.copy(), indptr), shape=(n, n))
    A.sort_indices()
    B = A.T.tocsr()
    B.sort_indices()
    C = A + B - A * B
    C.sort_indices()
    return FuzzyGraph(C.indptr.astype(np.int64), C.indices.astype(np.int32), C.data.astype(np.float32))
