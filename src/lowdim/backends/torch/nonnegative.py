"""Non-negative factors of tensors: sweeps by columns, and ratios a block of rows at a time."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.solve import nonnegative as numpy_nonnegative

_BLOCK = 2**24  # values taken at a time


@TORCH.implements(numpy_nonnegative.descend)
def descend(G: Any, B: Any, W: Any, most: int, tol: float) -> Any:
    """The rows (n, k) that lower ``w G wᵀ / 2 − b·w`` with w ≥ 0 by sweeps, from those of ``W``."""
    G, W = G.to(W.dtype), W.clone().T.contiguous()
    B = B.to(W.dtype).T.contiguous()
    diagonal = G.diagonal()
    going, first = torch.ones_like(W[0]), torch.zeros_like(W[0])
    for sweep in range(most):
        moved = torch.zeros_like(first)
        for j in range(len(W)):
            if diagonal[j] <= 0:
                W[j] = 0
                continue
            step = ((W[j] + (B[j] - G[j] @ W) / diagonal[j]).clip(0) - W[j]) * going
            W[j] += step
            moved += step.square() * diagonal[j]
        first = moved if sweep == 0 else first
        going = going * (moved > tol * tol * first)
        if not going.any():
            break
    return W.T.contiguous()


@TORCH.implements(numpy_nonnegative.ratios)
def ratios(X: Any, W: Any, H: Any, loss: bool = True) -> tuple[Any, float]:
    """``(X ⊘ W Hᵀ) H`` (n, k), and with ``loss`` ``Σ x log(x / (W Hᵀ))``, else 0."""
    least, total = torch.finfo(W.dtype).tiny ** 0.5, 0.0
    out, step = torch.empty_like(W), max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = X[start : start + step].to(W.dtype)
        Q = block / (W[start : start + step] @ H.T).clamp(least)
        out[start : start + step] = Q @ H
        total += float(torch.special.xlogy(block, Q).sum(dtype=torch.float64)) if loss else 0.0
    return out, total
