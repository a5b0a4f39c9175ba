"""Canonical correlation analysis: directions of two views of the same rows whose scores correlate most.

With the covariances ``S_xx, S_yy`` of the views and ``S_xy`` between them, ``wᵀ S_xy v`` is maximal subject to
``wᵀ(S_xx + κI)w = vᵀ(S_yy + κI)v = 1``: the singular vectors of the whitened ``S_xy`` (Hotelling 1936; Vinod 1976).
"""

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.linear import LinearReducer
from lowdim.methods.two_views import TwoViewReducer
from lowdim.persist import fields
from lowdim.relate.cross_moments import cross_moments
from lowdim.solve.discriminant import Whitening, whiten
from lowdim.solve.projection import project
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype


class CCA(TwoViewReducer, LinearReducer):
    """Canonical correlation analysis of two views.

    Parameters
    ----------
    n_components : int or None
        Number of pairs of directions; None keeps as many as the smaller view has independent features.
    ridge : float
        Ridge κ added to the variances of both views. 0 is plain CCA, which warns if the views have so many features
        that they correlate perfectly whatever the data.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    correlations_ : array (n_components_,)
        Canonical correlations in decreasing order; with a ridge, the regularised ratio, which is lower.
    components_, y_components_ : arrays (n_components_, n_features), (n_components_, n_targets)
        The directions as rows, scaled so that scores have variance 1 (less under a ridge); in each row of
        ``components_`` the loading of largest magnitude is positive.
    mean_, y_mean_ : arrays (n_features,), (n_targets,)
        Means of the features, which are subtracted.
    n_components_ : int
        Number of pairs kept.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> cca = lowdim.CCA().fit(X[:, :2], X[:, 2:])
    >>> cca.correlations_.round(3).tolist()
    [0.941, 0.124]
    """

    _rules = {
        "n_components": options.integer(1) | options.none,
        "ridge": options.real(0, closed="left"),
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "y_components_": fields.array("k", "e"),
            "y_mean_": fields.array("e"),
            "correlations_": fields.array("k", low=0, high=1),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float = 0.0,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X: Any, Y: Any) -> None:
        (n, d), e = X.shape, Y.shape[1]
        self._demand_count(min(d, e), "min(n_features, n_targets)", "Lower it, or pass None for all.")
        self._ask_memory(n, d, e)
        M, N, C = cross_moments(X, Y)
        self._demand_finite(X, M.mean)
        _demand_squares(M.scatter, N.scatter)
        n = M.rows
        P, Q = (self._whitening(S.scatter / n, A.dtype) for S, A in ((M, X), (N, Y)))
        self._warn_of_ranks(n, P.rank, Q.rank)
        with np.errstate(over="ignore", invalid="ignore"):
            C = P.P.T @ (C / n) @ Q.P
        _demand_squares(C)
        U, rho, Vt = sl.svd(C, full_matrices=False)
        k = self._count(min(P.rank, Q.rank), "number of independent features,", "Lower it, or pass ridge=1e-3.")
        W, V = (P.P @ U[:, :k]).T, (Q.P @ Vt[:k].T).T
        sign = signs(W)[:, None]
        dtype, other = float_dtype(X.dtype), float_dtype(Y.dtype)
        self.components_, self.y_components_ = (W * sign).astype(dtype), (V * sign).astype(other)
        self.mean_, self.y_mean_ = M.mean.astype(dtype), N.mean.astype(other)
        self.correlations_ = np.minimum(rho[:k], 1.0).astype(dtype)
        self.n_components_ = k

    def _whitening(self, S: NDArray, dtype: np.dtype) -> Whitening:
        """Whitening of ``S + κI``, inside the range where that is singular."""
        S[np.diag_indices_from(S)] += self.ridge
        return whiten(S, 30 * float(np.finfo(float_dtype(dtype)).eps))

    def _ask_memory(self, n: int, d: int, e: int = 1) -> None:
        memory.require(
            8.0 * 5 * (d * d + e * e + d * e),
            f"CCA: the covariances of {d:,} and {e:,} features",
            "Reduce the views first, for example by PCA, or use KernelCCA with kernel='linear'.",
        )

    def _second_scores(self, Y: Any) -> Any:
        V, mean = self.y_components_.astype(np.float64), self.y_mean_.astype(np.float64)
        return project(Y, V.T, mean, float_dtype(Y.dtype))

    @property
    def _n_targets(self) -> int:
        return len(self.y_mean_)


def _demand_squares(*matrices: NDArray) -> None:
    if not all(np.isfinite(A).all() for A in matrices):
        raise ValueError(
            "CCA: variances must fit in float64; the squares of these values overflow. Multiply the data by a "
            "constant that brings them near 1."
        )
