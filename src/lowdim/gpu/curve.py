"""An order in which points that lie near each other mostly follow each other."""

from typing import Any

import torch


def along_curve(Y: Any) -> Any:
    """Place (n,) of each point of ``Y`` (n, 1 to 3) along Morton's curve: the bits of its coordinates, alternating."""
    low, high = torch.aminmax(Y, dim=0)
    width = float((high - low).max()) or 1.0
    cells = ((Y - low) * (1023 / width)).int()
    key = torch.zeros(len(Y), dtype=torch.int32, device=Y.device)
    for bit in range(10):
        for axis in range(Y.shape[1]):
            key |= ((cells[:, axis] >> bit) & 1) << (Y.shape[1] * bit + axis)
    return key
