"""Products of large dense matrices by many threads, with the same bits for any number of them.

A BLAS that shares a product among its threads sums in another order for each number of them, and its threads keep
running for a while afterwards, on cores that the next kernel needs. Therefore a product is cut into pieces by its shape
alone, and each piece is one call of SciPy's BLAS by one of our threads.
"""

import ctypes
import re
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg.cython_blas as blas
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.rows import cast

_SMALL = 2e6  # multiplications up to which threads gain nothing
_FEW = 1e5  # entries of a block up to which the same is so
_TILE, _THIN = 256, 128  # side of a piece; rows of one that is narrow
PARTS = 16  # of a sum over rows, here and in multiply_packed
_AT_ONCE = 96  # columns that multiply_packed sums in parts
_FEW_COLUMNS = 256  # up to which multiply_few is faster
_GEMM = {"float32": "sgemm", "float64": "dgemm"}


def multiply(A: Any, B: Any, out: Any = None) -> Any:
    """``A B``, into ``out`` (in C order) where given; arrays that are not NumPy's multiply themselves.

    >>> multiply(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if not isinstance(A, np.ndarray):
        return A @ B
    (m, d), n = A.shape, B.shape[1]
    if out is None:
        out = np.empty((m, n), np.result_type(A, B))
    with thread_limit.alone():
        if float(m) * d * n <= _SMALL or out.dtype.name not in _GEMM:
            return np.matmul(A, B, out=out)
    _by_pieces(A, B, out)
    return out


def multiply_few(A: Any, B: Any) -> Any:
    """``A B`` for ``B`` of few columns, which a BLAS does not multiply at its full rate.

    >>> multiply_few(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    few = isinstance(A, np.ndarray) and A.size and 0 < B.shape[1] <= _FEW_COLUMNS
    if not few or np.result_type(A, B).name not in _GEMM:
        return multiply(A, B)
    out = np.empty((A.shape[0], B.shape[1]), np.result_type(A, B))
    A, B = _for_blas(A, out.dtype), np.ascontiguousarray(B, out.dtype)
    alone = float(A.shape[0]) * A.shape[1] * B.shape[1] <= _SMALL
    _native.multiply_few(A, B, out, n_threads=1 if alone else thread_limit.current())
    return out


def _by_pieces(A: NDArray, B: NDArray, out: NDArray, *, less: bool = False) -> None:
    """Fill ``out`` (m, n) with ``A B``, or subtract that from it, in pieces that depend on the shape alone."""
    m, n = out.shape
    high = _THIN if n <= _TILE else min(m, _TILE)
    wide = _THIN if m <= _TILE < n else min(n, _TILE)
    A, B = _for_blas(A, out.dtype), _for_blas(B, out.dtype)
    with thread_limit.alone():
        gemm, n_threads = _gemm(out.dtype.name), thread_limit.current()
        _native.multiply(gemm, A, B, out, high=high, wide=wide, less=less, n_threads=n_threads)


def subtract_product(W: Any, A: Any, B: Any) -> Any:
    """``W − A B``, in place of ``W`` where that is an array of the product's type in C order.

    >>> subtract_product(np.array([[12.0]]), np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[1.]])
    """
    if not isinstance(A, np.ndarray):
        return W - A @ B
    (m, d), n, dtype = A.shape, B.shape[1], W.dtype
    ready = W.flags.c_contiguous and W.flags.writeable and W.flags.aligned and np.result_type(A, B) == dtype
    if float(m) * d * n <= _SMALL or dtype.name not in _GEMM or not ready:
        return W - multiply(A, B)
    _by_pieces(A, B, W, less=True)
    return W


def inner(A: Any, B: Any) -> Any:
    """``Aᵀ B`` of tall arrays (n, p) and (n, q), summed over the same parts of the rows for any number of threads.

    >>> inner(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if not isinstance(A, np.ndarray):
        return A.T @ B
    n, p, q, dtype = len(A), A.shape[1], B.shape[1], np.result_type(A, B)
    with thread_limit.alone():
        if float(n) * p * q <= _SMALL or dtype.name not in _GEMM:
            return A.T @ B
        out, A, B = np.empty((PARTS * p, q), dtype), _for_blas(A, dtype), _for_blas(B, dtype)
        _native.multiply(
            _gemm(dtype.name), A.T, B, out, high=_TILE, wide=_TILE, parts=PARTS, n_threads=thread_limit.current()
        )
    return out.reshape(PARTS, p, q).sum(axis=0)


def multiply_packed(A: NDArray[np.float32], V: NDArray[np.float32]) -> NDArray[np.float32]:
    """``A V`` (n, q) for a symmetric matrix in panels, see :class:`lowdim.relate.packed_symmetric.Half`."""
    out = np.empty(V.shape, np.float32)
    cuts = np.linspace(0, V.shape[1], -(-V.shape[1] // _AT_ONCE) + 1).astype(int)
    for left, right in pairwise(cuts):
        some = np.ascontiguousarray(V[:, left:right])
        with thread_limit.alone():
            out[:, left:right] = _native.multiply_packed(_gemm("float32"), A, some, n_threads=thread_limit.current())
    return out


def bytes_to_multiply_half(n: int, width: int) -> float:
    """Memory that :func:`multiply_packed` needs for a matrix (n, n) and ``V`` (n, width): the product and its parts."""
    return 4.0 * n * (width + min(width, _AT_ONCE) * (PARTS + 2))


def centred(A: Any, dtype: Any) -> Any:
    """``A`` less the mean of each column, a new array in this type, with the same bits for any number of threads.

    >>> centred(np.array([[1.0, 2.0], [3.0, 2.0]]), np.float32)
    array([[-1.,  0.],
           [ 1.,  0.]], dtype=float32)
    """
    if not isinstance(A, np.ndarray) or A.dtype.name not in _GEMM or not A.size:
        A = cast(A, np.float64)
        return cast(A - A.mean(0), dtype)
    A = np.require(A, requirements=["C", "A"])
    out = np.empty(A.shape, dtype)
    _native.centre_columns(A, out, n_threads=thread_limit.current() if A.size > _FEW else 1)
    return out


def centres(sample: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Centres (count, d) of some steps of k-means on a sample, whose first rows are the first centres.

    >>> centres(np.array([[0.0], [9.0], [1.0]], np.float32), 2).ravel()
    array([0.5, 9. ], dtype=float32)
    """
    sample = np.ascontiguousarray(sample)
    with thread_limit.alone():
        return _native.centres(_gemm("float32"), sample, count, n_threads=thread_limit.current())


def group(Z: NDArray[np.float32], centres: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Order (n,) of the rows by their nearest centre, the nearest row first, and where each group starts (c + 1,).

    The first coordinates decide, see cpp/include/lowdim/groups.hpp; centres are 0 in the others.

    >>> group(np.array([[9.0], [2.0], [1.0]], np.float32), np.array([[1.0], [8.0]], np.float32))
    (array([2, 1, 0], dtype=int32), array([0, 2, 3]))
    """
    with thread_limit.alone():
        return _native.group(_gemm("float32"), Z, centres, n_threads=thread_limit.current())


def gemm_address(dtype: str) -> int:
    """Address of the product of BLAS for "float32" or "float64", for kernels that call it."""
    return _gemm(dtype)


def _for_blas(A: NDArray, dtype: np.dtype) -> NDArray:
    """``A`` with contiguous rows or columns, in the type of the product; itself where it is so."""
    A = A.astype(dtype, copy=False)
    unit, shape = A.itemsize, A.shape
    by_rows = A.strides[1] == unit and A.strides[0] >= unit * shape[1]
    by_columns = A.strides[0] == unit and A.strides[1] >= unit * shape[0]
    return A if (by_rows or by_columns) and A.flags.aligned else np.ascontiguousarray(A)


@cache
def _gemm(dtype: str) -> int:
    """Address of the product in SciPy's BLAS, or of one by NumPy where SciPy's takes other arguments than expected."""
    api, capsule = ctypes.pythonapi, blas.__pyx_capi__[_GEMM[dtype]]
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    signature = api.PyCapsule_GetName(capsule)
    if not _is_gemm(signature.decode(), dtype):  # with integers of 64 bits, for one
        return ctypes.cast(_numpy_gemm(dtype), ctypes.c_void_p).value or 0
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(api.PyCapsule_GetPointer(capsule, signature))


def _is_gemm(signature: str, dtype: str) -> bool:
    """Whether a signature of Cython is that of the Gemm in cpp/include/lowdim/products.hpp.

    >>> _is_gemm("void (char *, char *, long *)", "float64")
    False
    """
    number = r"(?:float|\w*cython_blas_s)" if dtype == "float32" else r"(?:double|\w*cython_blas_d)"
    kinds = ["char", "char", "int", "int", "int", number, number, "int", number, "int", number, number, "int"]
    return re.fullmatch(rf"void \({', '.join(rf'{kind} [*]' for kind in kinds)}\)", signature) is not None


@cache
def _numpy_gemm(dtype: str) -> Any:
    """BLAS's gemm, its arguments by reference, by NumPy's product."""
    number = ctypes.POINTER(ctypes.c_float if dtype == "float32" else ctypes.c_double)
    letter, size, item = ctypes.POINTER(ctypes.c_char), ctypes.POINTER(ctypes.c_int), np.dtype(dtype).itemsize

    def matrix(at: Any, shape: tuple[int, int], stride: int) -> NDArray:
        """The matrix (rows, columns) whose columns begin ``stride`` numbers apart."""
        flat = np.ctypeslib.as_array(at, (max(shape[1] - 1, 0) * stride + shape[0],))
        return np.lib.stride_tricks.as_strided(flat, shape, (item, stride * item))

    def gemm(*given: Any) -> None:
        turn_a, turn_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc = given
        rows, columns, inside = m[0], n[0], k[0]
        A = matrix(a, (rows, inside), lda[0]) if turn_a[0] in b"Nn" else matrix(a, (inside, rows), lda[0]).T
        B = matrix(b, (inside, columns), ldb[0]) if turn_b[0] in b"Nn" else matrix(b, (columns, inside), ldb[0]).T
        C = matrix(c, (rows, columns), ldc[0])
        product = alpha[0] * (A @ B)
        C[...] = product + beta[0] * C if beta[0] else product

    sizes, array = (size, size, size), (number, size)
    return ctypes.CFUNCTYPE(None, letter, letter, *sizes, number, *array, *array, number, *array)(gemm)
