"""UMAP's loss against NumPy, its gradient by finite differences, and the descent that lowers it."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from lowdim import _native
from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.solve import cross_entropy
from lowdim.solve.cross_entropy import CrossEntropy, curve
from lowdim.solve.descent import descend, place

EPS = 1e-3


@pytest.fixture(scope="module")
def graph():
    near = nearest(np.random.default_rng(0).normal(size=(40, 6)), 9)
    return fuzzy_union(near.indices, memberships(near.distances).values)


def by_hand(graph, Y, loss):
    n = len(Y)
    V = np.zeros((n, n))
    V[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.values
    d = V.sum(axis=1)
    s = np.square(Y[:, None].astype(float) - Y[None]).sum(axis=2) + EPS
    w = 1 / (1 + loss.a * s**loss.b)
    other = ~np.eye(n, dtype=bool)
    push = loss.negatives / (2 * n) * (d[:, None] + d)
    return -(V * np.log(w))[other].sum() - (push * np.log(1 - w))[other].sum()


LOSSES = [CrossEntropy(*curve(0.1, 1.0), 5.0), CrossEntropy(*curve(0.5, 1.0), 2.0), CrossEntropy(2.0, 1.0, 0.0)]


@pytest.mark.parametrize(("min_dist", "spread"), [(0.0, 1.0), (0.1, 1.0), (0.5, 2.0), (1.0, 1.0), (1e-3, 30.0)])
def test_the_curve_is_the_best_fit(min_dist, spread):
    a, b = curve(min_dist, spread)
    d = np.linspace(0, 3 * spread, 300)
    wanted = np.where(d < min_dist, 1.0, np.exp(-(d - min_dist) / spread))

    def off(a, b):
        return np.square(1 / (1 + a * d ** (2 * b)) - wanted).sum()

    for step in (0.99, 1.01):
        assert off(a, b) < off(a * step, b)
        assert off(a, b) < off(a, b * step)
    scaled = least_squares(
        lambda p: 1 / (1 + np.exp(p[0]) * (d / spread) ** (2 * np.exp(p[1]))) - wanted, np.zeros(2), xtol=1e-12
    )
    assert off(a, b) <= 2 * scaled.cost * (1 + 1e-12)


def test_the_curve_refuses_what_it_does_not_know():
    for wrong in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            _native.fitted_curve(wrong)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_loss_and_gradient_are_those_of_all_pairs(graph, loss, k):
    Y = np.random.default_rng(1).normal(size=(40, k)).astype(np.float32)
    found = loss.at(graph, Y)
    np.testing.assert_allclose(found.value, by_hand(graph, Y, loss), rtol=1e-5)
    np.testing.assert_allclose(found.points.sum(), found.value)
    assert found.error == 0
    G = loss.gradient(graph, Y)
    for i, d in [(0, 0), (7, k - 1), (39, 0)]:
        step = np.zeros((40, k))
        step[i, d] = 1e-5
        slope = (by_hand(graph, Y + step, loss) - by_hand(graph, Y - step, loss)) / 2e-5
        np.testing.assert_allclose(G[i, d], slope, rtol=2e-4, atol=1e-4)


def test_sampled_pairs_are_the_gradient_on_average(graph):
    loss, Y = LOSSES[0], np.random.default_rng(1).normal(size=(40, 2)).astype(np.float32)
    law = {"a": loss.a, "b": loss.b, "negatives": 2 * loss.negatives, "longest": np.inf}
    order = np.random.default_rng(2).permutation(40).astype(np.int32)
    each = [
        _native.cross_entropy_gradient(*graph, Y, order, np.array([[shift]], np.int32), **law) for shift in range(1, 40)
    ]
    np.testing.assert_allclose(np.mean(each, axis=0), loss.gradient(graph, Y), rtol=1e-4, atol=1e-3)


def test_an_estimated_loss_is_within_what_it_tells(monkeypatch, rng):
    near = nearest(rng.normal(size=(3000, 4)), 9)
    graph = fuzzy_union(near.indices, memberships(near.distances).values)
    Y = (4 * rng.normal(size=(3000, 2))).astype(np.float32)
    exact = LOSSES[0].at(graph, Y).value
    monkeypatch.setattr(cross_entropy, "_EXACT", 1000)
    found = LOSSES[0].at(graph, Y)
    told = found.error
    assert 0 < abs(found.value - exact) <= told
    assert told < 0.02 * exact


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_descent_lowers_the_loss_with_the_same_bits_for_any_threads(k, rng):
    from lowdim.work import thread_limit

    near = nearest(rng.normal(size=(2500, 4)), 9)
    graph = fuzzy_union(near.indices, memberships(near.distances).values)
    Y, maps = rng.normal(size=(2500, k)), []
    for threads in (1, 2):
        with thread_limit.using(threads):
            maps.append(descend(graph, Y, LOSSES[0], iterations=40, every=10))
    np.testing.assert_array_equal(maps[0].embedding, maps[1].embedding)
    assert maps[0].losses == maps[1].losses
    assert LOSSES[0].at(graph, maps[0].embedding).value < 0.8 * LOSSES[0].at(graph, Y.astype(np.float32)).value
    np.testing.assert_allclose(maps[0].embedding.mean(axis=0), 0, atol=1e-4)


def test_a_few_points_reach_a_minimum(graph):
    """With as many partners as there are points every epoch takes the exact gradient, which ends near 0."""
    near = nearest(np.random.default_rng(3).normal(size=(12, 3)), 4)
    few = fuzzy_union(near.indices, memberships(near.distances).values)
    start = np.random.default_rng(1).normal(size=(12, 2)).astype(np.float32)
    end = descend(few, start, LOSSES[0], iterations=2000, every=10_000).embedding
    before, after = (np.linalg.norm(LOSSES[0].gradient(few, Y)) for Y in (start, end))
    assert after < 0.02 * before


def test_a_new_point_goes_where_its_own_loss_is_least(rng):
    Y = rng.normal(size=(50, 2)).astype(np.float32)
    loss, neighbors = LOSSES[0], np.array([[3, 9, 20]], np.int32)
    v = np.array([[1.0, 0.5, 0.2]], np.float32)

    def own(y):
        s = np.square(Y.astype(float) - y).sum(axis=1)
        pull, push = (1 / (1 + loss.a * (s + soft) ** loss.b) for soft in (EPS, 0.0625))  # EpochPlan::crowd_soft
        return -(v[0] * np.log(pull[neighbors[0]])).sum() - 2 * loss.negatives * v.sum() / 100 * np.log(1 - push).sum()

    y = place(neighbors, v, Y, loss)[0]
    for step in 1e-2 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]):
        assert own(y) < own(y + step) + 1e-4


def test_a_new_point_between_two_clusters_goes_to_the_nearer_one(rng):
    Y = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + np.array([30, 0])]).astype(np.float32)
    neighbors = np.array([[0, 1, 2, 40, 41]], np.int32)
    y = place(neighbors, np.array([[0.2, 0.2, 0.2, 1.0, 1.0]], np.float32), Y, LOSSES[0])[0]
    assert (y >= Y[neighbors[0]].min(axis=0)).all()
    assert (y <= Y[neighbors[0]].max(axis=0)).all()
    assert y[0] > 25  # among the two that weigh most, and not between the clusters


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shifts": np.array([[0]], np.int32)}, "shifts must lie between 1"),
        ({"shifts": np.array([[40]], np.int32)}, "shifts must lie between 1"),
        ({"order": np.zeros(3, np.int32)}, "order must hold every row"),
        ({"a": 0.0}, "a and b must be positive"),
        ({"rate": -1.0}, "rate"),
    ],
)
def test_native_descent_refuses_what_does_not_fit(graph, change, words):
    given = {
        "order": np.arange(40, dtype=np.int32),
        "shifts": np.ones((1, 1), np.int32),
        "a": 1.0,
        "b": 1.0,
        "negatives": 5.0,
        "rate": 1.0,
        "every": 10,
        "report": lambda *_: False,
    } | change
    with pytest.raises(ValueError, match=words):
        _native.lower_cross_entropy(
            *graph, np.zeros((40, 2), np.float32), given.pop("order"), given.pop("shifts"), **given
        )
