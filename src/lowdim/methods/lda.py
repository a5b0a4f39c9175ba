"""Linear discriminant analysis: directions that separate classes, relative to the spread within them.

Maximises Fisher's ratio ``wᵀ S_b w / wᵀ S_w w``, that is ``S_b w = λ S_w w`` with ``wᵀ S_w w = 1`` (Fisher 1936; Rao
1948), where ``S_w = Σ_c π_c S_c`` is the covariance within classes and ``S_b = Σ_c π_c (m_c − m)(m_c − m)ᵀ`` that of
their means about ``m = Σ_c π_c m_c``.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.labels import Labels, given_priors, labels, priors
from lowdim.methods.base import fitting
from lowdim.methods.classifier import DiscriminantClassifier
from lowdim.methods.linear import LinearReducer
from lowdim.persist import fields
from lowdim.relate.gram import Centred
from lowdim.relate.moment_states import ClassMoments
from lowdim.relate.moments import class_moments, column_moments
from lowdim.relate.shrinkage import ledoit_wolf
from lowdim.solve.class_probabilities import linear_rule
from lowdim.solve.discriminant import Whitening, discriminants, orthogonal_discriminants, whiten, whiten_clear
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.solve.projection import project
from lowdim.solve.signs import signs
from lowdim.work import dispatch, memory, thread_limit
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import take

SOLVERS = ("auto", "cholesky", "range", "gram")
_SINGLE = 1e-5  # share of the largest eigenvalue that float32 products resolve to three digits
_RANGE = 1e-12  # eigenvalues of a Gram matrix below this share of the largest are rounding errors


class LDA(DiscriminantClassifier, LinearReducer):
    """Linear discriminant analysis: a transformer, and a classifier.

    Parameters
    ----------
    n_components : int or None
        Number of directions; at most (and by default) ``n_classes - 1``.
    solver : {"auto", "cholesky", "range", "gram"}
        How ``S_w`` is whitened: by its Cholesky factor, which must be nonsingular; within its range, which handles
        constant, duplicated and dependent features; or the same from the Gram matrix, for more features than rows,
        after a reduction to the range of all rows. ``"auto"`` chooses; see ``solver_``.
    shrinkage : None, number in [0, 1] or "auto"
        Shrink the covariance of each class towards a diagonal matrix: by this share towards the mean variance, or by
        Ledoit and Wolf's share towards its own variances. Works with every solver.
    priors : "empirical", "uniform" or list of one number per class
        Weights of the classes, in the order of ``classes_``: their shares of the rows, equal, or as given.
    orthogonal : bool
        Foley and Sammon's directions: each the best of those orthogonal to the ones before, of unit length. The first
        is the same.
    tol : float
        Relative standard deviation within classes below which a direction is taken as constant (not below the precision
        of float32 for float32 data).
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        The directions as rows, scaled so that scores have variance 1 within classes; in each the loading of largest
        magnitude is positive.
    eigenvalues_ : array (n_components_,)
        Fisher's ratio along each.
    explained_variance_ratio_ : array (n_components_,) or None
        Share of each in the sum of all Fisher ratios; None for orthogonal directions, which share no sum.
    coef_ : array (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features in ``decision_function``, from all directions, whatever ``n_components``; of two classes
        those of the second less those of the first.
    intercept_ : array (n_classes,) or (1,)
        What is added to the weighted features.
    classes_ : array (n_classes,)
        The labels, sorted.
    means_ : array (n_classes, n_features)
        Means of the classes.
    priors_ : array (n_classes,)
        Weights of the classes.
    mean_ : array (n_features,)
        Mean that is subtracted: ``means_`` weighted by ``priors_``.
    shrinkage_ : array (n_classes,)
        Share by which the covariance of each class was shrunk.
    n_components_ : int
        Number of directions kept.
    solver_ : str
        Solver used.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> lda = lowdim.LDA().fit(X, y)
    >>> lda.transform(X).shape, lda.eigenvalues_.round(2).tolist()
    ((150, 2), [32.19, 0.29])
    >>> lda.predict(X[:3]).tolist(), lda.score(X, y)
    ([0, 0, 0], 0.98)
    """

    _needs_targets = True
    _sparse = True
    _rules = {
        "n_components": options.integer(1) | options.none,
        "solver": options.one_of(*SOLVERS),
        "shrinkage": options.real(0, 1, closed="both") | options.one_of("auto") | options.none,
        "priors": options.one_of("empirical", "uniform") | given_priors,
        "orthogonal": options.flag,
        "tol": options.real(0, 1, closed="left"),
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "classes_": fields.labels("c"),
            "priors_": fields.array("c", low=0),
            "shrinkage_": fields.array("c"),
            "means_": fields.array("c", "d"),
            "eigenvalues_": fields.array("k"),
            "explained_variance_ratio_": fields.optional(fields.nothing | fields.array("k")),
            "coef_": fields.optional(fields.array("r", "d")),
            "intercept_": fields.optional(fields.array("r")),
            "n_components_": fields.count("k"),
            "solver_": fields.text(*SOLVERS),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        solver: str = "auto",
        shrinkage: float | str | None = None,
        priors: Any = "empirical",
        orthogonal: bool = False,
        tol: float = 1e-4,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.orthogonal = orthogonal
        self.tol = tol
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None) -> "LDA":
        """Learn the directions from rows ``X`` and their labels ``y``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; integers are read as they are, block by block.
        y : array (n_samples,)
            Labels of the rows, numbers or text.

        Returns
        -------
        LDA
            This object.
        """
        X = self._take(X, reset=True, sparse=True, minimum=2, scan=False)
        if self.solver == "gram":
            dispatch.require_one_memory(X, "LDA: solver='gram'", "Use solver='range'.")
        found = labels(self._name, y, X)
        limit, pi = self._limit(len(found.classes), X.shape[1]), priors(self, self.priors, found)
        self._ask_memory(*X.shape)
        wide = self._is_wide(*X.shape) and not dispatch.is_distributed(X)
        left, target = self._shrinkage(X, found, pi)
        view = self._coordinates(X, found, pi, target) if wide else _Coordinates(X, None, target, None)
        M, within = self._within(X, view, found.codes, pi / found.counts, left)
        k = self._count(limit, within.rank)
        B = np.sqrt(pi)[:, None] * (M.means - pi @ M.means)  # S_b = BᵀB
        if self.orthogonal:
            V = view.basis
            values, W = orthogonal_discriminants(within.P, B, k, np.eye(len(within.P)) if V is None else V @ V.T)
        else:
            values, W = discriminants(within.P, B, k)
        self.classes_, self.priors_, self.shrinkage_ = found.classes, pi, 1.0 - left
        with thread_limit.alone():  # small products, after which threads of BLAS would keep cores busy
            self._keep(M, view, within, B, values, W, float_dtype(X.dtype))
        return self

    def _within(
        self, X: Any, view: "_Coordinates", codes: NDArray, each: NDArray, left: NDArray
    ) -> tuple[ClassMoments, Whitening]:
        """Moments of the classes, and the whitening of the scatter within them; a row of class c weighs ``each[c]``."""
        # A common factor is left out of the weights: equal weights keep the sums of uint8 exact.
        most = left.max()
        weights = each * (left / most if most else 1.0)
        M = class_moments(view.rows, codes, weights)
        self._demand_finite(X, M.means)
        S, clear = self._scatter(M, most, view.ridge, X.shape[1]), None
        if M.rounded:
            clear = _resolved(view.rows, codes, weights, S, self._tolerance)
            if clear is None:
                M = class_moments(view.rows, codes, weights, doubles=True)
                S = self._scatter(M, most, view.ridge, X.shape[1])
        if clear is not None and clear.rank < len(S) and self.solver in ("auto", "range"):
            return M, clear
        return M, self._whitening(S, view.basis is not None)

    def _keep(
        self,
        M: ClassMoments,
        view: "_Coordinates",
        within: Whitening,
        B: NDArray,
        values: NDArray,
        W: NDArray,
        dtype: np.dtype,
    ) -> None:
        """Store the directions and the rule of classes, in terms of the features."""
        P, pi = within.P, self.priors_
        C = (M.means - pi @ M.means) @ P @ P.T  # S_w⁻¹ (m_c − m)
        if view.basis is not None:
            W, C = W @ view.basis, C @ view.basis
        total = np.square(B @ P).sum()
        shares = None if self.orthogonal else (values / total if total else values)
        self.solver_ = within.how
        self.means_ = (M.means if view.means is None else view.means).astype(dtype)
        self.mean_ = pi @ self.means_
        self.components_, self.n_components_ = (W * signs(W)[:, None]).astype(dtype), len(W)
        self.eigenvalues_ = values.astype(dtype)
        self.explained_variance_ratio_ = None if shares is None else shares.astype(dtype)
        self.coef_, self.intercept_ = linear_rule(C, self.means_, self.mean_, pi, dtype)

    def _class_scores(self, X: Any) -> NDArray:
        if "coef_" not in vars(self):
            raise self._no_rule()
        X = self._take(X, reset=False, sparse=True)
        C, mean = self.coef_.astype(np.float64), self.mean_.astype(np.float64)
        scores = project(X, C.T, mean, float_dtype(X.dtype))
        scores += from_numpy((self.intercept_ + C @ mean).astype(float_dtype(X.dtype)), scores)
        return scores

    def _is_wide(self, n: int, d: int) -> bool:
        """Whether the Gram matrix of the rows is solved rather than the scatter of the features."""
        return self.solver == "gram" or (self.solver == "auto" and d > n)

    def _ask_memory(self, n: int, d: int) -> None:
        """Scatter, whitening and the work space of LAPACK, or the Gram matrix and a basis."""
        wide = self._is_wide(n, d)
        what = f"the {n:,} × {n:,} Gram matrix" if wide else f"the {d:,} × {d:,} scatter matrix"
        memory.require(
            8.0 * (5 * n * n + 3 * n * d if wide else 6 * d * d),
            f"LDA: {what} of {n:,} rows and {d:,} features",
            "Reduce the features first, for example by PCA.",
        )

    def _shrinkage(self, X: NDArray, found: Labels, pi: NDArray) -> tuple[NDArray, Any]:
        """Share (C,) that is left of the covariance of each class, and the diagonal that is added, if known yet."""
        if self.shrinkage == "auto":
            self._demand_finite(X, X)
            if sp.issparse(X):
                raise ValueError(
                    "LDA: shrinkage='auto' needs dense rows; got sparse ones. Pass a number, such as shrinkage=0.1."
                )
            intensities, targets = ledoit_wolf(X, found.codes, len(found.classes))
            return 1.0 - intensities, pi @ targets
        return np.full(len(found.classes), 1.0 - float(self.shrinkage or 0.0)), 0.0

    def _coordinates(self, X: NDArray, found: Labels, pi: NDArray, target: Any) -> "_Coordinates":
        """Rows in the range of their scatter.

        From the Gram matrix of the rows, ``Z Zᵀ = U Λ Uᵀ``: coordinates ``U Λ^½``, basis ``Λ^-½ Uᵀ Z``. Features are
        scaled by their standard deviations within classes, or so that the ridge becomes the identity, which any
        orthonormal basis leaves as it is.
        """
        columns = [column_moments(take(X, np.flatnonzero(found.codes == c))) for c in range(len(found.classes))]
        means = np.stack([M.mean for M in columns])
        self._demand_finite(X, means)
        spread = np.sqrt(pi @ np.stack([M.variance for M in columns]))
        still = spread <= 1e-13 * np.abs(means).max(axis=0)
        scale, ridge = np.where(still, np.inf, spread), 0.0
        if self.shrinkage not in (None, 0):
            shrunk = self.shrinkage == "auto" and bool(np.all(target > 0))
            scale, ridge = (np.sqrt(target), 1.0) if shrunk else (np.ones(X.shape[1]), 0.0)
        Z = Centred(X, pi @ means, scale)
        pairs = eigh_top(Z.gram(), X.shape[0])
        inside = pairs.values > _RANGE * max(pairs.values[0], np.finfo(float).tiny)
        if not inside.any():
            raise _nothing_varies()
        U, size = to_numpy(pairs.vectors)[:, inside], np.sqrt(pairs.values[inside])
        return _Coordinates(U * size, Z.pull(U / size) / scale, ridge, means)

    def _scatter(self, M: ClassMoments, most: float, ridge: Any, d: int) -> NDArray:
        """``S_w = Σ_c π_c (1 − γ_c) S_c + diag(ridge)``."""
        S = M.within()
        if self.shrinkage not in (None, "auto"):
            ridge = (1.0 - most) * np.trace(S) / d
        S *= most
        S[np.diag_indices_from(S)] += ridge
        return S

    @property
    def _tolerance(self) -> float:
        """Share of the largest eigenvalue below which an eigenvalue is taken as 0."""
        return max(float(self.tol) ** 2, 30 * float(np.finfo(np.float64).eps))

    def _whitening(self, S: NDArray, wide: bool) -> Whitening:
        how = "range" if wide else self.solver
        try:
            found = whiten(S, self._tolerance, how=how, scaled=not wide)
        except np.linalg.LinAlgError:
            raise ValueError(
                "LDA: solver='cholesky' needs a regular covariance within classes; got one that is singular (constant, "
                "dependent or too many features). Use solver='auto' or shrinkage='auto'."
            ) from None
        return found._replace(how="gram") if wide else found

    def _limit(self, n_classes: int, d: int) -> int:
        limit = min(n_classes - 1, d)
        if self.n_components is not None and self.n_components > limit:
            raise ValueError(
                f"LDA: n_components must be at most min(n_classes - 1, n_features) = {limit} ({n_classes} classes, "
                f"{d} features); got {self.n_components}. Lower it, or pass None for all."
            )
        return limit

    def _count(self, limit: int, rank: int) -> int:
        """How many directions to keep, of those that ``S_w`` of this rank has."""
        if rank == 0:
            raise _nothing_varies()
        if rank < (self.n_components or 1):
            raise ValueError(
                f"LDA: n_components must be at most the rank {rank} of the covariance within classes; got "
                f"{self.n_components}. Lower it, or pass shrinkage=0.1 for rows that hardly vary within classes."
            )
        return self.n_components or min(limit, rank)


class _Coordinates(NamedTuple):
    """Rows (n, q), their basis as rows (q, d) (None: the features), the ridge there, and class means if known."""

    rows: Any
    basis: NDArray | None
    ridge: Any
    means: NDArray | None


def _resolved(T: NDArray, codes: NDArray, weights: NDArray, S: NDArray, tol: float) -> Whitening | None:
    """Whitening of ``S``, the scatter within classes, where products in float32 were enough for it.

    They are if all its eigenvalues are well above their rounding or can be shown to be 0: scores along a direction are
    summed before they are squared, so their variance is known to far less than that of the products.
    """
    clear = whiten_clear(S, _SINGLE)
    if clear is None or 8 * clear[1].shape[1] > len(S):  # so many directions cost as much as all the products
        return None
    found, W = clear
    if not W.size:
        return found
    Z = project(T, W, np.zeros(len(W)), np.dtype(np.float32))
    variances = class_moments(Z, codes, weights, doubles=True).within()
    return found if variances.max() <= tol else None


def _nothing_varies() -> ValueError:
    return ValueError(
        "LDA: at least one feature must vary within a class; no feature does. Pass "
        "several rows of each class that differ, or reduce the rows by PCA: any feature already separates the classes."
    )
