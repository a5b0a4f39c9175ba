"""Mergeable states of moments, shared by ``partial_fit``, files and tree reductions of partial results.

``S = S_a + S_b + (w_a w_b / w) (m_a − m_b)(m_a − m_b)ᵀ`` (Chan, Golub and LeVeque 1983).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.work.products import multiply

Doubles = NDArray[np.float64]
_FEW = 64  # rows of a scatter matrix at a time
_ROUNDING = 32 * np.finfo(float).eps  # of a mean, as a share of it


def less_outer(A: Doubles, a: Doubles, b: Doubles) -> None:
    """``A −= a bᵀ``, a few rows at a time: the product may be as large as A."""
    for start in range(0, len(A), _FEW):
        rows = slice(start, start + _FEW)
        A[rows] -= np.outer(a[rows], b)


class Moments(NamedTuple):
    """Total weight, mean (d,) and scatter ``Σ w (x − mean)(x − mean)ᵀ`` (d, d), and the rows of positive weight."""

    weight: float
    mean: Doubles
    scatter: Doubles
    rows: int = 0

    @property
    def variance(self) -> Doubles:
        """Variance (d,) of each column, with divisor n."""
        return np.diag(self.scatter) / self.weight

    def merge(self, other: "Moments") -> "Moments":
        """Moments of both sets of rows together."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        step = other.mean - self.mean
        scatter = self.scatter + other.scatter
        less_outer(scatter, -step, step * (self.weight * other.weight / weight))
        return Moments(weight, self.mean + step * (other.weight / weight), scatter, self.rows + other.rows)


class ClassMoments(NamedTuple):
    """Weight (C,) and mean (C, d) of each class, and the scatter (d, d) of all rows about the overall mean.

    ``rounded`` says that rows were multiplied in float32.
    """

    weights: Doubles
    means: Doubles
    scatter: Doubles
    rounded: bool = False

    @property
    def mean(self) -> Doubles:
        """Overall mean (d,)."""
        return self.weights @ self.means / self.weights.sum()

    def between(self) -> Doubles:
        """Matrix ``B`` (C, d) whose ``Bᵀ B`` is the scatter of the class means about the overall mean."""
        return np.sqrt(self.weights)[:, None] * (self.means - self.mean)

    def within(self) -> Doubles:
        """Scatter (d, d) of the rows about the means of their classes: what is left of the total.

        Zero for features that are constant within classes, rather than the rounding of the difference.
        """
        B = self.between()
        S = self.scatter - multiply(B.T, B)
        # Sums are about a shift, so only the means carry rounding of their size: an error e in a mean of spread s
        # changes what is between by 2se + e², and a real spread beside a large mean stays above that.
        spread, e = np.diag(self.scatter), _ROUNDING * np.abs(self.mean)
        total = self.weights.sum()
        still = np.diag(S) <= 1e-13 * spread + 2 * e * np.sqrt(total * np.maximum(spread, 0.0)) + total * np.square(e)
        S[still] = S[:, still] = 0.0
        return S

    def merge(self, other: "ClassMoments") -> "ClassMoments":
        """Moments of both sets of rows together, classes in the same order."""
        weights = self.weights + other.weights
        share = other.weights / np.where(weights > 0, weights, 1.0)
        means = self.means + share[:, None] * (other.means - self.means)
        both = Moments(float(self.weights.sum()), self.mean, self.scatter).merge(
            Moments(float(other.weights.sum()), other.mean, other.scatter)
        )
        return ClassMoments(weights, means, both.scatter, self.rounded or other.rounded)


class ColumnMoments(NamedTuple):
    """Total weight, mean (d,) and variance (d,) with divisor n of each column, and the rows of positive weight."""

    weight: float
    mean: Doubles
    variance: Doubles
    rows: int = 0

    def merge(self, other: "ColumnMoments") -> "ColumnMoments":
        """Moments of both sets of rows together."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        step, share = other.mean - self.mean, other.weight / weight
        variance = self.variance + share * (other.variance - self.variance) + share * (1 - share) * np.square(step)
        return ColumnMoments(weight, self.mean + share * step, variance, self.rows + other.rows)
