"""Maps that preserve distances along the data: scaled shortest paths on a graph, and positions of new rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.compose.scaling import Scaling, bytes_to_scale, classical_scaling, place_by_distances, scale_by_products
from lowdim.relate.geodesics import Beside, all_geodesics, bytes_for, bytes_for_all, geodesics
from lowdim.relate.graph import Graph
from lowdim.solve.leading_eigenpairs import block_sizes, direct
from lowdim.work import thread_limit
from lowdim.work.dispatch import backend_of, operation
from lowdim.work.products import bytes_to_multiply_half
from lowdim.work.progress import stage
from lowdim.work.random import stream

_BLOCK_BYTES = 2**26  # of distances between new rows and old ones
_STEP = 4096  # rows placed at a time
_EDGES = 640.0  # bytes that the edges of a row take while the graph is built


class ClassDistances(NamedTuple):
    """Class (n,) of each row, number of classes, their share in the distances, and theirs (C, C), None to measure."""

    codes: NDArray
    n_classes: int
    share: float
    between: NDArray[np.float64] | None


def mixed_in(
    codes: NDArray | None, classes: NDArray | None, share: float, between: Any, unit: float
) -> ClassDistances | None:
    """Effect of the classes on the distances of rows, in the unit of the graph; None without classes."""
    if codes is None or classes is None:
        return None
    given = None if between is None else np.array(between, dtype=np.float64) / unit
    return ClassDistances(codes, len(classes), share, given)


class GeodesicMap(NamedTuple):
    """Scaling of the distances, positions (n, k), residual variances of 1 … k coordinates, and class distances."""

    scaling: Scaling
    positions: NDArray[np.float64]
    residual_variance: NDArray[np.float64]
    between: NDArray[np.float64] | None


def geodesic_map(graph: Graph, k: int, drawn: NDArray | None, classes: ClassDistances | None, seed: int) -> GeodesicMap:
    """Map in k dimensions of the rows of a connected graph whose edges are of the order of 1.

    With ``drawn`` only the distances from these landmarks are computed, and the other rows are placed by them.
    """
    if stored_by_halves(graph, graph.n, k, drawn is not None, classes is not None):
        return _map_of_all(graph, k, seed)
    D = geodesics(graph, drawn, squared=classes is None)
    between = None if classes is None else mix_classes(D, drawn, classes)
    scaling = classical_scaling(D, k, seed, columns=drawn)
    Y = scaling.positions if drawn is None else place_by_distances(D.T, scaling)
    return GeodesicMap(scaling, Y, residual_by_dimension(D, drawn, Y), between)


def stored_by_halves(like: Any, n: int, k: int, landmarks: bool, classes: bool) -> bool:
    """Whether the distance of each pair is stored once: for NumPy rows, and all of them, where products suffice."""
    return backend_of(like) is None and not (landmarks or classes or direct(n, k))


def _map_of_all(graph: Graph, k: int, seed: int) -> GeodesicMap:
    """Map from the distances of all pairs of rows, each stored once, and their rows in another order."""
    D2, order = all_geodesics(graph)
    scaling = scale_by_products(D2.__matmul__, D2.rows, graph.n, k, seed, D2.panels)
    with stage("residual variance", total=graph.n) as tick:
        Y = np.ascontiguousarray(scaling.positions.T, dtype=np.float32)
        sums = _native.packed_distance_sums(D2.panels, Y, n_threads=thread_limit.current(), tick=tick).sum(axis=0)
    positions, dual = np.empty_like(scaling.positions), np.empty_like(scaling.dual)
    positions[order], dual[order] = scaling.positions, scaling.dual
    scaling = scaling._replace(positions=positions, dual=dual)
    return GeodesicMap(scaling, positions, _left_by_dimension(sums, graph.n**2 / 2), None)


def bytes_for_map(m: int, n: int, k: int, *, halves: bool) -> float:
    """Memory for :func:`geodesic_map` of n rows from m landmarks, or all; ``halves`` by :func:`stored_by_halves`."""
    if halves:
        products = bytes_to_multiply_half(n, block_sizes(n, k, costly=True)[0] + 1)
        return bytes_for_all(n) + bytes_to_scale(n, k, copy=False) + products + n * (24.0 * k + _EDGES)
    placing = 8.0 * m * min(n, _STEP) if m < n else 0.0  # distances from landmarks as doubles, some rows at a time
    return bytes_for(m, n) + bytes_to_scale(m, k, copy=m < n) + placing + n * (24.0 * k + _EDGES)


@operation
def place_by_geodesics(near: Beside, graph: Graph, drawn: NDArray | None, scaling: Scaling) -> NDArray[np.float64]:
    """Positions (m, k) of points outside the graph, by their distances along it to all rows, or to the landmarks."""
    m = len(near.starts) - 1
    Y = np.empty((m, scaling.dual.shape[1]))
    step = max(64, _BLOCK_BYTES // (4 * graph.n))
    for start in range(0, m, step):
        stop = min(m, start + step)
        cut = slice(near.starts[start], near.starts[stop])
        some = Beside(near.starts[start : stop + 1] - near.starts[start], near.rows[cut], near.lengths[cut])
        D = geodesics(graph, some)
        D = np.square(D if drawn is None else D[:, drawn], dtype=np.float64)
        Y[start:stop] = place_by_distances(D, scaling)
    return Y


def draw_landmarks(n: int, m: int, codes: NDArray | None, seed: int) -> NDArray[np.int64]:
    """At most m of n rows, drawn at random, in order, with at least one of each class of ``codes`` (n,)."""
    drawn = stream(seed, "landmarks").permutation(n)
    if codes is not None:
        _, first = np.unique(codes[drawn], return_index=True)
        drawn = np.concatenate([drawn[first], np.delete(drawn, first)])
    return np.sort(drawn[:m])


@operation
def mix_classes(D: NDArray[np.float32], drawn: NDArray | None, classes: ClassDistances) -> NDArray[np.float64]:
    """Turn the distances ``D`` (m, n) into squares of ``(1 − α) D + α C``, in place; return ``C`` between classes."""
    codes, share = classes.codes, classes.share
    own = codes if drawn is None else codes[drawn]
    C = class_distances(D, own, codes, classes.n_classes) if classes.between is None else classes.between
    D *= np.float32(1 - share)
    columns = (share * C).astype(np.float32)[:, codes]
    for i, code in enumerate(own):
        D[i] += columns[code]
    np.multiply(D, D, out=D)
    return C


def class_distances(D: NDArray[np.float32], own: NDArray, codes: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Mean distance (C, C) between the members of two classes, 0 within one, NaN where one has none.

    ``D`` (m, n) are the distances of rows of the classes ``own`` (m,) to rows of the classes ``codes`` (n,).

    >>> D = np.array([[0, 1, 4], [1, 0, 3], [4, 3, 0]], np.float32)
    >>> class_distances(D, np.array([0, 0, 1]), np.array([0, 0, 1]), 2)
    array([[0. , 3.5],
           [3.5, 0. ]])
    """
    member = np.eye(n_classes, dtype=np.float32)[codes]
    sums = np.zeros((n_classes, n_classes))
    np.add.at(sums, own, D @ member)  # float32 sums of a row, float64 over rows
    return mean_between(sums, np.bincount(own, minlength=n_classes), np.bincount(codes, minlength=n_classes))


