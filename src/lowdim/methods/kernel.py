"""Base class of kernel methods: the kernel and its rows, and scores from kernel values once fitted."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods import onnx_export
from lowdim.methods.base import Reducer, applying
from lowdim.persist import fields
from lowdim.relate.centring import centre
from lowdim.relate.kernels import NAMES, Kernel, KernelRows, demand_gram, demand_kernel_function, resolve_gamma
from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.work.backend_arrays import from_numpy, moved_to
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import cast, in_form_of, own, shared

RULES = {  # parameters of all of them; a subclass adds its own
    "kernel": options.one_of(*NAMES) | options.Rule(callable, "a function of two blocks of rows"),
    "gamma": options.real(0) | options.one_of("scale", "median"),
    "degree": options.integer(1),
    "coef0": options.real(),
    "n_jobs": options.jobs,
    "verbose": options.integer(0),
}
_RANGE = {"float32": 1e-6, "float64": 1e-12}  # eigenvalues below this share of the largest are rounding errors


class Spanned(NamedTuple):
    """``K_c = U Λ Uᵀ`` within its range: vectors (n, r), values (r,), and the means (n,) of the rows of K."""

    vectors: NDArray
    values: NDArray
    means: NDArray


class KernelReducer(Reducer):
    """A method whose scores are ``Y = K(X, B) W − c`` with the kernel between rows and a basis ``B`` of rows.

    A subclass has the parameters ``kernel, gamma, degree, coef0`` and calls ``_prepare`` and ``_keep_map``.
    """

    _sparse = True
    _scale_matters = True
    _no_onnx = None
    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    gamma_: float | None
    dual_coef_: NDArray

    def _state(self) -> dict[str, fields.Field]:  # by the kernel
        given = self.kernel == "precomputed"
        return {
            "gamma_": fields.nothing | fields.number(0),
            "dual_coef_": fields.array("d" if given else "b", "k", precision="p"),
            "_offset": fields.array("k"),
            "_shift": fields.nothing | fields.array("d"),
            "_basis": fields.array(0, 0) if given else fields.rows("b", "d", precision="p"),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed" and not getattr(self, "fit_inverse_transform", False)
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_coef_.shape[1])

    def _kernel(self, gamma: float | None = None) -> Kernel:
        """The kernel, with the gamma found in ``fit`` unless another is given."""
        return Kernel(self.kernel, gamma or self.gamma_ or 1.0, int(self.degree), float(self.coef0))

    def _prepare(self, X: Any, seed: int, whole: Any = None) -> tuple[Kernel, KernelRows]:
        """The kernel with its gamma resolved, and the rows as it reads them; ``X`` may be some of the ``whole``."""
        named = self._kernel(1.0)
        spread = X if whole is None or self.gamma != "scale" else whole
        self.gamma_ = resolve_gamma(spread, self.gamma, seed) if named.has_gamma else None
        self._shift = named.shift(X)
        A = named.rows(X, self._shift)
        if callable(self.kernel):
            demand_kernel_function(self.kernel, A.X)
        if self.kernel != "precomputed" and A.pixels is None and shared(A.X, X):
            A = KernelRows(own(A.X), A.norms)  # later changes of X must not change the model
        return self._kernel(), A

    def _spanned(self, kernel: Kernel, A: KernelRows) -> Spanned:
        """All eigenpairs of the centred Gram matrix except rounding errors; at least one is needed."""
        K = kernel.gram(A).astype(np.float64)
        means = centre(K)
        pairs = eigh_top(K, len(K))
        inside = pairs.values > _RANGE[A.dtype.name] * max(pairs.values[0], np.finfo(float).tiny)
        if not inside.any():
            raise ValueError(
                f"{self._name}: rows that differ under the kernel are needed; got {len(K):,} that are all "
                "alike. Pass other rows, or another kernel or gamma."
            )
        return Spanned(pairs.vectors[:, inside], pairs.values[inside], means.rows)

    def _demand_gram(self, X: Any) -> None:
        """Refuse a precomputed matrix that is sparse, not square or not symmetric."""
        name = self._name
        if sp.issparse(X):
            raise TypeError(f"{name}: kernel='precomputed' needs a dense matrix; got a sparse one. Pass X.toarray().")
        demand_gram(X, name)

    def _keep_map(self, basis: KernelRows, dual: NDArray, offset: NDArray) -> None:
        """Store the projection of new rows; precomputed rows are their own kernel values."""
        self.dual_coef_ = dual
        self._offset = offset
        none = np.empty((0, 0), float_dtype(dual.dtype))
        self._basis = none if self.kernel == "precomputed" else basis.floats()

    def _new_rows(self, X: Any) -> Any:
        """Validated KernelRows for ``transform``."""
        if self.kernel != "precomputed":
            return self._take(X, reset=False, sparse=True)
        try:
            return self._take(X, reset=False)
        except ValueError as error:
            text, width = str(error).removesuffix(" Pass the columns that fit saw."), "features, but"
            if width not in text:
                raise
            raise ValueError(
                f"{text} kernel='precomputed' needs the kernel's values between the m new rows and the "
                f"{self.n_features_in_} training rows: pass an array (m, {self.n_features_in_})."
            ) from None

    @applying
    def transform(self, X: Any) -> NDArray:
        """Scores of the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``; for ``kernel="precomputed"`` the kernel's values between these
            rows and the training rows, of shape (n_samples, n_training_samples).

        Returns
        -------
        array (n_samples, n_components)
            The scores, float32 for float32 and small integers, float64 otherwise.
        """
        return self._scores(self._new_rows(X))

    def _onnx(self, graph: Any, X: str, method: str) -> str:
        return onnx_export.kernel_rows(
            graph, self._kernel(), X, self._basis, self.dual_coef_, self._shift, -self._offset
        )

    def _scores(self, X: Any) -> NDArray:
        """Scores of validated rows."""
        kernel, dtype, out = self._kernel(), float_dtype(self.dual_coef_.dtype), float_dtype(X.dtype)
        basis, dual = moved_to(self._basis, X), moved_to(self.dual_coef_, X)
        X = X if self.kernel == "precomputed" else in_form_of(X, basis)
        Y = kernel.project(kernel.rows(X, self._shift, dtype), kernel.as_rows(basis), dual)
        Y -= from_numpy(self._offset.astype(dtype), Y)
        return cast(Y, out)
