"""Large products: right, and with the same bits for any number of threads."""

import ctypes
import itertools

import numpy as np
import pytest

from lowdim.work import products, thread_limit
from lowdim.work.products import centred, centres, group, inner, multiply, subtract_product


def _arrays(*shapes, dtype=np.float64):
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 4, 5), (700, 90, 601), (2000, 300, 7), (9, 400, 1500), (0, 4, 2), (1, 1, 1)])
def test_products_are_those_of_numpy(shape, dtype):
    m, d, n = shape
    A, B = _arrays((m, d), (d, n), dtype=dtype)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    assert multiply(A, B).dtype == dtype
    np.testing.assert_allclose(multiply(A, B), A @ B, atol=tolerance)
    np.testing.assert_allclose(multiply(np.asfortranarray(A), B.T.copy().T), A @ B, atol=tolerance)
    np.testing.assert_allclose(inner(A.T.copy(), B), A @ B, atol=tolerance)


def test_a_product_fills_part_of_an_array():
    A, B = _arrays((600, 300), (300, 500))
    out = np.full((600, 700), 7.0)
    multiply(A, B, out=out[:, 100:600])
    np.testing.assert_allclose(out[:, 100:600], A @ B)
    assert (out[:, :100] == 7).all()
    assert (out[:, 600:] == 7).all()


@pytest.mark.parametrize("shape", [(3, 4, 5), (5000, 60, 40), (3000, 0, 9)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_product_is_subtracted(shape, order):
    m, d, n = shape
    W, A, B = _arrays((m, n), (m, d), (d, n))
    wanted = W - A @ B
    found = subtract_product(W.copy(order=order), np.asfortranarray(A), B)
    np.testing.assert_allclose(found, wanted, atol=1e-11)
    W.setflags(write=False)
    np.testing.assert_allclose(subtract_product(W, A, B), wanted, atol=1e-11)


def test_a_large_product_is_subtracted_in_place():
    W, A, B = _arrays((5000, 40), (5000, 60), (60, 40))
    assert subtract_product(W, A, B) is W


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("other", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 3), (50, 4), (4000, 64), (3, 0)])
def test_columns_are_centred_in_another_type(shape, dtype, other):
    (A,) = _arrays(shape, dtype=dtype)
    A += 5
    for given in (A, np.asfortranarray(A), A[:, ::-1]):
        found = centred(given, other)
        assert found.dtype == other
        np.testing.assert_allclose(found, given - given.mean(axis=0, dtype=np.float64), atol=2e-6)


@pytest.mark.parametrize(
    "product", [multiply, lambda A, B: inner(A.T, B), lambda A, B: subtract_product(np.ones((900, 400), "f"), A, B)]
)
def test_bits_do_not_depend_on_threads(product):
    A, B = _arrays((900, 1100), (1100, 400), dtype=np.float32)
    results = []
    for n in (1, 2, 3, 8):
        with thread_limit.within(n):
            results.append(product(A, B))
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_bits_of_centred_columns_do_not_depend_on_threads():
    (A,) = _arrays((5000, 64))
    results = []
    for n in (1, 2, 3, 8):
        with thread_limit.within(n):
            results.append(centred(A, np.float32))
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_inputs_that_blas_cannot_read_are_multiplied_too():
    A, B = _arrays((400, 900), (450, 200))
    steps, backwards = A[:, ::2], B[:, ::-1]
    np.testing.assert_allclose(multiply(steps, backwards), steps @ backwards, atol=1e-11)
    np.testing.assert_allclose(inner(steps.T, backwards), steps @ backwards, atol=1e-11)
    np.testing.assert_allclose(multiply(steps.astype(np.float32), B), steps @ B, atol=1e-3)
    A.setflags(write=False)
    np.testing.assert_allclose(multiply(A[:, :450], B), A[:, :450] @ B, atol=1e-11)


def test_shapes_that_do_not_fit_are_refused():
    A, B = _arrays((400, 300), (301, 400))
    with pytest.raises(ValueError, match="as many rows as A has columns"):
        multiply(A, B)
    with pytest.raises(ValueError, match="must have the rows of A"):
        multiply(A, B[:300], out=np.empty((400, 399)))


def assigned(Z, centres):
    """The nearest of the centres to each row, from the order of the rows by groups."""
    order, starts = group(np.ascontiguousarray(Z), np.ascontiguousarray(centres))
    out = np.empty(len(Z), np.int64)
    out[order] = np.repeat(np.arange(len(centres)), np.diff(starts))
    return out


