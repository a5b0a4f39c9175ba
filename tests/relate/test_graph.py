"""The graph of neighbours: edges, parts, bridges, short circuits, equal rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import data
from lowdim.relate import graph as graph_module
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.graph import beside, closed_classes, closest_bridges, components, joined, part_of, undirected
from lowdim.relate.neighbors import nearest
from lowdim.relate.shortcuts import short_circuits


def knn_graph(X, k):
    found = nearest(X, k)
    return undirected(len(X), np.repeat(np.arange(len(X)), k), found.indices.ravel(), found.distances.ravel())


def test_edges_are_stored_from_both_ends_once_and_may_have_no_length():
    graph = undirected(4, np.array([0, 1, 1, 3]), np.array([1, 0, 2, 1]), np.array([0.0, 0.0, 2.0, 1.0]))
    np.testing.assert_array_equal(graph.starts, [0, 1, 4, 5, 6])
    np.testing.assert_array_equal(graph.ends, [1, 0, 2, 3, 1, 1])
    np.testing.assert_array_equal(graph.lengths, [0, 0, 2, 1, 2, 1])


def test_parts_are_numbered_from_the_largest():
    graph = undirected(6, np.array([4, 3, 0]), np.array([5, 4, 1]), np.ones(3))
    np.testing.assert_array_equal(components(graph), [1, 1, 2, 0, 0, 0])


def test_a_part_may_name_its_rows_in_any_order():
    X = np.random.default_rng(0).normal(size=(40, 2))
    graph = knn_graph(X, 4)
    rows = np.random.default_rng(1).permutation(40)[:25]
    part = part_of(graph, rows)
    whole, found = (sp.csr_array((g.lengths, g.ends, g.starts), shape=(g.n, g.n)).toarray() for g in (graph, part))
    np.testing.assert_array_equal(found, whole[np.ix_(rows, rows)])


def test_closed_classes_are_found_where_symmetric_edges_hide_them():
    # 0 ↔ 1 and 3 ↔ 4 are closed; 2 leads to both and is in neither, though it joins them when edges are symmetric.
    starts, ends = np.array([0, 1, 2, 4, 5, 6]), np.array([1, 0, 1, 3, 4, 3])
    np.testing.assert_array_equal(closed_classes(starts, ends), [0, 0, -1, 1, 1])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("size", [5, 60])
def test_bridges_are_the_least_spanning_tree_of_closest_pairs(metric, size):
    rng = np.random.default_rng(size)
    labels = np.repeat(np.arange(4), size)
    X = rng.normal(size=(4 * size, 3)) + 20 * rng.normal(size=(4, 3))[labels]
    order = 1 if metric == "manhattan" else 2
    D = np.linalg.norm(X[:, None] - X[None], ord=order, axis=2)
    bridges = closest_bridges(D if metric == "precomputed" else X, labels, metric)
    apart = np.array([[D[np.ix_(labels == a, labels == b)].min() for b in range(4)] for a in range(4)])
    tree = sp.csgraph.minimum_spanning_tree(np.triu(apart, 1)).data
    np.testing.assert_allclose(bridges.lengths, np.sort(tree), rtol=1e-5)
    np.testing.assert_allclose(D[bridges.pairs[:, 0], bridges.pairs[:, 1]], bridges.lengths, rtol=1e-5)
    graph = undirected(len(X), np.arange(len(X)), labels * size, np.ones(len(X)))
    assert components(joined(graph, bridges)).max() == 0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_many_parts_share_their_searches(metric, monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(30), 40))  # which is the largest does not matter
    X = np.round(6 * rng.normal(size=(30, 3))[labels] + rng.normal(size=(1200, 3)), 1)  # with ties
    D = np.linalg.norm(X[:, None] - X[None], ord=1 if metric == "manhattan" else 2, axis=2)
    searches = []
    monkeypatch.setattr(graph_module, "nearest", lambda *args, **given: searches.append(1) or nearest(*args, **given))
    bridges = closest_bridges(D if metric == "precomputed" else X, labels, metric)
    apart = np.array([[D[np.ix_(labels == a, labels == b)].min() for b in range(30)] for a in range(30)])
    tree = sp.csgraph.minimum_spanning_tree(np.triu(apart + 1, 1)).data - 1  # zeros would be no edges
    np.testing.assert_allclose(bridges.lengths, np.sort(tree), rtol=1e-5, atol=1e-9)
    assert len(searches) <= 10 * 3  # five digits from both sides; rounds halve the parts


@pytest.mark.parametrize(("k", "least"), [(10, 0), (15, 7), (20, 25), (40, 100)])
def test_short_circuits_of_a_roll_cross_from_turn_to_turn(k, least):
    X, t = data.load("swissroll", n_samples=1500, noise=0.0)
    found = short_circuits(knn_graph(X, k))
    assert least <= len(found.pairs) <= (k > 10) * 10_000
    np.testing.assert_allclose(np.linalg.norm(np.diff(X[found.pairs], axis=1)[:, 0], axis=1), found.lengths, rtol=1e-5)
    assert len({tuple(pair) for pair in found.pairs.tolist()}) == len(found.pairs)
    assert (np.abs(np.diff(t[found.pairs], axis=1)) > np.pi).all()
    assert (found.detours > 8 * found.lengths).all()
    assert (np.diff(found.detours) <= 0).all()


def test_digits_and_a_cloud_have_no_short_circuits():
    for X in (data.load("digits")[0], np.random.default_rng(0).uniform(size=(1000, 2))):
        for k in (5, 10, 20):
            assert not len(short_circuits(knn_graph(X, k)).pairs)


def test_new_rows_within_a_radius_have_the_nearest_at_least():
    X, Q = np.array([[0.0], [1.0], [2.0]]), np.array([[0.4], [9.0]])
    near = beside(X, Q, None, 0.7, "euclidean")
    np.testing.assert_array_equal(near.starts, [0, 2, 3])
    np.testing.assert_array_equal(near.rows, [0, 1, 2])
    given = beside(None, np.abs(Q - X.T), None, 0.7, "precomputed")
    for one, other in zip(near, given, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_equal_rows_are_found_and_near_ones_are_not(dtype):
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(dtype)
    X[9] = X[3]
    X[0, 0] = 0.0
    Q = X[[3, 9, 20, 0]].copy()
    Q[2, 1] = np.nextafter(Q[2, 1], np.inf)
    Q[3, 0] = -0.0
    for a, b in ((X, Q), (sp.csr_array(X), sp.csr_array(Q)), (X, Q.astype("float64"))):
        np.testing.assert_array_equal(find_equal(a, b), [3, 3, -1, 0])
