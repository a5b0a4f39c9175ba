"""First layouts of a map on a device."""

from typing import Any

import torch

from lowdim.compose import layout as numpy_layout
from lowdim.gpu.moments import moments
from lowdim.gpu.places import on_device
from lowdim.solve.signs import signs
from lowdim.work.random import stream

_DIRECT = 3000  # columns up to which the scatter is solved directly
_SPARE, _TURNS = 8, 12  # directions and turns more, for subspaces


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
    V = V * torch.as_tensor(signs(V.numpy(force=True)), device=X.device)[:, None]
    Y = torch.zeros(n, k, dtype=torch.float64, device=X.device)
    Y[:, :few] = torch.cat([(block.double() - mean) @ V.T for block in X.split(max(1, 2**22 // d))])
    Y[:, :few] *= values > 1e-12 * values[0]  # rounding is no direction
    return _sized(Y, seed)


def _leading(X: Any, mean: Any, few: int, seed: int) -> tuple[Any, Any]:
    """Leading eigenvalues and directions of the scatter, by turning a subspace towards them."""
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
    """Layout about its mean, scaled as a whole, with a little noise where it has no extent."""
    Y = Y - Y.mean(0)
    spread = Y.std(0, correction=0)
    widest = float(spread.max())
    Y *= numpy_layout.SIZE / widest if widest > 0 else 1.0
    flat = (spread <= 1e-6 * widest).nonzero().view(-1)
    if 0 < len(flat) < Y.shape[1]:
        noise = stream(seed, "flat layout").standard_normal((len(Y), len(flat)))
        Y[:, flat] = torch.as_tensor(numpy_layout.SIZE * numpy_layout.NOISE * noise, device=Y.device)
    return Y
