"""Linear maps of tensors and back, in float64 a block of rows at a time."""

from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.moments import doubles, row_blocks
from lowdim.backends.torch.tensors import torch_dtype
from lowdim.solve import projection as numpy_projection


@TORCH.implements(numpy_projection.project)
def project(X: Any, P: NDArray, mean: NDArray, dtype: Any) -> Any:
    """``(X − mean) P`` (n, k)."""
    turn, out = doubles(P, X), torch.empty(len(X), P.shape[1], dtype=torch_dtype(dtype), device=X.device)
    for rows, block in row_blocks(X, doubles(mean, X), width=P.shape[1]):
        out[rows] = block @ turn
    return out


@TORCH.implements(numpy_projection.lift)
def lift(Y: Any, B: NDArray, mean: NDArray) -> Any:
    """``Y B + mean`` (n, d) in the precision of the scores ``Y`` (n, k)."""
    back, shift = doubles(B, Y), doubles(mean, Y)
    wide = torch.float64 if Y.dtype == torch.float64 else torch.float32
    out = torch.empty(len(Y), B.shape[1], dtype=wide, device=Y.device)
    for rows, block in row_blocks(Y, 0.0, width=B.shape[1]):
        out[rows] = torch.addmm(shift, block, back)
    return out


@TORCH.implements(numpy_projection.squared_lengths)
def squared_lengths(X: Any, U: NDArray, mean: NDArray, scale: NDArray, values: NDArray, noise: float) -> Any:
    """``Σ y²/λ + ‖z − Uᵀy‖²/σ²`` (n,) in float64, scores ``y = U z`` of ``z = (x − mean)/scale``."""
    turn, inverse, weights = doubles(U, X), doubles(1 / scale, X), doubles(1 / values, X)
    out = torch.empty(len(X), dtype=torch.float64, device=X.device)
    for rows, block in row_blocks(X, doubles(mean, X)):
        Z = block * inverse
        Y = Z @ turn.T
        out[rows] = Y.square() @ weights
        if len(U) < U.shape[1]:
            out[rows] += (Z - Y @ turn).square().sum(1) / noise
    return out


@TORCH.implements(numpy_projection.missed)
def missed(X: Any, U: NDArray, mean: NDArray, scale: NDArray, dtype: Any) -> Any:
    """Squared distance (n,) of each row from its projection on the orthonormal rows of ``U``, in scaled features."""
    turn, size = doubles(U, X), doubles(scale, X)
    out = torch.empty(len(X), dtype=torch_dtype(dtype), device=X.device)
    for rows, block in row_blocks(X, doubles(mean, X)):
        Z = block / size
        Z -= (Z @ turn.T) @ turn
        out[rows] = (Z * size).square().sum(1).to(out.dtype)
    return out
