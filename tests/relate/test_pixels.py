"""Pixels as floats are multiplied as the integers they are, and nothing else is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lowdim
from lowdim import _native
from lowdim.relate.integer_valued import whole_rows, whole_unit
from lowdim.relate.kernels import Kernel
from lowdim.relate.moments import class_moments, moments

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=70)
PIXELS = np.random.default_rng(0).integers(0, 256, (900, 60), dtype=np.uint8)
LABELS = np.arange(900, dtype=np.int32) % 3


@given(hnp.arrays(np.uint8, SHAPES), st.sampled_from([np.float32, np.float64]), st.sampled_from([1, 255]))
def test_every_quotient_gives_its_byte_back(X, dtype, unit):
    Z = X.astype(dtype) / dtype(unit)
    found = whole_rows(np.asfortranarray(Z))
    np.testing.assert_array_equal(found.numbers / dtype(found.unit), Z)
    assert Z.dtype == dtype


@given(hnp.arrays(np.float64, SHAPES, elements=st.floats(-2, 300)))
def test_nothing_else_is_taken_for_whole(X):
    found = whole_rows(X)
    if found is None:
        assert not np.array_equal(np.rint(X), X) or X.min() < 0 or X.max() > 255
    else:
        np.testing.assert_array_equal(found.numbers / float(found.unit), X)


def test_a_value_that_the_sample_misses_is_found():
    X = PIXELS / 255
    X[7, 3] = 0.5
    assert whole_unit(X) == 255  # row 7 is not among those looked at
    assert whole_rows(X) is None
    np.testing.assert_allclose(moments(X).scatter, np.cov(X.T) * 899, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_moments_of_scaled_pixels_are_exact(dtype, order):
    X = np.asarray(PIXELS.astype(dtype) / dtype(255), order=order)
    found, exact = moments(X), moments(PIXELS)
    np.testing.assert_allclose(found.mean * 255, exact.mean, rtol=1e-14)
    np.testing.assert_allclose(found.scatter * 255**2, exact.scatter, rtol=1e-12)
    by_class, whole = (class_moments(Z, LABELS, np.ones(3)) for Z in (X, PIXELS))
    np.testing.assert_allclose(by_class.means * 255, whole.means, rtol=1e-14)
    np.testing.assert_allclose(by_class.scatter * 255**2, whole.scatter, rtol=1e-12)
    assert not by_class.rounded


def test_what_was_multiplied_in_float32_says_so():
    X = PIXELS.astype(np.float32) + np.float32(0.3)
    assert class_moments(X, LABELS, np.ones(3)).rounded
    assert class_moments(PIXELS.astype(np.float32), LABELS, np.arange(1.0, 4)).rounded  # by weights
    assert not class_moments(X, LABELS, np.ones(3), doubles=True).rounded
    assert not class_moments(X.astype(np.float64), LABELS, np.ones(3)).rounded


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_kernels_between_pixels_are_those_of_any_instruction_set(dtype):
    X = PIXELS if dtype == np.uint8 else PIXELS.astype(dtype) / dtype(255)
    kernel = Kernel("rbf", gamma=0.1 if dtype != np.uint8 else 0.1 / 255**2)
    A = kernel.rows(X, kernel.shift(X))
    assert (A.pixels is not None) == _native.multiplies_bytes()
    before = _native.isa()
    try:
        _native.set_isa("avx2")
        plain = kernel.rows(X, kernel.shift(X))
        assert plain.pixels is None
        expected, product = kernel.gram(plain), kernel.product(plain, np.ones((900, 1)))
    finally:
        _native.set_isa(before)
    error = 1e-13 if dtype == np.float64 else 5e-6
    np.testing.assert_allclose(kernel.gram(A), expected, rtol=error)
    np.testing.assert_allclose(kernel.product(A, np.ones((900, 1))), product, rtol=error)
    some = np.array([5, 2, 800])
    np.testing.assert_allclose(kernel.block(A[some], A[10:20]), expected[some, 10:20], rtol=error)
    np.testing.assert_allclose(kernel.block(A[some], plain[10:20]), expected[some, 10:20], rtol=error)
    np.testing.assert_array_equal(A[some].floats(), plain[some].floats())
    assert A.floats().dtype == A.dtype == plain.dtype == plain.X.dtype


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_kernel_pca_of_pixels_places_its_own_rows(dtype):
    X = PIXELS if dtype == np.uint8 else PIXELS.astype(dtype) / dtype(255)
    pca = lowdim.KernelPCA(3, gamma="scale", random_state=0)
    Y = pca.fit_transform(X)
    np.testing.assert_allclose(pca.transform(X), Y, atol=1e-9 if dtype == np.float64 else 2e-5)
    exact = lowdim.KernelPCA(3, gamma=pca.gamma_, random_state=0).fit(X.astype(np.float64))
    np.testing.assert_allclose(pca.eigenvalues_, exact.eigenvalues_, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"approximation": "rpcholesky", "rank": 20}])
def test_a_model_of_pixels_is_independent_of_them(options):
    X = PIXELS.copy()
    pca = lowdim.KernelPCA(3, random_state=0, **options).fit(X)
    before = pca.transform(PIXELS)
    X[:] = 0
    np.testing.assert_array_equal(pca.transform(PIXELS), before)
    assert pca._basis.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pixels_in_another_precision_are_rounded_once(dtype):
    X = PIXELS / dtype(255)
    kernel, other = Kernel("rbf", gamma=0.1), np.float32 if dtype == np.float64 else np.float64
    shift = kernel.shift(X)
    np.testing.assert_array_equal(kernel.rows(X, shift, other).floats(), np.subtract(X, shift, dtype=other))


def test_lda_of_scaled_pixels_is_that_of_the_pixels():
    X = PIXELS.astype(np.float32) / np.float32(255)
    one, other = (lowdim.LDA().fit(Z, LABELS) for Z in (X, PIXELS))
    np.testing.assert_allclose(one.components_ / 255, other.components_, rtol=1e-4, atol=1e-9)
