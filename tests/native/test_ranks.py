"""Ranks by counting against NumPy's sorted distances: edges of blocks, ties, scales, threads, instruction sets."""

import numpy as np
import pytest

from lowdim import _native


def targets_of(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)]).astype(np.int32)


def places(D, targets, own):
    """How many come before each target in rows sorted by (distance, index)."""
    D = D.astype(float)
    D[np.arange(len(D)), own] = np.inf
    order = np.argsort(D, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(D.shape[1]), D.shape), axis=1)
    return np.take_along_axis(place, targets, axis=1)


def squares(X, rows):
    return ((X[rows].astype(float)[:, None] - X.astype(float)) ** 2).sum(axis=2)


def data(kind, n, d, dtype):
    X = np.random.default_rng([n, d]).normal(size=(n, d))
    if kind == "ties":
        X = np.round(X)
    if kind == "duplicates":
        X = X[np.arange(n) // 3]
    if kind == "clusters far apart":  # products in float say nothing of distances within a cluster
        X = 1e-3 * X + np.where(np.arange(n) % 2, 1000.0, 0.0)[:, None]
    if kind == "tiny":
        X *= 1e-20
    if kind == "columns that do not vary":
        X[:, 1::2] = np.arange(d // 2) * 1e6
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "kind", ["plain", "ties", "duplicates", "clusters far apart", "tiny", "columns that do not vary"]
)
@pytest.mark.parametrize(("n", "d"), [(4, 1), (255, 3), (257, 130), (300, 17)])
def test_ranks_are_those_of_sorted_distances(isa, dtype, kind, n, d, monkeypatch):
    X, targets = data(kind, n, d, dtype), targets_of(n, 3)
    for rows in (None, np.arange(0, n, 3)):
        own = np.arange(n) if rows is None else rows
        found = _native.ranks(X, targets[own], rows=rows, n_threads=2)
        np.testing.assert_array_equal(found, places(squares(X, own), targets[own], own))


def test_huge_values_do_not_overflow():
    X, targets = data("plain", 100, 5, "float64") * 1e60, targets_of(100, 4)
    found = _native.ranks(X, targets)
    np.testing.assert_array_equal(found, places(squares(X / 1e60, np.arange(100)), targets, np.arange(100)))


def test_rows_that_all_coincide_are_ordered_by_index():
    X, targets = np.ones((300, 4), np.float32), targets_of(300, 2)
    expected = targets - (targets > np.arange(300)[:, None])
    np.testing.assert_array_equal(_native.ranks(X, targets, n_threads=2), expected)


@pytest.mark.parametrize("d", [1, 7, 16, 33])
def test_squared_distances_match_numpy(isa, d, monkeypatch):
    for dtype in ("float32", "float64"):
        X, others = data("plain", 150, d, dtype), targets_of(150, 3)
        expected = np.take_along_axis(squares(X, np.arange(150)), others, axis=1)
        np.testing.assert_allclose(_native.squared_distances(X, others, n_threads=2), expected, rtol=1e-13)
        rows = np.array([3, 3, 149])
        found = _native.squared_distances(X, others[rows], rows=rows)
        np.testing.assert_allclose(found, expected[rows], rtol=1e-13)


def test_ranks_in_given_distances():
    D = np.random.default_rng(0).integers(5, size=(40, 60)).astype(float)
    D[np.arange(40), np.arange(40)] = np.inf
    targets = targets_of(60, 5)[:40]
    found = _native.ranks_in(D, targets, n_threads=2)
    np.testing.assert_array_equal(found, places(D, targets, np.arange(40)))


def test_common_neighbors_match_the_definition():
    rng = np.random.default_rng(0)
    A, B = rng.integers(9, size=(2, 7, 12)).astype(float)  # many ties
    own = np.arange(7)
    A[own, own] = B[own, own] = np.inf
    weights = rng.normal(size=10)
    total, square = np.zeros(10, np.int64), np.zeros(10, np.int64)
    scores = _native.common_neighbors(A, B, weights, total, square, n_threads=2)
    near = [np.argsort(D, axis=1, kind="stable") for D in (A, B)]
    common = np.array([[len({*a[:K]} & {*b[:K]}) for K in range(1, 11)] for a, b in zip(*near, strict=True)])
    np.testing.assert_array_equal(total, common.sum(axis=0))
    np.testing.assert_array_equal(square, (common**2).sum(axis=0))
    np.testing.assert_allclose(scores, common @ weights)


def test_wrong_arrays_are_refused():
    X, targets = np.zeros((5, 2)), np.zeros((5, 1), np.int32)
    with pytest.raises(ValueError, match="indices must be rows from 0 to 4; got 5"):
        _native.ranks(X, targets + 5)
    with pytest.raises(ValueError, match="for each of 5 rows; got 4"):
        _native.ranks(X, targets[:4])
    with pytest.raises(ValueError, match="rows must be rows from 0 to 4; got -1"):
        _native.squared_distances(X, targets[:1], rows=np.array([-1]))
    with pytest.raises(ValueError, match="n_threads must be 1 or more"):
        _native.ranks(X, targets, n_threads=0)
    with pytest.raises(ValueError, match="one row for each row of D"):
        _native.ranks_in(np.zeros((3, 5)), targets)
    with pytest.raises(ValueError, match="two entries fewer"):
        _native.common_neighbors(X.T.copy(), X.T.copy(), np.zeros(2), np.zeros(3, np.int64), np.zeros(3, np.int64))
