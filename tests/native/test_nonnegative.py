import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from lowdim import _native


@pytest.mark.parametrize("k", [1, 3, 17, 40])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_sweeps_reach_non_negative_least_squares(rng, k, n_threads):
    A, X = rng.random((60, k)), rng.normal(size=(70, 60)) + 0.3
    W = np.zeros((70, k))
    _native.nonnegative_sweeps(A.T @ A, X @ A, W, 20_000, 1e-12, n_threads=n_threads)
    np.testing.assert_allclose(W, [nnls(A, x)[0] for x in X], atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_depends_on_itself_alone(rng, dtype):
    A, X = rng.random((30, 9)).astype(dtype), rng.random((200, 30)).astype(dtype)
    G, B = A.T @ A, X @ A
    whole, part = np.zeros((200, 9), dtype), np.zeros((11, 9), dtype)
    _native.nonnegative_sweeps(G, B, whole, 30, 1e-3, n_threads=2)
    _native.nonnegative_sweeps(G, np.ascontiguousarray(B[70:81]), part, 30, 1e-3)
    np.testing.assert_array_equal(whole[70:81], part)


def rows(rng, dtype=np.float64):
    X = sp.random_array((300, 50), density=0.2, random_state=rng, format="csr", dtype=dtype)
    X.indptr, X.indices = X.indptr.astype(np.int32), X.indices.astype(np.int32)  # 64 bits before SciPy 1.15
    return X


def test_a_part_that_is_zero_has_no_amount(rng):
    G, W = np.diag([2.0, 0.0]), np.ones((5, 2))
    _native.nonnegative_sweeps(G, np.ones((5, 2)), W, 10, 0.0)
    np.testing.assert_array_equal(W, np.tile([0.5, 0.0], (5, 1)))


@pytest.mark.parametrize("k", [1, 8, 11])
def test_ratios_are_those_of_their_definition(rng, k):
    X = rows(rng)
    W, H = rng.random((300, k)), rng.random((50, k))
    out, losses = _native.nonnegative_ratios(X.indptr, X.indices, X.data, W, H, 1e-30, n_threads=2)
    dense, P = X.toarray(), W @ H.T
    np.testing.assert_allclose(out, (dense / P) @ H, rtol=1e-10)
    logarithms = np.log(np.where(dense > 0, dense, 1) / np.where(dense > 0, P, 1))
    np.testing.assert_allclose(losses, (dense * logarithms).sum(axis=1), rtol=1e-9, atol=1e-12)
    assert not len(_native.nonnegative_ratios(X.indptr, X.indices, X.data, W, H, 1e-30, loss=False)[1])


def test_shapes_that_do_not_fit_are_refused(rng):
    with pytest.raises(ValueError, match=r"G \(k, k\), B \(rows, k\) and W \(rows, k\) are needed"):
        _native.nonnegative_sweeps(np.eye(3), np.ones((5, 2)), np.ones((5, 2)), 1, 0.0)
    X = sp.csr_array(np.eye(4))
    with pytest.raises(ValueError, match="W with one row for each of them"):
        _native.nonnegative_ratios(X.indptr, X.indices, X.data, np.ones((3, 2)), np.ones((4, 2)), 0.0)


def test_products_of_floats_are_those_of_doubles(rng):
    X = rows(rng, np.float32)
    for width in (1, 10, 24):
        V = rng.random((50, width)).astype(np.float32)
        out = _native.csr_product(X.indptr, X.indices, X.data, V)
        assert out.dtype == np.float32
        np.testing.assert_allclose(out, X.toarray() @ V, rtol=1e-5)
