"""Non-negative factors ``X ≈ W Hᵀ``: coordinate descent on their small Gram matrices, and multiplicative steps.

With ``W`` (n, k) and ``H`` (d, k), the squared error is a quadratic form in each row of ``W``, whose matrix is ``HᵀH``
(k, k) and whose linear term is a row of ``X H`` (hierarchical alternating least squares, Cichocki and Phan 2009). A
product with ``X`` therefore serves several sweeps (Gillis and Glineur 2012), and steps are extrapolated, which is taken
back where the loss rises (Ang and Gillis 2019). Multiplicative steps are those of Lee and Seung (2001).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve.leading_eigenpairs import eigh_top_operator
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.products import inner, multiply, multiply_few
from lowdim.work.progress import note, stage
from lowdim.work.random import stream
from lowdim.work.rows import cast, own, totals

_SWEEPS = 10  # over the coordinates for one product with the rows
_ENOUGH = 0.1  # of the first sweep's step: below, another product gains more than another sweep
_EXTRAPOLATION, _FASTER, _MOST_FASTER, _SLOWER = 0.5, 1.05, 1.01, 1.5  # Ang and Gillis's β, γ, γ̄ and η
_LAST = (
    5  # iterations whose mean ends a fit: one that was taken back, and the plain one after it, lower the loss little
)
_TOGETHER = 10  # multiplicative steps that lower the loss by less than tol, as in scikit-learn
_START_TOL = 1e-3  # of the singular vectors that are only a start


class Factors(NamedTuple):
    """Factors W (n, k) and H (d, k), and the loss after each iteration."""

    W: Any
    H: Any
    losses: NDArray[np.float64]


class Plain:
    """Rows for products: dense ones of any backend, or CSR with its transpose."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, X.shape
        self.like = None if isinstance(X, np.ndarray) or sp.issparse(X) else X
        self.turned = X.T.tocsr() if sp.issparse(X) else X.T
        values = X.data if sp.issparse(X) else X
        self.square = sum(_dot(part, part) for part in _parts(values))

    def push(self, V: Any) -> Any:
        """``X V`` (n, k)."""
        return product(self.X, V)

    def pull(self, U: Any) -> Any:
        """``Xᵀ U`` (d, k)."""
        return product(self.turned, U)


