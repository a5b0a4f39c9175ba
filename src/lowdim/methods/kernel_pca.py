"""Kernel principal component analysis: PCA in the space that a kernel stands for.

With the centred Gram matrix ``K_c = H K H``, ``H = I − 11ᵀ/n``, and ``K_c u = λ u``, training rows have the scores
``√λ u`` and a new row ``x`` has ``Σ_i α_i k_c(x, x_i)``, ``α = u/√λ`` (Schölkopf, Smola and Müller 1998). Only products
with ``K`` are needed, so that it can be stored, computed anew at each pass, or replaced by ``Fᵀ F`` of low rank.
"""

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import gate, options
from lowdim.methods.base import fitting
from lowdim.methods.kernel import KernelReducer
from lowdim.relate.centring import CentredProduct, centre, demand_finite_kernel
from lowdim.relate.kernels import NAMES, TILE, Kernel, Rows, demand_kernel_function
from lowdim.solve.cholesky import MOST, LowRank, nystroem, pivoted_cholesky
from lowdim.solve.eigen import block_sizes, direct, eigh_top, eigh_top_operator, leading_span, refined
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.blocks import float_dtype
from lowdim.work.random import seed_of, stream

SOLVERS = ("auto", "dense", "krylov", "matrix_free")
_RESIDUAL = {"float32": 1e-4, "float64": 1e-9}  # at which the Krylov method stops, relative to the first eigenvalue
_NOTHING = {"float32": 2e-6, "float64": 1e-12}  # share of the first eigenvalue up to which one counts as zero
_SKETCH = 256  # rows of the kernel matrix that the Krylov method starts from
_INSTEAD = "Use approximation='rpcholesky', or solver='matrix_free', whose memory grows with n only."


class _Found(NamedTuple):
    """Eigenpairs, and what places rows: ``scores = K(x, basis) dual − offset``."""

    values: NDArray
    vectors: NDArray  # (n, k)
    dual: NDArray  # (rows of the basis, k)
    offset: NDArray
    scores: NDArray  # (n, k)
    basis: Rows


