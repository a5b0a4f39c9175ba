"""Sequential selection of features: those that serve an estimator, found one at a time.

Forward: begin with none and add the feature that lowers the validation error most, while it falls by more than ``tol``
(ε). Backward: begin with all and remove the one that raises it least, while it rises by less. Floating (Pudil,
Novovičová and Kittler 1994) takes steps back where that gives a better set of the size.
"""

from collections.abc import Iterable
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring

from lowdim.data import evaluation, features, options, validation
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.persist import ModelFileError, fields
from lowdim.solve.criteria.choose import criterion_for
from lowdim.solve.criteria.refit import score_without_features
from lowdim.solve.sequential_search import Search, Step
from lowdim.work import memory, thread_limit
from lowdim.work.user_warnings import warn

DIRECTIONS = ("forward", "backward", "floating_forward", "floating_backward")
# Estimators by short name; these can be kept in model files.
ESTIMATORS = {
    "knn": ("sklearn.neighbors", "KNeighborsClassifier"),
    "lda": ("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis"),
    "logistic": ("sklearn.linear_model", "LogisticRegression"),
    "bayes": ("sklearn.naive_bayes", "GaussianNB"),
    "linear": ("sklearn.linear_model", "LinearRegression"),
    "ridge": ("sklearn.linear_model", "Ridge"),
    "knn_regressor": ("sklearn.neighbors", "KNeighborsRegressor"),
}


def estimator_named(name: str) -> Any:
    """New estimator of a short name in :data:`ESTIMATORS`."""
    module, class_name = ESTIMATORS[name]
    return getattr(import_module(module), class_name)()


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


