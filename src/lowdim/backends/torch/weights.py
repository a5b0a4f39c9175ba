"""Barycentric weights of rows on a device."""

from typing import Any

import torch

from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import weights as numpy_weights

_BLOCK = 2**24  # differences from neighbours at a time


@implements_on_device(numpy_weights.interpolate)
def interpolate(near: Any, X: Any, queries: Any, Y: Any, reg: float) -> Any:
    """Positions ``Σ w_j y_j`` (m, k) of points, by the weights that reconstruct them from rows at ``Y`` (n, k)."""
    counts = near.starts.diff()
    out = torch.zeros(len(counts), Y.shape[1], dtype=torch.float64, device=Y.device)
    for size in counts.unique().tolist():
        queries_of_size = (counts == size).nonzero().view(-1)
        for some in queries_of_size.split(max(1, _BLOCK // (size * max(size, 1 if X is None else X.shape[1])))):
            entries = near.starts[some, None] + torch.arange(size, device=Y.device)
            rows = near.rows[entries].long()
            if X is None:
                w = 1 / near.lengths[entries].double().square().clamp(min=torch.finfo(torch.float64).tiny)
            else:
                w = _rebuilding((X[rows].double() - queries[some, None].double()), reg)
            w = w / w.sum(1, keepdim=True)
            out[some] = (w[:, :, None] * Y[rows].double()).sum(1)
    return out


def _rebuilding(apart: Any, reg: float) -> Any:
    """Weights ``w ∝ G⁻¹ 1`` (m, k) for differences (m, k, d), G their Gram matrix and ``reg`` of its trace."""
    G = apart @ apart.transpose(1, 2)
    trace = G.diagonal(dim1=1, dim2=2).sum(1)[:, None, None]
    eye = torch.eye(G.shape[1], dtype=G.dtype, device=G.device)
    G = torch.where(trace > 0, G / trace.clamp(min=1e-300) + reg * eye, eye)
    w = torch.linalg.solve(G, torch.ones_like(G[:, :, :1]))[:, :, 0]
    if not bool(w.isfinite().all()):
        raise ValueError("Weights: squared differences of neighbours must be finite; some overflow. Scale the data.")
    return w
