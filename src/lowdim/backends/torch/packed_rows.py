"""Rows as factors of products in half precision, and what turns a product into a score and a squared distance.

The score of row x for query q is ``scale_x q̂·x̂ + add_x``, and ``by_q score + from_q`` is the squared distance of the
two, or of their directions. Rows given in half precision are their own factors, since a product of two of their values
is exact in float32. Others are centred, scaled by a power of two and rounded; what the rounding takes away is known for
each row, and bounds the error of the scores.
"""

from typing import Any, NamedTuple

import torch
import triton

from lowdim.relate.row_norms import no_direction

TILE = 128  # rows that are compared at a time
HALVES = (torch.float16, torch.bfloat16)
_COLUMNS = 64  # the factors have a multiple of so many columns
_BLOCK = 2**23  # values taken at a time
_SAFE = (
    2.0**50
)  # largest value of bfloat16, and inverse of the largest that must exist, whose products are taken as such
_OFFSET = 32.0  # square of the norm of rows, in that of centred ones, up to which rounding costs more than the offset
_LARGE = 128.0  # largest factor after scaling
_LAST_BIT = 2.0**-22  # of the last steps of a score, relative to their terms


class Form(NamedTuple):
    """How rows become factors: of directions or not, centred and scaled or (``centre`` None) as they are."""

    cosine: bool
    centre: Any
    scale: float
    dtype: Any


class Packed(NamedTuple):
    """Factors (N, width), N a multiple of the tile, of rows ``ids`` (N,), −1 for rows that fill the last tiles.

    ``sizes`` (N,) are the norms of the factors before scaling and rounding, ``lost`` (N,) those of what rounding took.
    """

    factors: Any
    scale: Any
    add: Any
    ids: Any
    sizes: Any
    lost: Any
    form: Form

    @property
    def n_tiles(self) -> int:
        """Number of tiles."""
        return len(self.factors) // TILE


def norms_of(X: Any) -> Any:
    """Norms (n,) of the rows in float64; a row of zeros is an error."""
    norms = torch.cat([block.double().norm(dim=1) for block in X.split(_step(X))])
    if not bool(norms.all()):
        raise no_direction("Neighbours", int(norms.argmin()))
    return norms


def directions(X: Any, norms: Any) -> Any:
    """Rows of norm 1 in float32, or in float64 if they are given so."""
    wide = X.dtype if X.dtype == torch.float64 else torch.float32
    blocks = zip(X.split(_step(X)), norms.split(_step(X)), strict=True)
    return torch.cat([(block / norm[:, None]).to(wide) for block, norm in blocks])


def form_of(X: Any, norms: Any) -> Form:
    """Form of the rows; of their directions if ``norms`` are given."""
    cosine = norms is not None
    n, d = X.shape
    centre, most, largest, longest, apart = (
        torch.zeros(size, dtype=torch.float64, device=X.device) for size in (d, (), (), (), ())
    )
    parts = torch.arange(n, device=X.device).split(_step(X))
    for part in parts:
        block = _turned(X, norms, part)
        centre += block.sum(0) / n
        largest = torch.maximum(largest, X[part].abs().max())
        longest = torch.maximum(longest, block.square().sum(1).max())
    for part in parts:
        block = _turned(X, norms, part).sub_(centre)
        most = torch.maximum(most, block.abs().max())
        apart = torch.maximum(apart, block.square().sum(1).max())
    if X.dtype in HALVES:
        least = largest if norms is None else norms.min()
        if bool((largest <= _SAFE) & (least >= 1 / _SAFE) & (longest <= _OFFSET * apart)):
            return Form(cosine, None, 1.0, X.dtype)
    scale = 2.0 ** float(torch.floor(torch.log2(_LARGE / most))) if float(most) > 0 else 1.0
    return Form(cosine, centre, scale, torch.float16)


def pack(X: Any, norms: Any, form: Form, order: Any, own: bool) -> Packed:
    """Factors of the rows in this ``order``; ``own`` is whether they keep their numbers."""
    n, d = len(order), X.shape[1]
    whole, width = triton.cdiv(n, TILE) * TILE, triton.cdiv(d, _COLUMNS) * _COLUMNS
    there = {"device": X.device}
    factors = torch.empty(whole, width, dtype=form.dtype, **there)
    factors[n:], factors[:, d:] = 0, 0
    sizes, lost = (torch.zeros(whole, dtype=torch.float64, **there) for _ in range(2))
    ids = torch.full((whole,), -1, dtype=torch.int32, **there)
    ids[:n] = order if own else -2
    start = 0
    for rows in order.split(_step(X)):
        at = slice(start, start + len(rows))
        if form.centre is None:
            factors[at, :d] = X[rows]
            sizes[at] = factors[at].double().norm(dim=1)
        else:
            block = _turned(X, norms, rows).sub_(form.centre)
            sizes[at] = block.norm(dim=1)
            factors[at, :d] = block * form.scale
            lost[at] = block.sub_(factors[at, :d].double() / form.scale).norm(dim=1)
        start = at.stop
    if form.centre is None and form.cosine:
        scale, add = -2 / torch.where(sizes > 0, sizes, 1.0), torch.zeros_like(sizes)
    else:
        scale, add = torch.full_like(sizes, -2.0), (sizes * form.scale).square()
    add[n:] = torch.inf
    return Packed(factors, scale.float(), add.float(), ids, sizes, lost, form)


def to_squares(queries: Packed) -> tuple[Any, Any]:
    """``by`` and ``from``, each (m,), of the queries."""
    if queries.form.centre is None and queries.form.cosine:
        return 1 / torch.where(queries.sizes > 0, queries.sizes, 1.0), torch.full_like(queries.sizes, 2.0)
    return torch.full_like(queries.sizes, queries.form.scale**-2), queries.sizes.square()


def errors(queries: Packed, rows: Packed) -> Any:
    """Bound (m,) of the errors of scores: of rounded factors, and of sums in the tensor cores, 16 terms at a time."""
    sums = (rows.factors.shape[1] / 8 + 16) * 2.0**-23
    if rows.form.centre is None and rows.form.cosine:
        return queries.sizes * (2 * sums + 4 * _LAST_BIT)
    longest, lost = rows.sizes.max(), rows.lost.max()
    rounding = 2 * (lost * queries.sizes + (longest + lost) * queries.lost)
    summing = (2 * sums + _LAST_BIT) * longest * queries.sizes + _LAST_BIT * longest.square()
    return (rounding + summing) * rows.form.scale**2


def _step(X: Any) -> int:
    return max(1, _BLOCK // X.shape[1])


def _turned(X: Any, norms: Any, rows: Any) -> Any:
    """Some rows in float64, or their directions if there are norms."""
    return (X[rows] if norms is None else directions(X[rows], norms[rows])).double()
