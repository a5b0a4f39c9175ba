"""Coordinates of many connected components of a graph on a device, by polynomials that all of them share."""

from typing import Any

import numpy as np
import torch

from lowdim.backends.torch.coarse_graph import Graph, tails_of
from lowdim.backends.torch.smoothest import LARGEST, damped, laplacian, product
from lowdim.compose.layout import SIZE, extents

_WIDTH = 8  # vectors
_PASSES, _DEGREE = 3, 60
_BLOCK = 2**18  # rows taken at a time


def lay_out(graph: Graph, part: Any, k: int, seed: int) -> Any:
    """Coordinates (n, k) about the smoothest of each component, centred and sized; ``part`` (n,) is ascending from 0.

    They are an initial layout: polynomials of a fixed degree are applied to random vectors, with the step of Rayleigh
    and Ritz within each component.
    """
    L, n = laplacian(graph), len(part)
    sizes = torch.bincount(part)
    null = L.root.reciprocal()
    null = null / _sums(null.square(), sizes).sqrt()[part]
    drawn = torch.Generator(part.device).manual_seed(seed & (2**63 - 1))
    V = torch.randn(n, max(_WIDTH, k), device=part.device, generator=drawn)
    low = 0.05 * LARGEST
    for _ in range(_PASSES):
        V = _orthonormal(V, null, part, sizes)
        V = _orthonormal(damped(L.S, V, low, 1.01 * LARGEST, _DEGREE), null, part, sizes)
        values, turn = np.linalg.eigh(_products(V.double(), product(L.S, V).double(), sizes))
        V = _times(V.double(), turn, part).float()
        low = float(np.clip(np.median(values[:, -1]), 1e-4 * LARGEST, 0.2 * LARGEST))
    far = torch.as_tensor(extents(values[:, :k]), device=part.device)
    Y = V[:, :k].double() * L.root[:, None] * far[part]
    Y = Y - (_sums(Y, sizes) / sizes[:, None])[part]
    spread = (_sums(Y.square(), sizes) / sizes[:, None]).sqrt().amax(1)
    return Y * (SIZE / spread.clamp_(min=1e-300))[part, None]


def rows_of(graph: Graph, part: Any, chosen: Any) -> tuple[Graph, Any, Any]:
    """The subgraph of some components, its rows in their order, and the component (m,) of each, from 0."""
    place = torch.full((int(part.max()) + 1,), -1, dtype=torch.int64, device=part.device)
    place[chosen] = torch.arange(len(chosen), device=part.device)
    rows = (place[part] >= 0).nonzero().view(-1)
    order = torch.sort(place[part[rows]], stable=True)
    rows = rows[order.indices]
    at = torch.full((len(part),), -1, dtype=torch.int64, device=part.device)
    at[rows] = torch.arange(len(rows), device=part.device)
    tails = tails_of(graph.starts)
    inside = (at[tails] >= 0).nonzero().view(-1)
    inside = inside[torch.sort(at[tails[inside]], stable=True).indices]
    starts = torch.zeros(len(rows) + 1, dtype=torch.int64, device=part.device)
    torch.cumsum(graph.starts.diff()[rows], 0, out=starts[1:])
    return Graph(starts, at[graph.columns[inside].long()].int(), graph.values[inside]), rows, order.values


def _sums(values: Any, sizes: Any) -> Any:
    """Sums (C, …) over the rows of each component."""
    return torch.segment_reduce(values, "sum", lengths=sizes)


def _products(A: Any, B: Any, sizes: Any) -> Any:
    """Products (C, w, w) of the columns within each component, symmetric, in NumPy."""
    width = A.shape[1]
    i, j = np.triu_indices(width)
    out = np.empty((len(sizes), width, width))
    out[:, i, j] = _sums(A[:, i] * B[:, j], sizes).cpu().numpy()
    out[:, j, i] = out[:, i, j]
    return out


def _times(V: Any, turn: Any, part: Any) -> Any:
    """Rows of V times the matrix of their component."""
    turned = torch.as_tensor(turn, device=V.device)
    blocks = zip(V.split(_BLOCK), part.split(_BLOCK), strict=True)
    return torch.cat([torch.einsum("nw,nwv->nv", rows, turned[of]) for rows, of in blocks])


def _orthonormal(V: Any, null: Any, part: Any, sizes: Any) -> Any:
    """An orthonormal basis of the columns of V within each component, orthogonal to ``null``; twice for precision."""
    V = V.double()
    for _ in range(2):
        V = V - null[:, None] * _sums(null[:, None] * V, sizes)[part]
        V = V / _sums(V.square(), sizes).sqrt().clamp_(min=1e-150)[part]
        values, turn = np.linalg.eigh(_products(V, V, sizes))
        V = _times(V, turn / np.sqrt(np.maximum(values, 1e-14))[:, None, :], part)
    return V.float()
