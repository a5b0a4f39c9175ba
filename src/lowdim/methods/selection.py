"""Sequential selection of features: those that serve an estimator, found one at a time.

Forward: begin with none and add the feature that raises the validation score most, while it rises by ``tol`` (ε) or
more. Backward: begin with all and remove the one that lowers it least, while it changes by ``tol`` or more, a negative
number. Floating (Pudil, Novovičová and Kittler 1994) takes steps back where that gives a better set of the size.
"""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from lowdim.data import evaluation, features, known_estimators, options, validation
from lowdim.methods.base import fitting
from lowdim.methods.selector import FeatureSelector
from lowdim.persist import ModelFileError, fields
from lowdim.solve.criteria.choose import criterion_for
from lowdim.solve.criteria.refit import score_without_features
from lowdim.solve.sequential_search import Search, Step
from lowdim.work import memory, thread_limit
from lowdim.work.user_warnings import warn

DIRECTIONS = ("forward", "backward")
_TOL = 1e-3  # gain of a step that counts, and loss that does not

_estimator = options.none | options.Rule(
    lambda value: hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type),
    "a scikit-learn estimator",
)
_folds = options.integer(2) | options.Rule(
    lambda value: hasattr(value, "split") or (isinstance(value, Iterable) and not isinstance(value, str)),
    "a splitter or a list of (train, test) rows",
)
_scoring = options.none | options.Rule(
    lambda value: isinstance(value, str) or callable(value), "the name of a scorer or a callable"
)
_columns = options.none | options.Rule(
    lambda value: isinstance(value, Iterable) and not isinstance(value, str), "a list"
)


