"""Rows of tensors for the training of an autoencoder."""

from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.solve import training as numpy_training


@TORCH.implements(numpy_training.reader)
def reader(X: Any, mean: NDArray, scale: NDArray) -> Any:
    """Function from row numbers to ``(x − mean)/scale`` of these rows, on the device of ``X``."""
    wide = torch.float64 if X.dtype == torch.float64 else torch.float32
    shift, factor = (torch.as_tensor(v).to(X.device, wide) for v in (mean, 1 / scale))

    def take(ids: NDArray) -> Any:
        found = X.index_select(0, torch.from_numpy(ids).to(X.device)).to(wide)
        return found.sub_(shift).mul_(factor)

    return take


@TORCH.implements(numpy_training.device_of)
def device_of(X: Any) -> Any:
    """Device of the tensor."""
    return X.device