def mean_between(sums: NDArray, own: NDArray, other: NDArray) -> NDArray[np.float64]:
    """Mean distances (C, C) from their sums and the sizes of the classes on both sides."""
    pairs = np.outer(own, other)
    C = np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)
    C = (C + C.T) / 2
    np.fill_diagonal(C, 0.0)
    return C


@operation
def residual_by_dimension(D2: NDArray[np.float32], drawn: NDArray | None, Y: NDArray) -> NDArray[np.float64]:
    """Share (k,) of the variance of distances that those in the first 1 … k coordinates of ``Y`` leave unexplained.

    That is ``1 − R²`` over all pairs of the rows ``drawn`` (all for None) with the n rows of ``Y``, from the squared
    distances ``D2`` (m, n).
    """
    rows = np.arange(len(Y)) if drawn is None else drawn
    m = len(D2)
    whole = m == len(Y)  # each pair is there twice
    with stage("residual variance", total=m) as tick:
        sums = _native.distance_sums(
            D2,
            rows.astype(np.int32),
            np.ascontiguousarray(Y.T, dtype=np.float32),
            squared=True,
            beyond=whole,
            n_threads=thread_limit.current(),
            tick=tick,
        ).sum(axis=0)
    return _left_by_dimension(sums, D2.size / 2 if whole else D2.size)


def _left_by_dimension(sums: NDArray[np.float64], count: float) -> NDArray[np.float64]:
    """Unexplained variance (k,) from the sums that ``distance_sums`` makes, over ``count`` pairs."""
    return unexplained(sums[0] / count, sums[1] / count, *(sums[2:].reshape(-1, 3) / count).T)


def unexplained(d: Any, d2: Any, e: Any, e2: Any, de: Any) -> NDArray[np.float64]:
    """``1 − R²`` from the means of d, d², e, e² and d e over pairs."""
    spread = (d2 - d * d) * (e2 - e * e)
    explained = np.square(de - d * e) / np.where(spread > 0, spread, 1.0)
    return np.where(spread > 0, np.clip(1.0 - explained, 0.0, 1.0), 1.0)
