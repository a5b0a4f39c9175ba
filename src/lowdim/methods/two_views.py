"""Base class of methods on two views of the same rows: fitting, scores of either view, and the number of pairs."""

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import NDArray

from lowdim.data import validation
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.work.devices import moved
from lowdim.work.dispatch import require_one_device
from lowdim.work.user_warnings import warn


class TwoViewReducer(Reducer, ABC):
    """A method that learns pairs of directions, whose ``super().transform`` gives the scores of the first view.

    A subclass fits in ``_learn`` and computes the scores of the second view in ``_second_scores``.
    """

    _two_views = True
    n_components: int | None
    ridge: float
    correlations_: NDArray
    n_components_: int

    @abstractmethod
    def _learn(self, X: Any, Y: Any) -> None:
        """Set the fitted attributes from two views whose rows correspond."""

    @abstractmethod
    def _second_scores(self, Y: Any) -> Any:
        """Scores of rows of the second view."""

    @property
    @abstractmethod
    def _n_targets(self) -> int:
        """Columns of the second view."""

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the pairs of directions from two views of the same rows.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The first view.
        y : of shape (n_samples, n_targets) or (n_samples,)
            The second view, numbers.

        Returns
        -------
        self
            This object.
        """
        require_one_device(self._name, X, y, "X and y")
        given, X = X, self._take(X, reset=True, sparse=self._sparse, minimum=2)
        self._learn(X, moved(validation.second_view(self._name, y, X, given=given), self._device, self._name))
        return self

    @applying
    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of the rows of ``X``, and of ``y`` where given.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The first view, with the features seen in ``fit``.
        y : of shape (n_samples, n_targets) or (n_samples,), optional
            The second view.

        Returns
        -------
        array (n_samples, n_components) or pair of arrays
            The scores of the first view, or of both.
        """
        scores = super().transform(X)
        if y is None:
            return scores
        Y = validation.second_view(self._name, y, scores, n_columns=self._n_targets)
        return scores, self._second_scores(moved(Y, self._device, self._name))

    def _demand_count(self, limit: int, what: str, advice: str) -> None:
        """Refuse more pairs than ``limit``, which is ``what``."""
        if self.n_components is not None and self.n_components > limit:
            raise ValueError(
                f"{self._name}: n_components must be at most {what} = {limit}; got {self.n_components}. {advice}"
            )

    def _count(self, rank: int, what: str, advice: str) -> int:
        """Number of pairs to keep out of ``rank``."""
        if not rank:
            raise ValueError(
                f"{self._name}: views that vary are needed; got one of constant columns, or of differences whose "
                "squares vanish. Pass other columns, or multiply the data by a constant that brings them near 1."
            )
        if rank < (self.n_components or 1):
            raise ValueError(
                f"{self._name}: n_components must be at most the {what} {rank} of the smaller view; got "
                f"{self.n_components}. {advice}"
            )
        return self.n_components or rank

    def _warn_of_ranks(self, n: int, rank: int, other: int) -> None:
        """Warn where two views of these ranks must share directions of the n − 1 that n rows have."""
        shared = rank + other - (n - 1)
        if self.ridge == 0 and shared > 0:
            warn(
                f"{self._name}: without a ridge the ranks of the views must add up to at most n_samples - 1 = {n - 1}; "
                f"got {rank} and {other}, so {shared} of the correlations {'is' if shared == 1 else 'are'} 1 for any "
                "data. Pass a ridge, such as 1e-3, or more rows, and judge on new rows.",
            )
