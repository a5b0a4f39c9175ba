import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lowdim.relate.moments import column_moments, moments
from lowdim.work import thread_limit

TYPES = ["uint8", "bool", "int16", "int64", "float16", "float32", "float64", ">f8"]


def by_hand(X, weights=None):
    X = np.asarray(X, dtype=np.float64)
    w = np.ones(len(X)) if weights is None else weights
    mean = w @ X / w.sum()
    return w.sum(), mean, (X - mean).T @ ((X - mean) * w[:, None])


@given(
    n=st.integers(1, 60),
    d=st.integers(1, 40),
    dtype=st.sampled_from(TYPES),
    weighted=st.booleans(),
    sparse=st.booleans(),
    seed=st.integers(0, 99),
)
@example(n=1, d=1, dtype="uint8", weighted=False, sparse=True, seed=60)  # nothing stored
@settings(max_examples=80, deadline=None)
def test_moments_equal_those_by_hand(n, d, dtype, weighted, sparse, seed):
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, 200, size=(n, d)) * rng.random((n, d))).astype(dtype)
    weights = rng.random(n) + 0.1 if weighted else None
    weight, mean, scatter = by_hand(X, weights)
    if sparse:
        X = sp.csr_array(X.astype(np.float64))
    M = moments(X, weights)
    tolerance = 1e-5 * (1 + np.abs(scatter).max())
    assert M.weight == pytest.approx(weight)
    np.testing.assert_allclose(M.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(M.scatter, scatter, atol=tolerance)
    C = column_moments(X, weights)
    np.testing.assert_allclose(C.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(C.variance, np.diag(scatter) / weight, atol=tolerance)


@given(cut=st.integers(1, 99), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_merged_moments_are_those_of_all_rows(cut, seed):
    X = np.random.default_rng(seed).normal(size=(100, 70)) + 1000
    merged = moments(X[:cut]).merge(moments(X[cut:]))
    assert merged.rows == 100
    for ours, hand in zip(merged[:3], by_hand(X), strict=True):
        np.testing.assert_allclose(ours, hand, rtol=1e-9, atol=1e-8)


def test_bytes_give_exact_sums(rng):
    X = rng.integers(0, 256, size=(3000, 33), dtype=np.uint8)
    exact = X.astype(np.int64)
    M = moments(X)
    np.testing.assert_array_equal(M.mean, exact.sum(axis=0) / 3000)
    products = M.scatter + 3000 * np.outer(M.mean, M.mean)
    np.testing.assert_allclose(products, exact.T @ exact, rtol=1e-14)


def test_float32_far_from_zero_does_not_cancel(rng):
    X = (rng.normal(size=(20000, 5)) + 4096).astype(np.float32)
    np.testing.assert_allclose(moments(X).scatter, by_hand(X)[2], rtol=2e-5, atol=5)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_threads_do_not_change_a_bit(dtype, rng):
    X = (rng.random((5000, 70)) * 255).astype(dtype)
    results = []
    for n in (1, 2, 3):
        with thread_limit.using(n):
            results.append(moments(X))
    for other in results[1:]:
        np.testing.assert_array_equal(other.mean, results[0].mean)
        np.testing.assert_array_equal(other.scatter, results[0].scatter)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_not_finite_shows_in_the_mean(bad, dtype, rng):
    X = rng.normal(size=(2000, 6)).astype(dtype)
    for row in (0, 1999):
        Z = X.copy()
        Z[row, 4] = bad
        for M in (moments(Z), column_moments(Z)):
            assert not np.isfinite(M.mean[4])
            assert np.isfinite(M.mean[:4]).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "float32", "float64"])
def test_sparse_columns_of_any_type_neither_overflow_nor_cancel(dtype, rng):
    X = (rng.integers(0, 120, size=(40, 30)) * (rng.random((40, 30)) < 0.7)).astype(dtype)
    C = column_moments(sp.csr_array(X))
    np.testing.assert_allclose(C.variance, X.astype(float).var(axis=0), rtol=1e-12)
    far = rng.normal(size=(40, 3)) + 1e6
    np.testing.assert_allclose(column_moments(sp.csr_array(far)).variance, far.var(axis=0), rtol=1e-7)
    np.testing.assert_allclose(moments(sp.csr_array(far)).scatter, by_hand(far)[2], rtol=1e-6, atol=1e-4)


def test_duplicate_entries_of_sparse_rows_add_up(rng):
    X = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_allclose(column_moments(X).mean, [1.5, 2.5])
    np.testing.assert_allclose(column_moments(X).variance, [2.25, 6.25])


def test_sorted_rows_do_not_mislead_the_pilot(rng):
    X = (rng.normal(size=(60000, 4)) + 300).astype(np.float32)
    X[:1024] = 0
    exact = by_hand(X)[2]
    found, truth = np.linalg.eigvalsh(moments(X).scatter), np.linalg.eigvalsh(exact)
    np.testing.assert_allclose(found, truth, atol=2e-6 * truth[-1])  # of what float32 products resolve
