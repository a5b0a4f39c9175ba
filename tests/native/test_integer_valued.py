"""Whole numbers in floats: scatter and Gaussian kernel of bytes against NumPy, whatever the instruction set."""

import numpy as np
import pytest

from lowdim import _native

every_isa = pytest.mark.parametrize("isa", ["default", "avx2", "avx512", "avx512vnni"], indirect=True)


def draw(n, d):
    return np.random.default_rng([n, d]).integers(0, 256, (n, d), dtype=np.uint8)


def scaled(X, dtype, divisor):
    return (X.astype(dtype) / dtype(divisor)).astype(dtype)


@every_isa
@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("divisor", [1, 255, 3])
def test_scatter_of_quotients_is_that_of_the_bytes(dtype, divisor):
    for n, d in [(1, 1), (5, 3), (33, 17), (700, 49), (1100, 290), (4200, 7)]:
        X = draw(n, d)
        labels = np.random.default_rng(n).integers(0, 3, n, dtype=np.int32)
        wide = scaled(draw(2 * n, 2 * d), dtype, divisor)
        wide[::2, 1::2] = Z = scaled(X, dtype, divisor)
        for terms in ({}, {"labels": labels, "n_classes": 3}):
            expected = _native.scatter(X, **terms)
            for view in (Z, np.asfortranarray(Z), wide[::2, 1::2], Z[::-1][::-1]):
                found = _native.scatter_integers(view, divisor, n_threads=2, **terms)
                for a, b in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(a, b)


@every_isa
@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1 / 255, 256 / 255, 0.5, 1e30, 1e-30])
def test_one_other_value_is_found_wherever_it_is(dtype, bad):
    for n, d in [(3, 5), (900, 60), (2000, 300)]:
        Z = scaled(draw(n, d), dtype, 255)
        for place in [(0, 0), (n - 1, d - 1), (n // 2, 0)]:
            X = Z.copy()
            X[place] = bad
            assert _native.scatter_integers(X, 255, n_threads=2) is None
            assert not _native.as_integers(X, 255, np.empty(X.shape, np.uint8), n_threads=2)


@every_isa
@pytest.mark.usefixtures("isa")
def test_a_neighbouring_float_is_no_quotient():
    for dtype in (np.float32, np.float64):
        X = scaled(np.arange(1, 256, dtype=np.uint8)[:, None], dtype, 255)
        out = np.empty(X.shape, np.uint8)
        assert _native.as_integers(X, 255, out)
        np.testing.assert_array_equal(out[:, 0], np.arange(1, 256))
        for i in (0, 100, 254):
            Y = X.copy()
            Y[i] = np.nextafter(Y[i], dtype(2))
            assert not _native.as_integers(Y, 255, out)


@every_isa
@pytest.mark.usefixtures("isa")
def test_converts_on_any_number_of_threads():
    X = draw(1500, 401)
    out = np.empty(X.shape, np.uint8)
    for n_threads in (1, 2, 5):
        assert _native.as_integers(X.astype(np.float32), 1, out, n_threads=n_threads)
        np.testing.assert_array_equal(out, X)


def test_refuses_what_it_cannot_take():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="float32 or float64"):
        _native.scatter_integers(X.astype(np.uint8), 255)
    with pytest.raises(ValueError, match="divisor must be from 1 to 65536"):
        _native.scatter_integers(X, 0)
    with pytest.raises(ValueError, match="divisor must be from 1 to 65536"):
        _native.as_integers(X, np.nan, np.empty((3, 2), np.uint8))
    with pytest.raises(ValueError, match="shape of X"):
        _native.as_integers(X, 1, np.empty((2, 2), np.uint8))
    with pytest.raises(ValueError, match="got 1 at row 0"):
        _native.scatter_integers(X, 1, labels=np.ones(3, np.int32))


needs_bytes = pytest.mark.skipif(
    not _native.multiplies_bytes(), reason="this processor has no instruction for products of bytes"
)


@needs_bytes
@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_gaussian_of_bytes_is_that_of_exact_distances(dtype, error):
    for m, n, d in [(1, 1, 1), (7, 49, 3), (8, 48, 4), (65, 97, 5), (130, 200, 31), (70, 50, 784)]:
        A, B = draw(m, d), draw(n, d)
        gamma = 1.0 / (d * 5000)
        held = np.full((m, n + 5), 7, dtype)  # rows that are not contiguous with each other
        _native.integer_gaussian(A, B, held[:, :n], gamma, n_threads=2)
        gaps = A[:, None].astype(np.float64) - B.astype(np.float64)
        exact = np.exp(-dtype(gamma).astype(np.float64) * np.square(gaps).sum(-1))
        np.testing.assert_allclose(held[:, :n], exact, rtol=30 * error)
        assert np.all(held[:, n:] == 7)


@needs_bytes
def test_gaussian_of_extreme_bytes_does_not_overflow():
    A = np.zeros((2, 32_768), np.uint8)
    A[1] = 255
    K = np.empty((2, 2))
    _native.integer_gaussian(A, A, K, 1e-9)
    np.testing.assert_allclose(K, np.exp(-1e-9 * 255**2 * 32_768 * (1 - np.eye(2))), rtol=1e-13)


@needs_bytes
def test_gaussian_has_the_same_bits_on_any_number_of_threads():
    A = draw(300, 50)
    one, other = np.empty((2, 300, 300), np.float32)
    _native.integer_gaussian(A, A, one, 1e-6, n_threads=1)
    for n_threads in (2, 3, 5):
        _native.integer_gaussian(A, A, other, 1e-6, n_threads=n_threads)
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one, one.T)
    assert np.all(np.diag(one) == 1)


@pytest.mark.parametrize("isa", ["default", "avx2", "avx512"], indirect=True)
def test_gaussian_is_refused_where_it_would_not_be_right(isa):
    assert not _native.multiplies_bytes()
    A = np.zeros((2, 3), np.uint8)
    with pytest.raises(ValueError, match="products of bytes"):
        _native.integer_gaussian(A, A, np.empty((2, 2)), 1.0)


@needs_bytes
def test_gaussian_refuses_shapes_that_do_not_fit():
    A = np.zeros((2, 3), np.uint8)
    for B, K in [(A[:, :2].copy(), np.empty((2, 2))), (A, np.empty((2, 3))), (A, np.empty((3, 2)))]:
        with pytest.raises(ValueError, match="integer_gaussian: "):
            _native.integer_gaussian(A, B, K, 1.0)
    with pytest.raises(ValueError, match="32768 features"):
        _native.integer_gaussian(
            np.zeros((1, 32_769), np.uint8), np.zeros((1, 32_769), np.uint8), np.empty((1, 1)), 1.0
        )
