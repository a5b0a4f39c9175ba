"""Smoothest coordinates of a graph on a device: its components, and eigenvectors of its Laplacian by polynomials."""

from math import log, sqrt
from typing import Any

import numpy as np
import torch
import triton

from lowdim.backends.torch.cross_entropy import block_of
from lowdim.backends.torch.kernels.chebyshev import chebyshev
from lowdim.work.progress import note, stage

_WIDTH = 8  # vectors at a time, beside those wanted
_DEGREES = 6000  # total degree before the best vectors so far are returned
_SURE = 0.1  # residual relative to the last eigenvalue wanted
_LARGEST = 2.0  # eigenvalue that a normalised Laplacian can have


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


def smoothest(starts: Any, columns: Any, values: Any, k: int, seed: int, tol: float) -> Any:
    """Coordinates (n, k) of a connected graph, in float64; see :mod:`lowdim.compose.spectral_map`.

    Chebyshev's polynomials that are small on the unwanted part of the spectrum are applied to a block of vectors, with
    the step of Rayleigh and Ritz after each.
    """
    n, device = len(starts) - 1, starts.device
    degrees = torch.segment_reduce(values.double(), "sum", lengths=starts.diff(), initial=0)
    root = degrees.rsqrt()
    tails = torch.arange(n, device=device).repeat_interleave(starts.diff())
    S = (starts, columns, (values * root[tails] * root[columns.long()]).float())
    null = (degrees.sqrt() / degrees.sum().sqrt())[:, None]
    width = triton.next_power_of_2(k + _WIDTH - 2)
    drawn = torch.Generator(device).manual_seed(seed & (2**63 - 1))
    V = _orthonormal(torch.randn(n, width, device=device, generator=drawn), null)
    low, high, growth, reach, used = 0.05 * _LARGEST, 1.01 * _LARGEST, 8.0, 0.05, 0
    best: tuple[float, Any] = (np.inf, None)
    with stage("eigenvectors"):
        while True:
            degree = int(np.clip(growth / sqrt(reach), 20, 2000))
            V = _orthonormal(_damped(S, V, low, high, degree), null)
            used += degree
            image = _step(S, V, torch.zeros_like(V), 1.0, 0.0, 0.0).double()
            values_, turn = np.linalg.eigh((V.double().T @ image).cpu().numpy())
            turned = torch.as_tensor(turn, device=device)
            V, image = (V.double() @ turned), image @ turned
            values_ = np.maximum(values_, 0.0)
            apart = image[:, :k] - V[:, :k] * torch.as_tensor(values_[:k], device=device)
            residual = float(apart.norm(dim=0).max()) / _LARGEST
            note(f"residual {residual:.1e}")
            best = min(best, (residual, V[:, :k]), key=lambda one: one[0])
            sure = residual <= tol and residual <= _SURE * float(values_[k - 1]) / _LARGEST
            if sure or used >= _DEGREES or residual > 2 * best[0]:
                break
            V = V.float()
            low = float(np.clip(values_[-1], 1e-6 * high, 0.5 * high))
            reach = max(low - float(values_[k - 1]), 0.05 * low) / high
            growth = float(np.clip(log(10 * residual / tol) / 2, 1.0, 8.0))
    return best[1] * root[:, None] * degrees.sum().sqrt()


def _step(S: Any, V: Any, W: Any, alpha: float, beta: float, gamma: float) -> Any:
    """``W ← α L V + β V + γ W``."""
    n, width = V.shape
    block = block_of(4)["BR"]
    chebyshev[(triton.cdiv(n, block),)](V, W, *S, n, alpha, beta, gamma, BR=block, BC=16, BW=width, num_warps=2)
    return W


def _damped(S: Any, V: Any, low: float, high: float, degree: int) -> Any:
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
