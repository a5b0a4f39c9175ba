"""Types that criteria share."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to train on, rows to test on


class CandidateScores(NamedTuple):
    """Scores (units, folds), NaN where a unit failed, and the reason, by its index among the units."""

    scores: Doubles
    failures: dict[int, str]


class Criterion(Protocol):
    """Scores of sets of features, one per fold; higher is better."""

    def score(self, selected: Sequence[int]) -> CandidateScores:
        """Scores (1, folds) of one set."""

    def around(self, selected: Sequence[int], units: Sequence[Sequence[int]], joining: bool) -> CandidateScores:
        """Scores of the sets that arise when each unit joins ``selected``, or leaves it."""
