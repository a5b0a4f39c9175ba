"""Moments of tensors, in float64 on their device."""

from typing import Any

from numpy.typing import NDArray

from lowdim.relate.moments import ColumnMoments

_BLOCK = 2**22  # values taken at a time


def column_moments(X: Any, weights: NDArray | None = None) -> ColumnMoments:
    """Weight, mean and variance of each column, in two passes, which cost little here."""
    if weights is not None:
        raise TypeError("column_moments: tensors take no sample weights. Bring the rows to NumPy with .numpy().")
    n, d = X.shape
    blocks = X.split(max(1, _BLOCK // d))
    mean = sum(block.double().sum(0) for block in blocks) / n
    variance = sum((block.double() - mean).square().sum(0) for block in blocks) / n
    return ColumnMoments(float(n), mean.cpu().numpy(), variance.cpu().numpy(), n)
