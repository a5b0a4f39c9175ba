"""Turn, scale and shift a map so that it lies on another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.shared_rows import partners
from lowdim.methods.anchoring import positions
from lowdim.solve.procrustes import motion


@dataclass(frozen=True, eq=False)
class Procrustes:
    """A map brought onto another; returned by :func:`lowdim.procrustes`.

    Attributes
    ----------
    embedding : array (n, k)
        The map, after ``scale · Y rotation + shift``.
    rotation : array (k, k)
        Rotation, with or without a reflection.
    scale : float
        Factor of all lengths.
    shift : array (k,)
        Shift after rotation and scale.
    residual : float
        Share of the other map's variance that the map does not reach: the mean squared distance of shared rows over
        that of the other map's rows from their mean. 0 if the maps have one shape, about 1 if they have nothing in
        common.
    shared : array (n,)
        For each row the row of the other map, −1 for none.
    """

    embedding: NDArray[np.float64]
    rotation: NDArray[np.float64]
    scale: float
    shift: NDArray[np.float64]
    residual: float
    shared: NDArray[np.int64]


def procrustes(Y: Any, like: Any, *, shared: Any = None, scale: bool = True) -> Procrustes:
    """Bring a map onto another by rotation, reflection, scale and shift: what no map of neighbours determines.

    Distances within the map keep their proportions. For two maps of any methods, of the same rows or of some.

    Parameters
    ----------
    Y : array (n, k), fitted model or data frame
        The map to be moved.
    like : array (m, k), fitted model or data frame
        The map to be met.
    shared : array, pair of arrays or data frame, optional
        Which rows are the same: for each row of ``Y`` that of ``like``, −1 for none; a pair of arrays of row numbers;
        or ``like`` as a data frame, or its index, matched by the labels of ``Y``. By default all, in their order.
    scale : bool
        Whether lengths may be multiplied by a number.

    Returns
    -------
    Procrustes
        The moved map, the motion and what it leaves.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> pca, mds = lowdim.PCA(2).fit_transform(X), lowdim.MDS(random_state=0).fit_transform(X)
    >>> found = lowdim.procrustes(mds, like=pca)
    >>> found.embedding.shape, found.residual < 0.01
    ((150, 2), True)
    """
    A, B = positions(Y, "procrustes", "Y"), positions(like, "procrustes", "like")
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"procrustes: the maps must have as many columns; got {A.shape[1]} and {B.shape[1]}. Pass maps of one "
            "number of dimensions."
        )
    if shared is None and len(A) != len(B):
        raise ValueError(
            f"procrustes: maps of {len(A)} and {len(B)} rows: pass shared=, which of their rows are the same."
        )
    other = np.arange(len(A)) if shared is None else partners(shared, Y, len(A), len(B), "procrustes")
    rows = np.flatnonzero(other >= 0)
    onto = B[other[rows]]
    found = motion(A[rows], onto, scaled=scale)
    gaps, size = np.square(found.of(A[rows]) - onto).sum(), np.square(onto - onto.mean(axis=0)).sum()
    residual = float(gaps / size) if size > 0 else 0.0
    return Procrustes(found.of(A), found.rotation, found.scale, found.shift, residual, other)
