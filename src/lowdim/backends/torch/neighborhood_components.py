"""The objective of neighbourhood components for tensors, a block of rows at a time."""

from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.solve import neighborhood_components as numpy_components


@TORCH.implements(numpy_components.pulls)
def pulls(Y: Any, codes: NDArray) -> tuple[float, Any]:
    """``Σ_i p_i`` for positions Y (n, k) of rows with these labels, and its derivative by the positions (n, k)."""
    n, total, G = len(Y), 0.0, torch.zeros_like(Y)
    labels, norms, columns = torch.as_tensor(codes, device=Y.device), Y.square().sum(1), torch.zeros_like(Y[:, 0])
    step = max(1, numpy_components.BLOCK // n)
    for start in range(0, n, step):
        stop = min(n, start + step)
        P = 2 * Y[start:stop] @ Y.T - norms
        P[range(stop - start), range(start, stop)] = -torch.inf
        P = torch.softmax(P, 1)
        kept = P * (labels[start:stop, None] == labels)
        right = kept.sum(1)
        total += float(right.sum(dtype=torch.float64))
        W = kept - P * right[:, None]
        columns += W.sum(0)
        G[start:stop] += W @ Y
        G += W.T @ Y[start:stop]
    return total, 2 * (G - columns[:, None] * Y)
