"""Operations on rows of any backend: indexing, copies, conversion, allocation."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation

_LARGE = 2**24  # bytes


@operation
def take(A: Any, ids: Any) -> Any:
    """The rows of ``A`` with these numbers.

    >>> take(np.array([[1], [2]]), np.array([1, 1]))
    array([[2],
           [2]])
    """
    return A[ids]


@operation
def put(A: Any, ids: Any, B: Any) -> Any:
    """``A`` with the rows of these numbers replaced by those of ``B``, in place."""
    A[ids] = B
    return A


@operation
def stacked(A: Any, B: Any) -> Any:
    """The rows of ``A``, and below them those of ``B``, both dense or both CSR.

    >>> stacked(np.array([[1]]), np.array([[2]]))
    array([[1],
           [2]])
    """
    return sp.csr_array(sp.vstack([A, B], format="csr")) if sp.issparse(A) else np.concatenate([A, B])


@operation
def cast(A: Any, dtype: Any) -> Any:
    """``A`` in another type, itself where it has it."""
    return A.astype(dtype, copy=False)


@operation
def own(A: Any) -> Any:
    """A copy, independent of later changes of ``A``."""
    return A.copy()


@operation
def kept(A: Any, dtype: Any) -> Any:
    """A copy as floats in C order, or CSR."""
    return A.astype(dtype, copy=True) if sp.issparse(A) else np.array(A, dtype, order="C")


@operation
def shared(A: Any, B: Any) -> bool:
    """Whether two arrays, sparse ones excepted, have memory in common."""
    return not sp.issparse(A) and np.shares_memory(A, B)


@operation
def totals(A: Any, axis: int) -> Any:
    """Sums along an axis, in float64 for NumPy.

    >>> totals(np.ones((2, 3), np.float32), 1)
    array([3., 3.])
    """
    return A.sum(axis=axis, dtype=np.float64)


@operation
def searchable(A: Any, dtype: Any) -> Any:
    """Rows as the neighbour search takes them: floats, in half precision as they are, in C order; or CSR.

    >>> searchable(np.ones((2, 3), np.float16), np.float32).dtype, searchable(np.eye(2, dtype=int), np.float32).dtype
    (dtype('float16'), dtype('float32'))
    """
    if sp.issparse(A):
        return sp.csr_array(A, dtype=dtype)
    return np.ascontiguousarray(A, np.float16 if A.dtype == np.float16 and dtype != np.float64 else dtype)


@operation
def in_form_of(A: Any, other: Any) -> Any:
    """``A`` dense or sparse, as ``other`` is.

    >>> in_form_of(np.eye(2, dtype=">f4"), sp.csr_array(np.eye(2))).format
    'csr'
    """
    if sp.issparse(A) == sp.issparse(other):
        return A
    if not sp.issparse(A):  # SciPy takes numbers in the machine's own order, and not all of them
        return sp.csr_array(np.asarray(A, float_dtype(A.dtype)))
    n, d = A.shape
    memory.require(float(A.dtype.itemsize) * n * d, f"{n:,} × {d:,} sparse rows made dense", "Pass fewer at a time.")
    return A.toarray()


def dense(A: Any) -> NDArray:
    """Rows of NumPy or CSR as a dense array.

    >>> dense(sp.csr_array(np.eye(2)))[0]
    array([1., 0.])
    """
    return np.asarray(A.toarray() if sp.issparse(A) else A)


@operation(on=1)
def uninitialised(shape: tuple[int, ...], like: Any) -> Any:
    """Uninitialised array of the type of ``like``, in C order, on its backend."""
    return np.empty(shape, like.dtype)


def touched(shape: tuple[int, int], dtype: Any) -> NDArray:
    """Uninitialised array, whose pages are in memory if it is large and several threads will write to it."""
    out = np.empty(shape, dtype)
    if out.nbytes >= _LARGE and thread_limit.current() > 1:
        _native.touch(out, n_threads=thread_limit.current())
    return out


@operation(on=1)
def blank(shape: tuple[int, ...], like: Any) -> Any:  # noqa: ARG001  # it says where
    """Uninitialised float64 array in Fortran order, on the backend of ``like``."""
    return np.empty(shape, order="F")


@operation(on=2)
def call(model: Any, method: str, X: Any, y: Any = None) -> Any:
    """``model.method(X)``, or of both views: at once for rows in memory, lazily for distributed rows."""
    return getattr(model, method)(X) if y is None else getattr(model, method)(X, y)
