"""Robust PCA: a low-rank part and sparse errors, ``X = 1 mᵀ + L + S`` (principal component pursuit).

``‖L‖_* + λ ‖S‖_1`` is smallest: a sum of singular values and one of absolute values (Candès, Li, Ma, Wright 2011).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lowdim.data import options, validation
from lowdim.data.sizes import demand_components
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.persist import fields
from lowdim.solve import low_rank
from lowdim.solve.component_count import completed
from lowdim.solve.projection import lift
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import cast
from lowdim.work.user_warnings import warn

_BLOCK = 2**21  # values of rows that are split at a time


class RobustPCA(Reducer):
    """Robust PCA: directions of a low-rank part, whatever a few entries of each row are.

    Parameters
    ----------
    n_components : int or None
        Number of directions kept; None is the rank of the low-rank part.
    penalty : float or None
        Weight λ of the sparse part: a larger one leaves less to it. None is ``1 / √max(n_samples, n_features)``, for
        which the parts are recovered exactly where the rank is low and errors are few and anywhere.
    center : bool
        Subtract the median of each feature first.
    max_iter : int
        Most steps.
    tol : float
        The fit ends when ``‖X − L − S‖`` is at most this share of ``‖X‖``.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        Directions of the low-rank part, orthonormal rows; in each the loading of largest magnitude is positive.
    singular_values_ : array (n_components_,)
        Singular values of the low-rank part along each.
    mean_ : array (n_features,)
        The medians, which are subtracted, or zeros.
    rank_ : int
        Rank of the low-rank part.
    sparse_share_ : float
        Share of the entries that are not 0 in the sparse part.
    n_iter_ : int
        Number of steps.
    residual_ : float
        ``‖X − L − S‖ / ‖X‖`` that was reached.
    n_components_ : int
        Number of directions kept.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> X = np.outer(np.arange(20.0), np.ones(30))
    >>> X[3, 5] = 1000.0
    >>> robust = lowdim.RobustPCA().fit(X)
    >>> robust.rank_, bool(abs(robust.outliers(X)[3, 5] - 997) < 5)
    (1, True)
    """

    _scale_matters = True
    _no_onnx = "new rows are solved for by least absolute errors"
    _rules = {
        "n_components": options.integer(1) | options.none,
        "penalty": options.none | options.real(0),
        "center": options.flag,
        "max_iter": options.integer(1),
        "tol": options.real(0),
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }
    components_: NDArray
    mean_: NDArray

    def _state(self) -> dict[str, fields.Field]:
        return {
            "components_": fields.array("k", "d"),
            "singular_values_": fields.array("k", low=0),
            "mean_": fields.array("d"),
            "rank_": fields.count(),
            "sparse_share_": fields.number(0, 1),
            "n_iter_": fields.count(),
            "residual_": fields.number(0),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        penalty: float | None = None,
        center: bool = True,
        max_iter: int = 200,
        tol: float = 1e-7,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @fitting
    def fit(self, X: Any, y: Any = None) -> "RobustPCA":
        """Learn the directions of the low-rank part of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            This object.
        """
        X = self._take(X, reset=True, minimum=2)
        (n, d), dtype = X.shape, float_dtype(X.dtype)
        limit = min(n, d)
        demand_components(
            self._name, self.n_components or 1, limit, f"min(n_samples, n_features) = {limit}", "pass more data"
        )
        self._ask_memory(n, d)
        mean = np.median(to_numpy(X), axis=0).astype(np.float64) if self.center else np.zeros(d)
        M = cast(X, "float64") - from_numpy(mean, X)
        size = float(abs(M).max())
        if not size > 0:
            raise ValueError("RobustPCA: rows of X must differ from their median; got equal ones. Pass rows that vary.")
        found = low_rank.pursue(M / size, self.penalty or max(n, d) ** -0.5, self.max_iter, self.tol)
        self._warn_unless_done(found)
        k = self.n_components or max(1, len(found.values))
        U = completed(found.vectors[: min(k, len(found.values))], k)
        self.components_ = (U * signs(U)[:, None]).astype(dtype)
        self.singular_values_ = np.pad(size * found.values[:k], (0, max(0, k - len(found.values)))).astype(dtype)
        self.mean_, self.rank_, self.n_components_ = mean.astype(dtype), len(found.values), k
        self.sparse_share_, self.n_iter_, self.residual_ = found.share, found.steps, found.residual
        return self

    def _ask_memory(self, n: int, d: int) -> None:
        side = min(n, d)
        what = f"{self._name}: {n:,} rows of {d:,} features, their two parts and multipliers"
        memory.require(8.0 * (7.2 * n * d + 3.5 * side * min(side, 2000)), what, "Pass fewer rows or features.")

    def _warn_unless_done(self, found: low_rank.Pursuit) -> None:
        if found.residual > self.tol:
            warn(
                f"RobustPCA: both parts miss {found.residual:.1e} of the rows after step {found.steps}, above tol. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )

    @applying
    def transform(self, X: Any) -> NDArray:
        """Scores of the low-rank part of each row, the ``y`` for which ``‖x − m − y U‖_1`` is smallest.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            The scores, float32 for float32 and small integers, float64 otherwise.
        """
        return self._scores(self._take(X, reset=False))

    def _scores(self, X: Any) -> Any:
        """Scores of validated rows, each computed on its own."""
        U, mean = from_numpy(self.components_.astype(np.float64), X), from_numpy(self.mean_.astype(np.float64), X)
        step, parts = max(1, _BLOCK // X.shape[1]), []
        for start in range(0, X.shape[0], step):
            block = cast(X[start : start + step], "float64") - mean
            parts.append(to_numpy(low_rank.split_scores(block, U)))
        return from_numpy(np.concatenate(parts).astype(float_dtype(X.dtype)), X)

    @applying
    def inverse_transform(self, Y: Any) -> NDArray:
        """Low-rank part of rows with these scores, and the medians.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Scores.

        Returns
        -------
        array (n_samples, n_features)
            ``m + Y U``.
        """
        return lift(validation.scores(Y, self._name, len(self.components_)), self.components_, self.mean_)

    @applying
    def outliers(self, X: Any) -> NDArray:
        """What the low-rank part does not explain: the sparse errors of each row.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``.

        Returns
        -------
        array (n_samples, n_features)
            ``x − m − y U`` with the scores of ``transform``.
        """
        X = self._take(X, reset=False)
        return cast(X, float_dtype(X.dtype)) - lift(self._scores(X), self.components_, self.mean_)
