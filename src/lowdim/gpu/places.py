"""Tensors to NumPy and back."""

from typing import Any

import torch
from numpy.typing import NDArray


def to_numpy(A: Any) -> NDArray:
    """The tensor in NumPy, a view where it is in this machine's memory."""
    return A.numpy(force=True)


def placed(A: NDArray, like: Any) -> Any:
    """The NumPy array on the device of the tensor ``like``."""
    return torch.as_tensor(A, device=like.device)
