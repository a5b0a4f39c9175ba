"""Initial layouts of a map on a device."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from lowdim.compose import layout as numpy_layout
from lowdim.gpu.moments import moments
from lowdim.gpu.places import on_device
from lowdim.gpu.smoothest import parts, smoothest
from lowdim.solve.signs import signs
from lowdim.work.random import stream

_SOLVED = 1000  # rows of a graph up to which its eigenvectors are found in NumPy
_DIRECT = 3000  # columns up to which the scatter is solved directly
_SPARE, _TURNS = 8, 12  # additional directions and iterations of the subspace


@on_device(numpy_layout.by_pca)
def by_pca(X: Any, k: int, seed: int) -> Any:
    """Scores (n, k) of the leading principal components."""
    n, d = X.shape
    few = min(k, n, d)
    mean = X.double().mean(0)
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


@on_device(numpy_layout.scores)
def scores(X: Any, by: Any) -> Any:
    """Scores (n, k) of rows along the axes, in float64."""
    mean, axes = (torch.as_tensor(part, device=X.device) for part in by)
    return torch.cat([(block.double() - mean) @ axes.T for block in X.split(max(1, 2**22 // X.shape[1]))])


scores_of_new = scores


@on_device(numpy_layout.widened)
def widened(Y: Any, width: float) -> Any:
    """The layout scaled so that its widest coordinate spans ``width``."""
    low, high = torch.aminmax(Y, dim=0)
    extent = float((high - low).max())
    return Y * (width / extent) if extent > 0 else Y


@on_device(numpy_layout.by_spectrum)
def by_spectrum(P: Any, k: int, seed: int) -> Any:
    """Smoothest coordinates (n, k) of the graph, its components side by side; small ones are laid out in NumPy."""
    indptr, indices, values = P
    n, device = len(indptr) - 1, indices.device
    tails = torch.arange(n, device=device).repeat_interleave(indptr.diff())
    joins = values > 0
    S = _sparse(n, tails[joins], indices[joins], values[joins])
    labels, part = torch.unique(parts(*S[:2]), return_inverse=True)
    if len(labels) == 1:
        return _sized(_smooth(S, k, seed), seed)
    sizes, done = torch.bincount(part), 0
    order = torch.sort(part, stable=True).indices
    starts = torch.cumsum(sizes, 0) - sizes
    Y = torch.empty(n, k, dtype=torch.float64, device=device)
    for c in torch.sort(sizes, descending=True, stable=True).indices.tolist():
        size = int(sizes[c])
        rows = order[int(starts[c]) : int(starts[c]) + size]
        if size <= k + 1:
            one = torch.as_tensor(stream(seed, "part", c).standard_normal((size, k)), device=device)
        else:
            place = torch.full((n,), -1, dtype=torch.int64, device=device)
            place[rows] = torch.arange(size, device=device)
            inside = part[tails] == c
            inside &= joins
            one = _smooth(_sparse(size, place[tails[inside]], place[indices[inside].long()], values[inside]), k, seed)
        radius = (size / n) ** 0.5 if k > 1 else size / (4 * n)
        one = _sized(one, seed) * (radius / (2 * numpy_layout.SIZE)) if size > 1 else torch.zeros_like(one)
        Y[rows] = one + 2 * torch.as_tensor(numpy_layout.sunflower(done, size, n, k), device=device)
        done += size
    return _sized(Y, seed)


def _sparse(n: int, tails: Any, ends: Any, values: Any) -> tuple[Any, Any, Any]:
    """Sparse rows of edges in the order of their tails."""
    starts = torch.zeros(n + 1, dtype=torch.int64, device=tails.device)
    torch.cumsum(torch.bincount(tails, minlength=n), 0, out=starts[1:])
    return starts, ends.int(), values


def _smooth(S: tuple[Any, Any, Any], k: int, seed: int) -> Any:
    n = len(S[0]) - 1
    if n > _SOLVED:
        Y = smoothest(*S, k, seed, numpy_layout.SPECTRAL)
        return Y * torch.as_tensor(signs(Y.T), device=Y.device)
    starts, ends, values = (part.numpy(force=True) for part in S)
    V = sp.csr_array((values.astype(np.float64), ends, starts), shape=(n, n))
    V.sort_indices()
    return torch.as_tensor(numpy_layout.eigenvectors(V, k, seed), device=S[0].device)


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
    Y = Y - Y.mean(0)
    spread = Y.std(0, correction=0)
    widest = float(spread.max())
    Y *= numpy_layout.SIZE / widest if widest > 0 else 1.0
    flat = (spread <= 1e-6 * widest).nonzero().view(-1)
    if 0 < len(flat) < Y.shape[1]:
        noise = stream(seed, "flat layout").standard_normal((len(Y), len(flat)))
        Y[:, flat] = torch.as_tensor(numpy_layout.SIZE * numpy_layout.NOISE * noise, device=Y.device)
    return Y
