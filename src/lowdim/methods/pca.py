"""Principal component analysis: orthonormal directions of largest variance.

The directions ``u`` solve ``S u = λ u`` with ``S = (1/n) Σ (x_i − m)(x_i − m)ᵀ`` (Pearson 1901; Hotelling 1933);
scores are ``Y = (X − m) U``. Variances are reported with the divisor ``n − 1``.
"""

import warnings
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import gate, options
from lowdim.methods.base import fitting
from lowdim.methods.linear import LinearReducer
from lowdim.relate.gram import Centred
from lowdim.relate.moments import Moments, column_moments, moments
from lowdim.solve.components import completed, components_for, elbow
from lowdim.solve.eigen import direct, eigh_top, eigh_top_operator
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.blocks import float_dtype
from lowdim.work.random import seed_of

SOLVERS = ("auto", "covariance", "gram", "svd", "randomized", "streaming")
_LEARNT = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "mean_",
    "scale_",
    "n_components_",
)
_DIRECT, _DIRECT_SPARSE = 3000, 1000  # largest side solved directly when few components are wanted
_FIRST_LOOK = 100  # leading components computed where the whole spectrum is out of reach


class PCA(LinearReducer):
    """Principal component analysis.

    Parameters
    ----------
    n_components : int, float in (0, 1), "elbow" or None
        How many components: a count; the fewest that hold this proportion of the variance; those before the corner
        of the scree graph; or all, ``min(n_samples, n_features)``.
    standardize : bool
        Divide each feature by its standard deviation first (divisor n; constant features are left alone).
    whiten : bool
        Divide the scores by their standard deviations, so that each has variance 1.
    solver : {"auto", "covariance", "gram", "svd", "randomized", "streaming"}
        ``"auto"`` chooses by shape, kind of data and ``n_components``, and ``solver_`` says which; docs/maths/pca.md
        has the rule. ``"streaming"`` keeps the moments in model files too, so that ``partial_fit`` can go on.
    random_state : int, Generator, RandomState or None
        Seed of the randomised solver; the others draw nothing.
    n_jobs : int or None
        Threads for kernels and BLAS; None is all cores this process may use.
    verbose : int
        1 shows the stages with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The directions, orthonormal rows; in each the loading of largest magnitude is positive.
    explained_variance_, explained_variance_ratio_ : arrays (n_components_,)
        Variance along each (divisor n − 1), and its share of the total.
    mean_, scale_ : arrays (n_features,)
        What is subtracted, and what is divided by (ones unless ``standardize``).
    n_components_ : int
        Number of components kept.
    solver_ : str
        Solver that ran.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> pca = lowdim.PCA(0.9).fit(X)
    >>> pca.n_components_, pca.transform(X).shape
    (21, (1797, 21))
    """

    _moments: tuple[float, NDArray, NDArray]  # state of relate.moments, kept for partial_fit
    _sparse = True
    _rules = {
        "n_components": options.whole(1) | options.share() | options.one_of("elbow") | options.none,
        "standardize": options.flag,
        "whiten": options.flag,
        "solver": options.one_of(*SOLVERS),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.whole(0),
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        standardize: bool = False,
        whiten: bool = False,
        solver: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.whiten = whiten
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "PCA":
        """Learn the components from ``X`` (array, DataFrame, memory map or sparse matrix).

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data; integers are read as they are, block by block.
        y : ignored
            For pipelines.
        sample_weight : array (n_samples,), optional
            Weight 2 counts as the row twice, weight 0 as its absence.

        Returns
        -------
        PCA
            This object.
        """
        X = gate.rows(self, X, reset=True, sparse=True, minimum=2, scan=False)
        weights = gate.weights(self, sample_weight, X)
        count = X.shape[0] if weights is None else max(np.count_nonzero(weights), int(weights.sum()))
        limit = min(count, X.shape[1])
        self._demand_room_for_components(limit, "min(n_samples, n_features)")
        self.solver_ = self.solver if self.solver != "auto" else _choose(X, self.n_components)
        _demand_memory(self.solver_, *X.shape)
        self.__dict__.pop("_moments", None)
        self._dtype = float_dtype(X.dtype).name
        if self.solver_ in ("covariance", "streaming"):
            M = moments(X, weights)
            gate.demand_finite(self, X, M.mean)
            self._moments = (M.weight, M.mean, M.scatter)
            self._solve_moments(M, limit)
        else:
            self._solve_rows(X, weights, limit)
        return self

    @fitting
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "PCA":
        """Take in one more chunk of rows; the result is that of fitting all chunks at once.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The chunk.
        y : ignored
            For pipelines.
        sample_weight : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        PCA
            This object.
        """
        first = "_moments" not in vars(self)
        if first and "solver_" in vars(self):
            warnings.warn(
                f"PCA: partial_fit starts anew, since the fit before (solver_='{self.solver_}') kept no moments to "
                "add to. Use solver='streaming' to go on from a fit.",
                stacklevel=3,
            )
        X = gate.rows(self, X, reset=first, sparse=True, minimum=1, scan=False)
        weights = gate.weights(self, sample_weight, X)
        self._demand_room_for_components(X.shape[1], "n_features")
        _demand_memory("streaming", *X.shape)
        M = moments(X, weights)
        gate.demand_finite(self, X, M.mean)
        if first:
            self.solver_, self._dtype = "streaming", float_dtype(X.dtype).name
        else:
            M = Moments(*self._moments).merge(M)
            self._dtype = np.promote_types(self._dtype, float_dtype(X.dtype)).name
        self._moments = (M.weight, M.mean, M.scatter)
        for name in _LEARNT:  # solved again when next asked for, not at each chunk
            self.__dict__.pop(name, None)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _LEARNT and "_moments" in vars(self):
            M = Moments(*self._moments)
            self._solve_moments(M, len(M.mean))
            return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _solve_moments(self, M: Moments, limit: int) -> None:
        """Eigenvectors of the covariance matrix."""
        scale = self._scales(M.mean, np.diag(M.scatter) / M.weight)
        S = M.scatter / np.outer(scale, scale)
        pairs = eigh_top(S, self._enough(limit))
        self._keep(
            pairs.values,
            pairs.vectors.T,
            np.sum(np.diag(M.scatter) / scale**2),
            M.weight,
            M.mean,
            scale,
            limit,
        )

    def _solve_rows(self, X: Any, weights: NDArray | None, limit: int) -> None:
        """Solvers that need the rows ``Z``: centred, scaled and weighted, but never stored unless by the SVD."""
        M = column_moments(X, weights)
        gate.demand_finite(self, X, M.mean)
        scale = self._scales(M.mean, M.variance)
        Z = Centred(X, M.mean, scale, weights)
        total = float(np.sum(M.variance / scale**2)) * M.weight
        k = self._enough(limit)
        if self.solver_ == "gram":
            pairs = eigh_top(Z.gram(), min(k, X.shape[0]))
            # u gives the direction Zᵀu/√λ; QR normalises without dividing by a λ that may be 0.
            values, vectors = pairs.values, np.linalg.qr(Z.pull(pairs.vectors).T)[0].T
        elif self.solver_ == "svd":
            _, s, vectors = sl.svd(Z.dense(self._dtype), full_matrices=False, overwrite_a=True, check_finite=False)
            values = np.square(s)
        else:
            values, vectors = self._krylov(Z, k, total)
        self._keep(values, vectors, total, M.weight, M.mean, scale, limit)

    def _krylov(self, Z: Centred, k: int, total: float) -> tuple[NDArray, NDArray]:
        """Leading eigenpairs of ``ZᵀZ`` by products alone; more of them until they hold the proportion asked for."""
        n, d = Z.X.shape
        seed, product = seed_of(self.random_state), Z.scatter_operator()

        def apply(V: NDArray) -> NDArray:
            return product(V) / (total or 1.0)  # of the order of 1, whatever the units

        tol = 1e-5 if self._dtype == "float32" else 1e-8
        pairs = eigh_top_operator(apply, d, k, seed=seed, tol=tol)
        if isinstance(self.n_components, float):
            while k < min(n, d) and pairs.values.sum() < self.n_components:
                k = min(2 * k, n, d)
                pairs = eigh_top_operator(apply, d, k, seed=seed, tol=tol, start=pairs.vectors)
        return pairs.values * total, pairs.vectors.T

    def _scales(self, mean: NDArray, variance: NDArray) -> NDArray:
        """Divisors of the features: standard deviations, with 1 for constant features."""
        constant = variance <= np.square(10 * np.finfo(self._dtype).eps * np.abs(mean))
        return np.where(constant, 1.0, np.sqrt(variance)) if self.standardize else np.ones(len(mean))

    def _enough(self, limit: int) -> int:
        """How many components to compute before the number to keep is known."""
        if isinstance(self.n_components, int | np.integer):
            return int(self.n_components)
        if self.solver_ == "randomized" and self.n_components is not None:
            return min(limit, _FIRST_LOOK)
        return limit

    @property
    def _precision(self) -> str:
        """Precision in which the spectrum was computed; only the SVD works in that of the data."""
        return self._dtype if self.solver_ == "svd" else "float64"

    def _keep(
        self,
        values: NDArray,
        vectors: NDArray,
        total: float,
        weight: float,
        mean: NDArray,
        scale: NDArray,
        limit: int,
    ) -> None:
        """Set the fitted attributes from eigenvalues of the scatter, in the precision of the data."""
        values = np.pad(values, (0, max(0, self._enough(limit) - len(values))))
        none = values <= max(values[0], 0.0) * len(mean) * np.finfo(self._precision).eps
        values = np.where(none, 0.0, values)
        ratios = values / total if total > 0 else np.zeros_like(values)
        if weight <= 1 and values[0] > 0:
            raise ValueError(
                f"PCA: sample weights count repetitions, so they must add up to more than 1; got {weight:g}. "
                "Multiply them, for example by the number of rows."
            )
        k = min(self._enough(limit), len(values))
        if isinstance(self.n_components, float):
            k = components_for(self.n_components, ratios)
        elif self.n_components == "elbow":
            k = elbow(values)
        vectors = completed(vectors[: min(k, int(np.count_nonzero(values)))], k)
        self.components_ = (vectors * signs(vectors)[:, None]).astype(self._dtype)
        self.explained_variance_ = (values[:k] / max(weight - 1, 1.0 * (weight <= 1))).astype(self._dtype)
        self.explained_variance_ratio_ = ratios[:k].astype(self._dtype)
        self.mean_ = mean.astype(self._dtype)
        self.scale_ = scale.astype(self._dtype)
        self.n_components_ = k

    def _demand_room_for_components(self, limit: int, what: str) -> None:
        if isinstance(self.n_components, int | np.integer) and self.n_components > limit:
            raise ValueError(
                f"PCA: n_components must be at most {what} = {limit}; got {self.n_components}. "
                "Lower it or pass more data."
            )

    def _fitted(self) -> dict[str, Any]:
        if "_moments" in vars(self):
            _ = self.components_  # solved now if chunks came in since
        # The moments of a plain fit would make its file d/k times as large; a stream needs them to go on.
        return {
            key: value for key, value in super()._fitted().items() if key != "_moments" or self.solver_ == "streaming"
        }

    def _score_scale(self) -> NDArray:
        """Standard deviation of each score where ``whiten`` divides by it, else 1."""
        return np.sqrt(self.explained_variance_) if self.whiten else np.ones_like(self.explained_variance_)


def _choose(X: Any, n_components: Any) -> str:
    """Rule behind ``solver="auto"``.

    Dense data whose smaller side is at most ``_DIRECT`` goes through the matrix of that side, exactly. Above that,
    a small count of components is cheaper by products alone. Files are read once, in order.
    """
    n, d = X.shape
    limit = _DIRECT_SPARSE if sp.issparse(X) else _DIRECT
    if isinstance(n_components, int | np.integer) and not direct(min(n, d), int(n_components), limit):
        return "randomized"
    if n < d:
        return "gram"
    mapped = isinstance(X, np.memmap) or isinstance(getattr(X, "base", None), np.memmap)
    return "streaming" if mapped else "covariance"


def _demand_memory(solver: str, n: int, d: int) -> None:
    """Refuse before allocating: the square matrix, its eigenvectors and the work space of LAPACK, or copies of X."""
    side = {"covariance": d, "streaming": d, "gram": n}.get(solver)
    needed = 8 * (4 * side * side if side else 3 * n * d if solver == "svd" else 600 * d)
    what = f"{side:,} × {side:,} moments" if side else f"{n:,} × {d:,} rows"
    memory.require(
        needed,
        f"PCA: solver='{solver}' ({what})",
        "Use solver='randomized' with a small n_components."
        if solver != "randomized"
        else "Reduce the number of features first.",
    )