class SequentialSelector(SelectorMixin, Reducer):
    """Selection of features by cross-validation, one at a time.

    Scores of least squares, ridge, linear discriminant and nearest-neighbour estimators are computed without refits
    and are those of refits; other estimators are refitted for each candidate. Ties go to the first candidate.

    Parameters
    ----------
    estimator : scikit-learn estimator or None
        Estimator to select features for. None is ``KNeighborsClassifier()`` for labels and ``LinearRegression()`` for
        numbers.
    direction : {"forward", "backward", "floating_forward", "floating_backward"}
        Add features to the empty set, remove them from the full set, or either with steps back where they improve the
        score.
    n_features : int, "auto" or "best"
        Number of features (of groups, if ``groups`` is given): an integer; as many as ``tol`` allows; or the set
        with the best score on the whole path, the smallest of ties.
    tol : float
        Threshold of ``"auto"``: forward selection stops when the score rises by no more than this, backward when it
        would fall by as much. The empty set scores as the most frequent label or the mean; at least one feature is
        selected.
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
    n_features_ : int
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
    >>> chosen = lowdim.SequentialSelector().fit(X, y)
    >>> chosen.get_feature_names_out().tolist(), chosen.history_["feature"]
    (['x2', 'x3'], [None, 3, 2])
    """

    _sparse = True
    _needs_targets = True
    _rules = {
        "estimator": _estimator,
        "direction": options.one_of(*DIRECTIONS),
        "n_features": options.integer(1) | options.one_of("auto", "best"),
        "tol": options.real(),
        "scoring": _scoring,
        "cv": _folds,
        "groups": _columns,
        "keep": _columns,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            "support_": fields.array("d", kind="b"),
            "n_features_": fields.count(low=1, most="d"),
            "score_": fields.number(),
            "scores_": fields.array("s", finite=False),
            "estimator_name_": fields.text(),
            "history_": fields.mapping(fields.plain),
        }

    def __init__(
        self,
        estimator: Any = None,
        *,
        direction: str = "forward",
        n_features: int | str = "auto",
        tol: float = 1e-3,
        scoring: Any = None,
        cv: Any = 5,
        groups: Any = None,
        keep: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _ask_memory(self, n: int, d: int) -> None:
        """Distances between all rows, which nearest neighbours keep, and the rows of the folds."""
        memory.require(8.0 * n * n + 48.0 * n * d, f"SequentialSelector: {n:,} rows", "Pass fewer rows.")

    @fitting
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> "SequentialSelector":
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
        SequentialSelector
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2, scan=not evaluation.takes_gaps(self.estimator))
        if y is not None or evaluation.needs_targets(self.estimator):
            y = validation.targets(self._name, y, X)
        names = getattr(self, "feature_names_in_", np.arange(X.shape[1]))
        units, labels = features.units_of(self.groups, names)
        kept = features.units_kept(self.keep, names, units)
        self._size(len(units), len(kept), True)
        estimator = self.estimator if self.estimator is not None else _default(y)
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
        forward, floating = self.direction.endswith("forward"), self.direction.startswith("floating")
        size = self._size(len(units), len(kept), forward)
        scorer = check_scoring(estimator, self.scoring)
        criterion = criterion_for(estimator, X, y, splits, self.scoring, scorer)
        start = kept if forward else list(range(len(units)))
        told: set[int] = set()

        def failed(reasons: dict[int, str], all_did: bool) -> None:
            if all_did and not told and len(set(reasons.values())) == 1 and (len(reasons) > 1 or not start):
                raise ValueError(
                    f"SequentialSelector: {type(estimator).__name__} must be able to fit and score some candidate; all "
                    f"{len(reasons)} of the first step failed ({next(iter(reasons.values()))}). Check the "
                    "estimator, the scoring, y and cv."
                )
            for unit in [u for u in reasons if u not in told]:
                text = f"feature {labels[unit]!r} could not be scored and was skipped ({reasons[unit]})."
                warn(f"SequentialSelector: {text} Check the column, or leave it out.")
            told.update(reasons)

        if start:
            outcome = criterion.score([f for u in start for f in units[u]])
            scores = outcome.scores[0]
            if np.isnan(scores).any():
                raise ValueError(
                    f"SequentialSelector: {type(estimator).__name__} must fit the features it starts with; it failed: "
                    f"{next(iter(outcome.failures.values()), 'no score')}. Use direction='forward' or correct the data."
                )
        else:
            scores = score_without_features(estimator, X, y, splits, scorer)
        search = Search(criterion, units, start, scores, kept, failed)
        return search.run(forward, floating, size, self.tol if self.n_features == "auto" else None)

    def _keep(self, path: list[Step], units: list[list[int]], labels: list[Any], estimator: str) -> None:
        """Set the fitted attributes from the path."""
        best = path[-1]
        if self.n_features != "auto":
            fits = [s for s in path if s.chosen and (self.n_features == "best" or len(s.chosen) == self.n_features)]
            best = max(fits, key=lambda s: (round(s.score, 12), -len(s.chosen)), default=path[0])
        if not best.chosen or (isinstance(self.n_features, Integral) and len(best.chosen) != self.n_features):
            raise ValueError(
                f"SequentialSelector: candidates that {estimator} can be fitted on are needed; none was left after "
                f"{len(path[-1].chosen)} features. Check the estimator, the data and cv; the warnings say what failed."
            )
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[[f for u in best.chosen for f in units[u]]] = True
        self.n_features_ = int(self.support_.sum())
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

    def _size(self, n_units: int, n_kept: int, forward: bool) -> int:
        """Number of units at which the path ends."""
        if isinstance(self.n_features, str):
            return n_units if forward else max(n_kept, 1)
        if not max(n_kept, 1) <= self.n_features <= n_units:
            what = "features" if self.groups is None else "groups"
            raise ValueError(
                f"SequentialSelector: n_features must be at least the {n_kept} kept and at most the {n_units} {what} "
                f"there are; got {self.n_features}. Change it, or pass 'auto'."
            )
        return int(self.n_features)

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        return super()._outline(method, dtype)[0], dtype

    @applying
    def transform(self, X: Any) -> Any:
        """Columns of ``X`` that were chosen.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array or sparse matrix (n_samples, n_features_)
            The chosen columns.
        """
        X = self._take(X, reset=False, sparse=True, scan=not evaluation.takes_gaps(self.estimator))
        return X[:, np.flatnonzero(self.support_)]

    @applying
    def inverse_transform(self, X: Any) -> Any:
        """Rows of all features, with zeros for those that were not chosen.

        Parameters
        ----------
        X : of shape (n_samples, n_features_)
            The chosen columns.

        Returns
        -------
        array or sparse matrix (n_samples, n_features)
            The same columns in their original positions.
        """
        X = validation.rows(X, self._name, sparse=True)
        with validation.advising():
            return super().inverse_transform(X)

    def _check_state(self) -> None:
        super()._check_state()
        if self.support_.sum() != self.n_features_:
            raise ValueError(f"support_ holds {self.support_.sum()} features; n_features_ is {self.n_features_}")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.support_

    def _params_for_file(self) -> dict[str, Any]:
        """Parameters with the estimator as the name of its class and its own parameters."""
        params = super()._params_for_file()
        if self.estimator is not None:
            name = type(self.estimator).__name__
            if (type(self.estimator).__module__.rsplit("._", 1)[0], name) not in set(ESTIMATORS.values()):
                raise TypeError(
                    f"SequentialSelector: model files hold {', '.join(sorted(c for _, c in ESTIMATORS.values()))}; "
                    f"the estimator is a {name}. Call set_params(estimator=None) first: the selection itself is kept."
                )
            params["estimator"] = {"class": name, "params": self.estimator.get_params(deep=False)}
        return params

    @classmethod
    def _params_from_file(cls, params: dict[str, Any]) -> dict[str, Any]:
        kept = params.get("estimator")
        if kept is None:
            return params
        short = [s for s, (_, name) in ESTIMATORS.items() if isinstance(kept, dict) and name == kept.get("class")]
        if not short or not isinstance(kept.get("params"), dict):
            raise ModelFileError(f"A known estimator is needed; the file names {kept!r}. Use another copy of it.")
        return params | {"estimator": estimator_named(short[0]).set_params(**kept["params"])}


def _default(y: NDArray[Any]) -> Any:
    return estimator_named("linear" if evaluation.kind_of_targets(y).startswith("continuous") else "knn")