def _parts(values: Any) -> Iterator[Any]:
    step = 2**20 if values.ndim == 1 else max(1, 2**20 // values.shape[1])
    return (values[start : start + step] for start in range(0, len(values), step))


def product(A: Any, V: Any) -> Any:
    """``A V`` of dense or sparse rows."""
    if not sp.issparse(A):
        return multiply_few(A, V)
    if A.indices.dtype != np.int32 or A.indptr.dtype != np.int32:  # more than 2³¹ stored values
        return np.asarray(A @ V)
    V = np.ascontiguousarray(V, A.dtype)
    return _native.csr_product(A.indptr, A.indices, A.data, V, n_threads=thread_limit.current())


_MOST_VALUES = 2**31 - 1  # whose places the kernel takes at a time


def _dot(A: Any, B: Any) -> float:
    """Sum of the products of the entries, in float64."""
    return float(np.sum(totals(A * B, 0) if A.ndim > 1 else to_numpy(A * B), dtype=np.float64))


def column_sums(A: Any) -> Any:
    """Sum of each column, on the backend of ``A`` and in its type."""
    return from_numpy(totals(A, 0).astype(float_dtype(A.dtype)), A)


@operation(on=1)
def descend(G: Any, B: Any, W: Any, most: int, tol: float) -> Any:
    """The rows (n, k) that lower ``w G wᵀ / 2 − b·w`` with w ≥ 0 by sweeps over the coordinates, from those of ``W``.

    A row is done after ``most`` sweeps, or one whose step is at most ``tol`` times that of the first.

    >>> descend(np.eye(2), np.array([[3.0, -1.0]]), np.zeros((1, 2)), 5, 1e-9)
    array([[3., 0.]])
    """
    W = np.array(W, order="C")
    G, B = np.ascontiguousarray(G, W.dtype), np.ascontiguousarray(B, W.dtype)
    _native.nonnegative_sweeps(G, B, W, most, tol, n_threads=thread_limit.current())
    return W


@operation
def ratios(X: Any, W: Any, H: Any, loss: bool = True) -> tuple[Any, float]:
    """``(X ⊘ W Hᵀ) H`` (n, k), and with ``loss`` ``Σ x log(x / (W Hᵀ))`` over the positive entries of ``X``, else 0.

    >>> ratios(np.array([[6.0]]), np.array([[2.0]]), np.array([[3.0]]))[0]
    array([[3.]])
    """
    least = _least(W.dtype)
    if sp.issparse(X):
        if len(X.data) > _MOST_VALUES:
            half = X.shape[0] // 2
            (first, before), (last, after) = ratios(X[:half], W[:half], H, loss), ratios(X[half:], W[half:], H, loss)
            return np.concatenate([first, last]), before + after
        starts, columns = (part.astype(np.int32, copy=False) for part in (X.indptr, X.indices))
        W, H = np.ascontiguousarray(W), np.ascontiguousarray(H)
        n_threads = thread_limit.current()
        out, each = _native.nonnegative_ratios(starts, columns, X.data, W, H, least, loss=loss, n_threads=n_threads)
        return out, float(each.sum())
    out, total = np.empty_like(W), 0.0
    for rows, block in row_blocks(X, W.dtype):
        Q = block / np.maximum(multiply(W[rows], H.T), least)
        out[rows] = multiply(Q, H)
        if loss:
            some = block > 0
            total += float(np.sum(block[some] * np.log(Q[some]), dtype=np.float64))
    return out, total


def _least(dtype: Any) -> float:
    """Smallest reconstruction of an entry, so that ratios are finite."""
    return float(np.finfo(str(dtype).rpartition(".")[2]).tiny) ** 0.5


def nndsvd(P: Plain, k: int, seed: int) -> tuple[Any, Any]:
    """Start from singular vectors: of each pair the sign whose part is larger (Boutsidis and Gallopoulos 2008)."""
    n, d = P.shape
    wide, scale = d > n, P.square**0.5 or 1.0

    def apply(V: Any) -> Any:
        V = cast(V, P.X.dtype)
        return (P.push(P.pull(V)) if wide else P.pull(P.push(V))) / scale / scale

    with stage("start"):
        pairs = eigh_top_operator(
            apply, min(n, d), k, seed=seed, tol=_START_TOL, max_passes=40, sparse=sp.issparse(P.X), like=P.like
        )
    first = cast(pairs.vectors, P.X.dtype)
    second = P.pull(first) if wide else P.push(first)
    U, V = (first, second) if wide else (second, first)
    W, H = own(U), own(V)
    for j in range(k):
        signed = [((sign * U[:, j]).clip(0), (sign * V[:, j]).clip(0)) for sign in (1, -1)]
        w, h = max(signed, key=lambda pair: _dot(pair[0], pair[0]) * _dot(pair[1], pair[1]))
        a, b = _dot(w, w) ** 0.5, _dot(h, h) ** 0.5
        even = (b / a) ** 0.5 if a and b else 0.0  # both of one length
        W[:, j], H[:, j] = w * even, h * (1 / even if even else 0.0)
    return W, H


def start(P: Plain, k: int, init: str, seed: int) -> tuple[Any, Any]:
    """Factors to begin with: ``init`` is "nndsvd", "nndsvda" (zeros become the mean) or "random"."""
    n, d = P.shape
    mean = max(_dot(P.push(from_numpy(np.ones((d, 1), float_dtype(P.X.dtype)), P.like)), 1.0), 0.0) / (float(n) * d)
    if init == "random":
        random, size = stream(seed, "factors"), (mean / k) ** 0.5
        W, H = (size * np.abs(random.standard_normal((m, k))) for m in (n, d))
        return tuple(from_numpy(A.astype(float_dtype(P.X.dtype)), P.like) for A in (W, H))
    W, H = nndsvd(P, k, seed)
    if init == "nndsvda":
        size = (mean / k) ** 0.5
        W, H = W + size * cast(W == 0, W.dtype), H + size * cast(H == 0, H.dtype)
    return W, H


def squared_error(P: Plain, W: Any, H: Any, PW: Any) -> float:
    """``‖X − W Hᵀ‖²`` from ``PW = Xᵀ W``, never below 0."""
    return max(0.0, P.square - 2 * _dot(PW, H) + _dot(inner(W, W), inner(H, H)))


def alternate(P: Plain, W: Any, H: Any, max_iter: int, tol: float) -> Factors:
    """Lower ``‖X − W Hᵀ‖²`` until the last iterations do by at most ``tol`` of itself each; it never rises."""
    best, losses, beta, most, rejected = (W, H), [np.inf], _EXTRAPOLATION, 1.0, False
    with stage("factors", total=max_iter) as tick:
        for done in range(1, max_iter + 1):
            W_new = descend(inner(H, H), P.push(H), W, _SWEEPS, _ENOUGH)
            W_ahead = W_new if rejected or done == 1 else (W_new + beta * (W_new - best[0])).clip(0)
            PW = P.pull(W_ahead)
            H_new = descend(inner(W_ahead, W_ahead), PW, H, _SWEEPS, _ENOUGH)
            loss = squared_error(P, W_ahead, H_new, PW)
            tick(done)
            if loss > losses[-1]:  # back to the best, and one plain step from there
                if rejected or done == 1:  # rounding alone is left
                    break
                W, H = best
                most, beta, rejected = beta, beta / _SLOWER, True
                continue
            W, H = W_ahead, H_new if rejected or done == 1 else (H_new + beta * (H_new - best[1])).clip(0)
            best = W_ahead, H_new
            losses.append(loss)
            if not rejected:
                beta, most = min(most, _FASTER * beta), min(1.0, _MOST_FASTER * most)
            rejected = False
            note(f"error {loss**0.5:.6g}")
            if len(losses) > _LAST + 1 and losses[-1 - _LAST] - loss <= _LAST * tol * loss:
                break
    return Factors(*best, np.array(losses[1:]))


def multiplicative(P: Plain, W: Any, H: Any, max_iter: int, tol: float, *, divergence: bool) -> Factors:
    """Multiplicative steps on the squared error, or on the Kullback-Leibler divergence; neither ever rises.

    They end where the last ten together lower the loss by at most ``tol`` of itself.
    """
    losses: list[float] = []
    step = _divergence_step if divergence else _squared_step
    total = _total(P) if divergence else 0.0
    with stage("factors", total=max_iter) as tick:
        for done in range(1, max_iter + 1):
            W, _ = step(P.X, P.push, W, H, False)
            H_new, gain = step(P.turned, P.pull, H, W, True)
            # the loss before this step of H, which its products give
            if divergence:
                loss = max(0.0, gain - total + _dot(column_sums(W), column_sums(H)))
            else:
                loss = max(0.0, P.square + gain)
            tick(done)
            rounding = bool(losses) and loss > losses[-1]
            if rounding:
                break
            losses.append(loss)
            if len(losses) > _TOGETHER and losses[-1 - _TOGETHER] - loss <= tol * loss:
                break
            H = H_new
    return Factors(W, H, np.array(losses))


def _total(P: Plain) -> float:
    values = P.X.data if sp.issparse(P.X) else P.X
    return sum(_dot(part, part * 0 + 1) for part in _parts(values))


def _squared_step(_: Any, product: Callable[[Any], Any], W: Any, H: Any, loss: bool) -> tuple[Any, float]:
    """A step of W, and ``‖X − W Hᵀ‖² − ‖X‖²`` before it."""
    B, G = product(H), inner(H, H)
    before = _dot(inner(W, W), G) - 2 * _dot(B, W) if loss else 0.0
    return W * (B / (multiply(W, G) + _least(W.dtype))), before


def _divergence_step(X: Any, _: Callable[[Any], Any], W: Any, H: Any, loss: bool) -> tuple[Any, float]:
    """A step of W, and ``Σ x log(x / (W Hᵀ))`` before it."""
    R, before = ratios(X, W, H, loss)
    return W * (R / (column_sums(H) + _least(W.dtype))), before


def divergence_scores(X: Any, H: Any, W: Any, steps: int) -> Any:
    """Rows W after multiplicative steps on the divergence with fixed ``H``, each independent of the others."""
    with stage("rows", total=steps) as tick:
        for done in range(steps):
            W, _ = _divergence_step(X, lambda V: V, W, H, False)
            tick(done + 1)
    return W
