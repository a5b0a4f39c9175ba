"""Non-negative matrix factorisation: rows as sums of parts, ``X ≈ W H`` with W ≥ 0 and H ≥ 0 (Lee and Seung 1999).

The loss is ``‖X − W H‖²``, or the divergence ``Σ x log(x / (W H)) − x + W H``, which counts follow (Poisson).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import options, validation
from lowdim.data.sizes import demand_components
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.methods.explanation import by_differences, small_steps
from lowdim.persist import fields
from lowdim.solve import nonnegative
from lowdim.solve.leading_eigenpairs import block_sizes
from lowdim.solve.nonnegative import Plain
from lowdim.solve.projection import lift
from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.products import PARTS, inner
from lowdim.work.random import seed_of
from lowdim.work.rows import cast

_MOST, _SWEEPS = 5000, 10  # sweeps for new rows, and for the parts after a chunk
_SMALLEST, _LARGEST = 1e-12, 1e12  # largest values of rows whose squares and ratios fit in float32
_TINY = 1e-30  # in place of a sum that is 0


class NMF(Reducer):
    """Non-negative matrix factorisation: each row is a sum of non-negative amounts of non-negative parts.

    Parameters
    ----------
    n_components : int
        Number of parts, at most ``min(n_samples, n_features)``.
    solver : {"auto", "hals", "mu"}
        ``"hals"`` is coordinate descent with extrapolation, for the squared error; ``"mu"`` multiplicative steps, for
        either loss. ``"auto"`` takes the first where it can. scikit-learn's ``"cd"`` means ``"hals"``.
    beta_loss : {"frobenius", "kullback-leibler"}
        The loss: squared error, or the divergence, for counts.
    init : None, "nndsvd", "nndsvda" or "random"
        Start: from singular vectors, whose zeros ``"nndsvda"`` replaces by a mean, or random. None is ``"nndsvd"``,
        with ``"mu"`` ``"nndsvda"``, since multiplicative steps keep zeros.
    max_iter : int
        Most iterations.
    tol : float
        The fit ends when an iteration lowers the loss by less than this share of it, on average over the last five;
        with ``"mu"``, when the last ten together do.
    forget_factor : float in [0, 1]
        Weight of what earlier chunks said, per chunk, in ``partial_fit``.
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
    components_ : array (n_components, n_features)
        The parts ``H``, each of length 1, those that carry most of the rows first.
    reconstruction_err_ : float
        ``‖X − W H‖``, or the square root of twice the divergence.
    loss_curve_ : array (n_iter_,)
        The loss ``‖X − W H‖²`` or the divergence, which never rises.
    n_iter_ : int
        Iterations used, in all chunks.
    n_components_ : int
        Number of parts.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> nmf = lowdim.NMF(16, random_state=0).fit(X)
    >>> W = nmf.transform(X)
    >>> W.shape, bool((W >= 0).all())
    ((1797, 16), True)
    """

    _sparse = True
    _scale_matters = True
    _no_onnx = "new rows are solved for by non-negative least squares"
    _rules = {
        "n_components": options.integer(1),
        "solver": options.one_of("auto", "hals", "mu", "cd"),
        "beta_loss": options.one_of("frobenius", "kullback-leibler"),
        "init": options.none | options.one_of("nndsvd", "nndsvda", "random"),
        "max_iter": options.integer(1),
        "tol": options.real(0, closed="left"),
        "forget_factor": options.real(0, 1, closed="both"),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }
    components_: NDArray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _state(self) -> dict[str, fields.Field]:
        return {
            "components_": fields.array("k", "d", low=0),
            "reconstruction_err_": fields.number(0),
            "loss_curve_": fields.array("i", low=0),
            "n_iter_": fields.count(low=1),
            "n_components_": fields.count("k"),
            "_precision": fields.text("float32", "float64"),
            "_sums": fields.parts(fields.array("d", "k", low=0), fields.array("a", "k", low=0)),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        solver: str = "auto",
        beta_loss: str = "frobenius",
        init: str | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        forget_factor: float = 0.7,
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def _divergence(self) -> bool:
        """Whether the loss is the divergence."""
        return bool(self.beta_loss == "kullback-leibler")

    @fitting
    def fit(self, X: Any, y: Any = None) -> "NMF":
        """Learn the parts of ``X`` (array, DataFrame or sparse matrix, no value negative).

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data; sparse rows are never made dense.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            This object.
        """
        X = self._take_positive(X, reset=True, minimum=2)
        if self._divergence and self.solver in ("hals", "cd"):
            raise ValueError(
                f"NMF: solver={self.solver!r} lowers the squared error; got beta_loss={self.beta_loss!r}. Use 'mu'."
            )
        demand_components(
            self._name,
            self.n_components,
            min(X.shape),
            f"min(n_samples, n_features) = {min(X.shape)}",
            "pass more data",
        )
        self._ask_memory_for(X)
        P = Plain(X)
        found = self._factors(P)
        self._sums = self._statistics(P, found.W, found.H)
        self._keep(to_numpy(found.H))
        self.loss_curve_ = found.losses
        self.reconstruction_err_ = float(np.sqrt(found.losses[-1] * (2 if self._divergence else 1)))
        self.n_iter_, self.n_components_ = len(found.losses), int(self.n_components)
        return self

    @fitting
    def partial_fit(self, X: Any, y: Any = None) -> "NMF":
        """Improve the parts by a chunk of rows, whose amounts are computed first; the first chunk is fitted.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The chunk.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            This object.
        """
        if "components_" not in vars(self):
            return self.fit(X)
        X = self._take_positive(X, reset=False, minimum=1)
        self._ask_memory_for(X)
        P, W, H = Plain(X), self._amounts(X), self._parts(X)
        new = self._statistics(P, W, H)
        self._sums = tuple(self.forget_factor * old + more for old, more in zip(self._sums, new, strict=True))
        B, A = self._sums
        H = to_numpy(H).astype(np.float64)
        self._keep(B / np.maximum(A, _TINY) if self._divergence else nonnegative.descend(A, B, H, _SWEEPS, 0.0))
        self.n_iter_ += 1
        return self

    def _statistics(self, P: Plain, W: Any, H: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What the parts depend on: ``XᵀW`` (d, k) and ``WᵀW`` (k, k), or the terms of a multiplicative step."""
        if self._divergence:
            pair = H * nonnegative.ratios(P.turned, H, W, False)[0], nonnegative.column_sums(W)[None]
        else:
            pair = P.pull(W), inner(W, W)
        return tuple(to_numpy(A).astype(np.float64) for A in pair)  # type: ignore[return-value]

    def _keep(self, H: NDArray) -> None:
        """Set the parts, each of length 1, in the order of what they carry."""
        B, A = self._sums
        lengths = np.sqrt(np.square(H, dtype=np.float64).sum(axis=0))
        scale = np.where(lengths > 0, lengths, 1.0)
        amount = A[0] if self._divergence else np.sqrt(np.diag(A))
        order = np.argsort(-amount * lengths, kind="stable")
        self.components_ = np.ascontiguousarray((H / scale)[:, order].T, self._precision)
        B, A = (B, A * scale) if self._divergence else (B * scale, A * scale * scale[:, None])
        self._sums = B[:, order], A[:, order] if self._divergence else A[np.ix_(order, order)]

    def _factors(self, P: Plain) -> nonnegative.Factors:
        """Start and solver, as the parameters say."""
        multiplicative = self.solver == "mu" or self._divergence
        init = self.init or ("nndsvda" if multiplicative else "nndsvd")
        W, H = nonnegative.start(P, self.n_components, init, seed_of(self.random_state))
        if multiplicative:
            return nonnegative.multiplicative(P, W, H, self.max_iter, self.tol, divergence=self._divergence)
        return nonnegative.alternate(P, W, H, self.max_iter, self.tol)

    def _take_positive(self, X: Any, *, reset: bool, minimum: int) -> Any:
        """Validated rows as floats, without negative values."""
        X = self._take(X, reset=reset, sparse=True, minimum=minimum)
        X = cast(X, float_dtype(X.dtype))
        if reset:
            self._precision = float_dtype(X.dtype).name
        values = X.data if sp.issparse(X) else X
        least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        if least < 0:
            raise ValueError(
                f"{self._name}: X must not be negative, since parts only add up; got {least:g}. Negative values in "
                "data passed to NMF need another method, such as PCA, or another unit: X - X.min(axis=0)."
            )
        if most and not _SMALLEST <= most <= _LARGEST:
            raise ValueError(
                f"{self._name}: the largest value of X must be from {_SMALLEST:g} to {_LARGEST:g}; got {most:g}. "
                "Multiply X by a constant that brings it near 1."
            )
        return X

    def _ask_memory(self, n: int, d: int) -> None:
        self._demand_room(n, d, None, 8)

    def _demand_room(self, n: int, d: int, stored: float | None, itemsize: int) -> None:
        """``stored``: values of sparse rows, whose transpose is kept beside them."""
        k, side = self.n_components, min(n, d)
        width = block_sizes(side, k, False, stored is not None)[1]
        needed = itemsize * (n + d) * (7.0 * k + 16) + 8.0 * side * width
        # a transpose, or the parts of products over rows
        needed += PARTS * itemsize * side * width if stored is None else stored * (itemsize + 4)
        what = f"{self._name}: {k:,} parts of {n:,} rows of {d:,} features"
        memory.require(needed, what, "Lower n_components, or pass rows in chunks to partial_fit.")

    def _ask_memory_for(self, X: Any) -> None:
        sparse = sp.issparse(X)
        self._demand_room(X.shape[0], X.shape[1], float(X.nnz) if sparse else None, X.dtype.itemsize)

    def _parts(self, like: Any) -> Any:
        """Parts (d, k) on the backend and in the precision of these rows."""
        H = np.ascontiguousarray(self.components_.T, float_dtype(like.dtype))
        return H if sp.issparse(like) else from_numpy(H, like)

    @applying
    def transform(self, X: Any) -> NDArray:
        """Amounts of the parts in each row: non-negative least squares, or the smallest divergence.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``, no value negative.

        Returns
        -------
        array (n_samples, n_components)
            The amounts, float32 for float32 and small integers, float64 otherwise.
        """
        return self._amounts(self._take_positive(X, reset=False, minimum=1))

    def _amounts(self, X: Any) -> Any:
        """Amounts (n, k) of validated rows; those of a row do not depend on the others."""
        H = self._parts(X)
        B = nonnegative.product(X, H)
        if self._divergence:
            whole = nonnegative.product(X, H[:, :1] * 0 + 1) / max(float(H.sum()), _TINY)
            return nonnegative.divergence_scores(X, H, (B * 0 + 1) * whole, self.max_iter)
        tol = 1e-5 if float_dtype(X.dtype) == np.float32 else 1e-9
        return nonnegative.descend(inner(H, H), B, B * 0, _MOST, tol)

    def _jacobian(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        Y = self._amounts(X)
        return by_differences(X, lambda Q, _: self._amounts(Q), small_steps(self, X), Y)

    @applying
    def inverse_transform(self, Y: Any) -> NDArray:
        """Rows that these amounts of the parts add up to.

        Parameters
        ----------
        Y : array (n_samples, n_components)
            Amounts.

        Returns
        -------
        array (n_samples, n_features)
            ``Y H``.
        """
        Y = validation.scores(Y, self._name, len(self.components_))
        return lift(Y, self.components_, np.zeros(self.n_features_in_))
