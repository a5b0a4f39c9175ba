"""Kernel canonical correlation analysis: CCA of two views in the feature space of a kernel.

Each centred Gram matrix ``K_c = U Λ Uᵀ`` gives its rows the coordinates ``U Λ^½``; their covariance is ``Λ/n``, and
with ``D = Λ^½ (Λ/n + κI)^-½`` the correlations are the singular values of ``D_x U_xᵀ U_y D_y / n`` (Akaho 2001;
Hardoon, Szedmak and Shawe-Taylor 2004). The linear kernel is CCA with the same ridge.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods import onnx_export
from lowdim.methods.kernel import RULES, KernelReducer
from lowdim.methods.two_views import TwoViewReducer
from lowdim.persist import fields
from lowdim.relate.kernels import NAMES, Kernel, KernelRows, resolve_gamma
from lowdim.solve.signs import signs
from lowdim.work import memory
from lowdim.work.progress import stage


class _View(NamedTuple):
    """Eigenvectors ``U`` (n, q), square roots of the eigenvalues, ``D`` above, and row means of the Gram matrix."""

    U: NDArray
    size: NDArray
    D: NDArray
    means: NDArray


class KernelCCA(TwoViewReducer, KernelReducer):
    """Canonical correlation analysis in the feature space of a kernel, the same kernel for both views.

    Parameters
    ----------
    n_components : int or None
        Number of pairs of directions; None keeps the rank of the smaller view under the kernel.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "cosine"} or callable
        A function takes two blocks of rows and returns their values.
    gamma : float, "scale" or "median"
        Coefficient of the kernel, set for each view: ``"scale"`` is ``1/(d Var X)``; ``"median"`` is
        ``1/(2 m²)``, m the median distance between rows of a sample.
    degree, coef0 : int, float
        Parameters of the poly kernel, ``(gamma xᵀy + coef0)^degree``, and of sigmoid.
    ridge : float
        Ridge κ added to the variances of both views. Without it, views whose ranks under the kernel add up to n or more
        correlate perfectly whatever the data; ``fit`` then warns.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    correlations_ : array (n_components_,)
        Canonical correlations in decreasing order; with a ridge, the regularised ratio, which is lower.
    dual_coef_, y_dual_coef_ : arrays (n_training_samples, n_components_)
        Coefficients of the kernel values of each view.
    gamma_, y_gamma_ : float or None
        Value of gamma used for each view.
    n_components_ : int
        Number of pairs kept.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> cca = lowdim.KernelCCA(1, ridge=0.1).fit(X[:, :2], X[:, 2:])
    >>> cca.transform(X[:5, :2]).shape, bool(0.5 < cca.correlations_[0] < 1)
    ((5, 1), True)
    """

    _rules = {
        "n_components": options.integer(1) | options.none,
        **RULES,
        "kernel": options.one_of(*(name for name in NAMES if name != "precomputed"))
        | options.Rule(callable, "a function of two blocks of rows"),
        "ridge": options.real(0, closed="left"),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "y_gamma_": fields.nothing | fields.number(0),
            "y_dual_coef_": fields.array("b", "k", precision="q"),
            "_y_basis": fields.rows("b", "e", precision="q"),
            "_y_offset": fields.array("k"),
            "_y_shift": fields.nothing | fields.array("e"),
            "correlations_": fields.array("k", low=0, high=1),
            "n_components_": fields.count("k"),
        }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float = 1e-3,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X: Any, Y: NDArray) -> None:
        n = X.shape[0]
        self._demand_count(n - 1, "n_samples - 1", "Lower it.")
        self._ask_memory(*X.shape)
        kernel, A = self._prepare(X, seed=0)
        self.y_gamma_ = resolve_gamma(Y, self.gamma, 0) if kernel.has_gamma else None
        self._y_shift = self._y_kernel().shift(Y)
        B = self._y_kernel().rows(Y, self._y_shift)
        view, other = self._view(kernel, A), self._view(self._y_kernel(), B)
        self._warn_of_ranks(n, len(view.size), len(other.size))
        C = view.D[:, None] * (view.U.T @ other.U) * other.D / n
        with stage("singular vectors", flops=22.0 * min(C.shape) ** 2 * max(C.shape)):
            left, rho, right = sl.svd(C, full_matrices=False, check_finite=False)
        k = self._count(len(rho), "rank under the kernel,", "Lower it.")
        dual, y_dual = self._dual(view, left[:, :k]), self._dual(other, right[:k].T)
        # Scores, unlike the weights, hardly move with the rounding of the kernel.
        sign = signs(((view.U * view.D) @ left[:, :k]).T)
        self._keep_map(A, np.ascontiguousarray(dual * sign, A.dtype), view.means @ (dual * sign))
        self.y_dual_coef_ = np.ascontiguousarray(y_dual * sign, B.dtype)
        rows = B.floats()
        self._y_basis = rows if not np.shares_memory(rows, Y) else rows.copy()
        self._y_offset = other.means @ (y_dual * sign)
        self.correlations_ = np.minimum(rho[:k], 1.0).astype(A.dtype)
        self.n_components_ = k

    def _ask_memory(self, n: int, d: int) -> None:
        memory.require(85.0 * n * n, f"KernelCCA: two {n:,} × {n:,} kernel matrices", "Fit on fewer rows.")

    def _y_kernel(self) -> Kernel:
        return self._kernel(getattr(self, "y_gamma_", None) or 1.0)

    def _view(self, kernel: Kernel, A: KernelRows) -> _View:
        U, values, means = self._spanned(kernel, A)
        D = np.sqrt(values / (values / len(A) + self.ridge))
        return _View(U, np.sqrt(values), D, means)

    @staticmethod
    def _dual(view: _View, W: NDArray) -> NDArray:
        """Weights of kernel values for directions ``W`` in whitened coordinates: ``U Λ^-½ (Λ/n + κ)^-½ W``."""
        dual = (view.U * (view.D / np.square(view.size))) @ W
        return dual - dual.mean(axis=0)  # exact except for rounding in the smallest eigenvectors

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        if method == "transform":
            return super()._onnx(graph, X, method)
        basis, dual = self._y_basis, self.y_dual_coef_
        return onnx_export.kernel_rows(graph, self._y_kernel(), X, basis, dual, self._y_shift, -self._y_offset)

    def _second_scores(self, Y: NDArray) -> NDArray:
        kernel = self._y_kernel()
        rows = kernel.rows(Y, self._y_shift, self.y_dual_coef_.dtype)
        return kernel.project(rows, kernel.as_rows(self._y_basis), self.y_dual_coef_) - self._y_offset

    @property
    def _n_targets(self) -> int:
        return int(self._y_basis.shape[1])
