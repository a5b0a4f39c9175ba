"""Truncated singular value decomposition: the best approximation of the rows by few directions through the origin.

``X ≈ U_k Σ_k V_kᵀ`` has the smallest squared error of all matrices of rank k (Eckart and Young 1936). Rows are not
centred, so that zeros stay zeros: latent semantic analysis of texts (Deerwester and others 1990). PCA is the same of
the centred rows.
"""

from typing import Any

import numpy as np

from lowdim.compose import spectrum
from lowdim.data import options
from lowdim.data.sizes import demand_components
from lowdim.methods.base import fitting
from lowdim.methods.linear import OrthonormalReducer
from lowdim.persist import fields
from lowdim.relate.moment_states import ColumnMoments, Moments, less_outer
from lowdim.solve.component_count import completed
from lowdim.solve.signs import signs
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of


class TruncatedSVD(OrthonormalReducer):
    """Truncated singular value decomposition of rows that are not centred.

    Parameters
    ----------
    n_components : int
        Number of directions.
    svd_solver : {"auto", "covariance", "gram", "svd", "randomized"}
        As in :class:`lowdim.PCA`, of whose solvers these are: by the matrix of the smaller side, by LAPACK, or by
        products alone. ``"auto"`` chooses by shape, kind of data and ``n_components``.
    random_state : int, Generator, RandomState or None
        Seed of the randomised solver; the other solvers use no random numbers.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components, n_features)
        The directions, orthonormal rows; in each the loading of largest magnitude is positive.
    singular_values_ : array (n_components,)
        Singular values of the rows.
    explained_variance_, explained_variance_ratio_ : arrays (n_components,)
        Variance of the scores of the training rows (divisor n), and its share of that of the features. Since rows are
        not centred, the first need not be the largest.
    mean_, scale_ : arrays (n_features,)
        Zeros and ones: nothing is subtracted or divided.
    solver_ : str
        Solver used.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> svd = lowdim.TruncatedSVD(2).fit(X)
    >>> svd.singular_values_.round().tolist()
    [2193.0, 567.0]
    """

    _sparse = True
    _scale_matters = True
    _rules = {
        "n_components": options.integer(1),
        "svd_solver": options.one_of("auto", "covariance", "gram", "svd", "randomized"),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        spread = fields.array("k", low=0)
        return {
            **super()._state(),
            "singular_values_": spread,
            "explained_variance_": spread,
            "explained_variance_ratio_": spread,
            "solver_": fields.text(*spectrum.SOLVERS),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        svd_solver: str = "auto",
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _ask_memory(self, n: int, d: int) -> None:
        solver = getattr(self, "solver_", None) or spectrum.choose_for(n, d, self.n_components)
        spectrum.demand_memory(solver, n, d, min(self.n_components, n, d), who="TruncatedSVD")

    @fitting
    def fit(self, X: Any, y: Any = None) -> "TruncatedSVD":
        """Learn the directions from ``X`` (array, DataFrame, memory map or sparse matrix).

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data.
        y : ignored
            For pipelines.

        Returns
        -------
        TruncatedSVD
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2, scan=False, hint=False)
        self.solver_ = spectrum.choose(X, self.n_components, self.svd_solver)
        n, d = X.shape
        self._ask_memory(d if n is None else n, d)
        M = spectrum.measure(X, None, self.solver_)
        self._demand_finite(X, M.mean)
        n, k = M.rows, self.n_components
        demand_components(self._name, k, min(n, d), f"min(n_samples, n_features) = {min(n, d)}")
        seed, columns = seed_of(self.random_state), ColumnMoments(M.weight, M.mean, np.array(M.variance), M.rows)
        found = spectrum.find(X, None, about_zero(M), k, self.solver_, standardize=False, proportion=None, seed=seed)
        self._keep(found, columns, float_dtype(X.dtype))
        return self

    def _keep(self, found: spectrum.Spectrum, M: ColumnMoments, dtype: np.dtype) -> None:
        """Set the fitted attributes."""
        k, d = self.n_components, len(M.mean)
        values = np.pad(found.values, (0, max(0, k - len(found.values))))[:k]
        vectors = completed(found.vectors[: min(k, int(np.count_nonzero(values)))], k)
        variances = np.maximum(values / M.weight - np.square(vectors @ M.mean), 0.0)
        total = max(float(np.sum(M.variance)), np.finfo(float).tiny)
        self.components_ = (vectors * signs(vectors)[:, None]).astype(dtype)
        self.singular_values_ = np.sqrt(values).astype(dtype)
        self.explained_variance_ = variances.astype(dtype)
        self.explained_variance_ratio_ = (variances / total).astype(dtype)
        self.mean_, self.scale_ = np.zeros(d, dtype), np.ones(d, dtype)


def about_zero(M: Moments | ColumnMoments) -> Moments | ColumnMoments:
    """Moments about 0 instead of the mean; a scatter matrix is changed in place."""
    nothing = np.zeros_like(M.mean)
    if isinstance(M, Moments):
        less_outer(M.scatter, M.mean, -M.mean * M.weight)
        return M._replace(mean=nothing)
    return M._replace(mean=nothing, variance=M.variance + np.square(M.mean))
