"""Moments of two views of the same rows: those of each, and how the two vary together."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.moments import cross_scatter, moments
from lowdim.relate.states import Doubles, Moments
from lowdim.work.places import verb


class CrossMoments(NamedTuple):
    """Moments of two views of the same rows, and ``Σ (x − m_x)(y − m_y)ᵀ`` (d, e) between them."""

    x: Moments
    y: Moments
    between: Doubles

    def merge(self, other: "CrossMoments") -> "CrossMoments":
        """Moments of both sets of rows together."""
        share = self.x.weight * other.x.weight / (self.x.weight + other.x.weight)
        apart = np.outer(other.x.mean - self.x.mean, (other.y.mean - self.y.mean) * share)
        return CrossMoments(self.x.merge(other.x), self.y.merge(other.y), self.between + other.between + apart)


@verb(anywhere=True)
def cross_moments(X: NDArray, Y: NDArray) -> CrossMoments:
    """Moments of two views of the same rows, and between them.

    >>> cross_moments(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]])).between
    array([[2.]])
    """
    M, N = moments(X), moments(Y)
    return CrossMoments(M, N, cross_scatter(X, Y, M.mean, N.mean))
