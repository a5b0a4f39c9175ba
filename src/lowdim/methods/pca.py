"""Principal component analysis: orthonormal directions of largest variance.

The directions ``u`` solve ``S u = λ u`` with ``S = (1/n) Σ (x_i − m)(x_i − m)ᵀ`` (Pearson 1901; Hotelling 1933);
scores are ``Y = (X − m) U``. Variances are reported with the divisor ``n − 1``.
"""

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose import pca_with_gaps, spectrum
from lowdim.data import options, validation
from lowdim.methods.base import fitting
from lowdim.methods.gap_reducer import GapReducer
from lowdim.persist import fields
from lowdim.relate.gaps import Frame, Survey, kept_sparse
from lowdim.relate.moment_states import ColumnMoments, Moments
from lowdim.relate.moments import rows_differ
from lowdim.solve.component_count import completed, components_for, elbow, likeliest
from lowdim.solve.signs import signs
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of

# scikit-learn's names of solvers, and ours of the nearest kind: "arpack" and our "randomized" are Krylov methods.
_SAME = {"full": "svd", "covariance_eigh": "covariance", "arpack": "randomized"}
_ROUNDING = 4  # of an eigenvalue of a covariance, in units of the rounding of the largest
_doubles, _number = partial(fields.array, kind="f8"), fields.number()
_STREAM = fields.parts(  # shift, scale, weight and rows; Sums; Factors, see compose.pca_with_gaps
    *(_doubles("d"), _doubles("d", low=0), fields.number(0), fields.count(low=1)),
    *(_doubles("d", "q"), _doubles("d", "u"), _doubles("q"), *[_number] * 4),
    *(_doubles("d", "k"), _doubles("d"), fields.number(0)),
)


