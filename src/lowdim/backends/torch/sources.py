"""Sums of contrasts over rows of tensors, a block at a time."""

from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.solve import sources as numpy_sources

_BLOCK = 2**22  # values taken at a time


@TORCH.implements(numpy_sources.contrast_sums)
def contrast_sums(Z: Any, W: NDArray, contrast: str, alpha: float) -> tuple[NDArray, NDArray]:
    """``Σ g(W z) zᵀ`` (p, k) and ``Σ g'(W z)`` (p,) over white rows Z (n, k), in NumPy."""
    there = torch.as_tensor(W, dtype=Z.dtype, device=Z.device)
    wide = {"dtype": torch.float64, "device": Z.device}
    products, slopes = torch.zeros(W.shape, **wide), torch.zeros(len(W), **wide)
    step = max(1, _BLOCK // max(Z.shape[1], len(W)))
    for start in range(0, len(Z), step):
        block = Z[start : start + step]
        S = block @ there.T
        if contrast == "logcosh":
            G = torch.tanh(alpha * S)
            slope = alpha * (1 - G.square())
        elif contrast == "exp":
            E = torch.exp(-S.square() / 2)
            G, slope = S * E, (1 - S.square()) * E
        else:
            G, slope = S**3, 3 * S.square()
        products += G.T @ block
        slopes += slope.sum(0, dtype=torch.float64)
    return products.cpu().numpy(), slopes.cpu().numpy()
