"""Sparse PCA: directions of large variance in which few features take part (Zou, Hastie and Tibshirani 2006)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lowdim.data import options, validation
from lowdim.data.sizes import demand_components
from lowdim.methods.base import applying, fitting
from lowdim.methods.linear import LinearReducer
from lowdim.persist import fields
from lowdim.relate.moments import moments
from lowdim.solve import sparse_components
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.solve.projection import lift
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.user_warnings import warn


class Path(NamedTuple):
    """Penalties (m,), non-zero loadings (m, k) of each component, and the share of the variance explained (m,)."""

    alphas: NDArray[np.float64]
    nonzeros: NDArray[np.int64]
    explained: NDArray[np.float64]


class SparsePCA(LinearReducer):
    """PCA whose components have few loadings that are not 0, by an elastic net.

    Parameters
    ----------
    n_components : int
        Number of components.
    alpha : float in [0, 1)
        Penalty of the loadings, as a share of that which makes them all 0: 0 is PCA.
    ridge_alpha : float
        Quadratic penalty of the loadings, in units of the mean variance; it only matters where features depend on each
        other.
    max_iter : int
        Most steps.
    tol : float
        The fit ends when loadings change by at most this share of their length in a step.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        Loadings, rows of length 1, not orthogonal; in each the largest is positive.
    explained_variance_, explained_variance_ratio_ : arrays (n_components_,)
        Variance that each score adds to those before it (divisor n − 1), and its share of the total.
    n_nonzero_ : array (n_components_,)
        Loadings of each component that are not 0.
    mean_ : array (n_features,)
        Mean of the rows, which is subtracted.
    n_iter_ : int
        Number of steps.
    n_components_ : int
        Number of components.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("wine")
    >>> spca = lowdim.SparsePCA(2, alpha=0.4).fit(X / X.std(axis=0))
    >>> spca.components_.shape, bool((spca.n_nonzero_ < 13).all())
    ((2, 13), True)
    """

    _sparse = True
    _scale_matters = True
    _rules = {
        "n_components": options.integer(1),
        "alpha": options.real(0, 1, closed="left"),
        "ridge_alpha": options.real(0, closed="left"),
        "max_iter": options.integer(1),
        "tol": options.real(0),
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "explained_variance_": fields.array("k", low=0),
            "explained_variance_ratio_": fields.array("k", low=0),
            "n_iter_": fields.count(),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-5,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @fitting
    def fit(self, X: Any, y: Any = None) -> "SparsePCA":
        """Learn the components from ``X`` (array, DataFrame, memory map or sparse matrix).

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data; integers are read as they are, block by block.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2, scan=False)
        dtype = float_dtype(X.dtype)
        S, mean = self._covariance(X)
        V = self._principal(S)
        found = self._sparsest(S, V, self.alpha)
        if found.change > self.tol:
            warn(
                f"SparsePCA: loadings still changed by {found.change:.1e} of their length in step {found.steps}, above "
                "tol. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        U = sparse_components.unit(found.components)
        self.components_ = (U * signs(U)[:, None]).astype(dtype)
        added, n = sparse_components.adjusted_variances(S, U), X.shape[0]
        self.explained_variance_ = (added * n / (n - 1)).astype(dtype)
        self.explained_variance_ratio_ = (added / (np.trace(S) or 1.0)).astype(dtype)
        self.mean_, self.n_iter_, self.n_components_ = mean.astype(dtype), found.steps, len(U)
        return self

    @property
    def n_nonzero_(self) -> NDArray[np.int64]:
        """Number of loadings of each component that are not 0."""
        check_is_fitted(self)
        return np.count_nonzero(self.components_, axis=1).astype(np.int64)

    def _covariance(self, X: Any) -> tuple[NDArray, NDArray]:
        n, d = X.shape
        demand_components(
            self._name, self.n_components, min(n, d), f"min(n_samples, n_features) = {min(n, d)}", "pass more data"
        )
        self._ask_memory(n, d)
        M = moments(X)
        self._demand_finite(X, M.mean)
        S = M.scatter / M.weight
        if not 0 < np.trace(S) < np.finfo(float_dtype(X.dtype)).max or np.diag(S).max() < 1e-30:
            raise ValueError("SparsePCA: rows of X must differ, by squares that fit in its type. Scale X.")
        return S, M.mean

    def _principal(self, S: NDArray) -> NDArray:
        pairs = eigh_top(S.copy(), self.n_components)
        return np.ascontiguousarray(pairs.vectors.T)

    def _sparsest(
        self, S: NDArray, V: NDArray, alpha: float, start: sparse_components.Sparse | None = None
    ) -> sparse_components.Sparse:
        """Components for a penalty; without one, those of PCA."""
        if alpha == 0:
            return sparse_components.Sparse(V, V.T, 1, 0.0)
        ridge = self.ridge_alpha * float(np.trace(S)) / len(S)
        return sparse_components.find(S, V, alpha, ridge, self.max_iter, self.tol, start)

    def path(self, X: Any, alphas: Any = None) -> Path:
        """Number of loadings that are not 0, and the variance explained, for several penalties.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data.
        alphas : array (m,), optional
            Penalties as ``alpha``; None takes 20 from 0 to 0.95.

        Returns
        -------
        Path
            ``alphas`` (m,) in ascending order, ``nonzeros`` (m, n_components) and ``explained`` (m,), a share of the
            total variance. Each fit begins where the one before ended.
        """
        asked = np.linspace(0, 0.95, 20) if alphas is None else np.sort(np.asarray(alphas, np.float64).ravel())
        if not len(asked) or not np.isfinite(asked).all() or asked[0] < 0 or asked[-1] >= 1:
            raise ValueError("SparsePCA: alphas must be numbers in [0, 1), at least one; got others. Change alphas.")
        self._check_parameters()
        S, _ = self._covariance(self._take(X, reset=not hasattr(self, "n_features_in_"), sparse=True, minimum=2))
        V, found, nonzeros, explained = self._principal(S), None, [], []
        for alpha in asked:
            found = self._sparsest(S, V, float(alpha), found if alpha else None)
            U = sparse_components.unit(found.components)
            nonzeros.append(np.count_nonzero(U, axis=1))
            explained.append(sparse_components.adjusted_variances(S, U).sum() / np.trace(S))
        return Path(asked, np.array(nonzeros), np.array(explained))

    def _ask_memory(self, n: int, d: int) -> None:
        what = f"{self._name}: covariances of {d:,} features in {n:,} rows"
        memory.require(8.0 * (2.9 * d * d + 8.0 * self.n_components * d), what, "Keep fewer features.")

    @applying
    def inverse_transform(self, Y: Any) -> NDArray:
        """Rows in the span of the components that have these scores.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Scores.

        Returns
        -------
        array (n_samples, n_features)
            ``m + Y (B Bᵀ)⁻¹ B``, the projection of the rows on the span.
        """
        Y = validation.scores(Y, self._name, len(self.components_))
        return lift(Y, np.linalg.pinv(self.components_.astype(np.float64)).T, self.mean_)