class PCA(GapReducer):
    """Principal component analysis.

    Parameters
    ----------
    n_components : int, float in (0, 1), "elbow", "mle" or None
        Number of components to keep: an integer; a share of the variance that they must explain; ``"elbow"``, those
        before the elbow of the scree plot; ``"mle"``, the most likely number under probabilistic PCA (Minka 2000),
        which needs n_samples >= n_features; None keeps all, ``min(n_samples, n_features)``.
    standardize : bool
        Divide each feature by its standard deviation first (divisor n; constant features are left unchanged).
    whiten : bool
        Divide the scores by their standard deviations, so that each has variance 1.
    svd_solver : {"auto", "covariance", "gram", "svd", "randomized", "streaming"}
        ``"auto"`` chooses by shape, kind of data and ``n_components``; ``solver_`` is the one used; docs/maths/pca.md
        has the rule. scikit-learn's names mean ours: ``"full"`` is "svd", ``"covariance_eigh"`` "covariance", and
        ``"arpack"`` "randomized", a block Krylov method. ``"streaming"`` keeps the moments in model
        files too, so that ``partial_fit`` can continue.
    missing : {"error", "em", "em_zeros"}
        Gaps in the rows: ``"error"`` refuses NaN. ``"em"`` takes NaN as a value that was not observed, in ``fit`` and
        afterwards, and learns probabilistic PCA by EM over the values that were; complete rows are fitted as without
        it. ``"em_zeros"`` takes zeros as gaps too, those that a sparse matrix does not store above all.
    tol : float
        Under EM, passes end where the loss (the mean negative log-likelihood of an observed value) falls by less.
    max_iter : int
        Under EM, the most passes over the rows.
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
    components_ : array (n_components_, n_features)
        The directions, orthonormal rows; in each the loading of largest magnitude is positive.
    explained_variance_, explained_variance_ratio_ : arrays (n_components_,)
        Variance along each (divisor n − 1), and its share of the total.
    singular_values_ : array (n_components_,)
        Length of the scores of the training rows along each, not whitened: singular values of the centred rows.
    mean_, scale_ : arrays (n_features,)
        Mean and scale of each feature (ones unless ``standardize``).
    noise_variance_ : float
        Mean variance of the discarded directions: the noise of probabilistic PCA (``score``, ``get_covariance``).
    n_components_ : int
        Number of components kept.
    n_samples_ : int
        Number of training rows, in all chunks.
    solver_ : str
        Solver used; "em" where there were gaps.
    loss_curve_ : array (n_iter_,)
        Loss of each pass of EM; empty where there was no gap.
    n_iter_ : int
        Number of passes of EM; 1 where there was no gap.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> pca = lowdim.PCA(0.9).fit(X)
    >>> pca.n_components_, pca.transform(X).shape
    (21, (1797, 21))
    """

    _lazy = (
        "components_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "n_samples_",
        "mean_",
        "scale_",
        "noise_variance_",
        "n_components_",
    )
    _sparse = True
    _scale_matters = True
    _rules = {
        "n_components": options.integer(1) | options.share() | options.one_of("elbow", "mle") | options.none,
        "standardize": options.flag,
        "whiten": options.flag,
        "svd_solver": options.one_of(*spectrum.SOLVERS, *_SAME),
        "missing": options.one_of("error", "em", "em_zeros"),
        "tol": options.real(0, closed="left"),
        "max_iter": options.integer(1),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    @property
    def _solver(self) -> str:
        """The solver asked for, by our name."""
        return _SAME.get(self.svd_solver, self.svd_solver)

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "explained_variance_": fields.array("k", low=0),
            "explained_variance_ratio_": fields.array("k", low=0),
            "singular_values_": fields.optional(fields.array("k", low=0)),
            "n_samples_": fields.optional(fields.count(low=1)),
            "noise_variance_": fields.number(0),
            "n_components_": fields.count("k"),
            "solver_": fields.text(*spectrum.SOLVERS, "em"),
            "loss_curve_": fields.optional(fields.array("m")),
            "n_iter_": fields.optional(fields.count(low=1)),
            "_stream": fields.optional(_STREAM),
        }

    @classmethod
    def _fitted_from_file(cls, fitted: dict[str, Any], version: int) -> dict[str, Any]:
        """Format 1 had no noise variance; it follows from the ratios (of d directions, if there were enough rows)."""
        if version > 1 or "noise_variance_" in fitted:
            return fitted
        variances, (k, d) = fitted["explained_variance_"], fitted["components_"].shape
        kept, share = float(variances.sum()), float(fitted["explained_variance_ratio_"].sum())
        left = max(0.0, kept / share - kept) if share > 0 else 0.0
        return fitted | {"noise_variance_": left / (d - k) if k < d else 0.0}

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        standardize: bool = False,
        whiten: bool = False,
        svd_solver: str = "auto",
        missing: str = "error",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

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
            A row of weight 2 counts twice, one of weight 0 not at all.

        Returns
        -------
        self
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2, scan=False, hint=False)
        weights = validation.weights(self._name, sample_weight, X)
        self._demand_room_for_components(spectrum.most_components(X.shape, weights), "min(n_samples, n_features)")
        self.loss_curve_, self.n_iter_ = np.empty(0), 1
        self.__dict__.pop("_stream", None)
        if self._takes_gaps and (columns := self._survey(X, weights, columns=True)).gaps:
            return self._fit_gaps(X, weights, columns)
        self.solver_ = spectrum.choose(X, self.n_components, self._solver)
        self._ask_memory(*X.shape)
        M = spectrum.measure(X, weights, self.solver_)
        self._demand_finite(X, M.mean)
        self._hint_at_scales(X, M)
        limit = spectrum.most_components((M.rows, X.shape[1]), M.weight)
        self._demand_room_for_components(limit, "min(n_samples, n_features)")  # rows of DataFrames are counted above
        self._dtype = float_dtype(X.dtype).name
        self._keep_moments(M)
        found = spectrum.find(
            X,
            weights,
            M,
            self._enough(limit),
            self.solver_,
            standardize=self.standardize,
            proportion=self._proportion,
            seed=seed_of(self.random_state),
        )
        self._keep(found, limit)
        if not self.explained_variance_[0] and rows_differ(X, weights):
            raise ValueError(
                f"PCA: variances must fit in {self._dtype}; the squares of these differences vanish. {self._rescale()}"
            )
        return self

    def _fit_gaps(self, X: Any, weights: Any, columns: Survey) -> "PCA":
        """Learn the components from rows with gaps."""
        n, d = X.shape
        k, self.solver_, self._dtype = self._count_with_gaps(n, d), "em", float_dtype(X.dtype).name
        pca_with_gaps.demand_memory(n, d, k, kept_sparse(X, self._zeros))
        rows = n if weights is None else int(np.count_nonzero(weights))
        M = ColumnMoments(float(n if weights is None else weights.sum()), columns.mean, columns.variance, rows)
        self._hint_at_scales(X, M)
        self._keep_moments(M)
        frame = Frame(M.mean, spectrum.scales(M, M.variance, self.standardize), self._zeros)
        how: dict[str, Any] = {"seed": seed_of(self.random_state), "tol": self.tol, "max_iter": self.max_iter}
        self._keep_found(pca_with_gaps.learn(X, frame, k, weights, **how), frame, M)
        return self

    def _add_chunk(self, X: Any, weights: Any, columns: Survey, seen: Any) -> None:
        n, d = X.shape
        rows, weight = (n, float(n)) if weights is None else (int(np.count_nonzero(weights)), float(weights.sum()))
        M = ColumnMoments(weight, columns.mean, columns.variance, rows)
        if seen is None:
            frame = Frame(M.mean, spectrum.scales(M, M.variance, self.standardize), self._zeros)
            stream, self._dtype = None, float_dtype(X.dtype).name
        else:
            shift, scale, weight, rows, *parts = seen
            frame, M = Frame(shift, scale, self._zeros), M._replace(weight=M.weight + weight, rows=M.rows + rows)
            factors = pca_with_gaps.Factors(*parts[7:])
            stream = pca_with_gaps.Stream(pca_with_gaps.Sums(*parts[:7]), factors)
        k, self.solver_ = self._count_with_gaps(M.rows, d) if stream is None else factors.W.shape[1], "em"
        pca_with_gaps.demand_memory(n, d, k, kept_sparse(X, self._zeros))
        how: dict[str, Any] = {"seed": seed_of(self.random_state), "tol": self.tol, "max_iter": self.max_iter}
        stream = pca_with_gaps.next_chunk(X, frame, stream, k, weights, **how)
        losses = [stream.sums.loss / stream.sums.values]
        self._keep_found(pca_with_gaps.turned(stream.factors, losses), frame, M)
        self._stream = (frame.shift, frame.scale, M.weight, M.rows, *stream.sums, *stream.factors)

    def _keep_found(self, found: pca_with_gaps.Found, frame: Frame, M: ColumnMoments) -> None:
        """Set the fitted attributes from a model of rows with gaps."""
        d, k = found.vectors.shape[1], len(found.values)
        total = float(found.values.sum() + (d - k) * found.noise)
        moments = M._replace(mean=frame.shift + frame.scale * found.mean)
        spread = spectrum.Spectrum(found.values * M.weight, found.vectors, total * M.weight, frame.scale, moments)
        self._keep(spread, d)
        self.loss_curve_, self.n_iter_ = np.array(found.losses), len(found.losses)

    def _count_with_gaps(self, n: int, d: int) -> int:
        """Number of components where the spectrum cannot be known beforehand."""
        most = min(n - 1, d - 1)
        if self.n_components is None or (isinstance(self.n_components, Integral) and self._takes_fewer):
            k = most if self.n_components is None else min(int(self.n_components), most)
        elif not isinstance(self.n_components, Integral):
            raise ValueError(
                f"PCA: with gaps in the rows, n_components must be a number or None; got {self.n_components!r}. Pass a "
                "number, and compare the scores of held-out rows to choose it."
            )
        else:
            k = int(self.n_components)
        if not 1 <= k <= most:
            raise ValueError(
                f"PCA: with gaps in the rows, n_components must be at least 1 and below min(n_samples, n_features) = "
                f"{most + 1}, which leaves a direction for the noise; got {k}. Lower it, or pass more data."
            )
        return k

    def _ask_memory(self, n: int, d: int) -> None:
        solver = getattr(self, "solver_", None) or spectrum.choose_for(n, d, self.n_components)
        spectrum.demand_memory(solver, n, d, self._enough(min(n, d)))

    def _solve(self, M: Moments) -> None:
        limit = spectrum.most_components((M.rows, len(M.mean)), M.weight)
        self._demand_room_for_components(limit, "min(rows so far, n_features)")
        self._keep(spectrum.of_moments(M, self._enough(limit), self.standardize), limit)

    def _enough(self, limit: int) -> int:
        """How many components to compute before the number to keep is known."""
        if isinstance(self.n_components, Integral):
            return min(limit, int(self.n_components)) if self._takes_fewer else int(self.n_components)
        if getattr(self, "solver_", "") == "randomized" and self.n_components is not None:
            return min(limit, spectrum.FIRST_LOOK)
        return limit

    @property
    def _proportion(self) -> float | None:
        """Requested share of the variance, if ``n_components`` is one."""
        asked = self.n_components
        return float(asked) if isinstance(asked, Real) and not isinstance(asked, Integral) else None

    def _keep(self, found: spectrum.Spectrum, limit: int) -> None:
        """Set the fitted attributes, in the precision of the data."""
        values, weight = found.values, found.moments.weight
        wanted = len(values) if self.solver_ == "em" else self._enough(limit)
        values = np.pad(values, (0, max(0, wanted - len(values))))
        ratios = values / found.total if found.total > 0 else np.zeros_like(values)
        if weight <= 1 and values[0] > 0:
            raise ValueError(
                f"PCA: sample weights count repetitions, so they must add up to more than 1; got {weight:g}. "
                "Multiply them, for example by the number of rows."
            )
        k = min(wanted, len(values))
        if self._proportion is not None:
            k = components_for(self._proportion, ratios)
        elif self.n_components == "elbow":
            k = elbow(values)
        elif self.n_components == "mle":
            rounding = 1e-15 if self.solver_ == "svd" else _ROUNDING * float(np.finfo(self._dtype).eps)
            k = likeliest(values / max(weight - 1, 1e-300), weight, rounding)
        with np.errstate(over="ignore", under="ignore"):
            variances = (values[:k] / (weight - 1 if weight > 1 else 1.0)).astype(self._dtype)
        if not np.isfinite(variances).all() or (values[0] > 0 and variances[0] == 0):
            raise ValueError(
                f"PCA: variances must fit in {self._dtype}; they are about {values[0] / max(weight, 1):.0e}. "
                f"{self._rescale()}"
            )
        vectors = completed(found.vectors[: min(k, int(np.count_nonzero(values)))], k)
        self.components_ = (vectors * signs(vectors)[:, None]).astype(self._dtype)
        self.explained_variance_ = variances
        self.singular_values_ = np.sqrt(values[:k]).astype(self._dtype)
        self.n_samples_ = int(found.moments.rows)
        left = max(0.0, found.total - float(values[:k].sum()))
        self.noise_variance_ = left / max(weight - 1, 1e-300) / (limit - k) if k < limit and weight > 1 else 0.0
        self.explained_variance_ratio_ = ratios[:k].astype(self._dtype)
        self.mean_ = found.moments.mean.astype(self._dtype)
        self.scale_ = found.scale.astype(self._dtype)
        self.n_components_ = int(k)

    def _rescale(self) -> str:
        """What to do about variances that do not fit in the precision of the data."""
        other = ", or pass float64" if self._dtype == "float32" else ""
        return f"Multiply X by a constant that brings it near 1{other}."

    def _demand_room_for_components(self, limit: int, what: str) -> None:
        if self.n_components == "mle" and (limit < self.n_features_in_ or self._solver == "randomized"):
            raise ValueError(
                f"PCA: n_components='mle' needs the whole spectrum, of at least as many rows as features; got "
                f"{limit:,} rows, {self.n_features_in_:,} features and svd_solver={self.svd_solver!r}. Pass a number, "
                "or a proportion of the variance."
            )
        if isinstance(self.n_components, Integral) and self.n_components > limit and not self._takes_fewer:
            raise ValueError(
                f"PCA: n_components must be at most {what} = {limit}; got {self.n_components}. "
                "Lower it or pass more data."
            )

    def _depends_on_scale(self) -> bool:
        return not self.standardize

    def _score_scale(self) -> NDArray:
        """Standard deviation of each score where ``whiten`` divides by it, else 1."""
        return np.sqrt(self.explained_variance_) if self.whiten else np.ones_like(self.explained_variance_)