class KernelPCA(KernelReducer):
    """Kernel principal component analysis, exact or of low rank.

    Parameters
    ----------
    n_components : int
        Number of components, below n_samples.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "precomputed"} or callable
        ``"precomputed"``: ``fit`` takes the symmetric Gram matrix (n, n), ``transform`` the values (m, n) between new
        and training rows. A function takes two blocks of rows, (a, d) and (b, d), and returns (a, b) values; models
        with one cannot be saved.
    gamma : float, "scale" or "median"
        Of rbf, poly, sigmoid and laplacian. ``"scale"`` is ``1/(d Var X)``; ``"median"`` is ``1/(2 m²)``, m the median
        distance between rows of a sample.
    degree, coef0 : int, float
        ``(γ xᵀy + coef0)^degree`` for poly, ``tanh(γ xᵀy + coef0)`` for sigmoid.
    approximation : {"rpcholesky", "nystroem"} or None
        None is exact. The others keep ``rank`` landmarks, in memory that grows with n only: chosen by randomly
        pivoted Cholesky, or uniformly.
    rank : int or None
        Number of landmarks; None adds them until ``tol`` is met (5,000 at the most). Without an approximation it has
        no effect; the same goes for ``tol`` and ``refine``.
    tol : float
        Share of the trace of the kernel matrix that an approximation may leave out, where ``rank`` is None. That is
        the matrix before centring: where its mean is large (a wide rbf, all values near 1), so is the trace, and what
        is left out may be all of the variance. Lower ``tol`` there; docs/maths/kernel_pca.md has an example.
    refine : int
        After an approximation, this many exact passes over the kernel, computed block by block. Each costs n² d; new
        rows are then compared with all training rows.
    solver : {"auto", "dense", "krylov", "matrix_free"}
        How exact components are found: LAPACK on the stored matrix; products with the stored matrix; products with
        blocks computed anew at each pass, for matrices that do not fit. docs/maths/kernel_pca.md has the rule. With an
        approximation it has no effect.
    inverse : bool
        Also learn pre-images, for ``inverse_transform``.
    ridge : float
        Of the regression behind pre-images, relative to the mean of its kernel's diagonal. More smooths more.
    random_state : int, Generator, RandomState or None
        Seed of the Krylov method's start, of the landmarks and of the sample behind ``gamma="median"``.
    n_jobs : int or None
        Threads for kernels and BLAS; None is all cores this process may use.
    verbose : int
        1 shows the stages with the time left.

    Attributes
    ----------
    eigenvalues_ : array (n_components,)
        Leading eigenvalues of the centred kernel matrix; 0 where there is no positive one left.
    eigenvectors_ : array (n_samples, n_components)
        The eigenvectors; in each the entry of largest magnitude is positive.
    dual_coef_ : array (n_landmarks or n_samples, n_components)
        What the kernel values between a row and the landmarks (or training rows) are multiplied with.
    gamma_ : float or None
        Number that ``gamma`` stood for, where the kernel has one.
    landmarks_ : array (rank,) or None
        Training rows that the approximation was built on.
    approximation_error_ : float
        Share of the trace of the kernel matrix, before centring, that the landmarks leave out; 0 if exact. No
        eigenvalue is too low by more than this share of that trace, but each may be by much of its own size:
        ``refine`` mends that.
    residual_ : float or None
        Largest ``‖K_c u − λ u‖`` relative to the first eigenvalue; None where no exact product was made.
    solver_ : str
        Solver that ran, or the approximation.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("rings")
    >>> kpca = lowdim.KernelPCA(2, gamma=0.5).fit(X)
    >>> inner, outer = (kpca.transform(X)[y == ring, 0] for ring in (0, 1))
    >>> bool(inner.min() > outer.max())
    True
    """

    _rules = {
        "n_components": options.whole(1),
        "kernel": options.one_of(*NAMES) | options.Rule(callable, "a function of two blocks of rows"),
        "gamma": options.real(0) | options.one_of("scale", "median"),
        "degree": options.whole(1),
        "coef0": options.real(),
        "approximation": options.one_of("rpcholesky", "nystroem") | options.none,
        "rank": options.whole(1) | options.none,
        "tol": options.real(0, 1),
        "refine": options.whole(0),
        "solver": options.one_of(*SOLVERS),
        "inverse": options.flag,
        "ridge": options.real(0),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.whole(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        approximation: str | None = None,
        rank: int | None = None,
        tol: float = 1e-2,
        refine: int = 0,
        solver: str = "auto",
        inverse: bool = False,
        ridge: float = 1e-2,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approximation = approximation
        self.rank = rank
        self.tol = tol
        self.refine = refine
        self.solver = solver
        self.inverse = inverse
        self.ridge = ridge
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Learn the components from ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; the Gram matrix (n_samples, n_samples) where ``kernel="precomputed"``.
        y : ignored
            For pipelines.

        Returns
        -------
        KernelPCA
            This object.
        """
        self._learn(X)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Learn the components and return the scores of the training rows, which ``transform`` gives again.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : ignored
            For pipelines.

        Returns
        -------
        array (n_samples, n_components)
            The scores ``√λ u``.
        """
        return self._learn(X)

    def _learn(self, X: Any) -> NDArray:
        X = gate.rows(self, X, reset=True, sparse=True, minimum=2)
        self._demand_sense(X)
        self.solver_ = self._chosen_solver(X)
        seed = seed_of(self.random_state)
        kernel, A = self._prepare(X, seed)
        self.approximation_error_: float = 0.0
        self.landmarks_: NDArray | None = None
        self.residual_: float | None = None
        found = self._exact(kernel, A, seed) if self.approximation is None else self._low_rank(kernel, A, seed)
        scores = self._keep(found, A.X.dtype)
        self.__dict__.pop("_weights", None)
        if self.inverse:
            self._learn_preimages(X, scores, self.landmarks_, float(self.ridge))
        return scores

    def _exact(self, kernel: Kernel, A: Rows, seed: int) -> _Found:
        """Leading eigenpairs of ``H K H`` by the solver chosen."""
        n, k = len(A), int(self.n_components)
        if self.solver_ == "dense":
            whole = kernel.gram(A).astype(np.float64 if direct(n, 1) else A.X.dtype, copy=False)
            size = max(float(whole.max()), -float(whole.min()))
            means = centre(whole)
            pairs = eigh_top(whole, k if kernel.positive else n)
            del whole
        else:
            K = kernel.gram(A) if self.solver_ == "krylov" and kernel.name != "precomputed" else None
            apply = CentredProduct(lambda V: kernel.product(A, V) if K is None else K @ V.astype(K.dtype))
            width = block_sizes(n, k, costly=True)[0]
            some = np.sort(stream(seed, "sketch").choice(n, min(n, max(_SKETCH, 4 * width)), replace=False))
            sample = kernel.block(A[some], A) if K is None else K[some]
            demand_finite_kernel(sample)
            size = max(float(sample.max()), -float(sample.min()))
            size = max(size, 0.0 if K is None else float(np.abs(np.diagonal(K)).max()))
            tol = _RESIDUAL[A.X.dtype.name]
            start = leading_span(sample, width)
            pairs = eigh_top_operator(apply, n, k, seed=seed, tol=tol, start=start, costly=True)
            means = apply.means
            del K, apply
        self.residual_ = pairs.residual
        if not kernel.positive:
            noise = 20 * float(np.finfo(A.X.dtype).eps) * np.sqrt(n) * size  # of values rounded one by one
            self._report_negative(pairs.values, pairs.lowest, noise)
        values, vectors, product_ = pairs.values[:k], pairs.vectors[:, :k], pairs.product[:, :k]
        inverse = self._inverse_roots(values, A, size)
        dual = (vectors - vectors.mean(axis=0)) * inverse
        scores = product_ * inverse
        return _Found(np.where(inverse > 0, values, 0.0), vectors, dual, means.rows @ dual, scores, A)

    def _low_rank(self, kernel: Kernel, A: Rows, seed: int) -> _Found:
        """Eigenpairs of ``H Fᵀ F H`` with ``K ≈ Fᵀ F``, improved by exact passes where asked for."""
        k = int(self.n_components)
        diagonal = kernel.diagonal(A)
        size = float(diagonal.max())
        low = self._landmarks(kernel, A, diagonal, seed)
        self.landmarks_, self.approximation_error_ = low.pivots, low.error
        values, V, scores, offset = low.eigenpairs(2 * k if self.refine else k)
        inverse = self._inverse_roots(values, A, size)
        if not self.refine or not inverse.any():
            some = inverse > 0
            values, V, scores, offset = values * some, low.dual(V * some), scores * some, offset * some
            return _Found(values[:k], (scores * inverse)[:, :k], V[:, :k], offset[:k], scores[:, :k], A[low.pivots])
        del low
        apply = CentredProduct(partial(kernel.product, A))
        better = refined(apply, (scores * inverse)[:, inverse > 0], k, int(self.refine), seed=seed)
        self.residual_ = better.residual
        lack = [(0, 0), (0, k - len(better.values))]
        values, left, right = np.pad(better.values, lack[1]), np.pad(better.left, lack), np.pad(better.right, lack)
        inverse = self._inverse_roots(values, A, size)
        dual = (right - right.mean(axis=0)) * inverse
        values = np.where(inverse > 0, values, 0.0)
        return _Found(values, left, dual, apply.means.rows @ dual, left * np.sqrt(values), A)

    def _landmarks(self, kernel: Kernel, A: Rows, diagonal: NDArray[np.float64], seed: int) -> LowRank:
        n = len(A)
        if diagonal.min() < 0 or not np.isfinite(diagonal).all():
            raise ValueError(
                f"KernelPCA: approximation='{self.approximation}' needs a kernel with k(x, x) ≥ 0; got "
                f"{diagonal.min():g}. Use approximation=None."
            )
        if callable(self.kernel):
            some = np.arange(min(64, n - 1))
            self._demand_one_diagonal(diagonal[some], kernel.block(A[some], A)[some, some], float(diagonal.max()))
        buffer = np.empty((min(n, 128), n), A.X.dtype)
        find = nystroem if self.approximation == "nystroem" else pivoted_cholesky
        low = find(
            lambda S: kernel.block(A[S], A, out=buffer[: len(S)]),
            diagonal,
            rank=None if self.rank is None else int(self.rank),
            tol=float(self.tol),
            seed=seed,
            least=2 * int(self.n_components),
            positive=kernel.positive,
        )
        if self.rank is None and low.error > self.tol:
            why, what = f"the search stops at {MOST:,}", "Pass rank= to go on, raise tol, or use refine=1."
            if len(low.pivots) < min(n, MOST) or len(low.pivots) == n:
                why, what = f"the rest is rounding of {A.X.dtype}", "Pass float64, raise tol, or use refine=1."
            warnings.warn(
                f"KernelPCA: {len(low.pivots):,} landmarks leave {low.error:.2g} of the trace out, more than tol="
                f"{self.tol:g}, and {why}. {what}",
                stacklevel=6,
            )
        return low

    def _demand_one_diagonal(self, alone: NDArray, within: NDArray, largest: float) -> None:
        """Refuse a function whose ``k(x, x)`` depends on the rows around x: no search for landmarks would end."""
        apart = np.abs(alone - within)
        if apart.max() > 30 * float(np.sqrt(np.finfo(within.dtype).eps)) * largest:
            i = int(apart.argmax())
            raise ValueError(
                f"KernelPCA: approximation='{self.approximation}' needs a function that gives k(x, x) alike in every "
                f"block; got {alone[i]:g} for row {i} alone and {within[i]:g} within a block. Let it look at each pair "
                "of rows by itself, or use approximation=None."
            )

    def _inverse_roots(self, values: NDArray, A: Rows, size: float) -> NDArray:
        """``1/√λ``, and 0 where λ is negative, or zero up to the rounding of kernel values of this ``size``."""
        rounding = len(A) * float(np.finfo(A.X.dtype).eps) * size
        some = values > max(float(values.max(initial=0.0)) * _NOTHING[A.X.dtype.name], rounding)
        return np.where(some, 1.0 / np.sqrt(np.where(some, values, 1.0)), 0.0)

    def _report_negative(self, values: NDArray, lowest: float, noise: float) -> None:
        """Warn of negative eigenvalues beyond ``noise``; the dense solver knows them all and can say how many."""
        first = float(values[0])
        noise = max(noise, 1e-6 * max(abs(first), abs(lowest)))
        if lowest >= -noise:
            return
        several = int(np.count_nonzero(values < -noise)) if self.solver_ == "dense" else 0
        what = "1 eigenvalue is" if several == 1 else f"{several or 'some'} eigenvalues are"
        warnings.warn(
            f"KernelPCA: the kernel is indefinite: {what} negative, down to {lowest:.3g} (the largest is {first:.3g}). "
            "They are dropped, since no map has negative squared lengths.",
            stacklevel=6,
        )

    def _keep(self, found: _Found, dtype: np.dtype) -> NDArray:
        """Set the fitted attributes, in the precision of the data and with the sign rule, and return the scores."""
        sign = signs(found.vectors.T)
        self.eigenvalues_ = found.values.astype(dtype)
        self.eigenvectors_ = (found.vectors * sign).astype(dtype)
        self._keep_map(found.basis, (found.dual * sign).astype(dtype), found.offset * sign)
        return (found.scores * sign).astype(dtype)

    def _demand_sense(self, X: Any) -> None:
        """Refuse what cannot work, before any work."""
        n, k = X.shape[0], int(self.n_components)
        if self.kernel == "precomputed":
            self._demand_gram(X)
        if k >= n:
            raise ValueError(
                f"KernelPCA: n_components must be at most n_samples - 1 = {n - 1}; got {k}. Lower it or pass more rows."
            )
        if self.inverse and (self.kernel == "precomputed" or sp.issparse(X)):
            came = "kernel='precomputed'" if self.kernel == "precomputed" else "sparse X"
            raise ValueError(
                f"KernelPCA: inverse=True needs the rows themselves, dense, to learn pre-images from; got {came}. "
                "Pass dense rows, or inverse=False."
            )
        if self.inverse:
            self._demand_kernel_of_scores(X)
        if self.approximation is None:
            return
        if self.kernel in ("precomputed", "sigmoid") or (self.kernel == "poly" and self.coef0 < 0):
            why = "is there in full already" if self.kernel == "precomputed" else "may have negative eigenvalues"
            raise ValueError(
                f"KernelPCA: approximation='{self.approximation}' needs a positive semidefinite kernel of rows; got "
                f"kernel='{self.kernel}', which {why}. Use approximation=None."
            )
        if self.rank is not None and not k <= self.rank <= n:
            raise ValueError(
                f"KernelPCA: rank must be from n_components to n_samples ({k} to {n}); got {self.rank}. Change it."
            )

    def _demand_kernel_of_scores(self, X: NDArray) -> None:
        """Refuse kernels that cannot compare scores, which pre-images are regressed on."""
        came, k = "", int(self.n_components)
        if callable(self.kernel):
            rows = np.resize(X[:4].astype(float_dtype(X.dtype)), (4, k))
            try:
                demand_kernel_function(self.kernel, rows - rows.mean())  # of both signs, as scores are
            except ValueError as error:
                came = f"a function that fails on rows of {k}: {error}"
        elif not Kernel(self.kernel, 1.0, int(self.degree), float(self.coef0)).positive:
            came = f"kernel='{self.kernel}', which may have negative eigenvalues"
        if came:
            raise ValueError(
                "KernelPCA: inverse=True needs a positive semidefinite kernel that also takes rows of n_components "
                f"scores; got {came}. Use a kernel such as 'rbf', or inverse=False."
            )

    def _chosen_solver(self, X: Any) -> str:
        """Solver by size and memory; what it needs is asked for here, before any work."""
        (n, d), k, item = X.shape, int(self.n_components), float_dtype(X.dtype).itemsize
        given = self.kernel == "precomputed"
        rows = 0 if given else item * (X.nnz * 2 if sp.issparse(X) else n * d)
        tile = item * min(n, TILE) ** 2
        if self.approximation is not None:
            rank = min(n, max(2 * k, 128)) if self.rank is None else int(self.rank)
            needed = rows + item * (n * (rank + 2 * 128) + rank * min(n, 8192)) + 40 * rank**2
            needed += (tile + 8 * n * 12 * k) if self.refine else 0
            what = f"KernelPCA: rank {rank:,} for {n:,} rows"
            memory.require(needed, what, "Pass a smaller rank=." if self.rank is None else "Lower rank.")
            return str(self.approximation)
        positive = Kernel(self.kernel, 1.0, int(self.degree), float(self.coef0)).positive
        basis = 8 * n * (block_sizes(n, k, costly=True)[1] + 4 * k)
        squares = 3 if positive and k <= n // 3 else 4  # all vectors, and what LAPACK divides and conquers in
        figures = {
            "dense": rows + squares * (8 if direct(n, 1) else item) * n * n,
            "krylov": rows + basis + (0 if given else item * n * n),
            "matrix_free": rows + basis + (0 if given else tile),
        }
        solver = self.solver
        if solver == "auto":
            order = ("dense", "krylov") if direct(n, k) else ("krylov",)
            free = memory.available()
            solver = next((name for name in order if figures[name] <= free), "matrix_free")
        parts = {"dense": " (the kernel matrix and LAPACK's)", "krylov": f" (the kernel matrix and {k} components)"}
        instead = _INSTEAD if solver != "matrix_free" else "Lower n_components, or use approximation='rpcholesky'."
        if given:  # the matrix is there, and no approximation reads it
            instead = "Use solver='krylov', which makes no copy." if solver == "dense" else "Lower n_components."
        memory.require(figures[solver], f"KernelPCA: solver='{solver}' for {n:,} rows{parts.get(solver, '')}", instead)
        if self.inverse:
            what = f"KernelPCA: inverse=True (the kernel between the scores of {n:,} rows)"
            memory.require(rows + item * n * n, what, "Use approximation='rpcholesky', whose pre-images need n only.")
        return solver
