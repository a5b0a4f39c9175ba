"""Exact nearest neighbours of wide rows: all pairs of tiles of rows, and thresholds that tighten as rows are searched.

Rows are put in random order. Every query keeps the k' > k best scores among the rows searched so far. The next rows are
a constant fraction of those before, so that few of them score better than the last of these. If queries are the rows
themselves, a product of two tiles serves the rows of both. The k' best are ranked by their distances. A query is done
if the distance of its k-th row, by the bound of the scores' errors, excludes all rows that are not among its k'. The
others are searched again up to the distance found, and what is left (many rows at one distance) is compared with all
rows.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
import triton

from lowdim.backends.torch import packed_rows, tensors
from lowdim.backends.torch.kernels.distance_keys import keys
from lowdim.backends.torch.kernels.list_distances import list_distances
from lowdim.backends.torch.kernels.shortened import shorten
from lowdim.backends.torch.kernels.tile_scan import scan
from lowdim.backends.torch.packed_rows import Packed
from lowdim.work.progress import Tick

SPARE = 17  # candidates beyond k
LAST = 0x7FFFFFFFFFFFFFFF  # after all candidates
_FAR = 3.0e38  # a threshold that excludes nothing
_GROWTHS = (2.0, 1.75, 1.5, 1.35, 1.2, 1.1)  # of the rows searched, in a wave
_SIGMAS = 7.0  # by which the candidates of a wave may exceed their mean
_LAUNCH = 2**21  # pairs of tiles at a time
_BAND = 16  # tiles that are compared with one after another, while they are in the cache
_AGAIN = 1024  # candidates of a query that is searched again
_QUERIES = 2**27  # bytes of lists of such queries at a time
_KEYS = 2**24  # pairs compared at a time
_ROWS = 2**16
_BLOCK = 64  # lists that a program takes where it is interpreted
_ROUNDED = 1 + 2.0**-22  # of a squared distance in float32


class Wave(NamedTuple):
    """Pairs of tiles (count, 2), some at a time, and the share of all work that is done after them.

    The ``first`` has one tile of rows for each of the queries.
    """

    pairs: Callable[[], Iterator[Any]]
    done: float
    first: bool = False


class Lists(NamedTuple):
    """Candidates (m, room) of queries, their ``counts``, those ``held`` between waves, and the thresholds of others."""

    keys: Any
    counts: Any
    held: Any
    limits: Any
    lasts: Any


class Rows(NamedTuple):
    """Rows as given, and their norms in float64 for the cosine, else None."""

    X: Any
    norms: Any


def room_for(few: int) -> int:
    """Length of the lists of which ``few`` entries are kept."""
    return max(packed_rows.TILE, triton.next_power_of_2(int(2.2 * few)))


def memory_needed(m: int, n: int, d: int, k: int) -> float:
    """Bytes for the k nearest of n rows to m queries, or of the rows themselves where they are the queries."""
    width = triton.cdiv(d, 64) * 64
    return 2.0 * width * n + m * (8.0 * room_for(k + SPARE) + 24.0 * k + 64.0) + 6e8


def nearest(A: Rows, Q: Rows | None, k: int, seed: int, tick: Tick) -> tuple[Any, Any]:
    """Indices (m, k) and squared distances (m, k), of directions where there are norms; among themselves if Q is None.

    The distances of directions are those of directions rounded to float32.
    """
    X = A.X
    n, few = len(X), k + SPARE
    order = torch.randperm(n, device=X.device, generator=torch.Generator(X.device).manual_seed(seed & (2**63 - 1)))
    rows = packed_rows.pack(*A, packed_rows.form_of(*A), order, own=True)
    if Q is None:
        lists = new_lists(len(rows.factors), n, room_for(few), X.device)
        search(rows, rows, lists, few, circulant(rows.n_tiles, few, lists), tick)
        return _settled(A, A, rows, rows, lists, order, few, k)
    indices = torch.empty(len(Q.X), k, dtype=torch.int32, device=X.device)
    squares = torch.empty(len(Q.X), k, dtype=torch.float32, device=X.device)
    for some in torch.arange(len(Q.X), device=X.device).split(2**18):
        queries = packed_rows.pack(*Q, rows.form, some, own=False)
        lists = new_lists(len(queries.factors), len(some), room_for(few), X.device)
        search(queries, rows, lists, few, in_turn(queries.n_tiles, rows.n_tiles, few, lists), lambda _: None)
        indices[some], squares[some] = _settled(Q, A, queries, rows, lists, some, few, k)
        tick(int(some[-1]) + 1)
    return indices, squares


def new_lists(size: int, m: int, room: int, device: Any) -> Lists:
    """Empty lists; those beyond the first m, which fill the last tile, accept no candidates."""
    limits = torch.full((size,), _FAR, device=device)
    limits[m:] = -torch.inf
    lasts = torch.full((size,), 2**31 - 1, dtype=torch.int32, device=device)
    counts, held = (torch.zeros(size, dtype=torch.int32, device=device) for _ in range(2))
    return Lists(torch.empty(size, room, dtype=torch.int64, device=device), counts, held, limits, lasts)


def search(queries: Packed, rows: Packed, lists: Lists, few: int, waves: Iterator[Wave], tick: Tick) -> None:
    """Leave in the lists, in order, the ``few`` best scores among the rows of all waves."""
    both = queries is rows
    for wave in waves:
        for tiles in wave.pairs():
            compare(queries, rows, lists, tiles, wave.first)
        real = lists.limits > -torch.inf
        while True:
            _shorten(lists, few)
            lists.limits[~real] = -torch.inf
            over = lists.counts < 0
            if not bool(over.any()):
                break
            kept = (
                lists.limits.clone()
            )  # once more for lists that had no room, with the lower thresholds from this wave
            lists.limits.copy_(torch.where(over, kept, -torch.inf))
            lists.counts.copy_(lists.held)
            touched = over.view(-1, packed_rows.TILE).any(1)
            for tiles in wave.pairs():
                again = touched[tiles[:, 0].long()]
                again = again | touched[tiles[:, 1].long()] if both else again
                compare(queries, rows, lists, tiles[again], wave.first)
        tick(int(wave.done * len(real)))


def compare(queries: Packed, rows: Packed, lists: Lists, tiles: Any, first: bool) -> None:
    """Append to the lists what scores low enough in these pairs of tiles."""
    if not len(tiles):
        return
    of_queries = (queries.factors, queries.scale, queries.add, queries.ids)
    of_rows = (rows.factors, rows.scale, rows.add, rows.ids)
    thresholds = (lists.limits, lists.lasts, lists.counts, lists.keys.view(torch.int32))
    scan[(len(tiles),)](
        tiles,
        *of_queries,
        *of_rows,
        *thresholds,
        WIDTH=rows.factors.shape[1],
        ROOM=lists.keys.shape[1],
        BOTH=queries is rows,
        FIRST=first,
        TILE=packed_rows.TILE,
        BK=64,
        num_warps=8,
        num_stages=4,
    )


def _shorten(lists: Lists, few: int) -> None:
    m, room = lists.keys.shape
    given, sort = lists.keys, not tensors.INTERPRETED  # sorting takes seconds per row in the interpreter
    if not sort:
        there = torch.arange(room, device=lists.keys.device) < lists.counts[:, None]
        given = torch.where(there, lists.keys, LAST).sort(dim=1).values
    block = 1 if sort else _BLOCK
    shorten[(triton.cdiv(m, block),)](
        lists.keys, given, *lists[1:], m, few, ROOM=room, SORT=sort, BR=block, num_warps=max(1, room // 512)
    )


def circulant(tiles: int, few: int, lists: Lists) -> Iterator[Wave]:
    """Waves of all pairs of tiles (i, i + w), i modulo their number, w rising: each tile meets as many others."""
    most, done = tiles // 2 + 1, 0
    while done < most:
        ahead = 1 if done == 0 else max(1, _ahead(2 * done - 1, few, lists) // 2)
        last = min(most, done + ahead)
        yield Wave(_pairs(tiles, done, last, lists.keys.device, around=True), last / most, done == 0)
        done = last


def in_turn(queries: int, tiles: int, few: int, lists: Lists) -> Iterator[Wave]:
    """Waves of all pairs of a tile of queries and one of rows."""
    done = 0
    while done < tiles:
        last = min(tiles, done + (1 if done == 0 else _ahead(done, few, lists)))
        yield Wave(_pairs(queries, done, last, lists.keys.device, around=False), last / tiles, done == 0)
        done = last


def _ahead(done: int, few: int, lists: Lists) -> int:
    """Tiles that may follow after so many, for the lists to hold their candidates."""
    room = lists.keys.shape[1]
    if done * packed_rows.TILE < few:  # all their rows are candidates
        return max(1, room // packed_rows.TILE - done)
    free = room - few
    fits = [g for g in _GROWTHS if few * (g - 1) + _SIGMAS * (few * g * (g - 1)) ** 0.5 <= free]
    return max(1, int(done * (max(fits, default=_GROWTHS[-1]) - 1)))


def _pairs(tiles: int, first: int, last: int, device: Any, around: bool) -> Callable[[], Iterator[Any]]:
    """Pairs (i, w) or, ``around``, (i, i + w) for w from ``first`` to ``last``, in bands of i."""
    width = last - first

    def pairs() -> Iterator[Any]:
        for start in range(0, tiles * width, _LAUNCH):
            at = torch.arange(start, min(tiles * width, start + _LAUNCH), device=device)
            band = at // (_BAND * width)
            inside, size = at - band * (_BAND * width), (tiles - band * _BAND).clamp_(max=_BAND)
            i, w = band * _BAND + inside % size, first + inside // size
            if not around:
                yield torch.stack([i, w], dim=1).int()
                continue
            once = (2 * w < tiles) | ((2 * w == tiles) & (i < w))  # opposite tiles meet once
            yield torch.stack([i, (i + w) % tiles], dim=1)[once].int()

    return pairs


def distances(Q: Rows, A: Rows, rows: Any, lists: Any, counts: Any, few: int, k: int) -> Any:
    """The k nearest (m, k), as sortable numbers, of the first ``few`` in the lists of the queries ``rows`` (m,)."""
    some = max(2, triton.next_power_of_2(few))
    sort = not tensors.INTERPRETED
    block = 1 if sort else _BLOCK
    out = torch.empty(len(rows), k if sort else some, dtype=torch.int64, device=lists.device)
    precise = A.X.dtype == torch.float64
    if len(rows):
        norms = (counts, counts) if A.norms is None else (Q.norms, A.norms)
        list_distances[(triton.cdiv(len(rows), block),)](
            Q.X,
            norms[0],
            A.X,
            norms[1],
            rows,
            lists,
            counts,
            out,
            len(rows),
            few,
            k,
            A.X.shape[1],
            ROOM=lists.shape[1],
            SOME=some,
            BR=block,
            BC=max(4, min(128, 4096 // some)),
            COSINE=A.norms is not None,
            DIRECTION=triton.language.float64 if precise else triton.language.float32,
            SORT=sort,
            num_warps=4,
        )
    return out if sort else out.sort(dim=1).values[:, :k].contiguous()


def decoded(keyed: Any) -> tuple[Any, Any]:
    """Indices and squared distances of sortable numbers."""
    return (keyed & 0xFFFFFFFF).int(), (keyed >> 32).int().view(torch.float32)


def _settled(
    Q: Rows, A: Rows, queries: Packed, rows: Packed, lists: Lists, order: Any, few: int, k: int
) -> tuple[Any, Any]:
    """Neighbours of the queries ``order`` (m,), in the order of their numbers, from their lists."""
    m = len(order)
    keyed = distances(Q, A, order, lists.keys[:m], lists.counts[:m], few, k)
    reached = (keyed[:, -1] >> 32).int().view(torch.float32).double() * _ROUNDED
    (by, begin), off = packed_rows.to_squares(queries), packed_rows.errors(queries, rows)
    sure = reached <= by[:m] * (lists.limits[:m].double() - off[:m]) + begin[:m]
    sure |= reached == 0  # equal rows have equal scores, and of these the lists keep the lowest indices
    left = (~sure).nonzero().view(-1)
    for some in left.split(max(packed_rows.TILE, _QUERIES // (8 * _AGAIN))):
        limits = (reached[some] - begin[some]) / by[some] + off[some]
        keyed[some] = _again(Q, A, queries, rows, order, some, (limits * (1 + 2e-7 * limits.sign())).float(), k)
    indices, squares = decoded(keyed)
    if queries is not rows:
        return indices, squares
    placed = torch.empty_like(indices), torch.empty_like(squares)
    placed[0][order], placed[1][order] = indices, squares
    return placed


def _again(Q: Rows, A: Rows, queries: Packed, rows: Packed, order: Any, some: Any, limits: Any, k: int) -> Any:
    """The k nearest (s, k), as sortable numbers, of some queries, by all rows with scores up to the limits."""
    s, tile = len(some), packed_rows.TILE
    whole = triton.cdiv(s, tile) * tile
    at = torch.nn.functional.pad(some, (0, whole - s))
    chosen = queries._replace(**{name: getattr(queries, name)[at] for name in ("factors", "scale", "add", "ids")})
    lists = new_lists(whole, s, max(_AGAIN, room_for(k + SPARE)), at.device)
    lists.limits[:s] = limits
    for tiles in _pairs(whole // tile, 0, rows.n_tiles, at.device, around=False)():
        compare(chosen, rows, lists, tiles, first=False)
    room = lists.keys.shape[1]
    keyed = distances(Q, A, order[some], lists.keys[:s], lists.counts[:s], room, k)
    left = (lists.counts[:s] > room).nonzero().view(-1)
    if len(left):
        keyed[left] = _among_all(Q, A, order[some[left]], chosen.ids[:s][left].long(), k)
    return keyed


def _among_all(Q: Rows, A: Rows, chosen: Any, own: Any, k: int) -> Any:
    """The k nearest (s, k), as sortable numbers, of these queries among all rows, themselves excepted."""
    n, d = A.X.shape
    found = torch.empty(len(chosen), k, dtype=torch.int64, device=own.device)
    for start in range(0, len(chosen), max(1, _KEYS // _ROWS)):
        some = slice(start, start + max(1, _KEYS // _ROWS))
        block, best = _plain(Q, chosen[some]), torch.empty(len(chosen[some]), 0, dtype=torch.int64, device=own.device)
        for first in range(0, n, _ROWS):
            others = _plain(A, torch.arange(first, min(n, first + _ROWS), device=own.device))
            pairs = torch.empty(len(block), len(others), dtype=torch.int64, device=own.device)
            grid = (triton.cdiv(len(others), 128), triton.cdiv(len(block), 32))
            keys[grid](block, others, own[some] - first, pairs, len(block), len(others), d, BM=32, BN=128)
            pairs = pairs.topk(min(k, len(others)), dim=1, largest=False, sorted=True).values
            pairs = torch.where(pairs == LAST, LAST, pairs + first)
            best = torch.cat([best, pairs], dim=1)
            best = best.topk(min(k, best.shape[1]), dim=1, largest=False, sorted=True).values
        found[some] = best
    return found


def _plain(rows: Rows, chosen: Any) -> Any:
    """Some rows in float32 or float64: as they are, or their directions."""
    X = rows.X[chosen]
    if rows.norms is not None:
        return packed_rows.directions(X, rows.norms[chosen])
    return X if X.dtype == torch.float64 else X.float()
