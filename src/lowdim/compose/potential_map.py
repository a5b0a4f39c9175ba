"""Potentials of a diffusion and their map (Moon and others 2019).

A random walk ``P = D⁻¹ V`` between similar rows is taken ``t`` steps; ``U = −log Pᵗ`` makes differences between small
probabilities count, and the distances between rows of ``U`` are scaled to a map. Many rows walk by way of landmarks:
groups of rows, from a row to a group and from there to a row.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.relate.partition import AXES
from lowdim.work import thread_limit
from lowdim.work.products import centres, group, multiply
from lowdim.work.progress import stage
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
LONGEST = 100  # steps among which the number is chosen
_TINY = 1e-7  # added to probabilities
_ITERATIONS, _EXTRA = 4, 8  # of the subspace that landmarks are chosen in


class Walk(NamedTuple):
    """Symmetric form (m, m) of a walk between landmarks, their degrees (m,), and the steps (n, m) to them.

    ``towards`` is None where all rows are landmarks.
    """

    symmetric: Doubles
    degrees: Doubles
    towards: sp.csr_array | None


def walk_of(V: sp.csr_array, groups: NDArray | None) -> Walk:
    """The walk by similarities ``V`` (n, n), between ``groups`` (n,) of rows if they are given.

    From a group to a row it goes by the similarities of its members, and from a row to a group likewise.
    """
    degrees = np.asarray(V.sum(axis=1), np.float64).ravel()
    if groups is None:
        half = 1 / np.sqrt(degrees)
        return Walk(V.toarray() * half[:, None] * half, degrees, None)
    n = V.shape[0]
    members = sp.csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, int(groups.max()) + 1))
    shared = sp.csr_array(V @ members)
    ours = np.asarray(shared.sum(axis=0), np.float64).ravel()
    towards = sp.csr_array(sp.diags_array(1 / degrees) @ shared)
    half = sp.diags_array(1 / np.sqrt(ours))
    return Walk((half @ (shared.T @ towards) @ half).toarray(), ours, towards)


def landmarks(V: sp.csr_array, count: int, seed: int) -> NDArray[np.int64]:
    """Groups (n,) of rows between which the walk goes fast: k-means of its slowest modes, ``count`` at most."""
    half = 1 / np.sqrt(np.asarray(V.sum(axis=1), np.float64).ravel())
    A = sp.csr_array(sp.diags_array(half) @ V @ sp.diags_array(half))
    n, width = V.shape[0], min(AXES, V.shape[0] - 1)
    Q = stream(seed, "modes").standard_normal((n, min(n, width + _EXTRA)))
    with thread_limit.alone(), stage("landmarks"):
        for _ in range(_ITERATIONS):
            Q = np.linalg.qr(A @ (A @ Q))[0]
        values, vectors = np.linalg.eigh(Q.T @ (A @ Q))
    at = np.argsort(-np.abs(values), kind="stable")[:width]
    Z = np.ascontiguousarray((half[:, None] * multiply(Q, vectors[:, at])) * values[at] / half.mean(), np.float32)
    order, starts = group(Z, centres(Z[stream(seed, "landmarks").permutation(n)], count))
    groups = np.empty(n, np.int64)
    groups[order] = np.repeat(np.cumsum(np.diff(starts) > 0) - 1, np.diff(starts))
    return groups


def entropies(walk: Walk, most: int = LONGEST) -> Doubles:
    """Von Neumann entropy (most,) of the walk after 1, 2, … steps: that of the shares of powers of its singular values.

    >>> V = sp.csr_array(np.eye(4) + 0.1)
    >>> entropies(walk_of(V, None), 2).round(3)
    array([1.375, 1.335])
    """
    half = np.sqrt(walk.degrees)
    P = walk.symmetric * (half / half[:, None])
    with thread_limit.alone():
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(multiply(P, P.T)), 0.0))
    share = (values[values > 0] / values.max())[None] ** np.arange(1, most + 1)[:, None]
    share /= share.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.where(share > 0, share * np.log(share), 0.0).sum(axis=1)


def knee(curve: Doubles) -> int:
    """Number from 0 of the point at which two straight lines, before and after it, fit a curve best.

    >>> knee(np.array([9.0, 6.0, 3.0, 2.9, 2.8, 2.7]))
    2
    """
    x = np.arange(len(curve), dtype=np.float64)

    def misfit(some: slice) -> float:
        slope, level = np.polyfit(x[some], curve[some], 1) if some.stop - some.start > 1 else (0.0, curve[some][0])
        return float(np.abs(curve[some] - slope * x[some] - level).sum())

    within = range(1, len(curve) - 1)
    return min(within, key=lambda i: misfit(slice(0, i + 1)) + misfit(slice(i, len(curve)))) if within else 0


def potentials(walk: Walk, t: int, gamma: float) -> Doubles:
    """Potentials (m, m) of the landmarks after ``t`` steps.

    ``−log Pᵗ`` for ``gamma`` 1, ``Pᵗ`` for −1, and between them ``2/(1 − γ) (Pᵗ)^((1 − γ)/2)``.
    """
    S, power = walk.symmetric.astype(np.float32), None  # sums of what is not negative keep their relative precision
    with stage("walk"):
        while True:  # by squaring
            if t % 2:
                power = S if power is None else multiply(power, S)
            t //= 2
            if not t:
                break
            S = multiply(S, S)
    assert power is not None
    half = np.sqrt(walk.degrees)
    P = np.maximum(power * (half / half[:, None]), 0.0)
    if gamma == 1:
        return -np.log(P + _TINY)
    return P if gamma == -1 else 2 / (1 - gamma) * P ** ((1 - gamma) / 2)
