"""Values beside a mask, and many small posteriors, against NumPy."""

import numpy as np
import pytest

from lowdim import _native
from lowdim.solve.gap_posterior import packed, symmetric


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (130, 37)])
def test_values_and_their_mask(dtype, zeros, shape, rng):
    X = rng.normal(size=shape).astype(dtype)
    X[rng.random(shape) < 0.3] = np.nan
    X[rng.random(shape) < 0.3] = 0
    shift, rate = rng.normal(size=shape[1]).astype(dtype), rng.random(shape[1]).astype(dtype)
    Z, M = np.empty(shape, dtype), np.empty(shape, dtype)
    counts, squares = _native.observed(X, shift, rate, zeros, Z, M, n_threads=2)
    known = ~np.isnan(X) & ((X != 0) | (not zeros))
    np.testing.assert_array_equal(M, known)
    np.testing.assert_allclose(Z, np.where(known, (X - shift) * rate, 0), rtol=1e-6)
    np.testing.assert_array_equal(counts, known.sum(axis=1))
    np.testing.assert_allclose(squares, np.square(Z, dtype=float).sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("n", [1, 8, 131])
def test_posteriors_are_those_of_each_row(dtype, k, n, rng):
    A = rng.normal(size=(n, k, k + 2))
    A = A @ A.swapaxes(1, 2)
    i, j = np.tril_indices(k)
    B, w = rng.normal(size=(n, k)).astype(dtype), rng.random(n)
    given = np.ascontiguousarray(A[:, i, j], dtype)
    means, products, logs, fits = _native.posteriors(given, B, 0.5, w, n_threads=2)
    M = symmetric(given.astype(float), k) + 0.5 * np.eye(k)
    t = np.linalg.solve(M, B.astype(float)[:, :, None])[:, :, 0]
    u = np.concatenate([t, np.ones((n, 1))], axis=1)
    expected = packed(u)
    expected[:, : len(i)] += 0.5 * np.linalg.inv(M)[:, i, j]
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(means, u * w[:, None], **close)
    np.testing.assert_allclose(products, expected * w[:, None], **close)
    np.testing.assert_allclose(logs, np.linalg.slogdet(M)[1], **close)
    np.testing.assert_allclose(fits, (t * B).sum(axis=1), **close)
    again = _native.posteriors(given, B, 0.5, w, n_threads=1)
    for one, two in zip((means, products, logs, fits), again, strict=True):
        np.testing.assert_array_equal(one, two)


def test_wrong_arguments_are_named(rng):
    X, line = rng.normal(size=(3, 2)), np.ones(2)
    with pytest.raises(ValueError, match="shift and rate must have the columns of X"):
        _native.observed(X, np.ones(3), line, False, X.copy(), X.copy())
    with pytest.raises(ValueError, match="Z and M must have the shape of X"):
        _native.observed(X, line, line, False, X[:2].copy(), X.copy())
    with pytest.raises(ValueError, match="A must have k"):
        _native.posteriors(X, X, 1.0, np.ones(3))
    with pytest.raises(ValueError, match="noise must be positive"):
        _native.posteriors(rng.normal(size=(3, 3)), X, 0.0, np.ones(3))
