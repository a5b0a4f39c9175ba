"""Shortest paths against a plain search in float32 and SciPy's; sums of distances against NumPy."""

import heapq

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from lowdim import _native
from lowdim.compose.geodesic_map import residual_by_dimension
from lowdim.relate.geodesics import Beside, all_geodesics, geodesics
from lowdim.relate.graph import Graph, undirected
from lowdim.relate.packed_symmetric import half_panels
from lowdim.work import thread_limit


def random_graph(n, edges, seed=0, zero=False):
    rng = np.random.default_rng([seed, n])
    tails, ends = rng.integers(0, n, (2, edges))
    lengths = rng.random(edges).astype(np.float32)
    if zero:
        lengths[::3] = 0
    keep = tails != ends
    return undirected(n, tails[keep], ends[keep], lengths[keep])


def plain_search(graph, start):
    """Dijkstra with every sum rounded to float32."""
    out = np.full(graph.n, np.inf, np.float32)
    out[start] = 0
    heap = [(np.float32(0), start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > out[u]:
            continue
        for e in range(graph.starts[u], graph.starts[u + 1]):
            there = np.float32(d + graph.lengths[e])
            if there < out[graph.ends[e]]:
                out[graph.ends[e]] = there
                heapq.heappush(heap, (there, int(graph.ends[e])))
    return out


@pytest.mark.parametrize(("n", "edges", "zero"), [(2, 1, False), (65, 60, False), (150, 400, True), (300, 2000, False)])
def test_distances_are_the_least_rounded_sums_to_the_bit(isa, n, edges, zero, monkeypatch):
    graph = random_graph(n, edges, zero=zero)
    expected = np.stack([plain_search(graph, s) for s in range(n)])
    for threads in (1, 3):
        with thread_limit.using(threads):
            np.testing.assert_array_equal(geodesics(graph), expected)
            some = np.array([n - 1, 0, n // 2])
            np.testing.assert_array_equal(geodesics(graph, some), expected[some])  # other batches, same bits


def test_distances_match_scipy_along_a_long_chain():
    n = 5000
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    graph = undirected(n, order[:-1], order[1:], rng.random(n - 1).astype(np.float32))
    A = sp.csr_array((graph.lengths.astype(float), graph.ends, graph.starts.astype(np.int32)), shape=(n, n))
    some = np.arange(0, n, 500)
    np.testing.assert_allclose(geodesics(graph, some), dijkstra(A, indices=some), rtol=1e-4)


@pytest.mark.usefixtures("isa")
def test_distances_of_all_pairs_are_those_from_each_source():
    n = 32 * 64 * 2 + 70  # more than two waves, and a panel that is not full
    graph = random_graph(n, 5 * n)
    half, order = all_geodesics(graph)
    assert (np.sort(order) == np.arange(n)).all()
    D2, some = half.rows(np.arange(n)), np.arange(0, n, 41)
    found = np.empty((len(some), n), np.float32)
    found[:, order] = D2[np.argsort(order)[some]]
    np.testing.assert_allclose(found, geodesics(graph, some, squared=True), rtol=3e-6)
    assert (np.diagonal(D2) == 0).all()
    with thread_limit.using(3):
        again, same = all_geodesics(graph)
    np.testing.assert_array_equal(order, same)
    np.testing.assert_array_equal(D2, again.rows(np.arange(n)))


@pytest.mark.parametrize("n", [2, 64, 65, 700])
def test_a_half_stored_matrix_multiplies_as_the_whole(n):
    half, _ = all_geodesics(random_graph(n, 30 * n))
    D2 = half.rows(np.arange(n))
    np.testing.assert_allclose(D2, D2.T, rtol=3e-6)
    np.testing.assert_array_equal(half.rows(np.arange(1, n, 3)), D2[1::3])
    V = np.random.default_rng(n).normal(size=(n, 5)).astype(np.float32)
    product = half @ V
    np.testing.assert_allclose(product, D2 @ V, atol=1e-4 * np.abs(D2 @ V).max())
    with thread_limit.using(3):
        np.testing.assert_array_equal(half @ V, product)
    wide = np.tile(V, 40)  # more columns than are multiplied at once
    np.testing.assert_allclose(half @ wide, np.tile(product, 40), atol=1e-4 * np.abs(product).max())
    Y = np.ascontiguousarray(V[:, :2].T)
    sums = _native.packed_distance_sums(half.panels, Y).sum(axis=0)
    whole = _native.distance_sums(D2, np.arange(n, dtype=np.int32), Y, squared=True, beyond=True).sum(axis=0)
    np.testing.assert_allclose(sums, whole, rtol=1e-5)
    np.testing.assert_array_equal(_native.packed_distance_sums(half.panels, Y, n_threads=3).sum(axis=0), sums)


def test_all_pairs_without_a_path_are_infinitely_far():
    half, order = all_geodesics(undirected(130, np.array([0, 3]), np.array([1, 128]), np.array([1.0, 2.0])))
    D2 = np.empty((130, 130))
    D2[np.ix_(order, order)] = half.rows(np.arange(130))
    assert np.isinf(D2[0, 2:]).all()
    assert D2[3, 128] == D2[128, 3] == 4


def test_points_beside_the_graph_go_through_their_neighbours():
    graph = random_graph(120, 500)
    rows, lengths = np.array([3, 50, 7], np.int32), np.array([0.5, 0.1, 0.2], np.float32)
    D = geodesics(graph, Beside(np.array([0, 2, 3]), rows, lengths))
    whole = geodesics(graph)
    np.testing.assert_allclose(D[0], np.minimum(0.5 + whole[3], 0.1 + whole[50]), rtol=1e-6)
    np.testing.assert_allclose(D[1], 0.2 + whole[7], rtol=1e-6)


def test_squares_are_those_of_the_distances():
    graph = random_graph(150, 400)
    np.testing.assert_array_equal(geodesics(graph, squared=True), np.square(geodesics(graph)))


@pytest.mark.parametrize("scale", [0.0, 1e-38, 1e-30, 1e30])
def test_the_unit_of_lengths_changes_nothing(scale):
    graph = random_graph(150, 400)
    far = graph._replace(lengths=graph.lengths * np.float32(scale))
    np.testing.assert_array_equal(geodesics(far)[3], plain_search(far, 3))


def test_one_edge_much_longer_than_the_rest_changes_nothing():
    graph = random_graph(150, 400)
    graph.lengths[(graph.tails() == 0) | (graph.ends == 0)] = 1e6
    np.testing.assert_array_equal(geodesics(graph)[3], plain_search(graph, 3))


def test_nodes_without_a_path_are_infinitely_far():
    D = geodesics(undirected(5, np.array([0, 3]), np.array([1, 4]), np.array([1.0, 2.0])))
    assert np.isinf(D[0, 2:]).all()
    assert D[3, 4] == 2
    assert (np.diagonal(D) == 0).all()


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("n", [2, 17, 300, 513])
def test_residual_variance_matches_numpy(isa, step, n, monkeypatch):
    rng = np.random.default_rng(n)
    Y, D = rng.normal(size=(n, 3)), rng.random((n, n)).astype(np.float32)
    D += D.T
    np.fill_diagonal(D, 0)
    rows = np.arange(0, n, step)
    found = residual_by_dimension(np.ascontiguousarray(D[rows]), rows, Y)
    d = np.sqrt(D[rows])
    for c in range(3):
        e = np.linalg.norm(Y[rows, None, : c + 1] - Y[None, :, : c + 1], axis=2)
        assert found[c] == pytest.approx(1 - np.corrcoef(d.ravel(), e.ravel())[0, 1] ** 2, abs=1e-5)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    D, Y = rng.random((200, 333)).astype(np.float32), rng.random((2, 333)).astype(np.float32)
    one, two = (_native.distance_sums(D, np.arange(200, dtype=np.int32), Y, n_threads=t) for t in (1, 3))
    np.testing.assert_array_equal(one, two)


def test_broken_graphs_are_refused():
    good = random_graph(10, 30)
    out = np.empty((10, 10), np.float32)
    sources = (np.arange(11), np.arange(10, dtype=np.int32), np.zeros(10, np.float32))
    with pytest.raises(ValueError, match="nodes must be from 0 to 9; got 10"):
        _native.geodesics(good.starts, np.full_like(good.ends, 10), good.lengths, *sources, out)
    with pytest.raises(ValueError, match="finite and 0 or more; got -1"):
        _native.geodesics(good.starts, good.ends, np.full_like(good.lengths, -1), *sources, out)
    with pytest.raises(ValueError, match="starts must rise"):
        _native.geodesics(good.starts[::-1].copy(), good.ends, good.lengths, *sources, out)
    with pytest.raises(ValueError, match="10 × 10"):
        _native.geodesics(*good, *sources, out[:5])
    with pytest.raises(ValueError, match="source 1 is joined to none"):
        _native.geodesics(*good, np.array([0, 1, 1]), sources[1][:1], sources[2][:1], out[:2])
    with pytest.raises(ValueError, match="n_threads must be 1 or more"):
        _native.geodesics(*good, *sources, out, n_threads=0)
    with pytest.raises(ValueError, match="panels of 10 rows are needed"):
        _native.all_geodesics(*good, out)
    with pytest.raises(ValueError, match="n_threads must be 1 or more"):
        _native.all_geodesics(*good, half_panels(10), n_threads=0)
    with pytest.raises(ValueError, match="places must be from 0 to 9"):
        _native.distance_sums(out, np.full(10, 10, np.int32), np.zeros((1, 10), np.float32))
    assert isinstance(good, Graph)
