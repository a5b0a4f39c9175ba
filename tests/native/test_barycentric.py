"""Barycentric weights and Chebyshev's polynomials against NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import _native
from lowdim.relate.weights import barycentric


def expected(X, x, reg):
    Z = X.astype(float) - x.astype(float)
    G = Z @ Z.T
    w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(G)), np.ones(len(G)))
    return w / w.sum()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [1, 3, 8, 17, 40])
def test_weights_solve_the_local_problem(isa, dtype, d, monkeypatch):
    rng = np.random.default_rng(d)
    X, Q = rng.normal(size=(30, d)).astype(dtype), rng.normal(size=(3, d)).astype(dtype)
    starts, near = np.array([0, 5, 5, 12]), rng.permutation(30)[:12].astype(np.int32)
    for rows, new in ((X, Q), (sp.csr_array(X), sp.csr_array(Q))):
        w = barycentric(rows, starts, near, 1e-3, queries=new)
        np.testing.assert_allclose(w[:5], expected(X[near[:5]], Q[0], 1e-3), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(w[5:], expected(X[near[5:]], Q[2], 1e-3), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("k", [1, 7, 12, 70])
def test_weights_of_a_row_do_not_depend_on_the_rows_beside_it(isa, k):
    rng = np.random.default_rng(k)
    X, Q = rng.normal(size=(90, 35)), rng.normal(size=(21, 35))
    Q[4] = X[3] = X[0]  # all of its neighbours coincide with row 4
    near = np.array([rng.permutation(90)[:k] for _ in Q], np.int32)
    near[4] = 0
    whole = barycentric(X, np.arange(22) * k, near.ravel(), 1e-3, queries=Q).reshape(21, k)
    for i in (0, 4, 9, 20):
        alone = barycentric(X, np.array([0, k]), near[i], 1e-3, queries=Q[i : i + 1])
        np.testing.assert_array_equal(alone, whole[i])
        np.testing.assert_allclose(alone, 1 / k if i == 4 else expected(X[near[i]], Q[i], 1e-3), rtol=1e-7, atol=1e-9)


def test_duplicates_and_missing_ridges_give_finite_weights_that_add_up():
    X = np.array([[1.0, 2.0]] * 4 + [[2.0, 2.0], [3.0, 2.0], [1.0, 4.0]])
    near = np.array([1, 2, 3, 1, 2, 4, 4, 5, 6], np.int32)
    for reg in (0.0, 1e-3):
        w = barycentric(X, np.array([0, 3, 6, 9]), near, reg, queries=X[:3]).reshape(3, 3)
        assert np.isfinite(w).all()
        np.testing.assert_allclose(w.sum(axis=1), 1)
        np.testing.assert_allclose(w[0], 1 / 3)  # all neighbours coincide with the row
        assert np.abs(w[1] @ X[near[3:6]] - X[1]).max() < 0.01


@pytest.mark.parametrize("reg", [1e9, 1e308])
def test_a_ridge_beyond_measure_gives_equal_weights(reg):
    X = np.random.default_rng(0).normal(size=(6, 3)) * 1e3
    np.testing.assert_allclose(barycentric(X, np.array([0, 5]), np.arange(1, 6), reg, queries=X[:1]), 0.2, rtol=1e-6)


def test_squares_that_overflow_are_refused():
    X = np.array([[0.0], [1e200], [-1e200]])
    with pytest.raises(ValueError, match="must be finite; some overflow. Scale the data"):
        barycentric(X, np.array([0, 2]), np.array([1, 2]), 1e-3, queries=X[:1])
    near = barycentric(X * 1e-355, np.array([0, 2]), np.array([1, 2]), 1e-3, queries=X[:1])
    np.testing.assert_allclose(near, 0.5)


def test_arrays_that_do_not_fit_are_refused():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="do not fit"):
        _native.barycentric(X, X, np.array([0, 1, 2, 3]), np.array([0, 1, 3], np.int32), 0.1)
    with pytest.raises(ValueError, match="stacked squares"):
        _native.gram_weights(np.zeros((1, 2, 3)), 0.1)


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 12])
def test_polynomial_is_chebyshevs(isa, degree, monkeypatch):
    rng = np.random.default_rng(0)
    B = sp.random_array((40, 40), density=0.2, random_state=rng, format="csr") + sp.eye_array(40)
    B, T = sp.csr_array(B), sp.csr_array(B.T)
    V = rng.normal(size=(40, 8))
    values, vectors = np.linalg.eigh((B.T @ B).toarray())
    low, high = 0.2, float(values[-1]) * 1.05
    t = (2 * values - high - low) / (high - low)
    poly = np.polynomial.chebyshev.chebval(t, np.eye(degree + 1)[degree])
    parts = [part for A in (B, T) for part in (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data)]
    results = []
    for threads in (1, 3):
        W = V.copy()
        _native.chebyshev(*parts, W, low, high, degree, n_threads=threads)
        results.append(W)
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], vectors @ (poly[:, None] * (vectors.T @ V)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("density", [0.01, 0.1, 1.0])  # in parts, sparse, and rows that use more than 64 others
def test_many_steps_in_an_order_of_their_own_change_no_bits(density):
    rng = np.random.default_rng(1)
    A = sp.random_array((150, 150), density=density, random_state=rng, format="csr")
    A = sp.csr_array(A + A.T + sp.eye_array(150))
    high = 1.01 * float(np.abs(np.linalg.eigvalsh(A.toarray())).max())
    parts = (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data)
    V = rng.normal(size=(150, 8))
    at_once, twice = V.copy(), V.copy()
    _native.chebyshev_symmetric(*parts, at_once, -high, high, 160, n_threads=3)  # T_160 = T_2(T_80)
    _native.chebyshev_symmetric(*parts, twice, -high, high, 80, n_threads=3)
    _native.chebyshev_symmetric(*parts, twice, -high, high, 80, n_threads=1)
    np.testing.assert_allclose(at_once, 2 * twice - V, atol=1e-11)
    alone = V.copy()
    _native.chebyshev_symmetric(*parts, alone, -high, high, 160, n_threads=1)
    np.testing.assert_array_equal(alone, at_once)


def test_bits_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(2)
    n = 2000
    ends = np.sort(rng.integers(0, n, (n, 12)), axis=1).astype(np.int32)
    B = sp.csr_array((rng.normal(size=12 * n), ends.ravel(), np.arange(0, 12 * n + 1, 12)), shape=(n, n))
    parts = [
        part for A in (B, sp.csr_array(B.T)) for part in (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data)
    ]
    results = []
    for threads in (1, 2, 6):  # more than four ask for the rows they will read
        V = np.random.default_rng(3).normal(size=(n, 8))
        _native.chebyshev(*parts, V, 0.5, 60.0, 120, n_threads=threads)
        results.append(V)
    assert np.isfinite(results[0]).all()
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
