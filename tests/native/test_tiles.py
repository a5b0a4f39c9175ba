"""Distances from differences, and their sums by class, against NumPy: edges of tiles, types, threads, sets."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lowdim import _native


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("m", "n", "d"), [(1, 1, 1), (3, 64, 2), (6, 63, 5), (9, 131, 40)])
def test_distances_are_those_of_scipy(isa, dtype, m, n, d, monkeypatch, rng):
    Q, X = (rng.normal(size=(rows, d)).astype(dtype) for rows in (m, n))
    for root, metric in ((True, "euclidean"), (False, "sqeuclidean")):
        D = np.full((m, n), np.nan)
        _native.euclidean(Q, X, D, root=root, n_threads=2)
        np.testing.assert_allclose(D, cdist(Q, X, metric), rtol=1e-13)


def test_equal_rows_are_at_0_and_both_ways_are_as_far(rng):
    X = np.repeat(rng.normal(size=(40, 7)) + 1e6, 2, axis=0)
    D = np.empty((80, 80))
    _native.euclidean(X, X, D)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(D == 0, np.arange(80) // 2 == np.arange(80)[:, None] // 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("counts", [[200], [64, 64], [1, 0, 130, 69], [1] * 70, [63, 2, 0, 65]])
def test_sums_by_class(isa, dtype, counts, monkeypatch, rng):
    starts = np.concatenate([[0], np.cumsum(counts)])
    X, Q = rng.normal(size=(starts[-1], 3)).astype(dtype), rng.normal(size=(67, 3)).astype(dtype)
    for root, metric in ((True, "euclidean"), (False, "sqeuclidean")):
        D = cdist(Q, X, metric)
        expected = np.stack([D[:, a:b].sum(axis=1) for a, b in pairwise(starts)], axis=1)
        out = np.full((67, len(counts)), np.nan)
        _native.class_distances(Q, X, starts, out, root=root, n_threads=2)
        np.testing.assert_allclose(out, expected, rtol=1e-12)
        alone = np.empty_like(out)
        _native.class_distances(Q, X, starts, alone, root=root, n_threads=1)
        np.testing.assert_array_equal(out, alone)


def test_wrong_arrays_are_refused():
    Q, X, D = np.zeros((2, 3)), np.zeros((5, 3)), np.zeros((2, 5))
    with pytest.raises(ValueError, match="Q must have the 3 columns of X; got 2"):
        _native.euclidean(Q[:, :2].copy(), X, D)
    with pytest.raises(ValueError, match="D: 5 columns are needed; got 4"):
        _native.euclidean(Q, X, D[:, :4].copy())
    with pytest.raises(ValueError, match="n_threads must be 1 or more; got 0"):
        _native.euclidean(Q, X, D, n_threads=0)
    out = np.zeros((2, 2))
    for starts, needed in (
        ([0, 3, 4], "end with"),
        ([1, 3, 5], "begin with 0"),
        ([0, 6, 5], "not fall"),
        ([0], "more"),
    ):
        with pytest.raises(ValueError, match=needed):
            _native.class_distances(Q, X, np.array(starts), out)
    with pytest.raises(ValueError, match="out: 2 rows are needed"):
        _native.class_distances(Q, X, np.array([0, 3, 5]), out[:1])
