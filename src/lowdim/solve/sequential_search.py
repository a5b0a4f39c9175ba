"""Search for a good set of units (features, or groups of them), one at a time, forwards or backwards.

Forward: add the unit that scores best. Backward: drop the one whose removal costs least. Floating (Pudil, Novovičová
and Kittler 1994): after each step, take units back as long as the smaller (or larger) set is better than any of its
size.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from lowdim.solve.criteria.criterion import CandidateScores, Criterion, Doubles
from lowdim.work.progress import note, stage

_TIE = 1e-12  # scores closer than this are equal, so that rounding does not decide


class Step(NamedTuple):
    """One step of the path: ``unit`` added or removed (−1 for the start), the chosen units, their scores by fold."""

    action: str
    unit: int
    chosen: tuple[int, ...]
    scores: Doubles
    seconds: float

    @property
    def score(self) -> float:
        """Mean over the folds."""
        return float(self.scores.mean())


class Search:
    """A path of sets from ``start``.

    ``failed(reasons, all_did)`` is called with the reasons why units could not be scored, and whether none could.
    """

    def __init__(
        self,
        criterion: Criterion,
        units: Sequence[Sequence[int]],
        start: Sequence[int],
        scores: Doubles,
        fixed: Sequence[int],
        failed: Callable[[dict[int, str], bool], None],
    ) -> None:
        self.criterion, self.units, self.fixed, self.failed = criterion, units, set(fixed), failed
        self.path = [Step("start", -1, tuple(start), scores, 0.0)]
        self.best = {len(start): self.path[0].score}  # best score of each size so far

    def run(self, forward: bool, floating: bool, size: int, tol: float | None) -> list[Step]:
        """Continue until ``size`` units are chosen, or until a step would change the score by less than ``tol``."""
        total = abs(size - len(self.path[0].chosen))
        with stage("selection", total=total) as tick:
            while len(self.path[-1].chosen) != size:
                began = perf_counter()
                here, step = self.path[-1], self._next(forward)
                if step is None:
                    break
                if tol is not None and here.chosen and step.score - here.score < tol - _TIE:
                    break
                self._take(step, began)
                while floating and self._revise(not forward, step.unit):
                    pass
                tick(abs(len(self.path[-1].chosen) - len(self.path[0].chosen)))
                note(f"{len(self.path[-1].chosen)} chosen, score {self.path[-1].score:.4f}")
        return self.path

    def _next(self, joining: bool, spare: int = -1) -> Step | None:
        """Best next step; on ties that of the lowest unit."""
        chosen = self.path[-1].chosen
        if joining:
            candidates = [u for u in range(len(self.units)) if u not in chosen]
        else:
            candidates = [u for u in sorted(chosen) if u not in self.fixed and u != spare]
        if not candidates or (not joining and len(chosen) <= 1):
            return None
        features = [f for u in chosen for f in self.units[u]]
        found: CandidateScores = self.criterion.around(features, [self.units[u] for u in candidates], joining)
        means = found.scores.mean(axis=1)
        if found.failures:
            reasons = {candidates[place]: why for place, why in found.failures.items()}
            self.failed(reasons, bool(np.isnan(means).all()))
        if np.isnan(means).all():
            return None
        top = float(np.nanmax(means))
        first = int(np.argmax(means >= top - _TIE * max(1.0, abs(top))))
        unit = candidates[first]
        after = (*chosen, unit) if joining else tuple(u for u in chosen if u != unit)
        return Step("add" if joining else "remove", unit, after, found.scores[first], 0.0)

    def _take(self, step: Step, began: float) -> None:
        self.path.append(step._replace(seconds=perf_counter() - began))
        size = len(step.chosen)
        self.best[size] = max(self.best.get(size, -np.inf), step.score)

    def _revise(self, joining: bool, newest: int) -> bool:
        """Take one step back if that gives the best set of its size; the newest unit stays as it is."""
        began = perf_counter()
        step = self._next(joining, spare=newest)
        if step is None or step.unit == newest:
            return False
        known = self.best.get(len(step.chosen), -np.inf)
        if not step.score > known + _TIE * max(1.0, abs(known)):
            return False
        self._take(step, began)
        return True
