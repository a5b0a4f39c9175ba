"""Independent component analysis: sources that are as independent as possible, ``x = m + A s`` (FastICA).

Rows are whitened by PCA, ``z = Λ^−½ U (x − m)``. The sources ``s = W z``, W orthonormal, are as far from Gaussian as
possible, which sums of independent sources are not (Comon 1994; Hyvärinen and Oja 2000).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lowdim.compose import spectrum
from lowdim.data import options, validation
from lowdim.data.sizes import demand_components
from lowdim.methods.base import applying, fitting
from lowdim.methods.linear import LinearReducer
from lowdim.persist import fields
from lowdim.solve import sources
from lowdim.solve.projection import lift, project
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.user_warnings import warn


class FastICA(LinearReducer):
    """Independent component analysis by fixed-point steps (FastICA) and, for the last ones in parallel, L-BFGS.

    Parameters
    ----------
    n_components : int or None
        Number of sources, at most the number of directions in which the rows vary; None is all of those.
    algorithm : {"parallel", "deflation"}
        All sources at once, or one after the other.
    fun : {"logcosh", "exp", "cube"}
        Contrast: ``"logcosh"`` for most data, ``"exp"`` for sources with heavy tails, ``"cube"`` (kurtosis) for sources
        with light tails and no outliers.
    alpha : float in [1, 2]
        Constant of ``"logcosh"``.
    max_iter : int
        Most passes over all rows.
    tol : float
        The fit ends when a fixed-point step turns no direction by more than ``1 − |cos| = tol``.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        What rows are multiplied with: sources have variance 1. The largest weight of each is positive.
    mixing_ : array (n_features, n_components_)
        Columns of ``A``, what a unit of each source adds to a row; those that add most variance come first.
    mean_ : array (n_features,)
        Mean of the rows, which is subtracted.
    n_iter_ : int
        Passes over all rows, for ``"deflation"`` of the source that took most.
    change_ : float
        Change ``1 − |cos|`` by the last step; at most ``tol`` where the fit converged.
    n_components_ : int
        Number of sources.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> ica = lowdim.FastICA(10, random_state=0).fit(X)
    >>> ica.transform(X).std(axis=0).round(6).tolist()[:3]
    [1.0, 1.0, 1.0]
    """

    _sparse = True
    _rules = {
        "n_components": options.integer(1) | options.none,
        "algorithm": options.one_of("parallel", "deflation"),
        "fun": options.one_of(*sources.CONTRASTS),
        "alpha": options.real(1, 2, closed="both"),
        "max_iter": options.integer(1),
        "tol": options.real(0),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "mixing_": fields.array("d", "k"),
            "n_iter_": fields.count(low=1),
            "change_": fields.number(0),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        fun: str = "logcosh",
        alpha: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @fitting
    def fit(self, X: Any, y: Any = None) -> "FastICA":
        """Learn the sources of ``X`` (array, DataFrame, memory map or sparse matrix).

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
        limit, dtype = min(X.shape), float_dtype(X.dtype)
        demand_components(
            self._name, self.n_components or 1, limit, f"min(n_samples, n_features) = {limit}", "pass more data"
        )
        self._ask_memory(*X.shape)
        seed = seed_of(self.random_state)
        values, U, mean = self._principal(X, self.n_components or limit, seed)
        to_white = U / np.sqrt(values)[:, None]
        Z = project(X, to_white.T, mean, dtype)
        found = sources.find(
            Z, len(U), self.fun, self.alpha, together=self.algorithm == "parallel", max_iter=self.max_iter,
            tol=self.tol, seed=seed,
        )  # fmt: skip
        self._warn_unless_converged(found)
        unmixing, mixing = found.W @ to_white, (found.W * np.sqrt(values)) @ U
        order = np.argsort(-np.square(mixing).sum(axis=1), kind="stable")
        turned = (signs(unmixing)[:, None] * unmixing)[order], (signs(unmixing)[:, None] * mixing)[order].T
        self.components_, self.mixing_ = (np.ascontiguousarray(A, dtype) for A in turned)
        self.mean_, self.n_components_ = mean.astype(dtype), len(U)
        self.n_iter_, self.change_ = found.steps, found.change
        return self

    def _principal(self, X: Any, k: int, seed: int) -> tuple[NDArray, NDArray, NDArray]:
        """Variances (k,), directions (k, d) and the mean of rows that vary in as many directions."""
        solver = spectrum.choose(X, k)
        M = spectrum.measure(X, None, solver)
        self._demand_finite(X, M.mean)
        found = spectrum.find(X, None, M, k, solver, standardize=False, proportion=None, seed=seed)
        rank = int(np.count_nonzero(found.values > found.values[0] * np.finfo(float_dtype(X.dtype)).eps))
        if rank < (self.n_components or 1):
            raise ValueError(
                f"FastICA: n_components must be at most the {rank} directions in which the rows of X vary; got "
                f"{self.n_components or 'None'}. Lower it, or drop columns that are constant or depend on others."
            )
        k = min(k, rank)
        return found.values[:k] / M.weight, found.vectors[:k], M.mean

    def _ask_memory(self, n: int, d: int) -> None:
        k = self.n_components or min(n, d)
        spectrum.demand_memory(spectrum.choose_for(n, d, k), n, d, k)
        memory.require(
            10.0 * n * k + 80.0 * k * d, f"{self._name}: {n:,} rows of {k:,} whitened scores", "Lower n_components."
        )

    def _warn_unless_converged(self, found: sources.Directions) -> None:
        if found.change > self.tol:
            warn(
                f"FastICA: directions still turned by 1 − |cos| = {found.change:.1e} in step {found.steps}, above tol. "
                "Raise max_iter or tol, lower n_components, or try another fun: some sources may be nearly Gaussian.",
                ConvergenceWarning,
            )

    @applying
    def inverse_transform(self, Y: Any) -> NDArray:
        """Rows that these sources add up to.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Sources.

        Returns
        -------
        array (n_samples, n_features)
            ``m + Y Aᵀ``.
        """
        Y = validation.scores(Y, self._name, len(self.components_))
        return lift(Y, self.mixing_.T, self.mean_)
