"""Sums for the shrinkage of covariances, on tensors."""

from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.moments import doubles, row_blocks
from lowdim.relate import shrinkage as numpy_shrinkage


@TORCH.implements(numpy_shrinkage.fourth_powers)
def fourth_powers(X: Any, mean: NDArray, scale: NDArray) -> float:
    """``Σ ‖(x − mean)/scale‖⁴`` over the rows."""
    inverse, shift = doubles(1 / scale, X), doubles(mean, X)
    return float(sum((block * inverse).square().sum(1).square().sum() for _, block in row_blocks(X, shift)))


@TORCH.implements(numpy_shrinkage.rounding_of)
def rounding_of(X: Any) -> float:
    """Machine epsilon of the values: that of their type, of float64 for integers."""
    return float(torch.finfo(X.dtype if X.is_floating_point() else torch.float64).eps)
