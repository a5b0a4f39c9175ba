"""Sums of the classes of many targets over tensors, as a product with their indicators."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.moments import doubles, row_blocks
from lowdim.relate import column_scores


@TORCH.implements(column_scores.class_sums)
def class_sums(X: Any, mean: NDArray[np.float64], codes: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """Sums (d, count) of the centred rows of each class, in NumPy."""
    there = torch.as_tensor(np.ascontiguousarray(codes.T, np.int64), device=X.device)
    sums = torch.zeros(X.shape[1], count, dtype=torch.float64, device=X.device)
    for rows, block in row_blocks(X, doubles(mean, X), width=count):
        H = torch.zeros(len(block), count, dtype=torch.float64, device=X.device)
        sums.addmm_(block.T, H.scatter_(1, there[rows], 1.0))
    return np.asarray(sums.cpu().numpy())
