"""Operations on rows of tensors: indexing, copies, conversion, allocation."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.tensors import torch_dtype
from lowdim.work import rows


@TORCH.implements(rows.take)
def take(A: Any, ids: Any) -> Any:
    """The rows of ``A`` with these numbers."""
    return A[torch.as_tensor(ids, device=A.device)]


@TORCH.implements(rows.put)
def put(A: Any, ids: Any, B: Any) -> Any:
    """``A`` with the rows of these numbers replaced by those of ``B``, in place."""
    A[torch.as_tensor(ids, device=A.device)] = B.to(A.dtype)
    return A


@TORCH.implements(rows.stacked)
def stacked(A: Any, B: Any) -> Any:
    """The rows of ``A``, and below them those of ``B``."""
    return torch.cat([A, B])


@TORCH.implements(rows.cast)
def cast(A: Any, dtype: Any) -> Any:
    """``A`` in another type, itself where it has it."""
    return A.to(torch_dtype(dtype))


@TORCH.implements(rows.own)
def own(A: Any) -> Any:
    """A copy, independent of later changes of ``A``."""
    return A.clone()


@TORCH.implements(rows.kept)
def kept(A: Any, dtype: Any) -> Any:
    """A copy as floats, row by row in memory."""
    return A.to(torch_dtype(dtype), copy=True).contiguous()


@TORCH.implements(rows.shared)
def shared(A: Any, B: Any) -> bool:
    """Whether two tensors have memory in common."""
    return bool(A.untyped_storage().data_ptr() == B.untyped_storage().data_ptr())


@TORCH.implements(rows.totals)
def totals(A: Any, axis: int) -> NDArray:
    """Sums along an axis, in float64 for NumPy."""
    return np.asarray(A.sum(axis, dtype=torch.float64).cpu().numpy())


@TORCH.implements(rows.searchable)
def searchable(A: Any, dtype: Any) -> Any:
    """Rows as the neighbour search takes them: floats, in half precision as they are, row by row in memory."""
    return (A if A.is_floating_point() and A.itemsize == 2 else cast(A, dtype)).contiguous()


@TORCH.implements(rows.in_form_of)
def in_form_of(A: Any, other: Any) -> Any:  # noqa: ARG001  # all are dense
    """``A`` itself: tensors are dense."""
    return A


@TORCH.implements(rows.uninitialised)
def uninitialised(shape: tuple[int, ...], like: Any) -> Any:
    """Uninitialised tensor of the type of ``like``, in C order, on its device."""
    return torch.empty(shape, dtype=like.dtype, device=like.device)


@TORCH.implements(rows.blank)
def blank(shape: tuple[int, ...], like: Any) -> Any:
    """Uninitialised float64 tensor in Fortran order, on the device of ``like``."""
    return torch.empty(shape[::-1], dtype=torch.float64, device=like.device).T
