import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.relate.moments import class_moments
from lowdim.work import thread_limit

TYPES = ["uint8", "bool", "int64", "float32", "float64", ">f8"]


@given(
    n=st.integers(4, 60),
    d=st.integers(1, 20),
    dtype=st.sampled_from(TYPES),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_class_moments_equal_those_by_hand(n, d, dtype, weighted, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 200, size=(n, d)).astype(dtype)
    labels = np.append([0, 1, 2], rng.integers(0, 3, n - 3)).astype(np.int32)
    weights = rng.random(3) + 0.1 if weighted else np.full(3, 0.5)
    M = class_moments(X, labels, weights)
    A = X.astype(np.float64)
    means = np.stack([A[labels == c].mean(axis=0) for c in range(3)])
    centred = (A - means[labels]) * np.sqrt(weights[labels])[:, None]
    np.testing.assert_allclose(M.weights, np.bincount(labels) * weights)
    np.testing.assert_allclose(M.means, means, rtol=1e-5, atol=1e-4)
    tolerance = 1e-5 * (1 + np.abs(M.scatter).max())
    np.testing.assert_allclose(M.within(), centred.T @ centred, atol=tolerance)
    np.testing.assert_allclose(M.within() + M.between().T @ M.between(), M.scatter, atol=tolerance)


def test_parts_merge_to_the_whole(rng):
    X, labels = rng.normal(size=(50, 4)) + 5.0, rng.integers(0, 3, 50).astype(np.int32)
    whole = class_moments(X, labels, np.ones(3))
    parts = [class_moments(X[rows], labels[rows], np.ones(3)) for rows in (slice(0, 3), slice(3, 50))]
    merged = parts[0].merge(parts[1])
    for one, other in zip(merged, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", TYPES)
def test_threads_change_no_bit(rng, dtype):
    X, labels = rng.integers(0, 99, (3000, 30)).astype(dtype), rng.integers(0, 4, 3000).astype(np.int32)
    with thread_limit.using(1):
        one = class_moments(X, labels, np.ones(4))
    with thread_limit.using(2):
        two = class_moments(X, labels, np.ones(4))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_constant_within_classes_is_exactly_zero():
    labels = np.repeat([0, 1], 10).astype(np.int32)
    X = np.column_stack([labels * 0.1 + 1e3, np.arange(20.0)])
    S = class_moments(X, labels, np.ones(2)).within()
    assert S[0, 0] == S[0, 1] == 0.0
    assert S[1, 1] > 0


@pytest.mark.parametrize("offset", [0.0, 1e7, -3e7, 1e9])
def test_a_large_mean_hides_no_spread(rng, offset):
    labels = rng.integers(0, 3, 200).astype(np.int32)
    X = rng.integers(0, 64, (200, 4)) / 8.0 + labels[:, None]  # exact beside any of the offsets
    expected = class_moments(X, labels, np.ones(3)).within()
    np.testing.assert_allclose(class_moments(X + offset, labels, np.ones(3)).within(), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("value", [3, 77, 254, 255])
def test_constant_bytes_are_exactly_zero(rng, value):
    labels = rng.integers(0, 3, 30001).astype(np.int32)
    X = np.column_stack([np.full(30001, value), np.where(np.arange(30001) == 5, value - 1, value), labels * 80])
    S = class_moments(X.astype(np.uint8), labels, np.full(3, 1 / 3)).within()
    assert S[0, 0] == S[2, 2] == 0.0
    assert S[1, 1] == pytest.approx(1 / 3, rel=1e-3)