class SequentialFeatureSelector(FeatureSelector):
    """Selection of features by cross-validation, one at a time.

    Scores of least squares, ridge, linear discriminant and nearest-neighbour estimators are computed without refits
    and are those of refits; other estimators are refitted for each candidate. Ties go to the first candidate.

    Parameters
    ----------
    estimator : scikit-learn estimator or None
        Estimator to select features for. None is ``KNeighborsClassifier()`` for labels and ``LinearRegression()`` for
        numbers.
    n_features_to_select : int, float, "auto" or "best"
        Number of features (of groups, if ``groups`` is given): an integer; a proportion of all; as many as ``tol``
        allows; or the set with the best score on the whole path, the smallest of ties.
    tol : float, None or "auto"
        Threshold of ``n_features_to_select="auto"``: the selection stops when a step would change the score by less;
        backward, it is negative to allow a loss. ``"auto"`` is 0.001 forward and −0.001 backward; None selects half of
        the features. The empty set scores as the most frequent label or the mean; at least one feature is selected.
    direction : {"forward", "backward"}
        Add features to the empty set, or remove them from the full set.
    floating : bool
        Also take steps back where they give the best set of its size so far.
    scoring : str, callable or None
        Scorer as in scikit-learn; None is the estimator's own ``score``.
    cv : int, splitter or list of (train, test) rows
        Cross-validation; the same folds are used for every candidate.
    groups : list of one label per feature, or None
        Features with the same label are added and removed together.
    keep : list of features or None
        Features that are always selected, by position or name, or as a boolean mask.
    n_jobs : int or None
        Number of threads for kernels and of processes for refits; None uses all cores available to the process. Results
        do not depend on it.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    support_ : array (n_features_in_,) of bool
        Mask of the selected features.
    n_features_to_select_ : int
        Number of selected features.
    score_ : float
        Mean score of the selected set.
    history_ : dict of lists
        A table of the path, row by row: ``step``, ``action`` ("start", "add", "remove"), ``feature`` (name, position
        or label of the group), ``n_features``, ``score``, ``spread`` (standard deviation over folds), ``seconds``.
    scores_ : array (n_steps,)
        Mean scores along the path.
    estimator_name_ : str
        Class of the estimator that was used.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> chosen = lowdim.SequentialFeatureSelector().fit(X, y)
    >>> chosen.get_feature_names_out().tolist(), chosen.history_["feature"]
    (['x2', 'x3'], [None, 3, 2])
    """

    _needs_targets = True
    _rules = {
        "estimator": _estimator,
        "n_features_to_select": options.integer(1) | options.share() | options.one_of("auto", "best"),
        "tol": options.real() | options.none | options.one_of("auto"),
        "direction": options.one_of(*DIRECTIONS),
        "floating": options.flag,
        "scoring": _scoring,
        "cv": _folds,
        "groups": _columns,
        "keep": _columns,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "score_": fields.number(),
            "scores_": fields.array("s", finite=False),
            "estimator_name_": fields.text(),
            "history_": fields.mapping(fields.plain),
        }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: float | str = "auto",
        tol: float | str | None = "auto",
        direction: str = "forward",
        floating: bool = False,
        scoring: Any = None,
        cv: Any = 5,
        groups: Any = None,
        keep: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def _takes_gaps(self) -> bool:
        return evaluation.takes_gaps(self.estimator)

    def _ask_memory(self, n: int, d: int) -> None:
        """Distances between all rows, which nearest neighbours keep, and the rows of the folds."""
        memory.require(8.0 * n * n + 48.0 * n * d, f"SequentialFeatureSelector: {n:,} rows", "Pass fewer rows.")

    @fitting
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> "SequentialFeatureSelector":
        """Choose features of ``X`` for predicting ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data; missing values (NaN) are allowed if the estimator accepts them.
        y : array (n_samples,), optional
            Labels or numbers to be predicted; None for an unsupervised estimator.
        groups : array (n_samples,), optional
            Groups of rows for the splitter, which keeps each group together.

        Returns
        -------
        SequentialFeatureSelector
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2)
        if y is not None or evaluation.needs_targets(self.estimator):
            y = validation.targets(self._name, y, X)
        names = getattr(self, "feature_names_in_", np.arange(X.shape[1]))
        units, labels = features.units_of(self.groups, names)
        kept = features.units_kept(self.keep, names, units)
        self._size(len(units), len(kept), True)
        estimator = self.estimator if self.estimator is not None else known_estimators.default_for(y)
        evaluation.demand_scorer(self.scoring)
        y = None if y is None else evaluation.targets_for(estimator, y)
        splits = evaluation.splits_of(self.cv, estimator, X, y, groups)
        with thread_limit.alone():  # many small products; and the same bits for any n_jobs
            path = self._search(estimator, X, y, splits, units, labels, kept)
        self._keep(path, units, labels, type(estimator).__name__)
        return self

    def _search(
        self, estimator: Any, X: Any, y: Any, splits: Any, units: list[list[int]], labels: list[Any], kept: list[int]
    ) -> list[Step]:
        """Path of the search, from the features kept or from all."""
        forward = self.direction == "forward"
        size = self._size(len(units), len(kept), forward)
        scorer = check_scoring(estimator, self.scoring)
        criterion = criterion_for(estimator, X, y, splits, self.scoring, scorer)
        start = kept if forward else list(range(len(units)))
        told: set[int] = set()

        def failed(reasons: dict[int, str], all_did: bool) -> None:
            if all_did and not told and len(set(reasons.values())) == 1 and (len(reasons) > 1 or not start):
                raise ValueError(
                    f"SequentialFeatureSelector: {type(estimator).__name__} must be able to fit and score some "
                    f"candidate; all {len(reasons)} of the first step failed ({next(iter(reasons.values()))}). Check "
                    "the estimator, the scoring, y and cv."
                )
            for unit in [u for u in reasons if u not in told]:
                text = f"feature {labels[unit]!r} could not be scored and was skipped ({reasons[unit]})."
                warn(f"SequentialFeatureSelector: {text} Check the column, or leave it out.")
            told.update(reasons)

        if start:
            outcome = criterion.score([f for u in start for f in units[u]])
            scores = outcome.scores[0]
            if np.isnan(scores).any():
                raise ValueError(
                    f"SequentialFeatureSelector: {type(estimator).__name__} must fit the features it starts with; it "
                    f"failed: {next(iter(outcome.failures.values()), 'no score')}. Use direction='forward' or "
                    "correct the data."
                )
        else:
            scores = score_without_features(estimator, X, y, splits, scorer)
        search = Search(criterion, units, start, scores, kept, failed)
        tol = (_TOL if forward else -_TOL) if self.tol == "auto" else self.tol
        return search.run(forward, self.floating, size, tol if self.n_features_to_select == "auto" else None)

    def _keep(self, path: list[Step], units: list[list[int]], labels: list[Any], estimator: str) -> None:
        """Set the fitted attributes from the path."""
        best, asked = path[-1], self._asked(len(units))
        if asked != "auto":
            fits = [s for s in path if s.chosen and (asked == "best" or len(s.chosen) == asked)]
            best = max(fits, key=lambda s: (round(s.score, 12), -len(s.chosen)), default=path[0])
        if not best.chosen or (isinstance(asked, int) and len(best.chosen) != asked):
            raise ValueError(
                f"SequentialFeatureSelector: candidates that {estimator} can be fitted on are needed; none was left "
                f"after {len(path[-1].chosen)} features. Check the estimator, the data and cv; the warnings say what "
                "failed."
            )
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[[f for u in best.chosen for f in units[u]]] = True
        self.n_features_to_select_ = int(self.support_.sum())
        self.score_ = best.score
        self.scores_ = np.array([step.score for step in path])
        self.estimator_name_ = estimator
        self.history_ = {
            "step": list(range(len(path))),
            "action": [step.action for step in path],
            "feature": [None if step.unit < 0 else labels[step.unit] for step in path],
            "n_features": [sum(len(units[u]) for u in step.chosen) for step in path],
            "score": [step.score for step in path],
            "spread": [float(step.scores.std()) if np.isfinite(step.score) else np.nan for step in path],
            "seconds": [step.seconds for step in path],
        }

    def _asked(self, n_units: int) -> int | str:
        """Number of units to select, "auto" or "best"."""
        asked = self.n_features_to_select
        if asked == "auto" and self.tol is None:
            return max(n_units // 2, 1)
        if isinstance(asked, str):
            return asked
        return int(asked) if isinstance(asked, Integral) else max(int(n_units * asked), 1)

    def _size(self, n_units: int, n_kept: int, forward: bool) -> int:
        """Number of units at which the path ends."""
        asked = self._asked(n_units)
        if isinstance(asked, str):
            return n_units if forward else max(n_kept, 1)
        if not max(n_kept, 1) <= asked <= n_units:
            what = "features" if self.groups is None else "groups"
            raise ValueError(
                f"SequentialFeatureSelector: n_features_to_select must be at least the {n_kept} kept and at most the "
                f"{n_units} {what} there are; got {asked}. Change it, or pass 'auto'."
            )
        return asked

    def _params_for_file(self) -> dict[str, Any]:
        """Parameters with the estimator as the name of its class and its own parameters."""
        params = super()._params_for_file()
        if self.estimator is not None:
            params["estimator"] = known_estimators.as_stored(self.estimator)
        return params

    @classmethod
    def _params_from_file(cls, params: dict[str, Any]) -> dict[str, Any]:
        kept = params.get("estimator")
        if kept is None:
            return params
        try:
            return params | {"estimator": known_estimators.from_stored(kept)}
        except ValueError as error:
            raise ModelFileError(str(error)) from None
