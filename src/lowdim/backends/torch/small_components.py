"""Layouts of the small connected components of a graph on a device, many at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import triton

from lowdim.backends.torch.signs import signs
from lowdim.compose.layout import NOISE, SIZE, extents
from lowdim.work.random import stream

_ENTRIES = 2**25  # of the dense matrices held at a time


def lay_out(S: tuple[Any, Any, Any], part: Any, sizes: Any, Y: Any, seed: int, most: int) -> list[int]:
    """Write to ``Y`` (n, k) the sized coordinates of the rows in components of at most ``most``; returns the others.

    ``S`` is the sparse symmetric graph, ``part`` (n,) the component of each row, and ``sizes`` (C,) their numbers of
    rows. Components with at most k + 1 rows are placed at random.
    """
    (n, k), there = Y.shape, {"device": Y.device}
    starts, ends, values = S
    tails = torch.arange(n, **there).repeat_interleave(starts.diff())
    order = torch.sort(part, stable=True).indices
    at = torch.empty_like(order)  # position of each row in its component
    at[order] = torch.arange(n, **there) - (torch.cumsum(sizes, 0) - sizes)[part[order]]
    for chosen, width in _batches(sizes, k + 1, most):
        slot = torch.full_like(sizes, -1)
        slot[chosen] = torch.arange(len(chosen), **there)
        held = torch.arange(width, **there) < sizes[chosen][:, None]
        if width == k + 1:
            positions = _drawn(chosen.tolist(), held, k, seed)
        else:
            inside = (slot[part[tails]] >= 0).nonzero().view(-1)
            a, b = tails[inside], ends[inside].long()
            A = torch.zeros(len(chosen), width, width, dtype=torch.float64, **there)
            A[slot[part[a]], at[a], at[b]] = values[inside].double()
            positions = _smoothest(A, held, k)
        rows = (slot[part] >= 0).nonzero().view(-1)
        Y[rows] = sized(positions, held, seed)[slot[part[rows]], at[rows]]
    left: list[int] = (sizes > max(most, k + 1)).nonzero().view(-1).tolist()
    return left


def sized(Y: Any, held: Any, seed: int) -> Any:
    """Layouts (B, m, k) centred over the points ``held`` (B, m), scaled as a whole, with noise where one is flat."""
    held, count = held[:, :, None], held.sum(1)[:, None, None]
    Y = torch.where(held, Y - torch.where(held, Y, 0.0).sum(1, keepdim=True) / count, 0.0)
    spread = (Y.square().sum(1, keepdim=True) / count).sqrt()
    widest = spread.amax(2, keepdim=True)
    Y = Y * torch.where(widest > 0, SIZE / widest, 1.0)
    flat = (spread <= 1e-6 * widest)[:, 0]
    for one in (flat.any(1) & ~flat.all(1)).nonzero().view(-1).tolist():
        points, axes = held[one, :, 0].nonzero().view(-1), flat[one].nonzero().view(-1)
        noise = stream(seed, "flat layout").standard_normal((len(points), len(axes)))
        Y[one, points[:, None], axes] = torch.as_tensor(SIZE * NOISE * noise, device=Y.device)
    return Y


def _batches(sizes: Any, few: int, most: int) -> Iterator[tuple[Any, int]]:
    """Components of like sizes, as many at a time as fit, and the width that holds them; first those with ``few``."""
    low, width = 0, few
    while low < most:
        for chosen in ((sizes > low) & (sizes <= width)).nonzero().view(-1).split(max(1, _ENTRIES // width**2)):
            if len(chosen):
                yield chosen, width
        low, width = width, min(most, 2 * triton.next_power_of_2(width))


def _drawn(components: list[int], held: Any, k: int, seed: int) -> Any:
    """Random positions (B, m, k), and 0 for a single point."""
    positions = np.zeros((*held.shape, k))
    for one, (c, size) in enumerate(zip(components, held.sum(1).tolist(), strict=True)):
        positions[one, :size] = stream(seed, "part", c).standard_normal((size, k))
    return torch.as_tensor(positions, device=held.device)


def _smoothest(A: Any, held: Any, k: int) -> Any:
    """Coordinates (B, m, k) of connected graphs ``A`` (B, m, m), see :mod:`lowdim.compose.spectral_map`."""
    root = torch.where(held, A.sum(2).rsqrt(), 0.0)
    L = A.mul_(root[:, :, None]).mul_(root[:, None, :]).neg_()
    L.diagonal(dim1=1, dim2=2).add_(torch.where(held, 1.0, 4.0))  # no eigenvalue of a graph exceeds 2
    values, vectors = torch.linalg.eigh(L)
    Y = (vectors[:, :, 1 : k + 1] * root[:, :, None]).transpose(1, 2)
    by = torch.as_tensor(signs(Y.reshape(-1, Y.shape[2])), device=Y.device).view(-1, k, 1)
    far = torch.as_tensor(extents(values[:, 1 : k + 1].numpy(force=True)), device=Y.device)
    return (Y * by * far[:, :, None]).transpose(1, 2)
