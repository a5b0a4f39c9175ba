"""Partial least squares: directions of two views whose scores covary most, to predict one view or to relate both.

The weights of the pair a maximise ``wᵀ X_aᵀ Y_a c`` for lengths 1, with both views deflated by the pairs before (Wold
1975; Höskuldsson 1988). Where CCA divides by the variances within a view, PLS does not: directions that hardly vary
count for little, so that there may be more features than rows.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from lowdim.data import options, validation
from lowdim.methods.base import applying
from lowdim.methods.linear import LinearReducer
from lowdim.methods.two_views import TwoViewReducer
from lowdim.persist import fields
from lowdim.relate.cross_moments import cross_moments
from lowdim.relate.moment_states import Moments
from lowdim.solve.partial_least_squares import pairs, rotations
from lowdim.solve.projection import lift, project
from lowdim.work import dispatch, memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.finite import refuse_overflow
from lowdim.work.user_warnings import warn


class _PartialLeastSquares(TwoViewReducer, LinearReducer):
    """What both kinds share."""

    _canonical = False
    n_components: int
    scale: bool
    _rules = {
        "n_components": options.integer(1),
        "scale": options.flag,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        x, y = fields.array("d", "k"), fields.array("e", "k")
        return {
            **super()._state(),
            "y_components_": fields.array("k", "e"),
            "y_mean_": fields.array("e"),
            "scale_": fields.array("d", low=0),
            "y_scale_": fields.array("e", low=0),
            **{"x_weights_": x, "x_loadings_": x, "y_weights_": y, "y_loadings_": y},
            "x_explained_variance_ratio_": fields.array("k", low=0),
            "y_explained_variance_ratio_": fields.array("k", low=0),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _limit(self, n: int, d: int, e: int) -> tuple[int, str]:
        """Largest number of pairs, and what it is."""

    def _learn(self, X: Any, Y: Any) -> None:
        (n, d), e = X.shape, Y.shape[1]
        if n is not None:
            self._demand_count(*self._limit(n, d, e), "Lower it.")
        self._ask_memory(n or d, d, e)
        M, N, C = cross_moments(X, Y)
        self._demand_finite(X, M.mean)
        s, t = (self._deviations(S) for S in (M, N))
        S, R, B = M.scatter / np.outer(s, s), N.scatter / np.outer(t, t), C / np.outer(s, t)
        for A in (S, R, B):
            refuse_overflow(A, f"{self._name}: scatter of the views")
        found = pairs(S, R, B, self.n_components, canonical=self._canonical)
        k = self._found(len(found.x_squares))
        self._keep(found, M, N, s, t, float_dtype(X.dtype), float_dtype(Y.dtype))
        self.x_explained_variance_ratio_ = self._shares(found.x_loadings, found.x_squares, S)
        y_by = found.y_squares if self._canonical else found.x_squares
        self.y_explained_variance_ratio_ = self._shares(found.y_loadings, y_by, R)
        self.n_components_ = k

    def _found(self, k: int) -> int:
        if not k:
            raise ValueError(
                f"{self._name}: X and y that vary together are needed; got a constant one, or no covariance that can "
                "be told from rounding. Pass other columns, or X in larger units."
            )
        if k < self.n_components:
            warn(
                f"{self._name}: {k} pairs explain all that can be explained; got n_components={self.n_components}. The "
                "others are left out: lower it."
            )
        return k

    def _deviations(self, M: Moments) -> NDArray[np.float64]:
        """Standard deviations (divisor n − 1) of the columns under ``scale``, 1 for constant ones."""
        variance = np.diag(M.scatter) / max(M.weight - 1, 1)
        still = variance <= np.square(M.weight * np.finfo(float).eps * M.mean)
        return np.sqrt(np.where(still, 1.0, variance)) if self.scale else np.ones(len(variance))

    def _keep(self, found: Any, M: Moments, N: Moments, s: Any, t: Any, dtype: np.dtype, other: np.dtype) -> None:
        """Set the fitted attributes."""
        self.x_weights_, self.x_loadings_ = found.x_weights.astype(dtype), found.x_loadings.astype(dtype)
        self.y_weights_, self.y_loadings_ = found.y_weights.astype(other), found.y_loadings.astype(other)
        self.components_ = (rotations(found.x_weights, found.x_loadings) / s[:, None]).T.astype(dtype)
        self.y_components_ = (rotations(found.y_weights, found.y_loadings) / t[:, None]).T.astype(other)
        self.mean_, self.y_mean_ = M.mean.astype(dtype), N.mean.astype(other)
        self.scale_, self.y_scale_ = s.astype(dtype), t.astype(other)

    def _shares(self, loadings: NDArray, squares: NDArray, S: NDArray) -> NDArray:
        """Share (k,) of the scatter of a view that each score explains."""
        shares = np.square(loadings).sum(axis=0) * squares / max(float(np.trace(S)), np.finfo(float).tiny)
        return shares.astype(self.components_.dtype)

    def _ask_memory(self, n: int, d: int, e: int = 1) -> None:
        memory.require(
            8.0 * (5 * d * d + 5 * e * e + 4 * d * e) + 1e6,
            f"{self._name}: the covariances of {d:,} and {e:,} features",
            "Reduce the views first, for example by PCA.",
        )

    @property
    def x_rotations_(self) -> NDArray:
        """Rotations (n_features, n_components) of the scaled first view, as in scikit-learn."""
        return (self.components_ * self.scale_).T

    @property
    def y_rotations_(self) -> NDArray:
        """Rotations (n_targets, n_components) of the scaled second view, as in scikit-learn."""
        return (self.y_components_ * self.y_scale_).T

    @applying
    def inverse_transform(self, T: Any) -> NDArray:
        """Rows of the first view from their scores.

        Parameters
        ----------
        T : array (n_samples, n_components)
            Scores.

        Returns
        -------
        array (n_samples, n_features)
            ``m + T Pᵀ``, in the units of the data.
        """
        T = validation.scores(T, self._name, self.n_components_)
        return lift(T, (self.x_loadings_ * self.scale_[:, None]).T, self.mean_)

    def _second_scores(self, Y: Any) -> Any:
        V, mean = self.y_components_.astype(np.float64), self.y_mean_.astype(np.float64)
        return project(Y, V.T, mean, float_dtype(Y.dtype))

    @property
    def _n_targets(self) -> int:
        return len(self.y_mean_)


class PLSRegression(RegressorMixin, _PartialLeastSquares):
    """Partial least squares regression: the directions of X that covary with y, and the prediction of y from them.

    Parameters
    ----------
    n_components : int
        Number of directions.
    scale : bool
        Divide the columns of both views by their standard deviations first.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_, y_components_ : arrays (n_components_, n_features), (n_components_, n_targets)
        Directions as rows: scores are ``(x − mean_) components_ᵀ``. Scores of X are uncorrelated.
    coef_, intercept_ : arrays (n_targets, n_features), (n_targets,)
        ``y = (x − mean_) coef_ᵀ + intercept_``.
    x_weights_, x_loadings_, y_weights_, y_loadings_ : arrays (n_features or n_targets, n_components_)
        Weights and loadings of the scaled views; ``x_rotations_`` and ``y_rotations_`` as in scikit-learn.
    x_explained_variance_ratio_, y_explained_variance_ratio_ : arrays (n_components_,)
        Share of the variance of each view that each score of X explains.
    mean_, y_mean_, scale_, y_scale_ : arrays
        Means and scales of the columns.
    n_components_ : int
        Number of directions kept.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> pls = lowdim.PLSRegression(2).fit(X[:, :3], X[:, 3])
    >>> round(pls.score(X[:, :3], X[:, 3]), 3)
    0.883
    """

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "coef_": fields.array("e", "d"),
            "intercept_": fields.array("e"),
            "_one_target": fields.tested(_demand_flag),
        }

    def _limit(self, n: int, d: int, e: int) -> tuple[int, str]:
        return min(n - 1, d), "min(n_samples - 1, n_features)"

    def _keep(self, found: Any, M: Moments, N: Moments, s: Any, t: Any, dtype: np.dtype, other: np.dtype) -> None:
        super()._keep(found, M, N, s, t, dtype, other)
        coef = (rotations(found.x_weights, found.x_loadings) / s[:, None]) @ (found.y_loadings * t[:, None]).T
        self.coef_, self.intercept_ = coef.T.astype(dtype), N.mean.astype(dtype)

    def fit(self, X: Any, y: Any = None) -> "PLSRegression":
        """Learn the directions from the rows of ``X`` and what is to be predicted.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The features.
        y : of shape (n_samples, n_targets) or (n_samples,)
            The targets, numbers.

        Returns
        -------
        self
            This object.
        """
        super().fit(X, y)
        self._one_target = (y.ndim if hasattr(y, "ndim") else np.asarray(y).ndim) == 1
        return self

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        if method == "predict":
            return str(graph.affine(X, self.coef_.T, less=self.mean_, plus=self.intercept_))
        return super()._onnx(graph, X, method)

    @applying
    def predict(self, X: Any) -> NDArray:
        """Targets of the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_targets), or (n_samples,) where ``fit`` was given one column as a vector
            The predictions.
        """
        X = self._take(X, reset=False, sparse=self._sparse, scan=False)
        coef, mean = self.coef_.astype(np.float64), self.mean_.astype(np.float64)
        out = project(X, coef.T, mean, float_dtype(X.dtype))
        self._demand_finite(X, out)
        out = lift(out, np.eye(len(coef)), self.intercept_)
        return out[:, 0] if self._one_target else out

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination R² of the predictions for the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.
        y : of shape (n_samples, n_targets) or (n_samples,)
            The targets.
        sample_weight : array (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 for exact predictions, 0 for those of the mean.
        """
        dispatch.require_one_memory(X, f"{self._name}: score", "Compute r2 of predict(X) by Dask.")
        return float(super().score(X, y, sample_weight))

    def _outline(self, method: str, dtype: np.dtype) -> tuple[int | None, Any]:
        if method == "predict":
            return None if self._one_target else self._n_targets, float_dtype(dtype)
        return super()._outline(method, dtype)


