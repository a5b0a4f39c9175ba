"""Nearest neighbours of rows on a device, exact, with ties broken by (distance, index).

Few rows are compared with all others. Many wide rows are searched by tiles (:mod:`lowdim.backends.torch.tile_search`).
For many narrow rows, a threshold for each query, from a sample of rows, leaves slightly
more than k candidates by products in half precision, which are ranked by their distances. The error of the products is
at most ``margin``, so a query whose k-th candidate is below its threshold by more than that has all its neighbours. The
others are searched again below the distance of that candidate with products in single precision, and what is left is
compared with all rows.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
import triton

from lowdim.backends import TORCH
from lowdim.backends.torch import cuda_kernels, packed_rows, tensors, tile_search
from lowdim.backends.torch.kernels.distance_keys import keys
from lowdim.backends.torch.kernels.least_scores import least_scores
from lowdim.backends.torch.kernels.neighbor_candidates import candidates
from lowdim.backends.torch.kernels.ranks import ranks
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import neighbors as numpy_neighbors
from lowdim.relate.neighbors import Neighbors, Within
from lowdim.work import memory
from lowdim.work.progress import Tick, stage

MOST_NEIGHBORS = 1024
FEW, FEW_WIDE = 16_384, 2048  # rows up to which all pairs are compared
_RANK, _SLOTS = 30, 64  # the rank-th smallest of the slots' minima is about the 40th smallest of the sample
_STATISTIC = 40
_TILE = 32  # rows that a program scores at a time
_KEYS = 2**25  # pairs compared at a time
_ROOM = 2**26  # candidates held at a time
_WHOLE = 128  # columns up to which a row of the product is loaded once
_LAST = 0x7FFFFFFFFFFFFFFF  # key of rows that are not neighbours
_HALF, _SINGLE = 1.1 * 2.0**-9, 2.0**-18  # errors of a product in ‖q‖ max‖x‖, and of its sums


class _Searched(NamedTuple):
    """Rows to search among: as given (n, d), centred and padded for products, and their squared norms."""

    X: Any
    factors: Any
    norms: Any
    scale: float


@implements_on_device(numpy_neighbors.nearest)
def nearest(
    X: Any, k: int, queries: Any = None, metric: str = "euclidean", how: str = "auto", seed: int = 0
) -> Neighbors:
    """The ``k`` nearest rows of ``X`` to each of ``queries``; without queries, to each row of ``X`` except itself."""
    demand_metric(metric)
    if how == "approximate":
        raise ValueError(
            "neighbor_search='approximate' has no version for tensors on a device. Use 'auto', which is exact."
        )
    if k > MOST_NEIGHBORS:
        raise ValueError(f"At most {MOST_NEIGHBORS} neighbours are searched on a device; got {k}. Lower the number.")
    n, d = X.shape
    m = n if queries is None else len(queries)
    if k > n - (queries is None):
        raise ValueError(
            f"{k} neighbours of each row need more than {n:,} rows; lower their number, or pass more rows."
        )
    if d > _WHOLE and n > FEW_WIDE and metric != "mahalanobis":
        return _by_tiles(X, k, queries, metric, seed)
    needed = 12.0 * m * k + n * (4.0 * d + 8.0 * _padded(d)) + 16.0 * (_KEYS + _ROOM)
    memory.require(needed, f"The {k} neighbours of {m:,} rows", "Use fewer neighbours or rows.", X)
    A, Q = euclidean_rows(X, queries, metric)
    own = torch.arange(m, device=X.device) if queries is None else torch.full((m,), -1, device=X.device)
    with stage("neighbours", total=m) as tick:
        if n <= FEW:
            indices, squares = _among_all(A, Q, own, k, tick)
        else:
            indices, squares = _by_candidates(A, Q, own, k, seed, tick)
    return Neighbors(indices, squares / 2 if metric == "cosine" else squares.sqrt_(), "exact")


@implements_on_device(numpy_neighbors.within)
def within(X: Any, radius: float, queries: Any = None, metric: str = "euclidean") -> Within:
    """Rows of ``X`` within ``radius`` of each of ``queries``; without queries, of each row of ``X`` except itself."""
    demand_metric(metric)
    A, Q = euclidean_rows(X, queries, metric)
    m, halved = len(Q), metric == "cosine"
    own = torch.arange(m, device=X.device) if queries is None else torch.full((m,), -1, device=X.device)
    reach = (2 * radius) ** 0.5 if halved else radius
    counts, found, held = [], [], 0
    with stage("neighbours", total=m) as tick:
        for rows, pairs in compared(A, Q, own):
            near = _decoded(pairs)[1].sqrt().double() <= reach  # false for the row itself, whose key is NaN
            counts.append(near.sum(1))
            held += int(counts[-1].sum())
            needed = 48.0 * held * m / rows.stop  # if the others have as many
            memory.require(needed, numpy_neighbors.too_many(held, radius), "Lower radius, or use n_neighbors.", X)
            found.append(torch.where(near, pairs, _LAST).sort(dim=1).values[:, : int(counts[-1].max())])
            found[-1] = found[-1][found[-1] != _LAST]
            tick(rows.stop)
    indptr = torch.zeros(m + 1, dtype=torch.int64, device=X.device)
    torch.cumsum(torch.cat(counts), 0, out=indptr[1:])
    indices, squares = _decoded(torch.cat(found))
    return Within(indptr, indices, squares / 2 if halved else squares.sqrt_())


def demand_metric(metric: str) -> None:
    """Refuse metrics that are computed in NumPy alone."""
    if metric not in ("euclidean", "cosine", "mahalanobis"):
        raise ValueError(
            f"metric={str(metric)!r} has no version for tensors on a device, only 'euclidean', 'cosine' and "
            "'mahalanobis'. Use one of these, or convert the rows to NumPy."
        )


@TORCH.implements(numpy_neighbors.demand_singles)
def demand_singles(X: Any, metric: str) -> None:
    """Refuse rows whose distances are not finite in float32."""
    numpy_neighbors.demand_singles(torch.stack(torch.aminmax(X)).double().numpy(force=True), metric)


@TORCH.implements(numpy_neighbors.whitened)
def whitened(X: Any, mean: Any, white: Any) -> Any:
    """``(X − mean) white``, in the type of ``X``."""
    there = {"device": X.device, "dtype": torch.float64}
    shift, turn = torch.as_tensor(mean, **there), torch.as_tensor(white, **there)
    blocks, wide = X.split(max(1, 2**24 // X.shape[1])), X.dtype if X.dtype == torch.float64 else torch.float32
    return torch.cat([((block.double() - shift) @ turn).to(wide) for block in blocks])


def _by_tiles(X: Any, k: int, queries: Any, metric: str, seed: int) -> Neighbors:
    """The same for wide rows, which stay as they are."""
    n, d = X.shape
    m = n if queries is None else len(queries)
    needed = tile_search.memory_needed(m, n, d, k)
    memory.require(needed, f"The {k} neighbours of {m:,} rows", "Use fewer neighbours or rows.", X)
    A, Q = _with_norms(X, metric), None if queries is None else _with_norms(queries, metric)
    with stage("neighbours", total=m) as tick:
        indices, squares = tile_search.nearest(A, Q, k, seed, tick)
    return Neighbors(indices, squares / 2 if metric == "cosine" else squares.sqrt_(), "exact")


def _with_norms(X: Any, metric: str) -> tile_search.Rows:
    """Rows with their norms for the cosine, floats in C order."""
    X = (X if X.is_floating_point() else X.float()).contiguous()
    return tile_search.Rows(X, packed_rows.norms_of(X) if metric == "cosine" else None)


def euclidean_rows(X: Any, queries: Any, metric: str) -> tuple[Any, Any]:
    """Rows and queries whose Euclidean distances are those of the metric, or half of whose squares are."""
    if metric == "cosine":
        X, queries = (None if B is None else packed_rows.directions(B, packed_rows.norms_of(B)) for B in (X, queries))
    elif metric == "mahalanobis":
        turn = numpy_neighbors.whitening(X, getattr(metric, "given", {}).get("VI"))
        X, queries = (None if B is None else whitened(B, *turn) for B in (X, queries))
    X = (X if X.dtype == torch.float64 else X.float()).contiguous()
    return X, X if queries is None else queries.to(X.dtype).contiguous()


def _among_all(X: Any, Q: Any, own: Any, k: int, tick: Tick) -> tuple[Any, Any]:
    """Indices and squared distances (m, k) by comparing all pairs, some queries at a time."""
    m = len(Q)
    indices = torch.empty(m, k, dtype=torch.int32, device=X.device)
    squares = torch.empty(m, k, dtype=torch.float32, device=X.device)
    for rows, pairs in compared(X, Q, own):
        indices[rows], squares[rows] = _decoded(pairs.topk(k, dim=1, largest=False, sorted=True).values)
        tick(rows.stop)
    return indices, squares


def compared(X: Any, Q: Any, own: Any) -> Iterator[tuple[slice, Any]]:
    """Yield (queries, their keys to all rows), some queries at a time."""
    (n, d), m = X.shape, len(Q)
    step = max(1, _KEYS // n)
    for start in range(0, m, step):
        rows = slice(start, min(m, start + step))
        pairs = torch.empty(rows.stop - start, n, dtype=torch.int64, device=X.device)
        grid = (triton.cdiv(n, 128), triton.cdiv(len(pairs), 32))
        keys[grid](Q[rows], X, own[rows], pairs, len(pairs), n, d, BM=32, BN=128)
        yield rows, pairs


def _by_candidates(X: Any, Q: Any, own: Any, k: int, seed: int, tick: Tick) -> tuple[Any, Any]:
    """Indices and squared distances (m, k) by thresholds and candidates, some queries at a time."""
    (n, d), m = X.shape, len(Q)
    same = Q is X
    X = X if d % 4 == 0 else torch.nn.functional.pad(X, (0, -d % 4))
    Q = X if same else Q if d % 4 == 0 else torch.nn.functional.pad(Q, (0, -d % 4))
    room = max(128, triton.next_power_of_2(int(2.8 * k)))
    wanted = int(room / 1.38)  # candidates that a threshold leaves on average, about a sixth more or less
    centre = X.double().mean(0).to(X.dtype)
    coarse, fine = _searched(X, centre, torch.float16), None
    longest = float(coarse.norms.max().sqrt()) / coarse.scale
    chosen = torch.Generator(X.device).manual_seed(seed & (2**63 - 1))
    slots = triton.cdiv(int(_STATISTIC * n / wanted), _SLOTS)
    sample = torch.randint(n, (slots * _SLOTS,), device=X.device, generator=chosen)
    sampled = coarse._replace(factors=coarse.factors[sample], norms=coarse.norms[sample])
    indices = torch.empty(m, k, dtype=torch.int32, device=X.device)
    squares = torch.empty(m, k, dtype=torch.float32, device=X.device)
    step = max(1, _ROOM // room)
    for start in range(0, m, step):
        rows = slice(start, min(m, start + step))
        block, itself, found, near = Q[rows], own[rows], indices[rows], squares[rows]
        turned, size = _queries(block, centre, coarse)
        limits = _limits(turned, sampled, slots)
        counts, found[:], near[:] = _search(block, turned, coarse, itself, limits, room, k)
        margin = _HALF * size * longest + _SINGLE * (longest + size).square()
        reach = near[:, -1] - size.square()  # scores of the k-th candidates
        sure = (counts <= room) & (reach <= limits / coarse.scale**2 - margin)
        left = (~sure).nonzero().view(-1)
        if len(left):
            again = left[near[left, -1].isfinite()]  # at least k rows are within this distance
            fine = fine or _searched(X, centre, torch.float32)
            turned, size = _queries(block[again], centre, fine)
            limits = near[again, -1] - size.square() + 2 * _SINGLE * (longest + size).square()
            counts, found[again], near[again] = _search(block[again], turned, fine, itself[again], limits, room, k)
            done = torch.zeros(len(block), dtype=torch.bool, device=X.device)
            done[again] = counts <= room
            left = left[~done[left]]
        if len(left):
            found[left], near[left] = _among_all(X, block[left], itself[left], k, lambda _: None)
        tick(rows.stop)
    return indices, squares


def _padded(d: int) -> int:
    """Columns of the factors: a power of two for the tensor cores (at least 32 for CUDA), or a multiple of 64."""
    least = 16 if cuda_kernels.find("candidates", WIDTH=32) is None else 32
    return max(least, triton.next_power_of_2(d)) if d <= _WHOLE else triton.cdiv(d, 64) * 64


def _searched(X: Any, centre: Any, dtype: Any) -> _Searched:
    """Rows with their factors in this type; half precision is scaled by a power of two to where it holds them."""
    n, d = X.shape
    shifted = (X - centre).float()
    scale = 1.0
    if dtype == torch.float16:
        most = float(shifted.abs().max())
        scale = 2.0 ** float(torch.floor(torch.log2(torch.tensor(128.0 / most)))) if most > 0 else 1.0
    factors = torch.zeros(n, _padded(d), dtype=dtype, device=X.device)
    factors[:, :d] = shifted * scale
    return _Searched(X, factors, (shifted.double().square().sum(1) * scale**2).float(), scale)


def _queries(Q: Any, centre: Any, among: _Searched) -> tuple[Any, Any]:
    """Factors −2q of the queries, scaled as the rows are, and the norms of the queries."""
    shifted = (Q - centre).float()
    factors = torch.zeros(len(Q), among.factors.shape[1], dtype=among.factors.dtype, device=Q.device)
    factors[:, : Q.shape[1]] = shifted * (-2 * among.scale)
    return factors, shifted.double().norm(dim=1).float()


def _shape(width: int) -> dict[str, Any]:
    return {"WHOLE": width <= _WHOLE, "BM": 64, "BK": width if width <= _WHOLE else 64}


def _limits(turned: Any, sampled: _Searched, slots: int) -> Any:
    m, width = turned.shape
    least = torch.empty(m, _SLOTS, device=turned.device)
    least_scores[(triton.cdiv(m, 64),)](
        turned, sampled.factors, sampled.norms, least, m, slots, width, BN=_SLOTS, **_shape(width), num_warps=4
    )
    return least.sort(dim=1).values[:, _RANK - 1].contiguous()


def _search(Q: Any, turned: Any, among: _Searched, own: Any, limits: Any, room: int, k: int) -> tuple[Any, Any, Any]:
    """Number of candidates below the limits (m,), and the indices and squared distances of the nearest (m, k)."""
    (m, width), n, there = turned.shape, len(among.X), {"device": Q.device}
    counts = torch.zeros(m, dtype=torch.int32, **there)
    found = torch.full((m, room), -1, dtype=torch.int32, **there)
    sort = not tensors.INTERPRETED  # sorting takes seconds per row in the interpreter
    keyed = torch.empty(m, k if sort else room, dtype=torch.int64, **there)
    if m:
        rows = (turned, among.factors, among.norms, limits, counts, found)
        half = turned.is_cuda and turned.dtype == torch.float16 and width in (32, 64, 128)
        cuda_kernel = cuda_kernels.find("candidates", WIDTH=width) if half else None
        if cuda_kernel is not None:
            cuda_kernel(_blocks(m, n, room), 128, turned.device, *rows, *map(np.int32, (m, n, room)))
        else:
            parts = min(64, triton.cdiv(16_384, triton.cdiv(m, 64)))  # enough programs for every processor
            columns = triton.cdiv(triton.cdiv(n, parts), _TILE) * _TILE
            grid = (triton.cdiv(m, 64), triton.cdiv(n, columns))
            candidates[grid](*rows, m, n, columns, width, ROOM=room, BN=_TILE, **_shape(width), num_warps=4)
        warps, wide = max(1, room // 512), among.X.numel() >= 2**31
        ranks[(m,)](
            Q, among.X, own, counts, found, keyed, k, Q.shape[1], ROOM=room, SORT=sort, WIDE=wide, num_warps=warps
        )
    return counts, *_decoded(keyed if sort else keyed.sort(dim=1).values[:, :k])


def _blocks(m: int, n: int, room: int) -> tuple[int, int]:
    """Blocks of the CUDA kernel along queries and rows: as many rows each as 16 bits and its shared memory allow."""
    blocks = triton.cdiv(m, 128)
    parts = max(4, triton.cdiv(n, 65_536), triton.cdiv(room, 64), min(64, triton.cdiv(1024, blocks)))
    return blocks, min(parts, triton.cdiv(n, 64))


def _decoded(keyed: Any) -> tuple[Any, Any]:
    """Indices and squared distances of keys."""
    return (keyed & 0xFFFFFFFF).int(), (keyed >> 32).int().view(torch.float32)
