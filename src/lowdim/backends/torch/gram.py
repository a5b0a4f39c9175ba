"""Products with centred, scaled, weighted rows of tensors, in float64."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.moments import doubles, row_blocks
from lowdim.backends.torch.tensors import torch_dtype
from lowdim.relate import gram as numpy_gram
from lowdim.work.progress import stage

_BLOCK = 2**23  # values taken at a time


@TORCH.implements(numpy_gram.Centred.dense)
def dense(self: numpy_gram.Centred, dtype: Any) -> Any:
    """``Z`` itself (n, d)."""
    return torch.cat([block.to(torch_dtype(dtype)) for _, block in _rows(self)])


@TORCH.implements(numpy_gram.Centred.gram)
def gram(self: numpy_gram.Centred) -> Any:
    """``Z Zᵀ`` (n, n), summed over blocks of columns."""
    n = len(self.X)
    K = torch.zeros(n, n, dtype=torch.float64, device=self.X.device)
    with stage("Gram matrix", total=self.X.shape[1]) as tick:
        for columns, block in _columns(self):
            K.addmm_(block, block.T)
            tick(columns.stop)
    return K


@TORCH.implements(numpy_gram.Centred.pull)
def pull(self: numpy_gram.Centred, U: Any) -> NDArray:
    """``Uᵀ Z`` (k, d) in NumPy for ``U`` (n, k)."""
    U = doubles(U, self.X)
    return np.asarray(torch.cat([U.T @ block for _, block in _columns(self)], dim=1).cpu().numpy())


@TORCH.implements(numpy_gram.Centred.scatter_operator)
def scatter_operator(self: numpy_gram.Centred) -> Callable[[NDArray], NDArray]:
    """Function ``V -> Zᵀ Z V`` for blocks ``V`` (d, b) in NumPy, reading the rows once per call."""

    def apply(V: NDArray) -> NDArray:
        there = doubles(V, self.X)
        out = torch.zeros_like(there)
        for _, block in _rows(self):
            out.addmm_(block.T, block @ there)
        return np.asarray(out.cpu().numpy())

    return apply


def _rows(Z: numpy_gram.Centred) -> Iterator[tuple[slice, Any]]:
    """Blocks of rows of ``Z``."""
    inverse = doubles(1 / Z.scale, Z.X)
    root = None if Z.root is None else doubles(Z.root, Z.X)
    for rows, block in row_blocks(Z.X, doubles(Z.mean, Z.X)):
        block *= inverse
        yield rows, block if root is None else block.mul_(root[rows, None])


def _columns(Z: numpy_gram.Centred) -> Iterator[tuple[slice, Any]]:
    """Blocks of columns of ``Z``."""
    n, d = Z.X.shape
    mean, inverse = doubles(Z.mean, Z.X), doubles(1 / Z.scale, Z.X)
    root = None if Z.root is None else doubles(Z.root, Z.X)[:, None]
    step = max(1, _BLOCK // n)
    for start in range(0, d, step):
        columns = slice(start, min(d, start + step))
        block = (Z.X[:, columns].double() - mean[columns]) * inverse[columns]
        yield columns, block if root is None else block * root
