"""Mutual information of columns by nearest neighbours, against counting by all distances."""

import numpy as np
import pytest
from scipy.special import digamma

from lowdim import _native


def with_labels(x, y, k):
    kept = np.bincount(y)[y] > 1
    x, y = x[kept], y[kept]
    out = digamma(len(x))
    for i in range(len(x)):
        alike, apart = np.flatnonzero(y == y[i]), np.abs(x - x[i])
        near = min(k, len(alike) - 1)
        r = np.sort(apart[alike])[near]
        count = (apart < r).sum() if r > 0 else (apart == 0).sum()
        near = near if r > 0 else (apart[alike] == 0).sum()
        out += (digamma(near) - digamma(len(alike)) - digamma(count)) / len(x)
    return max(out, 0)


def with_numbers(x, y, k):
    out = digamma(len(x))
    for i in range(len(x)):
        dx, dy = np.abs(x - x[i]), np.abs(y - y[i])
        both = np.maximum(dx, dy)
        r = np.sort(both)[k]
        if r > 0:
            near, a, b = k, (dx < r).sum(), (dy < r).sum()
        else:
            near, a, b = (both == 0).sum(), (dx == 0).sum(), (dy == 0).sum()
        out += (digamma(near) - digamma(a) - digamma(b)) / len(x)
    return max(out, 0)


@pytest.mark.parametrize("k", [1, 3, 50])
@pytest.mark.parametrize("tied", [False, True])
def test_it_counts_as_all_distances_do(k, tied, rng):
    X, y = rng.normal(size=(4, 60)), rng.integers(0, 3, (2, 60)).astype(np.int32)
    y[0, 0] = 3  # a class of one row
    X[1] *= -1e-8
    X[2, ::2] = -0.0
    if tied:
        X = X.round(1)
    found = _native.information_with_labels(X, y, 4, k, n_threads=2)
    expected = [[with_labels(x, labels, k) for labels in y] for x in X]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    targets = rng.normal(size=60)
    targets = np.stack([targets, rng.permutation(targets)])
    if tied:
        targets = targets.round(1)
    found = _native.information_with_numbers(X, targets, k, n_threads=2)
    expected = [[with_numbers(x, t, k) for t in targets] for x in X]
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_wrong_arguments_are_named(rng):
    X = rng.normal(size=(2, 5))
    with pytest.raises(ValueError, match="targets must have the columns of X"):
        _native.information_with_numbers(X, rng.normal(size=(1, 4)), 3)
    with pytest.raises(ValueError, match="labels must be 0 to n_classes - 1"):
        _native.information_with_labels(X, np.full((1, 5), 7, np.int32), 2, 3)
    with pytest.raises(ValueError, match="n_neighbors must be 1 or more"):
        _native.information_with_labels(X, np.zeros((1, 5), np.int32), 2, 0)
