"""Stacks of dense layers applied to tensors."""

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.solve import network as numpy_network
from lowdim.solve.network import Activations, Layer, push

_BLOCK = 2**24  # values of a layer that are held at a time


@TORCH.implements(numpy_network.apply)
def apply(layers: Sequence[Layer], X: Any, activation: Activations, less: NDArray | None = None) -> Any:
    """Output of a stack for the rows of ``X − less``, block by block, on the device of ``X``."""
    there = {"device": X.device, "dtype": torch.float64 if X.dtype == torch.float64 else torch.float32}
    cast = [Layer(torch.as_tensor(W, **there), torch.as_tensor(b, **there)) for W, b in layers]
    shift = torch.as_tensor(0.0 if less is None else less, **there)
    blocks = X.split(max(1, _BLOCK // max(max(W.shape) for W, _ in layers)))
    with torch.no_grad():
        return torch.cat([push(torch, cast, block.to(**there) - shift, activation)[-1] for block in blocks])
