"""Kernels ``k(x, y)`` between rows of tensors, by tiles; products have full precision, whatever torch's settings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.tensors import torch_dtype
from lowdim.relate import kernels as numpy_kernels
from lowdim.relate.kernels import KernelRows
from lowdim.work.blockwise import float_dtype
from lowdim.work.progress import stage

_TILE = 8192  # side of the tiles that products are made of
_STRIP = 2**26  # values between new rows and old ones
_PILOT = 1024  # rows whose mean is close enough to that of all
_APART = 2**28  # differences of the Laplacian kernel at a time


@contextmanager
def full_precision() -> Iterator[None]:
    """Products of float32 in float32: TF32, which a program may have enabled, has errors of 1e-3."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


@TORCH.implements(numpy_kernels.Kernel.shift)
def shift(self: numpy_kernels.Kernel, X: Any) -> NDArray | None:
    """Row in NumPy to subtract from all rows, so that float32 does not cancel; None for none."""
    if self.name not in ("rbf", "linear"):
        return None
    some = X[:: max(1, len(X) // _PILOT)].double().mean(0)
    return np.asarray(some.cpu().numpy().astype(float_dtype(X.dtype)))


@TORCH.implements(numpy_kernels.Kernel.rows)
def rows(self: numpy_kernels.Kernel, X: Any, shift: NDArray | None = None, dtype: Any = None) -> KernelRows:
    """``X`` as floats, less ``shift``, of norm 1 for the cosine."""
    X = X.to(torch_dtype(dtype or float_dtype(X.dtype))).contiguous()
    if shift is not None:
        X = X - torch.as_tensor(shift, dtype=X.dtype, device=X.device)
    if self.name == "cosine":
        size = X.double().norm(dim=1, keepdim=True)
        X = (X / torch.where(size > 0, size, 1.0)).to(X.dtype)
    return as_rows(self, X)


@TORCH.implements(numpy_kernels.Kernel.as_rows)
def as_rows(self: numpy_kernels.Kernel, X: Any) -> KernelRows:
    """Rows that :meth:`rows` made before, from their tensor."""
    return KernelRows(X, X.square().sum(1) if self.name == "rbf" else None)


@TORCH.implements(numpy_kernels.Kernel.diagonal)
def diagonal(self: numpy_kernels.Kernel, A: KernelRows) -> NDArray:
    """``k(x, x)`` of each row, float64 in NumPy."""
    if self.name in ("rbf", "laplacian"):
        return np.ones(len(A))
    if self.name == "precomputed":
        return np.asarray(A.X.diagonal().double().cpu().numpy())
    values = A.X.double().square().sum(1)
    return np.asarray(_finished(self, values[:, None], A, A)[:, 0].cpu().numpy())


@TORCH.implements(numpy_kernels.Kernel.block)
def block(self: numpy_kernels.Kernel, A: KernelRows, B: KernelRows, out: Any = None) -> Any:
    """Values (m, n) between the rows of ``A`` and those of ``B``, into ``out`` where given."""
    if self.name == "precomputed":
        return A.X
    out = torch.empty(len(A), len(B), dtype=A.X.dtype, device=A.X.device) if out is None else out
    if self.name == "laplacian":
        step = max(1, _APART // max(1, B.X.numel()))
        for start in range(0, len(A), step):
            out[start : start + step] = torch.cdist(A.X[start : start + step], B.X, p=1)
    else:
        with full_precision():
            torch.matmul(A.X, B.X.T, out=out)
    return _finished(self, out, A, B)


@TORCH.implements(numpy_kernels.Kernel.gram)
def gram(self: numpy_kernels.Kernel, A: KernelRows) -> Any:
    """Symmetric Gram matrix (n, n) of ``A``, a new tensor in the precision of the rows."""
    n = len(A)
    if self.name == "precomputed":
        return A.X.clone()
    K = torch.empty(n, n, dtype=A.X.dtype, device=A.X.device)
    with stage("kernel matrix", total=n) as tick:
        for a, b in _tiles(n):
            K[a, b] = block(self, A[a], A[b])
            if a != b:
                K[b, a] = K[a, b].T
            tick(a.stop)
    return K


@TORCH.implements(numpy_kernels.Kernel.product)
def product(self: numpy_kernels.Kernel, A: KernelRows, V: Any) -> Any:
    """``K V`` (n, b), doubles, for the Gram matrix ``K`` of ``A``, half of whose tiles are computed on the fly."""
    n, W = len(A), V.to(A.X.dtype).contiguous()
    with full_precision():
        if self.name == "precomputed":
            return (A.X @ W).double()
        out = torch.zeros(n, V.shape[1], dtype=torch.float64, device=A.X.device)
        side = min(n, _TILE)
        buffer = torch.empty(side * side, dtype=A.X.dtype, device=A.X.device)
        with stage("self blocks", total=n) as tick:
            for a, b in _tiles(n):
                rows, columns = a.stop - a.start, b.stop - b.start
                K = block(self, A[a], A[b], buffer[: rows * columns].view(rows, columns))
                out[a] += K @ W[b]
                if a != b:
                    out[b] += K.T @ W[a]
                tick(a.stop)
    return out


@TORCH.implements(numpy_kernels.Kernel.project)
def project(self: numpy_kernels.Kernel, A: KernelRows, B: KernelRows, W: Any) -> Any:
    """``K(A, B) W`` (m, k), with ``K`` computed in blocks of rows."""
    W = W.to(A.X.dtype)
    out = torch.empty(len(A), W.shape[1], dtype=A.X.dtype, device=A.X.device)
    step = max(16, _STRIP // max(1, len(B), A.X.shape[1]))
    with stage("self rows", total=len(A)) as tick, full_precision():
        for start in range(0, len(A), step):
            rows = slice(start, min(len(A), start + step))
            out[rows] = block(self, A[rows], B) @ W
            tick(rows.stop)
    return out


@TORCH.implements(numpy_kernels.demand_kernel_function)
def demand_kernel_function(function: Callable[[Any, Any], Any], X: Any) -> None:  # noqa: ARG001
    """Refuse functions."""
    raise ValueError(
        "kernel: a function has no version for tensors. Use a named kernel, or convert the rows to NumPy with "
        ".numpy(force=True)."
    )


@TORCH.implements(numpy_kernels.demand_gram)
def demand_gram(K: Any, name: str) -> None:
    """Refuse a precomputed matrix that is not square and symmetric, to the rounding of its precision."""
    n, m = K.shape
    if n != m:
        raise ValueError(
            f"{name}: kernel='precomputed' needs a square matrix (n_samples, n_samples); got {(n, m)}. "
            "Pass the kernel between all pairs of training rows."
        )
    for a, b in _tiles(n):
        apart = (K[a, b] - K[b, a].T).abs().max()
        if float(apart) > 1e3 * float(np.finfo(float_dtype(K.dtype)).eps) * float(K[a].abs().max()):
            raise ValueError(
                f"{name}: kernel='precomputed' needs a symmetric matrix; entries of rows {a.start} to {a.stop - 1} and "
                f"those across differ by {float(apart):.3g}. Pass (K + K.T) / 2 if the difference means nothing."
            )


def _finished(kernel: numpy_kernels.Kernel, G: Any, A: KernelRows, B: KernelRows) -> Any:
    """Turn inner products (for the Laplacian: distances) into values of the kernel, in place."""
    if A.norms is not None and B.norms is not None:
        G.mul_(-2.0).add_(A.norms[:, None]).add_(B.norms).clamp_(min=0.0).mul_(-kernel.gamma).exp_()
    elif kernel.name == "laplacian":
        G.mul_(-kernel.gamma).exp_()
    elif kernel.name in ("poly", "sigmoid"):
        G.mul_(kernel.gamma).add_(kernel.coef0)
        if kernel.name == "sigmoid":
            G.tanh_()
        else:
            G.pow_(kernel.degree)
    return G


def _tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Tiles of the lower half of an (n, n) matrix, row by row."""
    cuts = [slice(start, min(n, start + _TILE)) for start in range(0, n, _TILE)]
    return ((a, b) for i, a in enumerate(cuts) for b in cuts[: i + 1])
