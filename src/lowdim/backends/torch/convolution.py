"""Convolution of the counts on a grid with a falloff by Fourier transforms: those of torch, or kernels in CUDA C++."""

from collections.abc import Iterator
from functools import lru_cache
from math import pi
from typing import Any

import numpy as np
import torch

from lowdim.backends.torch import cuda_kernels

_POWERS = (128, 256, 512, 1024, 2048, 4096)  # sizes that the kernels in CUDA C++ have
SIZES = {  # nodes along a side, the half that is zero included
    1: [2**e for e in range(8, 19)],
    2: [128, 256, 512, 1024, 1536, 2048, 3072, 4096],  # few, since an iteration is recorded for each
}


def sizes_for(k: int, device: Any) -> Iterator[int]:
    """Sizes of grids of k dimensions; the kernels in CUDA C++ have 2048 in less time than torch 1536.

    They are compiled when more than 1024 is asked for.

    >>> list(sizes_for(2, torch.device("cpu")))[3:6]
    [1024, 1536, 2048]
    """
    for size in SIZES[k]:
        if not (size == 1536 and device.type == "cuda" and _kernels(2048) is not None):
            yield size


class Convolution:
    """A grid of ``size`` nodes along each of k sides, of which the first half is used, so that nothing wraps around.

    ``counts`` are added to after :meth:`clear`; ``falloff`` is the transform of the falloff, the halved axis first.
    """

    def __init__(self, size: int, k: int, device: Any) -> None:
        nodes, there = size // 2, {"device": device}
        self.size, self.nodes = size, nodes
        self.counts = torch.zeros((nodes,) * k, dtype=torch.int64, **there)
        self.falloff = torch.empty((nodes + 1, size)[:k], **there)
        self.kernels = _kernels(size) if k == 2 and device.type == "cuda" else None
        if self.kernels is None:
            self.padded = torch.zeros((size,) * k, **there)
        else:
            self.spectra = torch.empty(nodes + 1, nodes, 2, **there)
            self.field = torch.empty(nodes, nodes, **there)
            self.roots = _roots(size, device)

    def clear(self) -> None:
        """Set the counts to 0; the kernels in CUDA C++ do so when they read them."""
        if self.kernels is None:
            self.counts.zero_()

    def apply(self, scale: float) -> Any:
        """The field of ``scale`` times the counts, in a tensor whose first half along each side it is, or all of it."""
        if self.kernels is None:
            torch.mul(self.counts, scale, out=self.padded[(slice(self.nodes),) * self.counts.ndim])
            waves = torch.fft.rfftn(self.padded)
            torch.view_as_real(waves).mul_(self.falloff.transpose(0, -1)[..., None])  # spectra are transposed too
            return torch.fft.irfftn(waves, s=self.padded.shape, norm="forward")
        pairs, device = _pairs(self.size), self.counts.device
        blocks, threads = (self.nodes // (2 * pairs),), pairs * self.size // 4
        from_rows, along_columns, to_rows = self.kernels
        from_rows(blocks, threads, device, self.counts, self.spectra, self.roots, np.float32(scale))
        along_columns((self.nodes + 1,), self.size // 4, device, self.spectra, self.falloff, self.roots)
        to_rows(blocks, threads, device, self.spectra, self.field, self.roots)
        return self.field


def _kernels(size: int) -> list[Any] | None:
    if size not in _POWERS:
        return None
    names, macros = ("from_rows", "along_columns", "to_rows"), {"SIZE": size, "PAIRS": _pairs(size)}
    found = [cuda_kernels.find("convolution", name, **macros) for name in names]
    return None if None in found else found


def _pairs(size: int) -> int:
    """Pairs of rows that a block of threads takes: two, if its shared memory holds them."""
    return 2 if size <= 2048 else 1


@lru_cache
def _roots(size: int, device: Any) -> Any:
    """Roots of unity ``exp(−2πi m/size)``."""
    angle = -2 * pi / size * torch.arange(size, dtype=torch.float64, device=device)
    return torch.stack([angle.cos(), angle.sin()], 1).float()
