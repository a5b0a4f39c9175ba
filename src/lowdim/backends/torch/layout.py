"""Initial layouts of a map on a device."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from lowdim.backends.torch import joint_components, small_components
from lowdim.backends.torch.coarse_graph import Graph
from lowdim.backends.torch.moments import moments
from lowdim.backends.torch.row_norms import unit_rows
from lowdim.backends.torch.smoothest import parts, smoothest
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.compose import arrangement
from lowdim.compose import layout as numpy_layout
from lowdim.solve.signs import signs
from lowdim.work.random import stream

_SOLVED = 1000  # rows of a graph up to which its eigenvectors are found in NumPy
_DENSE_FEW, _DENSE = 128, 32  # rows of components whose matrices are dense; less if there are many others
_JOINT, _MANY = (
    20_000,
    64,
)  # rows of components that are laid out together, and number of components from which they are
_DIRECT = 3000  # columns up to which the scatter is solved directly
_RESIDUAL = 1e-4  # of eigenvectors, which are only an initial layout
_SPARE, _TURNS = 8, 12  # additional directions and iterations of the subspace


@implements_on_device(numpy_layout.by_pca)
def by_pca(X: Any, k: int, seed: int) -> Any:
    """Scores (n, k) of the leading principal components."""
    n, d = X.shape
    few = min(k, n, d)
    mean = X.sum(0, dtype=torch.float64) / n
    if d <= _DIRECT:
        M = moments(X)
        values, vectors = torch.linalg.eigh(torch.as_tensor(M.scatter, device=X.device))
        values, V = values.flip(0)[:few], vectors.flip(1)[:, :few].T
    else:
        values, V = _leading(X, mean, few, seed)
    V = V.numpy(force=True)
    V = torch.as_tensor(numpy_layout.tilted(V * signs(V)[:, None], seed), device=X.device)
    Y = torch.zeros(n, k, dtype=torch.float64, device=X.device)
    Y[:, :few] = torch.cat([(block.double() - mean) @ V.T for block in X.split(max(1, 2**22 // d))])
    Y[:, :few] *= values > 1e-12 * values[0]  # a direction of rounding errors only
    return _sized(Y, seed)


@implements_on_device(numpy_layout.scores)
def scores(X: Any, by: Any) -> Any:
    """Scores (n, k) of rows along the axes, in float64."""
    mean, axes = (torch.as_tensor(part, device=X.device) for part in by)
    return torch.cat([(block.double() - mean) @ axes.T for block in X.split(max(1, 2**22 // X.shape[1]))])


implements_on_device(numpy_layout.scores_of_new)(scores)


@implements_on_device(numpy_layout.widened)
def widened(Y: Any, width: float) -> Any:
    """The layout scaled so that its widest coordinate spans ``width``."""
    low, high = torch.aminmax(Y, dim=0)
    extent = float((high - low).max())
    return Y * (width / extent) if extent > 0 else Y


@implements_on_device(numpy_layout.by_spectrum)
def by_spectrum(P: Any, k: int, seed: int, X: Any = None, *, unit: bool = False) -> Any:
    """Smoothest coordinates (n, k) of the graph, its components arranged; small ones are laid out together."""
    indptr, indices, values = P
    n, device = len(indptr) - 1, indices.device
    tails = torch.arange(n, device=device).repeat_interleave(indptr.diff())
    joins = values > 0
    tails, ends, values = tails[joins], indices[joins].long(), values[joins]
    S = _sparse(n, tails, ends, values)
    labels, part = torch.unique(parts(*S[:2]), return_inverse=True)
    if len(labels) == 1:
        return _sized(_smooth(S, k, seed), seed)
    sizes = torch.bincount(part)
    Y = torch.empty(n, k, dtype=torch.float64, device=device)
    rows_in = sizes.tolist()
    many = int((sizes > _DENSE).sum()) > _MANY
    left = small_components.lay_out(S, part, sizes, Y, seed, _DENSE if many else _DENSE_FEW)
    joint = [c for c in left if rows_in[c] <= _JOINT] if many else []
    if joint:
        graph, rows, inside = joint_components.rows_of(Graph(*S), part, torch.as_tensor(joint, device=device))
        Y[rows] = joint_components.lay_out(graph, inside, k, seed)
    for c in sorted({*left} - {*joint}):
        rows, inside = (part == c).nonzero().view(-1), part[tails] == c
        place = torch.full((n,), -1, dtype=torch.int64, device=device)
        place[rows] = torch.arange(len(rows), device=device)
        one = _sparse(len(rows), place[tails[inside]], place[ends[inside]], values[inside])
        Y[rows] = _sized(_smooth(one, k, seed), seed)
    share = sizes.double() / n
    radius = share.sqrt() if k > 1 else share / 4
    X = unit_rows(X) if unit and X is not None else X
    means = None if X is None else _means(X, part, sizes).numpy(force=True)
    centre = arrangement.centres(sizes.numpy(force=True), k, seed, means)
    Y *= (radius / (2 * numpy_layout.SIZE))[part][:, None]
    return _sized(Y + torch.as_tensor(centre, device=device)[part], seed)


@implements_on_device(numpy_layout.continued)
def continued(P: Any, Y: Any, known: Any, seed: int) -> Any:
    """The layout ``Y`` (n, k) with rows that are not ``known`` (n,) among their neighbours in the graph ``P``."""
    indptr, indices, values = P
    Y, n, free = Y.double(), len(indptr) - 1, ~known
    if not bool(free.any()):
        return Y
    lengths, weights = indptr.diff(), values.double()
    totals = torch.segment_reduce(weights, "sum", lengths=lengths, initial=0)
    moving = (free & (totals > 0))[:, None]
    Y = torch.where(known[:, None], Y, Y[known].mean(0))
    for _ in range(numpy_layout.TURNS):
        sums = torch.segment_reduce(weights[:, None] * Y[indices.long()], "sum", lengths=lengths, axis=0, initial=0)
        Y = torch.where(moving, sums / totals.clamp(min=1e-300)[:, None], Y)
    extent = float(Y[known].std(0, correction=0).max()) or 1.0
    noise = stream(seed, "continued layout").standard_normal((n, Y.shape[1]))
    noise = torch.as_tensor(noise, device=Y.device) * (numpy_layout.CONTINUED * extent)
    return torch.where(free[:, None], Y + noise, Y)


def _means(X: Any, part: Any, sizes: Any) -> Any:
    """Means (C, d) in float64 of the rows of each part, summed in the order of the rows."""
    order = torch.sort(part, stable=True).indices
    sums = [
        torch.segment_reduce(columns[order].double(), "sum", lengths=sizes, axis=0)
        for columns in X.split(max(1, 2**24 // len(X)), dim=1)
    ]
    return torch.cat(sums, dim=1) / sizes[:, None]


def _sparse(n: int, tails: Any, ends: Any, values: Any) -> tuple[Any, Any, Any]:
    """Sparse rows of edges in the order of their tails."""
    starts = torch.zeros(n + 1, dtype=torch.int64, device=tails.device)
    torch.cumsum(torch.bincount(tails, minlength=n), 0, out=starts[1:])
    return starts, ends.int(), values


def _smooth(S: tuple[Any, Any, Any], k: int, seed: int) -> Any:
    n = len(S[0]) - 1
    if n > _SOLVED:
        Y, found = smoothest(*S, k, seed, _RESIDUAL)
        return Y * torch.as_tensor(signs(Y.T) * numpy_layout.extents(found), device=Y.device)
    starts, ends, values = (part.numpy(force=True) for part in S)
    V = sp.csr_array((values.astype(np.float64), ends, starts), shape=(n, n))
    V.sort_indices()
    return torch.as_tensor(numpy_layout.eigenvectors(V, k), device=S[0].device)


def _leading(X: Any, mean: Any, few: int, seed: int) -> tuple[Any, Any]:
    """Leading eigenvalues and directions of the scatter, by subspace iteration."""
    start = stream(seed, "layout subspace").standard_normal((X.shape[1], few + _SPARE))
    V = torch.as_tensor(start, device=X.device)
    for _ in range(_TURNS):
        V = torch.linalg.qr(V).Q
        V = sum(block.T @ (block @ V) for block in _apart(X, mean))
    Q = torch.linalg.qr(V).Q
    values, turn = torch.linalg.eigh(sum((block @ Q).T @ (block @ Q) for block in _apart(X, mean)))
    return values.flip(0)[:few], (Q @ turn.flip(1)[:, :few]).T


def _apart(X: Any, mean: Any) -> Any:
    return (block.double() - mean for block in X.split(max(1, 2**22 // X.shape[1])))


def _sized(Y: Any, seed: int) -> Any:
    """Centred layout, scaled as a whole, with a little noise where it has no extent."""
    return small_components.sized(Y[None], torch.ones(1, len(Y), dtype=torch.bool, device=Y.device), seed)[0]
