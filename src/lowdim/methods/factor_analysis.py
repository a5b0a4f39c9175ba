"""Factor analysis: few common factors, and noise of its own for each feature, ``x = m + Lᵀ f + ε``.

With ``f ~ N(0, I)`` and ``ε ~ N(0, Ψ)``, Ψ diagonal, rows have the covariance ``LᵀL + Ψ`` (Spearman 1904; Lawley 1940).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lowdim.data import options
from lowdim.data.sizes import demand_components
from lowdim.methods.base import applying, fitting
from lowdim.methods.linear import LinearReducer
from lowdim.persist import fields
from lowdim.relate.gram import Centred
from lowdim.relate.moment_states import Moments
from lowdim.relate.moments import column_moments, moments
from lowdim.solve import factors
from lowdim.solve.projection import squared_lengths
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.user_warnings import warn


class FactorAnalysis(LinearReducer):
    """Factor analysis by maximum likelihood, with rotations.

    Parameters
    ----------
    n_components : int or None
        Number of factors; None is ``min(n_samples, n_features)``.
    rotation : None, "varimax", "quartimax" or "promax"
        Rotation to loadings that are simpler to read; after ``"promax"`` factors are correlated.
    tol : float
        The fit ends when a step adds less to the log-likelihood of all rows.
    max_iter : int
        Most steps.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        Loadings, in the units of the features: what a unit of each factor adds. Those that explain most come first, and
        the largest of each is positive.
    noise_variance_ : array (n_features,)
        Variance of the noise of each feature: what the factors do not explain.
    factor_correlations_ : array (n_components_, n_components_)
        Correlations of the factors; the identity unless ``rotation="promax"``.
    loglike_ : array (n_iter_,)
        Log-likelihood of all rows after each step.
    mean_ : array (n_features,)
        Mean of the rows, which is subtracted.
    n_iter_ : int
        Number of steps.
    n_components_ : int
        Number of factors.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> fa = lowdim.FactorAnalysis(2, rotation="varimax").fit(X)
    >>> fa.transform(X).shape, fa.noise_variance_.shape
    ((150, 2), (4,))
    """

    _sparse = True
    _rules = {
        "n_components": options.integer(1) | options.none,
        "rotation": options.none | options.one_of(*factors.ROTATIONS),
        "tol": options.real(0),
        "max_iter": options.integer(1),
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "noise_variance_": fields.array("d", low=0),
            "factor_correlations_": fields.array("k", "k", low=-1.01, high=1.01),
            "loglike_": fields.array("i"),
            "n_iter_": fields.count("i"),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rotation: str | None = None,
        tol: float = 1e-2,
        max_iter: int = 1000,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @fitting
    def fit(self, X: Any, y: Any = None) -> "FactorAnalysis":
        """Learn the loadings and the noise of ``X`` (array, DataFrame, memory map or sparse matrix).

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
        (n, d), dtype = X.shape, float_dtype(X.dtype)
        k = self.n_components or min(n, d)
        demand_components(self._name, k, min(n, d), f"min(n_samples, n_features) = {min(n, d)}", "pass more data")
        self._ask_memory(n, d)
        M = column_moments(X) if d > n else moments(X)
        self._demand_finite(X, M.mean)
        if not M.variance.max() > 0:
            raise ValueError("FactorAnalysis: rows of X must differ; got equal ones. Pass rows that vary.")
        if isinstance(M, Moments):
            leading = factors.leading_of_covariance(M.scatter / M.weight, k)
        else:
            leading = factors.leading_of_rows(to_numpy(Centred(X, M.mean).dense("float64")), k)
        found = factors.maximum_likelihood(M.variance, leading, n, self.max_iter, self.tol)
        self._warn_unless_settled(found)
        L, correlations = factors.rotated(found.loadings, self.rotation)
        order = np.argsort(-np.square(L).sum(axis=1), kind="stable")
        turned = signs(L[order])
        self.components_ = (turned[:, None] * L[order]).astype(dtype)
        self.factor_correlations_ = (correlations[np.ix_(order, order)] * turned * turned[:, None]).astype(dtype)
        self.noise_variance_, self.mean_ = found.noise.astype(dtype), M.mean.astype(dtype)
        self.loglike_, self.n_iter_, self.n_components_ = np.array(found.loglike), len(found.loglike), k
        return self

    def _ask_memory(self, n: int, d: int) -> None:
        k, side = self.n_components or min(n, d), min(n, d)
        needed = 8.0 * (4.5 * side * side + 6.0 * k * d + (2.2 * n * d if d > n else 0.0))
        memory.require(
            needed, f"{self._name}: {k:,} factors of {n:,} rows and {d:,} features", "Reduce the features first."
        )

    def _warn_unless_settled(self, found: factors.Factors) -> None:
        if not found.settled:
            more = found.loglike[-1] - found.loglike[-2] if len(found.loglike) > 1 else np.inf
            warn(
                f"FactorAnalysis: the log-likelihood still rose by {more:.2g} in step {len(found.loglike)}, above tol. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _doubles(self) -> tuple[NDArray, NDArray, NDArray]:
        """Loadings, noise and correlations in float64; the noise is positive."""
        L, noise, correlations = (
            A.astype(np.float64) for A in (self.components_, self.noise_variance_, self.factor_correlations_)
        )
        return L, np.maximum(noise, np.finfo(np.float64).tiny ** 0.5), correlations

    def _projection(self) -> NDArray:
        """(d, k) matrix that centred rows are multiplied with: the factors' expectations, given the rows."""
        return factors.score_weights(*self._doubles()).T

    @applying
    def get_covariance(self) -> NDArray:
        """Covariance of the model, ``Lᵀ Φ L + Ψ``.

        Returns
        -------
        array (n_features, n_features)
            In the units of the features.
        """
        L, noise, correlations = self._doubles()
        return np.asarray(L.T @ correlations @ L + np.diag(noise))

    @applying
    def get_precision(self) -> NDArray:
        """Inverse of the covariance of the model.

        Returns
        -------
        array (n_features, n_features)
            ``Ψ⁻¹ − Ψ⁻¹ Lᵀ (Φ⁻¹ + L Ψ⁻¹ Lᵀ)⁻¹ L Ψ⁻¹``.
        """
        L, noise, _ = self._doubles()
        return np.asarray(np.diag(1 / noise) - (L / noise).T @ self._projection().T)

    @applying
    def score_samples(self, X: Any) -> NDArray:
        """Log-likelihood of each row under the model.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples,)
            Logarithms of the density.
        """
        X = self._take(X, reset=False, sparse=True)
        L, noise, correlations = self._doubles()
        scale = np.sqrt(noise)
        _, s, V = np.linalg.svd(np.linalg.cholesky(correlations).T @ (L / scale), full_matrices=False)
        apart = squared_lengths(X, V, self.mean_.astype(np.float64), scale, 1 + s * s, 1.0)
        return -0.5 * (apart + L.shape[1] * np.log(2 * np.pi) + np.log1p(s * s).sum() + np.log(noise).sum())

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows under the model, for cross-validation.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.
        y : ignored
            For pipelines.

        Returns
        -------
        float
            The mean of ``score_samples``.
        """
        return float(self.score_samples(X).mean())
