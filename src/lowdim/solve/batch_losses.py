"""Losses of UMAP and of t-SNE by a batch of a map, with their slopes: what a network is trained on.

Each is the loss of the whole map, divided by the sum of its edges, in expectation.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from lowdim import _native

_SOFT = _native.EPOCH_SOFT
_MEMORY = 0.95  # of the running mean of similarities, by which slopes are divided


@dataclass
class BatchCrossEntropy:
    """``log(1 + a s^b)`` of an edge, and for each ``−c log(1 − w)``, for squared lengths ``s`` in ``unit``, plus ε."""

    a: float
    b: float
    negatives: float
    unit: float

    def attraction(self, torch: Any, squares: Any) -> tuple[Any, Any]:
        """Loss of edges, and its slope."""
        s = squares / self.unit**2 + _SOFT
        t = self.a * s**self.b
        return torch.log1p(t), self.b * t / (s * (1 + t) * self.unit**2)

    def repulsion(self, torch: Any, squares: Any, ends: Any, weights: Any) -> tuple[Any, Any]:
        """Loss of pairs, and its slopes."""
        s = squares / self.unit**2 + _SOFT
        t = self.a * s**self.b
        V = weights * (ends[:, None] + ends) * (0.5 * self.negatives)
        return (V * torch.log1p(1 / t)).sum(0).sum(), V * (-self.b / (s * (1 + t) * self.unit**2))


@dataclass
class BatchDivergence:
    """``−log f(s)`` of an edge, and the logarithm of the sum of ``f`` over all pairs, with Student's ``f``.

    The slope of a logarithm of a mean is not the mean of slopes: it is divided by a running mean of the batches.
    """

    dof: float
    exaggeration: float
    n: int
    _mean: float = field(default=math.nan)

    def attraction(self, torch: Any, squares: Any) -> tuple[Any, Any]:
        """Loss of edges, and its slope."""
        half = self.exaggeration * (self.dof + 1) / 2
        return half * torch.log1p(squares / self.dof), half / (self.dof + squares)

    def repulsion(self, torch: Any, squares: Any, ends: Any, weights: Any) -> tuple[Any, Any]:  # noqa: ARG002  # no degrees
        """Loss of pairs, and its slopes."""
        half = (self.dof + 1) / 2
        f = weights * (1 + squares / self.dof) ** -half
        found = f.sum(0).sum()
        self._mean = float(found) if math.isnan(self._mean) else _MEMORY * self._mean + (1 - _MEMORY) * float(found)
        return torch.log(found * self.n * (self.n - 1)), f * (-half / self._mean) / (self.dof + squares)
