"""Kernel principal component analysis: PCA in the feature space of a kernel.

With the centred Gram matrix ``K_c = H K H``, ``H = I − 11ᵀ/n``, and ``K_c u = λ u``, training rows have the scores
``√λ u`` and a new row ``x`` has ``Σ_i α_i k_c(x, x_i)``, ``α = u/√λ`` (Schölkopf, Smola and Müller 1998). Only products
with ``K`` are needed, so that it can be stored, computed anew at each pass, or replaced by ``Fᵀ F`` of low rank.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose import kernel_features
from lowdim.compose import kernel_spectrum as spectrum
from lowdim.data import options, validation
from lowdim.methods import onnx_export
from lowdim.methods.base import applying, fitting
from lowdim.methods.kernel import RULES, KernelReducer
from lowdim.persist import fields
from lowdim.relate.centring import centre
from lowdim.relate.kernels import demand_kernel_function
from lowdim.solve.ridge import kernel_ridge, landmark_ridge
from lowdim.solve.signs import signs
from lowdim.work import dispatch
from lowdim.work.backend_arrays import from_numpy
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import backend_of
from lowdim.work.random import seed_of
from lowdim.work.rows import cast

_SAME = {"arpack": "krylov", "randomized": "krylov"}  # scikit-learn's names


class KernelPCA(KernelReducer):
    """Kernel principal component analysis, exact or by a low-rank approximation.

    Parameters
    ----------
    n_components : int
        Number of components, below n_samples.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "precomputed"} or callable
        ``"precomputed"``: ``fit`` takes the symmetric Gram matrix (n, n), ``transform`` the values (m, n) between new
        and training rows. A function takes two blocks of rows, (a, d) and (b, d), and returns (a, b) values; models
        with one cannot be saved.
    gamma : float, "scale" or "median"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels. ``"scale"`` is ``1/(d Var X)``; ``"median"`` is
        ``1/(2 m²)``, m the median distance between rows of a sample.
    degree, coef0 : int, float
        ``(γ xᵀy + coef0)^degree`` for poly, ``tanh(γ xᵀy + coef0)`` for sigmoid.
    approximation : {"rpcholesky", "nystroem"} or None
        None is exact. The others keep ``rank`` landmarks, in memory that grows with n only: chosen by randomly
        pivoted Cholesky, or uniformly.
    rank : int or None
        Number of landmarks; None adds them until ``tol`` is met (5,000 at the most). Without an approximation it has
        no effect, nor have ``tol`` and ``refine``.
    tol : float
        Share of the trace of the kernel matrix that an approximation may leave out, where ``rank`` is None. That is
        the matrix before centring: where its mean is large (a wide rbf, all values near 1), so is the trace, and what
        is left out may be all of the variance. Lower ``tol`` there; docs/maths/kernel_pca.md has an example.
    refine : int
        After an approximation, this many exact passes over the kernel, computed block by block. Each costs n² d; new
        rows are then compared with all training rows.
    eigen_solver : {"auto", "dense", "krylov", "matrix_free"}
        How exact components are found: LAPACK on the stored matrix; products with the stored matrix; products with
        blocks computed anew at each pass, for matrices that do not fit. docs/maths/kernel_pca.md has the rule. With an
        approximation it has no effect. scikit-learn's ``"arpack"`` and ``"randomized"`` mean "krylov".
    fit_inverse_transform : bool
        Also learn pre-images, for ``inverse_transform``.
    alpha : float
        Of the regression behind pre-images, relative to the mean of its kernel's diagonal. More smooths more.
    random_state : int, Generator, RandomState or None
        Seed of the Krylov method's start, of the landmarks and of the sample behind ``gamma="median"``.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    eigenvalues_ : array (n_components,)
        Leading eigenvalues of the centred kernel matrix; 0 where there is no positive one left.
    eigenvectors_ : array (n_samples, n_components)
        The eigenvectors; in each the entry of largest magnitude is positive. Not of Dask collections.
    dual_coef_ : array (n_landmarks or n_samples, n_components)
        Coefficients of the kernel values between a row and the landmarks (or training rows).
    gamma_ : float or None
        Value of ``gamma`` used, where the kernel has one.
    landmarks_ : array (rank,) or None
        Training rows that the approximation was built on.
    approximation_error_ : float
        Share of the trace of the kernel matrix, before centring, that the landmarks leave out; 0 if exact. No
        eigenvalue is too low by more than this share of that trace, but each may be by much of its own size:
        ``refine`` corrects that.
    residual_ : float or None
        Largest ``‖K_c u − λ u‖`` relative to the first eigenvalue; None where no exact product was made.
    solver_ : str
        Solver or approximation used.

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
        "n_components": options.integer(1),
        **RULES,
        "approximation": options.one_of("rpcholesky", "nystroem") | options.none,
        "rank": options.integer(1) | options.none,
        "tol": options.real(0, 1),
        "refine": options.integer(0),
        "eigen_solver": options.one_of(*spectrum.SOLVERS, *_SAME),
        "fit_inverse_transform": options.flag,
        "alpha": options.real(0),
        "random_state": options.seed,
        "device": options.none | options.device,
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "eigenvalues_": fields.array("k"),
            "eigenvectors_": fields.optional(fields.array("n", "k")),
            "landmarks_": fields.bind("l", "n") | fields.indices("l", below="n"),
            "approximation_error_": fields.number(),
            "residual_": fields.nothing | fields.number(),
            "solver_": fields.text(*spectrum.SOLVERS, "rpcholesky", "nystroem"),
            "_centres": fields.optional(fields.array("l", "k", precision="r")),
            "_weights": fields.optional(fields.array("l", "d", precision="r")),
            "_intercept": fields.optional(fields.array("d")),
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
        eigen_solver: str = "auto",
        fit_inverse_transform: bool = False,
        alpha: float = 1e-2,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

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
        self._learn_from(X)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Learn the components and return the scores of the training rows, the same as ``transform`` returns.

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
        scores = self._learn_from(X)
        return self.transform(X) if scores is None else scores

    def _learn_from(self, X: Any) -> NDArray | None:
        """Fit, and return the scores of the training rows, None where they are distributed."""
        X = self._take(X, reset=True, sparse=True, minimum=2)
        self._demand_sense(X)
        for name in ("_weights", "_intercept", "_centres", "eigenvectors_"):  # of a fit before
            self.__dict__.pop(name, None)
        return self._learn_from_blocks(X) if dispatch.is_distributed(X) else self._learn(X)

    def _learn_from_blocks(self, X: Any) -> NDArray | None:
        """Landmarks from a sample of the rows; components from the features of all rows."""
        way = self._approximation()
        if way is None or self.kernel == "precomputed" or self.refine or self.fit_inverse_transform:
            raise ValueError(
                "KernelPCA: an exact fit, refine, fit_inverse_transform or kernel='precomputed' needs all rows in one "
                "memory; got a Dask array or DataFrame. Use approximation='rpcholesky', refine=0 and no pre-images."
            )
        seed = seed_of(self.random_state)
        some, drawn = kernel_features.draw(X, seed)
        self.solver_ = self._choose(some)
        kernel, A = self._prepare(some, seed, X)
        found = kernel_features.of_features(X, kernel, A, self._shift, int(self.n_components), way, seed)
        self._keep(found._replace(landmarks=drawn[found.landmarks]), float_dtype(A.dtype))
        del self.eigenvectors_  # as long as the rows, as scores are
        return None

    def _learn(self, X: Any) -> NDArray:
        k, way = int(self.n_components), self._approximation()
        self.solver_ = self._choose(X)
        seed = seed_of(self.random_state)
        kernel, A = self._prepare(X, seed)
        if way is None:
            found = spectrum.exact(kernel, A, k, self.solver_, seed)
        else:
            found = spectrum.low_rank(kernel, A, k, way, seed)
        scores = self._keep(found, float_dtype(A.dtype))
        if self.fit_inverse_transform:
            self._learn_preimages(X, scores, self.landmarks_, float(self.alpha))
        return scores

    def _choose(self, X: Any) -> str:
        """Solver, once there is memory for what it needs."""
        k, way, named = int(self.n_components), self._approximation(), self._kernel(1.0)
        if way is None:
            solver = str(_SAME.get(self.eigen_solver, self.eigen_solver))
            return spectrum.choose(X, k, solver, named, inverse=bool(self.fit_inverse_transform))
        spectrum.demand_memory(X, k, named, way)
        return way.name

    def _ask_memory(self, n: int, d: int) -> None:
        self._choose(np.broadcast_to(0.5, (n, d)))  # an array of that shape that takes no memory, of no pixels

    def _approximation(self) -> spectrum.Approximation | None:
        if self.approximation is None:
            return None
        rank = None if self.rank is None else int(self.rank)
        return spectrum.Approximation(self.approximation, rank, float(self.tol), int(self.refine))

    def _keep(self, found: spectrum.KernelSpectrum, dtype: np.dtype) -> NDArray:
        """Set the fitted attributes, in the precision of the data and with the sign rule, and return the scores."""
        sign = signs(found.vectors.T)
        there = from_numpy(sign, found.vectors)
        self.eigenvalues_ = found.values.astype(dtype)
        self.eigenvectors_ = cast(found.vectors * there, dtype)
        self.landmarks_, self.approximation_error_ = found.landmarks, found.error
        self.residual_ = found.residual
        self._keep_map(found.basis, cast(found.dual * there, dtype), found.offset * sign)
        return cast(found.scores * there, dtype)

    @applying
    def inverse_transform(self, Y: Any) -> NDArray:
        """Pre-images: rows of the data space whose scores are near ``Y``, by ridge regression on the training rows.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Scores.

        Returns
        -------
        array (n_samples, n_features)
            The pre-images.
        """
        self._demand_preimages()
        Y = validation.scores(Y, self._name, self._n_features_out)
        kernel, dtype = self._kernel(), self._weights.dtype
        X = kernel.project(kernel.rows(Y, None, dtype), kernel.rows(self._centres), self._weights)
        X += self._intercept.astype(dtype)
        return X.astype(Y.dtype, copy=False)

    def _demand_preimages(self) -> None:
        if not hasattr(self, "_weights"):
            raise ValueError(
                "KernelPCA: inverse_transform needs a model fitted with fit_inverse_transform=True; this one was not. "
                "Set it and fit again."
            )

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        if method == "transform":
            return super()._onnx(graph, X, method)
        self._demand_preimages()
        kernel = self._kernel()
        basis = kernel.rows(self._centres).floats()
        return onnx_export.kernel_rows(graph, kernel, X, basis, self._weights, None, self._intercept)

    def _learn_preimages(self, X: NDArray, Y: NDArray, landmarks: NDArray | None, ridge: float) -> None:
        """Regress the rows of ``X`` on the same kernel between their scores ``Y``, at all of them or at landmarks."""
        kernel, dtype = self._kernel(), float_dtype(X.dtype)
        Y = Y.astype(dtype)
        self._centres = Y if landmarks is None else Y[landmarks]
        C = kernel.rows(self._centres)
        if landmarks is None:
            K = kernel.gram(C)
            found = kernel_ridge(K, centre(K).rows, X.astype(dtype, copy=False), ridge)
        else:
            blocks = ((kernel.block(kernel.rows(Y[rows]), C), T) for rows, T in row_blocks(X, dtype))
            found = landmark_ridge(blocks, kernel.block(C, C), ridge)
        self._weights, self._intercept = found.weights.astype(dtype), found.intercept

    def _demand_sense(self, X: Any) -> None:
        """Refuse invalid combinations before any work."""
        n, k = X.shape[0], int(self.n_components)
        if self.kernel == "precomputed":
            self._demand_gram(X)
        if k >= n:
            raise ValueError(
                f"KernelPCA: n_components must be at most n_samples - 1 = {n - 1}; got {k}. Lower it or pass more rows."
            )
        if self.fit_inverse_transform and (self.kernel == "precomputed" or sp.issparse(X)):
            came = "kernel='precomputed'" if self.kernel == "precomputed" else "sparse X"
            raise ValueError(
                f"KernelPCA: fit_inverse_transform=True needs the rows themselves, dense; got {came}. Pass dense rows, "
                "or fit_inverse_transform=False."
            )
        if self.fit_inverse_transform and backend_of(X) is not None:
            raise ValueError("KernelPCA: fit_inverse_transform=True has no version for tensors. Pass NumPy rows.")
        if self.fit_inverse_transform:
            self._demand_kernel_of_scores(X)
        if self.approximation is None:
            return
        if self.kernel in ("precomputed", "sigmoid") or (self.kernel == "poly" and self.coef0 < 0):
            why = "is already computed in full" if self.kernel == "precomputed" else "may have negative eigenvalues"
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
        elif not self._kernel(1.0).positive:
            came = f"kernel='{self.kernel}', which may have negative eigenvalues"
        if came:
            raise ValueError(
                "KernelPCA: fit_inverse_transform=True needs a positive semidefinite kernel that also takes rows of "
                f"scores; got {came}. Use a kernel such as 'rbf', or fit_inverse_transform=False."
            )
