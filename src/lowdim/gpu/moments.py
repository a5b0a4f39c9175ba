"""Moments of tensors, in float64 on their device."""

from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.relate.moments import ColumnMoments, Moments
from lowdim.work.progress import stage

_BLOCK = 2**22  # values taken at a time


def moments(X: Any, weights: NDArray | None = None) -> Moments:
    """Moments of the rows, in two passes; products and sums are in float64."""
    M = column_moments(X, weights)
    n, d = X.shape
    mean = torch.as_tensor(M.mean, device=X.device)
    scatter = torch.zeros(d, d, dtype=torch.float64, device=X.device)
    with stage("moments", total=n):
        for block in X.split(max(1, _BLOCK // d)):
            apart = block.double() - mean
            scatter.addmm_(apart.T, apart)
    return Moments(M.weight, M.mean, scatter.numpy(force=True), n)


def column_moments(X: Any, weights: NDArray | None = None) -> ColumnMoments:
    """Weight, mean and variance of each column, in two passes, which cost little here."""
    if weights is not None:
        raise TypeError("moments: tensors take no sample weights. Bring the rows to NumPy with .numpy(force=True).")
    n, d = X.shape
    blocks = X.split(max(1, _BLOCK // d))
    mean = sum(block.double().sum(0) for block in blocks) / n
    variance = sum((block.double() - mean).square().sum(0) for block in blocks) / n
    return ColumnMoments(float(n), mean.cpu().numpy(), variance.cpu().numpy(), n)
