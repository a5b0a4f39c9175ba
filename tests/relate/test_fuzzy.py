"""The fuzzy graph of UMAP against its formulae, written out in NumPy."""

import numpy as np
import pytest

from lowdim.relate.fuzzy import fuzzy_union, memberships, sharpened, typical_distance
from lowdim.relate.neighbors import nearest


def dense(graph):
    n = len(graph.indptr) - 1
    A = np.zeros((n, n))
    A[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.values
    return A


def by_hand(d, local=1.0):
    """ρ by the definition and σ by bisection in float64."""
    d = np.asarray(d, dtype=np.float64)
    positive = d[d > 0]
    whole, part = int(local), local - int(local)
    rho = 0.0
    if len(positive) >= local > 0:
        rho = positive[whole - 1] if whole else 0.0
        step = positive[whole] - rho if whole < len(positive) else 0.0
        rho += part * (step if whole else positive[0])
    elif len(positive):
        rho = positive.max()
    low, high = 1e-12, 1e12
    for _ in range(200):
        sigma = np.sqrt(low * high)
        total = np.exp(-np.maximum(d - rho, 0) / sigma).sum()
        low, high = (low, sigma) if total > np.log2(len(d) + 1) else (sigma, high)
    return rho, sigma


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("local", [1.0, 2.0, 2.5, 0.5])
def test_memberships_solve_their_equation(dtype, local, rng):
    d = np.sort(rng.gamma(4.0, size=(50, 14)), axis=1).astype(dtype)
    found = memberships(d, local)
    for i, row in enumerate(d):
        rho, sigma = by_hand(row, local)
        np.testing.assert_allclose([found.rho[i], found.sigma[i]], [rho, sigma], rtol=1e-4)
        np.testing.assert_allclose(found.values[i], np.exp(-np.maximum(row - rho, 0) / sigma), 1e-4, 1e-18)
        np.testing.assert_allclose(found.values[i].sum(), np.log2(15), rtol=1e-5)


def test_closed_form_of_two_distances():
    """With ρ = 1 and one more neighbour at 2: 1 + exp(−1/σ) = log₂ 3."""
    found = memberships(np.array([[1.0, 2.0]]))
    np.testing.assert_allclose(found.sigma, -1 / np.log(np.log2(3) - 1), rtol=1e-6)


def test_duplicates_are_no_nearest_neighbour_and_widths_have_a_floor():
    d = np.array([[0.0, 0.0, 2.0, 3.0, 5.0], [0.0] * 5, [1.0] * 5])
    found = memberships(d)
    np.testing.assert_allclose(found.rho, [2, 0, 1])
    np.testing.assert_allclose(found.values[0, :3], 1)
    np.testing.assert_allclose(found.sigma[1:], [1e-3 * typical_distance(d), 1e-3 * 5 / 6], rtol=1e-5)
    np.testing.assert_array_equal(found.values[1:], 1)


def test_more_neighbours_at_one_distance_than_wanted_have_the_least_width():
    found = memberships(np.array([[1.0] * 6 + [1.5]]))
    np.testing.assert_allclose(found.sigma, 1e-3 * 7.5 / 8, rtol=1e-5)
    assert found.values[0, -1] == 0


@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_union_of_both_directions(mix, rng):
    near = nearest(rng.normal(size=(60, 5)), 7)
    v = memberships(near.distances).values
    A = np.zeros((60, 60))
    A[np.repeat(np.arange(60), 7), near.indices.ravel()] = v.ravel()
    expected = mix * (A + A.T - A * A.T) + (1 - mix) * A * A.T
    np.testing.assert_allclose(dense(fuzzy_union(near.indices, v, mix)), expected, atol=1e-6)


def test_the_graph_has_the_same_bits_for_any_threads(rng):
    from lowdim.work import thread_limit

    near = nearest(rng.normal(size=(3000, 5)), 7)
    graphs = []
    for threads in (1, 2):
        with thread_limit.using(threads):
            graphs.append(fuzzy_union(near.indices, memberships(near.distances).values))
    for one, two in zip(*graphs, strict=True):
        np.testing.assert_array_equal(one, two)


def test_labels_weaken_edges_between_classes_and_keep_the_graph_connected_locally(rng):
    near = nearest(rng.normal(size=(80, 3)), 7)
    graph = fuzzy_union(near.indices, memberships(near.distances).values)
    codes = rng.integers(-1, 2, size=80).astype(np.int32)
    A, B = dense(graph), dense(sharpened(graph, codes, 0.5))
    apart = (codes[:, None] >= 0) & (codes >= 0) & (codes[:, None] != codes)
    factor = np.where(apart, np.exp(-5.0), np.where((codes[:, None] < 0) | (codes < 0), np.exp(-1.0), 1.0))
    C = A * factor
    C /= C.max(axis=1, keepdims=True)
    np.testing.assert_allclose(B, C + C.T - C * C.T, atol=1e-5)
    np.testing.assert_allclose(B.max(axis=1), 1, atol=1e-6)


def test_distances_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="must be finite in float64; got inf. Scale the data"):
        memberships(np.array([[1.0, np.inf]]))
