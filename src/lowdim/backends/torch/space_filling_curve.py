"""An order in which consecutive points are mostly near each other."""

from typing import Any

import torch

_SPREAD = {  # shifts and masks that put the 10 bits of a number so many places apart
    1: [],
    2: [(8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)],
    3: [(16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)],
}


def along_curve(Y: Any) -> Any:
    """Position (n,) of each point of ``Y`` (n, 1 to 3) along the Morton curve: its coordinates' bits, alternating."""
    low, high = torch.aminmax(Y, dim=0)
    width = (high - low).amax()
    cells = ((Y - low) * (1023 / torch.where(width > 0, width, 1.0))).int()
    for shift, mask in _SPREAD[Y.shape[1]]:
        cells = (cells | (cells << shift)) & mask
    return (cells << torch.arange(Y.shape[1], dtype=torch.int32, device=Y.device)).sum(1, dtype=torch.int32)
