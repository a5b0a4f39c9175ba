"""Moments of two views of the same rows: those of each, and how the two vary together."""

from typing import Any, NamedTuple

import numpy as np

from lowdim.relate.moment_states import Doubles, Moments
from lowdim.relate.moments import cross_scatter, moments
from lowdim.work.dispatch import operation


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


@operation(any_backend=True)
def cross_moments(X: Any, Y: Any) -> CrossMoments:
    """Moments of two views of the same rows, and between them.

    >>> cross_moments(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]])).between
    array([[2.]])
    """
    M, N = moments(X), moments(Y)
    return CrossMoments(M, N, cross_scatter(X, Y, M.mean, N.mean))
