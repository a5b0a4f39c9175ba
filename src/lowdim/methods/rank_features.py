"""Filters: features ranked by a score of each column with the target, without fitting any estimator.

F of an analysis of variance, mutual information (Kraskov and others 2004; Ross 2014), ReliefF (Kononenko 1994) and
variance look at columns one at a time; mRMR (Peng, Long and Ding 2005) takes the column of largest information less its
mean redundancy with those before.
"""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from lowdim.data import options, validation
from lowdim.data.labels import labels
from lowdim.methods.base import fitting
from lowdim.methods.selector import FeatureSelector
from lowdim.persist import fields
from lowdim.relate import column_scores as scores
from lowdim.relate.moments import column_moments
from lowdim.solve.ranking import CORRECTIONS, corrected, greedy_order, permutation_p_values
from lowdim.work import memory, thread_limit
from lowdim.work.random import seed_of, stream
from lowdim.work.user_warnings import warn

BY = ("anova", "mutual_info", "mrmr", "relief", "variance")
_SHOWN = 40  # features whose correlations are kept for the picture
_NAMED = 5  # constant features that a warning names

_mask = options.one_of("auto") | options.Rule(
    lambda value: not isinstance(value, str) and np.ndim(value) == 1, "a mask or list of features"
)


class RankFeatures(FeatureSelector):
    """Selection of features by a filter: each is scored with the target, and the best are kept.

    Parameters
    ----------
    by : {"anova", "mutual_info", "mrmr", "relief", "variance"}
        Score: F of an analysis of variance (of a correlation, for numbers); mutual information by nearest neighbours;
        information less the mean redundancy with better features; ReliefF, which sees features that matter together;
        variance, which needs no target.
    n_features_to_select : int, float or "auto"
        Number of features: an integer; a proportion of all; ``"auto"``, those that are significant where there are
        p-values, else half.
    target : {"auto", "labels", "numbers"}
        What ``y`` holds; ``"auto"`` takes text, booleans and integers as labels, unless these have more than 10 values
        and each occurs less than 20 times on average.
    discrete_features : "auto", mask or list of features
        Features whose mutual information is of counts; ``"auto"``, those of which a value occurs 20 times on average.
    n_neighbors : int or "auto"
        Neighbours of mutual information (auto: 3) and of ReliefF (10).
    n_permutations : int
        Permutations of ``y`` for p-values; 0 for none. Those of "anova" without permutations are of the F distribution.
    correction : {"bh", "holm", "bonferroni", "none"}
        Correction of p-values for the number of features: the share of false discoveries (Benjamini and Hochberg
        1995), or the chance of any (Holm 1979).
    alpha : float
        Corrected p-value up to which a feature is significant.
    random_state : int, Generator, RandomState or None
        Seed of the permutations, and of the 2000 rows that ReliefF draws from more.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays. Columns
        are sorted, and neighbours found, on the CPU.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    scores_ : array (n_features_in_,)
        Score of each feature; more is better.
    ranking_ : array (n_features_in_,)
        Rank of each feature, from 1.
    pvalues_, corrected_pvalues_ : arrays (n_features_in_,)
        p-values, where there are any; those of "mrmr" are of the mutual information alone.
    support_ : array (n_features_in_,) of bool
        Mask of the selected features.
    n_features_to_select_ : int
        Number of selected features.
    redundancy_ : array (m, m)
        Absolute correlations of the m ≤ 40 best features, best first; :func:`lowdim.show.redundancy` draws them.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> chosen = lowdim.RankFeatures("mrmr", n_features_to_select=2).fit(X, y)
    >>> chosen.ranking_.tolist(), chosen.get_feature_names_out().tolist()
    ([4, 2, 1, 3], ['x1', 'x2'])
    """

    _rules = {
        "by": options.one_of(*BY),
        "n_features_to_select": options.integer(1) | options.share() | options.one_of("auto"),
        "target": options.one_of("auto", "labels", "numbers"),
        "discrete_features": _mask,
        "n_neighbors": options.integer(1) | options.one_of("auto"),
        "n_permutations": options.integer(0),
        "correction": options.one_of(*CORRECTIONS),
        "alpha": options.real(0, 1),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    @property
    def _needs_targets(self) -> bool:  # type: ignore[override]
        return self.by != "variance"

    @property
    def _sparse(self) -> bool:  # type: ignore[override]
        return self.by != "relief"

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "scores_": fields.array("d", finite=False),
            "ranking_": fields.array("d", kind="i", low=1),
            "pvalues_": fields.optional(fields.array("d", low=0, high=1)),
            "corrected_pvalues_": fields.optional(fields.array("d", low=0, high=1)),
            "redundancy_": fields.array("m", "m", low=0, high=1),
        }

    def __init__(
        self,
        by: str = "mutual_info",
        *,
        n_features_to_select: float | str = "auto",
        target: str = "auto",
        discrete_features: Any = "auto",
        n_neighbors: int | str = "auto",
        n_permutations: int = 0,
        correction: str = "bh",
        alpha: float = 0.05,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _ask_memory(self, n: int, d: int) -> None:
        dense = 3.0 * n * d if self.by == "relief" else 0.0
        sorted_ = 56.0 * n * thread_limit.current()  # a column of each thread
        needed = 8.0 * (dense + (self.n_permutations + 1) * (n + 2.0 * d)) + sorted_ + 6e6
        memory.require(needed, f"RankFeatures: {n:,} rows of {d:,} features", "Pass fewer rows or permutations.")

    @fitting
    def fit(self, X: Any, y: Any = None) -> "RankFeatures":
        """Rank the features of ``X`` by what they say about ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data.
        y : array (n_samples,)
            Labels or numbers; ignored by ``by="variance"``.

        Returns
        -------
        RankFeatures
            This object.
        """
        X = self._take(X, reset=True, sparse=self._sparse, minimum=2)
        self._demand_options(X.shape[1])
        target, n_classes = self._target(X, y)
        self._ask_memory(*X.shape)
        seed, M = seed_of(self.random_state), column_moments(X)
        self._name_constants(M.variance)
        targets = self._permuted(target, seed)
        found = M.variance[:, None] if target is None else self._scored(X, targets, n_classes, seed)
        p = self._p_values(found, X.shape[0], n_classes)
        order = np.argsort(-found[:, 0], kind="stable")
        self.scores_ = found[:, 0].copy()
        if self.by == "mrmr":
            order, self.scores_ = greedy_order(self.scores_, scores.redundancies(X), self._size(X.shape[1]))
        self._keep(X, order, p)
        return self

    def _check_state(self) -> None:
        super()._check_state()
        if (np.sort(self.ranking_) != np.arange(1, self.n_features_in_ + 1)).any():
            raise ValueError("ranking_ must hold each rank once")

    def _demand_options(self, d: int) -> None:
        if self.by == "variance" and self.n_permutations:
            raise ValueError(
                f"RankFeatures: p-values need a target, which by='variance' has not; got n_permutations="
                f"{self.n_permutations}. Pass 0."
            )
        if isinstance(self.n_features_to_select, Integral) and int(self.n_features_to_select) > d:
            raise ValueError(
                f"RankFeatures: n_features_to_select must be at most n_features = {d}; got "
                f"{self.n_features_to_select}. Lower it."
            )
        self._discrete(d)

    def _target(self, X: Any, y: Any) -> tuple[Any, int]:
        """Classes and how many there are, or numbers and 0, or None."""
        if self.by == "variance":
            return None, 0
        y = validation.targets(self._name, y, X)
        kind = self.target
        if kind == "auto":
            few = y.dtype.kind not in "iuf" or _few_whole(y)
            kind = "labels" if few else "numbers"
        if kind == "labels":
            found = labels(self._name, y, X)
            if found.counts.max() < 2:
                raise ValueError(
                    f"{self._name}: some class must have two rows; got {len(found.classes):,} classes of one row. Pass "
                    "target='numbers' if they are numbers."
                )
            return found.codes, len(found.classes)
        if y.ndim != 1 or y.dtype.kind not in "biuf":
            raise ValueError(
                f"{self._name}: y must be one column of numbers; got {y.dtype} of shape {y.shape}. Convert it, or pass "
                "target='labels'."
            )
        y = y.astype(np.float64)
        if not np.ptp(y):
            raise ValueError(f"{self._name}: y must vary; got {y[0]:g} in all rows. Pass another target.")
        return y, 0

    def _name_constants(self, variance: NDArray[np.float64]) -> None:
        """Warn of features that say nothing about any target."""
        still = np.flatnonzero(variance == 0)
        if len(still):
            names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))[still[:_NAMED]]
            more = ", …" if len(still) > _NAMED else ""
            warn(
                f"{self._name}: {len(still)} of {len(variance)} features are constant and get the score 0 ("
                f"{', '.join(map(str, names))}{more}). Drop them."
            )

    def _permuted(self, target: Any, seed: int) -> Any:
        """The target and its permutations as rows."""
        if target is None:
            return None
        random = stream(seed, "permutations")
        return np.stack([target, *(random.permutation(target) for _ in range(self.n_permutations))])

    def _scored(self, X: Any, targets: Any, n_classes: int, seed: int) -> NDArray[np.float64]:
        """Scores (d, t) of the features with the target and its permutations; 0 for constant features."""
        k = (10 if self.by == "relief" else 3) if self.n_neighbors == "auto" else int(self.n_neighbors)
        if self.by == "anova":
            found = scores.f_of_labels(X, targets, n_classes) if n_classes else scores.f_of_numbers(X, targets)
            return np.nan_to_num(found, nan=0.0, posinf=np.inf)
        if self.by == "relief":
            of = [
                scores.relief_of_labels(X, y, n_classes, k, seed)
                if n_classes
                else scores.relief_of_numbers(X, y, k, seed)
                for y in targets
            ]
            return np.stack(of, axis=1)
        given = self._discrete(X.shape[1])
        discrete = scores.discrete_columns(X) if given is None else given
        return scores.information(X, targets, n_classes, discrete, k)

    def _discrete(self, d: int) -> NDArray[np.bool_] | None:
        """Mask of the features that are discrete, None to find out."""
        given = self.discrete_features
        if isinstance(given, str):
            return None
        given, mask = np.asarray(given), np.zeros(d, bool)
        right = len(given) == d if given.dtype == bool else given.dtype.kind in "iu" or not len(given)
        if not right or (given.dtype != bool and len(given) and not (given.min() >= 0 and given.max() < d)):
            raise ValueError(
                f"RankFeatures: discrete_features must be a mask of the {d} features, or positions of some; got "
                f"{given.dtype} of shape {given.shape}. Correct it, or pass 'auto'."
            )
        mask[given if given.dtype == bool else given.astype(np.intp)] = True
        return mask

    def _p_values(self, found: NDArray[np.float64], n: int, n_classes: int) -> NDArray[np.float64] | None:
        """p-values by permutations, or of the F distribution, or None."""
        if self.n_permutations:
            return permutation_p_values(found)
        if self.by != "anova":
            return None
        free = (n_classes - 1, n - n_classes) if n_classes else (1, n - 2)
        return np.asarray(fdtrc(*free, found[:, 0]))

    def _size(self, d: int) -> int:
        """Number of features to select where p-values do not say."""
        asked = self.n_features_to_select
        return (
            max(d // 2, 1) if asked == "auto" else int(asked) if isinstance(asked, Integral) else max(int(d * asked), 1)
        )

    def _keep(self, X: Any, order: NDArray[np.intp], p: NDArray[np.float64] | None) -> None:
        """Set the fitted attributes."""
        d = len(order)
        self.ranking_ = np.empty(d, np.int64)
        self.ranking_[order] = np.arange(1, d + 1)
        for name in ("pvalues_", "corrected_pvalues_"):
            self.__dict__.pop(name, None)
        if p is not None:
            self.pvalues_, self.corrected_pvalues_ = p, corrected(p, self.correction)
        self.support_ = self.ranking_ <= self._size(d)
        if self.n_features_to_select == "auto" and p is not None:
            self.support_ = self.corrected_pvalues_ <= self.alpha
            if not self.support_.any():
                few = f" Of {self.n_permutations} permutations no p-value is below {1 / (self.n_permutations + 1):.2g}."
                text = few if self.n_permutations else ""
                warn(
                    f"RankFeatures: no feature is significant at alpha={self.alpha:g} (correction "
                    f"{self.correction!r}); the best one is kept.{text} Raise alpha, pass more rows"
                    f"{' or permutations' if text else ''}, or a number of features."
                )
                self.support_ = self.ranking_ == 1
        self.n_features_to_select_ = int(self.support_.sum())
        best = order[:_SHOWN]
        self.redundancy_ = np.abs(scores.correlations(X)(best)[:, best])


def _few_whole(y: NDArray[Any]) -> bool:
    """Whether numbers are integers of few values."""
    return bool((y == np.rint(y)).all()) and len(np.unique(y)) <= max(10, y.size // 20)
