"""The rule for signs, for tensors."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.solve import signs as numpy_signs


@TORCH.implements(numpy_signs.signs)
def signs(V: Any, tol: float = 1e-6) -> NDArray:
    """Sign (k,) in NumPy for each row of ``V`` (k, n) that makes its entry of largest magnitude positive."""
    size = V.abs()
    large = size >= size.amax(1, keepdim=True) * (1 - tol)
    first = torch.gather(V, 1, large.int().argmax(1, keepdim=True))[:, 0]
    return np.asarray(torch.where(first < 0, -1.0, 1.0).to(V.dtype).cpu().numpy())