class PLSCanonical(_PartialLeastSquares):
    """Canonical partial least squares: pairs of directions of two views whose scores covary most.

    Parameters
    ----------
    n_components : int
        Number of pairs of directions.
    scale : bool
        Divide the columns of both views by their standard deviations first.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_, y_components_ : arrays (n_components_, n_features), (n_components_, n_targets)
        Directions as rows: scores are ``(x − mean_) components_ᵀ``. Scores of each view are uncorrelated.
    x_weights_, x_loadings_, y_weights_, y_loadings_ : arrays (n_features or n_targets, n_components_)
        Weights, of length 1, and loadings of the scaled views; ``x_rotations_`` and ``y_rotations_`` as in
        scikit-learn.
    x_explained_variance_ratio_, y_explained_variance_ratio_ : arrays (n_components_,)
        Share of the variance of each view that its own score explains.
    mean_, y_mean_, scale_, y_scale_ : arrays
        Means and scales of the columns.
    n_components_ : int
        Number of pairs kept.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> pls = lowdim.PLSCanonical(1).fit(X[:, :2], X[:, 2:])
    >>> pls.x_explained_variance_ratio_.round(3).tolist()
    [0.548]
    """

    _canonical = True

    def _limit(self, n: int, d: int, e: int) -> tuple[int, str]:
        return min(n - 1, d, e), "min(n_samples - 1, n_features, n_targets)"


def _demand_flag(value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"must be a boolean; got {str(value)[:40]!r}")
