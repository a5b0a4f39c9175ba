"""Smoothest coordinates of a graph on a device: its components, and eigenvectors of its Laplacian by polynomials.

Large graphs are solved after the graph of groups of their rows, whose eigenvectors are where the polynomials begin.
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import torch
import triton

from lowdim.backends.torch.coarse_graph import Graph, coarsened, tails_of
from lowdim.backends.torch.cross_entropy import block_of
from lowdim.backends.torch.kernels.chebyshev import chebyshev
from lowdim.work.progress import note, stage

_WIDTH = 8  # vectors at a time, beside those wanted
_DEGREES = 6000  # total degree before the best vectors so far are returned
_WORK = 4e9  # entries of the graph that are read before they are
_COARSE = 1000  # rows of a graph that is solved directly
_LARGE = 20_000  # rows from which a graph is made coarser first
_SHRINKS = 0.7  # rows of a coarser graph at most, in those of the finer
_ONCE = 40  # degree on a graph of groups
_SURE = 0.1  # residual relative to the last eigenvalue wanted
LARGEST = 2.0  # eigenvalue that a normalised Laplacian can have


def parts(starts: Any, columns: Any) -> Any:
    """The lowest row (n,) in the connected component of each row of a symmetric graph."""
    n, device = len(starts) - 1, starts.device
    tails = torch.arange(n, device=device).repeat_interleave(starts.diff())
    labels, ends = torch.arange(n, device=device), columns.long()
    while True:
        theirs = labels[ends]
        least = labels.scatter_reduce(0, labels[tails], theirs, "amin").scatter_reduce_(0, tails, theirs, "amin")
        for _ in range(2):
            least = least[least]
        if bool((least == labels).all()):
            return labels
        labels = least


def smoothest(starts: Any, columns: Any, values: Any, k: int, seed: int, tol: float) -> tuple[Any, Any]:
    """Coordinates (n, k) of a connected graph in float64, and in NumPy their eigenvalues (k,).

    They are those of :mod:`lowdim.compose.spectral_map`.
    Chebyshev's polynomials that are small on the unwanted part of the spectrum are applied to a block of vectors, with
    the step of Rayleigh and Ritz after each.
    """
    L = laplacian(Graph(starts, columns, values))
    n, device = len(starts) - 1, starts.device
    width = triton.next_power_of_2(k + _WIDTH - 2)
    if n >= _LARGE:
        V = _from_groups(Graph(starts, columns, values), width, seed)
    else:
        drawn = torch.Generator(device).manual_seed(seed & (2**63 - 1))
        V = torch.randn(n, width, device=device, generator=drawn)
    V, most = _orthonormal(V, L.null), min(_DEGREES, int(_WORK / max(1, len(columns))))
    low, high, growth, reach, used = 0.05 * LARGEST, 1.01 * LARGEST, 8.0, 0.05, 0
    best: tuple[float, Any, Any] = (np.inf, None, None)
    with stage("eigenvectors"):
        while True:
            degree = int(np.clip(growth / sqrt(reach), 20, min(2000, max(20, most - used))))
            V = _orthonormal(damped(L.S, V, low, high, degree), L.null)
            used += degree
            V, image, values_ = _turned(L.S, V)
            apart = image[:, :k] - V[:, :k] * torch.as_tensor(values_[:k], device=device)
            residual = float(apart.norm(dim=0).max()) / LARGEST
            note(f"residual {residual:.1e}")
            best = min(best, (residual, V[:, :k], values_[:k]), key=lambda one: one[0])
            sure = residual <= tol and residual <= _SURE * float(values_[k - 1]) / LARGEST
            if sure or used >= most or residual > 2 * best[0]:
                break
            V = V.float()
            low = float(np.clip(values_[-1], 1e-6 * high, 0.5 * high))
            reach = max(low - float(values_[k - 1]), 0.05 * low) / high
            growth = float(np.clip(log(10 * residual / tol) / 2, 1.0, 8.0))
    return best[1] * L.root[:, None] * L.total, best[2]


class Laplacian(NamedTuple):
    """``I − S``, inverse roots of the degrees (n,), the vector (n, 1) of eigenvalue 0, the root of all degrees."""

    S: Graph
    root: Any
    null: Any
    total: Any


def laplacian(graph: Graph) -> Laplacian:
    """The normalised Laplacian of a graph in which every row has an edge."""
    degrees = torch.segment_reduce(graph.values.double(), "sum", lengths=graph.starts.diff(), initial=0)
    root, total = degrees.rsqrt(), degrees.sum().sqrt()
    values = (graph.values * root[tails_of(graph.starts)] * root[graph.columns.long()]).float()
    return Laplacian(graph._replace(values=values), root, (degrees.sqrt() / total)[:, None], total)


def _from_groups(graph: Graph, width: int, seed: int) -> Any:
    """About the leading vectors (n, width) of a graph, from those of the graph of its groups, and so on."""
    coarse, group = coarsened(graph, seed)
    count, there = len(coarse.starts) - 1, {"device": group.device}
    L = laplacian(coarse)
    if count > _COARSE and count < _SHRINKS * len(group):
        V = _orthonormal(_from_groups(coarse, width, seed), L.null)
        V = _orthonormal(damped(L.S, V, 0.05 * LARGEST, 1.01 * LARGEST, _ONCE), L.null)
        V = _turned(L.S, V)[0]
    elif count > 2 * _COARSE or count <= width:  # a graph without groups
        drawn = torch.Generator(group.device).manual_seed(seed & (2**63 - 1))
        V = torch.randn(count, width, generator=drawn, **there)
    else:
        A = torch.zeros(count, count, dtype=torch.float64, **there)
        A[tails_of(coarse.starts), coarse.columns.long()] = -L.S.values.double()
        A.diagonal().add_(1.0)
        V = torch.linalg.eigh(A).eigenvectors[:, 1 : width + 1]
    fine = torch.segment_reduce(graph.values.double(), "sum", lengths=graph.starts.diff(), initial=0).sqrt()
    return ((V.double() * L.root[:, None])[group] * fine[:, None]).float()


def _turned(S: Graph, V: Any) -> tuple[Any, Any, Any]:
    """Vectors by the step of Rayleigh and Ritz, their products with the Laplacian, and the values, ascending."""
    image = product(S, V).double()
    values, turn = np.linalg.eigh((V.double().T @ image).cpu().numpy())
    turned = torch.as_tensor(turn, device=V.device)
    return V.double() @ turned, image @ turned, np.maximum(values, 0.0)


def product(S: Graph, V: Any) -> Any:
    """The Laplacian times vectors."""
    return _step(S, V, torch.zeros_like(V), 1.0, 0.0, 0.0)


def _step(S: Any, V: Any, W: Any, alpha: float, beta: float, gamma: float) -> Any:
    """``W ← α L V + β V + γ W``."""
    n, width = V.shape
    block = block_of(4)["BR"]
    chebyshev[(triton.cdiv(n, block),)](V, W, *S, n, alpha, beta, gamma, BR=block, BC=16, BW=width, num_warps=2)
    return W


def damped(S: Any, V: Any, low: float, high: float, degree: int) -> Any:
    """Chebyshev's polynomial of the Laplacian, small from ``low`` to ``high``, times ``V``."""
    centre, half = (high + low) / 2, (high - low) / 2
    sigma = first = half / -centre  # scaled so that the polynomial is 1 at 0
    before, now = V.clone(), _step(S, V, torch.zeros_like(V), first / half, -first * centre / half, 0.0)
    for _ in range(degree - 1):
        onward = 1 / (2 / first - sigma)
        before, now = now, _step(S, now, before, 2 * onward / half, -2 * onward * centre / half, -sigma * onward)
        sigma = onward
    return now


def _orthonormal(V: Any, null: Any) -> Any:
    """An orthonormal basis, orthogonal to ``null``, of the columns of V: by eigenvectors of their products, twice."""
    V = V.double()
    for _ in range(2):
        V = V - null @ (null.T @ V)
        V = V / V.norm(dim=0)
        values, turn = np.linalg.eigh((V.T @ V).cpu().numpy())
        V = V @ torch.as_tensor(turn / np.sqrt(np.maximum(values, 1e-14)), device=V.device)
    return V.float()
