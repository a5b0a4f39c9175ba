"""Eigenpairs and singular vectors of tensors, in float64: vectors stay on the device, values are NumPy arrays."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.solve import leading_eigenpairs as numpy_leading_eigenpairs
from lowdim.solve.eigenpairs import Eigenpairs
from lowdim.work.finite import refuse_overflow
from lowdim.work.progress import stage


@TORCH.implements(numpy_leading_eigenpairs.eigh_top)
def eigh_top(A: Any, k: int) -> Eigenpairs:
    """Top ``k`` eigenpairs of the symmetric tensor ``A``."""
    refuse_overflow(torch.stack(torch.aminmax(A)).cpu().numpy(), "Eigenvectors: entries of the matrix")
    with stage("eigenvectors"):
        values, vectors = torch.linalg.eigh(A.double())
    found = values.cpu().numpy()
    values, vectors = values.flip(0)[:k], vectors.flip(1)[:, :k]
    return Eigenpairs(
        found[::-1][:k], vectors, 0.0, True, "dense", 1, vectors * values, float(found.min(initial=np.inf))
    )


@TORCH.implements(numpy_leading_eigenpairs.singular)
def singular(A: Any) -> tuple[NDArray, NDArray]:
    """Singular values (r,), descending, and right vectors (r, d) as rows of ``A`` (n, d), in NumPy."""
    _, values, vectors = torch.linalg.svd(A, full_matrices=False)
    return np.asarray(values.cpu().numpy()), np.asarray(vectors.cpu().numpy())


@TORCH.implements(numpy_leading_eigenpairs.leading_span)
def leading_span(C: Any, width: int) -> Any:
    """Start (n, width) near the leading eigenvectors of the centred ``A``, from a sample ``C`` (s, n) of A's rows."""
    C = C - C.mean(0)
    C -= C.mean(1, keepdim=True)
    small = C.double()
    U = torch.linalg.eigh(small @ small.T).eigenvectors.flip(1)[:, :width]
    return (U.T @ small).T
