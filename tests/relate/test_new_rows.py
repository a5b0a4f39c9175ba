"""Neighbours and relations of new rows beside old ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import TSNE, UMAP, PaCMAP
from lowdim.compose.new_neighbors import nearest_to_new
from lowdim.relate.fuzzy import fuzzy_union
from lowdim.relate.neighbors import nearest
from lowdim.relate.new_rows import grown_graph, new_affinities, new_pairs
from lowdim.solve import divergence, pair_loss
from lowdim.solve.descent import Reached
from lowdim.solve.divergence import Falloff
from lowdim.solve.pair_loss import LAST, PairLoss

X = np.random.default_rng(0).normal(size=(50, 4))


def dense(parts, n):
    return sp.csr_array((parts[2], parts[1], parts[0]), shape=(n, n)).toarray()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_neighbours_of_new_rows_are_those_of_a_search_among_all(metric):
    rows = np.linalg.norm(X[:, None] - X[None], axis=2) if metric == "precomputed" else X
    found, every = nearest_to_new(rows, 30, 7, metric, "auto", 0), nearest(rows, 7, None, metric)
    np.testing.assert_array_equal(found.indices, every.indices[30:])
    np.testing.assert_allclose(found.distances, every.distances[30:], atol=1e-6)


def test_sparse_rows_graphs_and_duplicates_have_neighbours():
    rows = nearest_to_new(sp.csr_array(X), 30, 7, "euclidean", "auto", 0)
    np.testing.assert_array_equal(rows.indices, nearest(X, 7).indices[30:])
    near = nearest(X, 9)
    graph = sp.csr_array((near.distances.ravel(), near.indices.ravel(), 9 * np.arange(51)), shape=(50, 50))
    np.testing.assert_array_equal(nearest_to_new(graph, 30, 7, "precomputed", "auto", 0).indices, near.indices[30:, :7])
    same = np.ones((40, 2))
    found = nearest_to_new(same, 10, 5, "euclidean", "exact", 0).indices
    assert (found != np.arange(10, 40)[:, None]).all()
    assert all(len(set(row)) == 5 for row in found.tolist())


def test_many_columns_are_searched_along_axes_and_the_recall_is_told():
    rng = np.random.default_rng(1)
    rows = (rng.normal(size=(4000, 20)) @ rng.normal(size=(20, 400)) + 0.1 * rng.normal(size=(4000, 400))).astype("f4")
    found, exact = (nearest_to_new(rows, 2500, 10, "euclidean", how, 0) for how in ("auto", "exact"))
    assert (found.how, exact.how) == ("approximate", "exact")
    shares = [len(np.intersect1d(a, b)) / 10 for a, b in zip(found.indices, exact.indices, strict=True)]
    assert found.recall == pytest.approx(np.mean(shares), abs=0.02)
    assert found.recall > 0.95
    same = found.indices[:, 0] == exact.indices[:, 0]
    np.testing.assert_allclose(found.distances[same, 0], exact.distances[same, 0], rtol=1e-5)
    assert (np.diff(found.distances, axis=1) >= 0).all()


def test_affinities_of_new_rows_are_symmetric_and_sum_to_their_share():
    near, p = nearest_to_new(X, 30, 7, "euclidean", "auto", 0), np.full((20, 7), 1 / 7, np.float32)
    P = dense(new_affinities(near.indices, p, 50), 50)
    np.testing.assert_array_equal(P, P.T)
    assert P.sum() == pytest.approx(20 / 50)
    assert not P[:30, :30].any()


@pytest.mark.parametrize("mix", [0.0, 0.4, 1.0])
def test_a_grown_graph_keeps_the_old_one_and_unites_new_rows_as_a_fit_does(mix):
    old = sp.csr_matrix(dense(fuzzy_union(nearest(X[:30], 5).indices, np.full((30, 5), 0.5, np.float32)), 30))
    rng = np.random.default_rng(0)
    indices = np.stack([rng.permutation(49)[:6] for _ in range(20)]).astype(np.int32)
    indices += indices >= np.arange(30, 50)[:, None]
    v = rng.random((20, 6)).astype(np.float32)
    G = dense(grown_graph(old, indices, v, mix), 50)
    np.testing.assert_array_equal(G[:30, :30], old.toarray())
    np.testing.assert_array_equal(G, G.T)
    forward = np.zeros((50, 50), np.float32)
    np.put_along_axis(forward[30:], indices.astype(int), v, axis=1)
    np.testing.assert_allclose(G[30:, :30], forward[30:, :30])
    a, b = forward[30:, 30:], forward[30:, 30:].T
    np.testing.assert_allclose(G[30:, 30:], mix * (a + b - a * b) + (1 - mix) * a * b, rtol=1e-5, atol=1e-7)


def test_pairs_of_new_rows_differ_and_old_rows_have_none():
    near = np.ascontiguousarray(nearest_to_new(X, 30, 4, "euclidean", "auto", 0).indices)
    pairs = new_pairs(near, 9, 50, 0)
    for part in (pairs.near, pairs.further):
        assert (part[:30] == np.arange(30)[:, None]).all()
    for row in range(30, 50):
        others = set(pairs.further[row].tolist())
        assert not others & {row, *near[row - 30].tolist()}
    drawn = np.concatenate([new_pairs(near, 9, 50, seed).further[30:] for seed in range(100)]).ravel()
    assert (np.abs(np.bincount(drawn, minlength=50) / (100 * 20 * 9) - 1 / 50) < 0.01).all()
    Y = np.random.default_rng(2).normal(size=(50, 2)).astype(np.float32)
    found = PairLoss().at(pairs, Y)
    apart = [np.square(Y[30:, None] - Y[part[30:]]).sum(2) + 1 for part in (pairs.near, pairs.further)]
    assert found.value == pytest.approx((apart[0] / (10 + apart[0])).sum() + (1 / (1 + apart[1])).sum(), rel=1e-5)
    assert LAST[1] == 0
    assert np.isfinite(pair_loss.gradient(pairs, Y)[1]).all()


def test_the_divergence_of_a_grown_map_is_that_of_its_affinities():
    falloff, rng = Falloff("student"), np.random.default_rng(3)
    Y = rng.normal(size=(50, 2)).astype(np.float32)
    A = rng.random((30, 30)).astype(np.float32) * (1 - np.eye(30, dtype=np.float32))
    A = (A + A.T) / (A + A.T).sum()
    old = sp.csr_array(A)
    before = divergence.divergence((old.indptr.astype(np.int64), old.indices, old.data), Y[:30], falloff)
    near, p = nearest_to_new(X, 30, 7, "euclidean", "auto", 0), rng.random((20, 7)).astype(np.float32)
    new = new_affinities(near.indices, p / p.sum(1, keepdims=True), 50)
    every = dense(new, 50)
    every[:30, :30] = 30 / 50 * A
    every = sp.csr_array(every)
    expected = divergence.divergence((every.indptr.astype(np.int64), every.indices, every.data), Y, falloff)
    found = divergence.with_new(Reached(before.value, before.points), new, Y, falloff)
    assert found.value == pytest.approx(expected.value, rel=1e-5)
    np.testing.assert_allclose(found.points[30:], expected.points[30:], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(found.points, expected.points, atol=0.3 * expected.points.mean())


@pytest.mark.parametrize("cls", [TSNE, UMAP, PaCMAP])
def test_losses_of_extended_maps_are_near_those_of_a_fit_in_the_same_place(cls):
    rows = np.concatenate([X, X + 0.01 * np.random.default_rng(4).normal(size=X.shape)])
    options = {"max_iter": 200} if cls is not UMAP else {"n_epochs": 100}
    more = cls(random_state=0, **options).fit(rows[:80]).extend(rows[80:])
    again = cls(random_state=0, anchors=more, anchor_weight=1.0, **options).fit(rows)
    name = "kl_divergence_" if cls is TSNE else "loss_"
    assert getattr(more, name) == pytest.approx(getattr(again, name), rel=0.25)
    assert more.loss_curve_[-1] == getattr(more, name)
