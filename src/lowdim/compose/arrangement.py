"""Where the connected components of a graph go in an initial layout of all of them.

A component with a share ``p`` of the rows is a disk of radius ``√p``. Their centres approximate the distances between
the means of the components, but keep the disks apart; where no means are known, the largest is in the middle.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose.stress_starts import classical_start, starts_of_new
from lowdim.relate.pairwise import pairwise
from lowdim.relate.row_norms import squared_norms
from lowdim.solve import smacof
from lowdim.work import thread_limit
from lowdim.work.blockwise import float_dtype, row_blocks

Doubles = NDArray[np.float64]
_MOST = 300  # components whose centres are found together; smaller ones are placed among these
_STEPS = 200  # of the stress
_TURNS = 50  # in which disks that overlap are pushed apart
_WIDTH = 4.0  # of the layout: centres farther apart are brought together
_GAP = 1.2  # of disks, in the sum of their radii


def means_of(X: Any, part: NDArray[np.intp], sizes: NDArray[np.intp], *, unit: bool = False) -> Doubles:
    """Means (C, d) of the rows of each part, dense or CSR, at length 1 if ``unit``.

    >>> means_of(np.array([[1.0, 1.0], [3.0, 1.0], [0.0, 5.0]]), np.array([0, 0, 1]), np.array([2, 1]))
    array([[2., 1.],
           [0., 5.]])
    """
    if sp.issparse(X):
        shares = _shares(X, part, sizes, unit=unit)
        members = sp.csr_array((shares, (part, np.arange(len(part)))), shape=(len(sizes), len(part)))
        return np.asarray((members @ X).todense(), dtype=np.float64)
    means = np.zeros((len(sizes), X.shape[1]))
    for rows, block in row_blocks(X, float_dtype(X.dtype)):
        shares = _shares(block, part[rows], sizes, unit=unit)
        some, at = np.unique(part[rows], return_inverse=True)
        means[some] += sp.csr_array((shares, (at, np.arange(len(block)))), shape=(len(some), len(block))) @ block
    return means


def _shares(X: Any, part: NDArray[np.intp], sizes: NDArray[np.intp], *, unit: bool) -> Doubles:
    """By which the rows (n,) enter the mean of their part."""
    if not unit:
        return 1.0 / sizes[part]
    norms = np.sqrt(squared_norms(X, np.float64))
    return 1.0 / (sizes[part] * np.where(norms > 0, norms, 1.0))


def centres(sizes: NDArray[np.intp], k: int, seed: int, means: Doubles | None) -> Doubles:
    """Centres (C, k) of parts with so many rows, in a layout of width 4: by the distances of their ``means`` (C, d)."""
    share = sizes / sizes.sum()
    order = np.argsort(-sizes, kind="stable")
    with thread_limit.alone():  # the same bits for any number of threads
        found = None if means is None else _scaled(means[order], share[order], k, seed)
    at = np.empty((len(sizes), k))
    if k == 1:  # side by side, in the order found
        order = order if found is None else order[np.argsort(found[:, 0], kind="stable")]
        at[order, 0] = 2 * (np.cumsum(share[order]) - share[order] / 2)
    else:
        at[order] = _sunflower(share[order], k) if found is None else found
    return at


def _sunflower(share: Doubles, k: int) -> Doubles:
    """The largest in the middle, the others outwards, on areas proportional to their numbers of rows."""
    done = np.cumsum(share) - share
    radius, angle = np.where(done, 2 * np.sqrt(done + share / 2), 0.0), np.arange(len(share)) * np.pi * (3 - np.sqrt(5))
    centre = np.zeros((len(share), k))
    centre[:, 0], centre[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    return centre


def _scaled(means: Doubles, share: Doubles, k: int, seed: int) -> Doubles | None:
    """Scaling of the distances between means, the largest parts first; None if all are equal."""
    means = means / (np.abs(means).max() or 1.0)
    few, radius = min(len(share), _MOST), np.sqrt(share)
    D = pairwise(means[:few], "euclidean", means, dtype=np.float32)
    pairs = share[:, None] * share[:few]
    pairs[np.arange(few), np.arange(few)] = 0.0
    size = float(np.sqrt((pairs * np.square(D)).sum() / pairs.sum()))
    if size == 0.0:
        return None
    apart = _GAP * (radius[:, None] + radius[:few])
    D = np.clip(D * (_WIDTH / 2 / size), apart, np.maximum(apart, _WIDTH)).astype(np.float32)
    own = D[:few]
    np.fill_diagonal(own, 0.0)
    start = classical_start(own, None, min(k, few - 1), seed)
    start = np.pad(start, ((0, 0), (0, k - start.shape[1])))  # few means span few dimensions
    weights = np.outer(radius[:few], radius[:few]).astype(np.float32)
    Y = smacof.majorise(own, start, weights=weights, max_iter=_STEPS, tol=1e-4).positions
    Y = _pushed_apart(Y, apart[:few])
    if few == len(share):
        return Y
    rest = np.ascontiguousarray(D[few:])
    Z, _ = smacof.place(rest, Y, starts_of_new(rest, None, Y)[0], weights=None, max_iter=_STEPS, tol=1e-4)
    return np.concatenate([Y, Z])


def _pushed_apart(Y: Doubles, apart: Doubles) -> Doubles:
    """Centres (C, k) of disks that must be ``apart`` (C, C), moved by what overlaps; the smaller disk moves more."""
    mass = np.diag(apart)
    yields = mass / (mass[:, None] + mass)  # share of the overlap that a disk moves by: the other's of their sum
    for _ in range(_TURNS):
        gap = Y[:, None] - Y
        d = np.sqrt(np.square(gap).sum(axis=2))
        over = np.where(d < apart, (apart - d) / np.maximum(d, 1e-12), 0.0) * yields
        np.fill_diagonal(over, 0.0)
        if not (over > 0.01).any():
            break
        Y = Y + 0.5 * (over[:, :, None] * gap).sum(axis=1)
    return Y