@pytest.mark.parametrize("count", [1, 7, 16, 37, 200])
def test_rows_are_assigned_to_the_first_of_the_nearest_centres(rng, count):
    Z = rng.integers(-3, 4, (700, 10)).astype(np.float32)  # with ties
    centres = np.repeat(rng.integers(-3, 4, (count, 10)).astype(np.float32), 2, axis=0)
    apart = np.square(Z[:, None] - centres).sum(axis=2)
    for n in (1, 3):
        with thread_limit.using(n):
            np.testing.assert_array_equal(assigned(Z, centres), np.argmin(apart, axis=1))


def test_rows_of_a_group_come_by_distance_from_its_centre(rng):
    Z = rng.normal(size=(300, 60)).astype(np.float32)  # more coordinates than decide the group
    there = np.zeros((9, 60), np.float32)
    there[:, :48] = Z[:9, :48]
    order, starts = group(Z, there)
    for g, (start, stop) in enumerate(itertools.pairwise(starts)):
        apart = np.square(Z[order[start:stop]] - there[g]).sum(axis=1)
        assert (np.diff(apart) >= -1e-4).all()
    np.testing.assert_array_equal(assigned(Z, there), np.square(Z[:, None, :48] - there[:, :48]).sum(axis=2).argmin(1))


def test_centres_are_the_means_of_their_rows_for_any_number_of_threads(rng):
    """Of clusters far apart the first step finds the means, and those after it keep them."""
    Z = (rng.normal(size=(400, 5)) + 100 * np.arange(400)[:, None] % 400).astype(np.float32)
    with thread_limit.using(1):
        found = centres(Z, 4)
    with thread_limit.using(3):
        np.testing.assert_array_equal(centres(Z, 4), found)
    np.testing.assert_allclose(found, [Z[i::4].mean(axis=0) for i in range(4)], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_signature_of_scipys_product_is_known(dtype):
    assert products._gemm(dtype) != ctypes.cast(products._numpy_gemm(dtype), ctypes.c_void_p).value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_blas_with_other_integers_is_not_called(dtype, monkeypatch):
    """An ILP64 SciPy names its arguments otherwise: by their old sizes it would read beyond them."""
    name = products._GEMM[np.dtype(dtype).name]
    api = ctypes.pythonapi
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    signature = b"void (char *, char *, int64_t *, int64_t *, int64_t *)"  # the capsule keeps no copy
    monkeypatch.setattr(products.blas, "__pyx_capi__", {name: api.PyCapsule_New(1, signature, None)})
    products._gemm.cache_clear()
    try:
        A, B, C = _arrays((700, 90), (90, 601), (700, 601), dtype=dtype)
        with thread_limit.using(2):
            tolerance = 1e-4 if dtype == np.float32 else 1e-11
            np.testing.assert_allclose(multiply(A, B), np.matmul(A, B), atol=tolerance)
            np.testing.assert_allclose(multiply(np.asfortranarray(A), B.T.copy().T), np.matmul(A, B), atol=tolerance)
            np.testing.assert_allclose(inner(A.T.copy(), B), np.matmul(A, B), atol=tolerance)
            np.testing.assert_allclose(subtract_product(C.copy(), A, B), C - np.matmul(A, B), atol=tolerance)
            if dtype == np.float32:
                Z, centres = A[:, :8], A[:40, :8]
                far = ((Z[:, None] - centres) ** 2).sum(2)
                np.testing.assert_array_equal(assigned(Z, centres), far.argmin(1))
    finally:
        products._gemm.cache_clear()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (25, 300, 7), (400, 129, 50), (13, 1000, 70), (3000, 40, 17), (7, 0, 3)])
def test_products_with_few_columns_are_those_of_numpy(rng, isa, shape, dtype):
    m, d, p = shape
    A, B = rng.normal(size=(m, d)).astype(dtype), rng.normal(size=(d, p)).astype(dtype)
    expected = A.astype(float) @ B.astype(float)
    size = np.sqrt(d + 1) * (1e-6 if dtype == "float32" else 1e-14)
    for rows in (A, np.asfortranarray(A), np.asfortranarray(A)[::-1], A[:, ::-1][:, ::-1]):
        flipped = rows.strides[0] < 0
        found = products.multiply_few(rows, B)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected[::-1] if flipped else expected, atol=10 * size)
    np.testing.assert_allclose(products.multiply_few(A, np.asfortranarray(B)), expected, atol=10 * size)


def test_bits_of_products_with_few_columns_do_not_depend_on_threads(rng):
    A, B = rng.normal(size=(500, 900)).astype(np.float32), rng.normal(size=(900, 33)).astype(np.float32)
    for rows in (A, np.asfortranarray(A)):
        with thread_limit.within(1):
            one = products.multiply_few(rows, B)
        with thread_limit.within(3):
            np.testing.assert_array_equal(products.multiply_few(rows, B), one)
