"""Near, middle and further pairs: what they are by definition, and that they are drawn evenly."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from lowdim.relate.neighbors import nearest
from lowdim.relate.pairs import draw_further, draw_mid, nearest_by_scale, scales


def test_near_pairs_have_the_smallest_scaled_distances(rng):
    X = rng.normal(size=(80, 4)) * np.exp(rng.normal(size=(80, 1)))
    near = nearest(X, 40)
    sigma = scales(near.distances)
    D = np.square(cdist(X, X))
    np.testing.assert_allclose(sigma, np.sort(cdist(X, X), axis=1)[:, 4:7].mean(axis=1), rtol=1e-5)
    columns = nearest_by_scale(near.indices, near.distances, sigma, sigma, 6)
    found = np.take_along_axis(near.indices, columns, axis=1)
    for i in range(80):
        scaled = D[i] / (sigma[i] * sigma)
        candidates = near.indices[i][np.argsort(scaled[near.indices[i]])[:6]]
        assert set(found[i]) == set(candidates)


@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_pairs_of_few_rows(n, rng):
    X = rng.normal(size=(n, 3))
    mid = draw_mid(X, 4, "euclidean", 0)
    assert ((mid >= 0) & (mid < n) & (mid != np.arange(n)[:, None])).all()
    near = nearest(X, max(1, (n - 1) // 2)).indices
    further = draw_further(near, 5, 0).partners
    assert further.shape == (n, 5 if n > 2 else 0)
    for i in range(n):
        assert not set(further[i]) & {i, *near[i]}


def test_further_rows_are_drawn_evenly(rng):
    near = nearest(rng.normal(size=(50, 3)), 9).indices
    further = draw_further(near, 4000, 0).partners
    counts = np.bincount(further[7], minlength=50)
    assert set(np.flatnonzero(counts == 0)) == {7, *near[7]}
    np.testing.assert_allclose(counts[counts > 0], 100, atol=50)


def test_a_ring_leaves_out_the_near_pairs(rng, monkeypatch):
    monkeypatch.setattr("lowdim.relate.pairs.RING", 100)
    near = nearest(rng.normal(size=(300, 3)), 9).indices
    partners, order, shifts, excluded = draw_further(near, 40, 0)
    assert partners.shape == (300, 0)
    assert sorted(order) == list(range(300))
    assert len(set(shifts)) == 40
    assert shifts.max() < 150  # a shift and its opposite would make the same pairs
    ring = {frozenset(pair) for r in shifts for pair in zip(order, np.roll(order, -r), strict=True)}
    assert len(ring) == 300 * 40
    close = {frozenset((i, j)) for i in range(300) for j in near[i]}
    assert {frozenset(pair) for pair in excluded.tolist()} == ring & close
    assert len(excluded) == len(ring & close) > 0


def test_middle_distances_lie_between_near_and_random(rng):
    X = rng.normal(size=(300, 5))
    D = cdist(X, X)
    mid = draw_mid(X, 20, "euclidean", 0)
    rank = (D[:, :, None] < np.take_along_axis(D, mid.astype(np.int64), axis=1)[:, None, :]).sum(axis=1) / 299
    np.testing.assert_allclose(rank.mean(), 2 / 7, atol=0.01)  # the second of six even numbers


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_draw_the_pairs_of_dense_ones(metric, rng):
    X = rng.normal(size=(60, 7)) * (rng.random((60, 7)) < 0.7) + 0.01
    dense, sparse = (draw_mid(form, 6, metric, 3) for form in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense, sparse)


def test_given_distances_draw_the_pairs_of_rows(rng):
    X = rng.normal(size=(60, 7))
    np.testing.assert_array_equal(draw_mid(X, 6, "euclidean", 3), draw_mid(cdist(X, X), 6, "precomputed", 3))


def test_another_seed_draws_other_pairs(rng):
    X = rng.normal(size=(60, 7))
    assert (draw_mid(X, 6, "euclidean", 3) != draw_mid(X, 6, "euclidean", 4)).any()
