"""Devices that rows can be moved to, for ``device=``. PyTorch is imported on first use."""

from types import ModuleType
from typing import Any

import scipy.sparse as sp

from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy
from lowdim.work.dispatch import backend_of, require_one_memory


def find_torch(purpose: str) -> ModuleType:
    """PyTorch, imported now; ImportError says what it is needed for and how to get it."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"PyTorch is needed {purpose}; it is not installed. Install the extra: pip install 'lowdim[torch]'."
        ) from None
    return torch


def find(name: str, purpose: str) -> Any:
    """The device called ``name``, which PyTorch must see."""
    torch = find_torch(purpose)
    device = torch.device(name)
    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type == "cuda" and (device.index or 0) >= seen:
        raise ValueError(
            f"device={name!r} needs a GPU that PyTorch can use; it sees {seen or 'none'}. "
            "Pass device='cpu', or install a build of PyTorch for this machine's GPU."
        )
    return device


def moved(X: Any, name: str | None, owner: str) -> Any:
    """The rows on the device called ``name``; unchanged if that is None, or "cpu" for NumPy rows.

    >>> import numpy as np
    >>> moved(np.ones(2), None, "TSNE")
    array([1., 1.])
    """
    if name is None or (name == "cpu" and backend_of(X) is None):
        return X
    require_one_memory(
        X, f"{owner}: device={name!r}", "Leave device out: a fit from blocks is computed by the workers."
    )
    device = find(name, f"for device={name!r}")
    if sp.issparse(X):
        raise TypeError(
            f"{owner}: device={name!r} needs dense rows; got sparse ones. Pass X.toarray(), or leave device out."
        )
    if backend_of(X) is not None:
        return X.to(device)
    there = find_torch("").empty(0, device=device)
    what = f"{owner}: {X.shape[0]:,} rows moved to {name!r}"
    memory.require(X.nbytes, what, "Pass fewer rows, or leave device out.", there)
    return from_numpy(X, there)
