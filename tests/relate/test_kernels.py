"""Kernels against scikit-learn's, whole, in blocks and in products; bandwidths; wrong functions and matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from lowdim.relate import kernels
from lowdim.relate.kernels import Kernel, demand_gram, demand_kernel_function, resolve_gamma

PARAMS = {
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "laplacian": ("gamma",),
}
NAMED = [name for name in kernels.NAMES if name != "precomputed"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(kernels, "_STRIP", 32)
    monkeypatch.setattr(kernels, "TILE", 48)
    monkeypatch.setattr(kernels, "_STRIP_BYTES", 2**12)


def expected(name, A, B, gamma=0.07, degree=3, coef0=0.5):
    options = {key: value for key, value in locals().items() if key in PARAMS.get(name, ())}
    return pairwise_kernels(A.astype(float), B.astype(float), metric=name, **options)


def make(name):
    return Kernel(name, 0.07, 3, 0.5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMED)
def test_agrees_with_scikit_learn(name, dtype, kind, rng):
    X, Y = ((rng.normal(size=(n, 9)) * (rng.random((n, 9)) < 0.5)).astype(dtype) for n in (150, 41))
    kernel, tol = make(name), 2e-5 if dtype == "float32" else 1e-12
    A, B = kernel.rows(kind(X)), kernel.rows(kind(Y))
    K = kernel.gram(A)
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, expected(name, X, X), rtol=tol, atol=tol)
    np.testing.assert_allclose(kernel.block(B, A), expected(name, Y, X), rtol=tol, atol=tol)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(expected(name, X, X)), rtol=tol, atol=tol)
    V = rng.normal(size=(150, 3))
    np.testing.assert_allclose(kernel.product(A, V), expected(name, X, X) @ V, atol=500 * tol)
    np.testing.assert_allclose(kernel.project(B, A, V.astype(dtype)), expected(name, Y, X) @ V, atol=500 * tol)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 7, 8])
def test_powers_by_multiplication(degree, rng):
    X = rng.normal(size=(20, 3))
    kernel = Kernel("poly", 1.0, degree, 1.0)
    np.testing.assert_allclose(kernel.gram(kernel.rows(X)), (X @ X.T + 1) ** degree, rtol=1e-12)


def test_a_large_mean_does_not_cost_float32_its_digits(rng):
    X = (rng.normal(size=(60, 5)) + 1000).astype(np.float32)
    kernel = Kernel("rbf", 0.1)
    K = kernel.gram(kernel.rows(X, kernel.shift(X)))
    np.testing.assert_allclose(K, pairwise_kernels(X.astype(float), metric="rbf", gamma=0.1), atol=1e-5)


def test_a_zero_row_has_cosine_zero():
    kernel = Kernel("cosine")
    for kind in (np.asarray, sp.csr_array):
        K = kernel.gram(kernel.rows(kind(np.array([[0.0, 0.0], [3.0, 4.0]]))))
        np.testing.assert_allclose(K, [[0, 0], [0, 1]])


def test_bandwidths_are_what_they_say(rng):
    X = rng.normal(size=(300, 4)) * 3 + 7
    assert resolve_gamma(X, 0.25, seed=0) == 0.25
    assert resolve_gamma(X, "scale", seed=0) == pytest.approx(1 / (4 * X.var()))
    assert resolve_gamma(sp.csr_array(X), "scale", seed=0) == pytest.approx(1 / (4 * X.var()))
    pairs = np.sqrt(np.square(X[:, None] - X).sum(axis=2))[np.triu_indices(300, 1)]
    assert resolve_gamma(X, "median", seed=0) == pytest.approx(1 / (2 * np.median(pairs) ** 2))
    assert resolve_gamma(sp.csr_array(X), "median", seed=0) == pytest.approx(1 / (2 * np.median(pairs) ** 2))
    assert resolve_gamma(np.ones((5, 2)), "scale", seed=0) == resolve_gamma(np.ones((5, 2)), "median", seed=0) == 1.0


def test_the_median_of_a_sample_is_seeded_and_near(rng):
    X = rng.normal(size=(3000, 4))
    one = resolve_gamma(X, "median", seed=1)
    assert one == resolve_gamma(X, "median", seed=1) != resolve_gamma(X, "median", seed=2)
    assert one == pytest.approx(resolve_gamma(X, "median", seed=2), rel=0.05)


def test_functions_of_blocks_work_and_others_are_told_how(rng):
    X = rng.normal(size=(50, 3))
    kernel = Kernel(lambda A, B: A @ B.T + 2)
    np.testing.assert_allclose(kernel.gram(kernel.rows(X)), X @ X.T + 2)
    demand_kernel_function(kernel.name, X)
    with pytest.raises(ValueError, match=r"shape \(4, 3\); got shape \(\).*function of two single rows"):
        demand_kernel_function(lambda A, B: 1.0, X)
    with pytest.raises(ValueError, match="got NaN or infinity"):
        demand_kernel_function(lambda A, B: np.full((len(A), len(B)), np.nan), X)
    with pytest.raises(ValueError, match="got type"):
        demand_kernel_function(lambda A, B: np.full((len(A), len(B)), "a"), X)
    with pytest.raises(ValueError, match=r"must be symmetric.*got"):
        demand_kernel_function(lambda A, B: A[:, :1] + 2 * B[:, 0], X)


def test_matrices_that_are_no_gram_matrices_are_refused(rng):
    K = rng.normal(size=(100, 100))
    with pytest.raises(ValueError, match=r"symmetric matrix; got K\[.*Pass \(K \+ K.T\) / 2"):
        demand_gram(K, "KernelPCA")
    with pytest.raises(ValueError, match=r"square matrix .*got \(3, 100\)"):
        demand_gram(K[:3], "KernelPCA")
    demand_gram((K + K.T).astype(np.float32), "KernelPCA")
    K = K + K.T
    K[70, 3] += 0.1
    with pytest.raises(ValueError, match=r"K\[70, 3\]"):
        demand_gram(K, "KernelPCA")


def test_functions_of_single_rows_and_sparse_values_are_told_what_to_do(rng):
    X = rng.normal(size=(9, 5))
    with pytest.raises(ValueError, match=r"blocks of 4 and 3 rows .*got ValueError \(.*For a function of two single"):
        demand_kernel_function(lambda a, b: np.exp(-np.square(a - b).sum()), X)
    with pytest.raises(ValueError, match=r"got a sparse csr_array\. Return its \.toarray\(\)"):
        demand_kernel_function(lambda A, B: sp.csr_array(A @ B.T), X)
    with pytest.raises(ValueError, match=r"got NaN or infinity"):
        demand_kernel_function(lambda A, B: np.full((len(A), len(B)), np.nan), X)


def test_the_median_distance_is_that_of_rows_that_differ():
    X = np.array([[0.0]] * 20 + [[2.0]])
    assert resolve_gamma(X, "median", seed=0) == pytest.approx(1 / 8)
    assert resolve_gamma(np.ones((5, 2)), "median", seed=0) == 1.0


def test_a_small_asymmetry_is_stated_as_a_difference():
    K = np.ones((4, 4))
    K[2, 1] += 1e-8
    with pytest.raises(ValueError, match=r"K\[1, 2\] = 1 and K\[2, 1\] = 1, 1e-08 apart"):
        demand_gram(K, "KernelPCA")
