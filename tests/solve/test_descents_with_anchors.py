"""Anchors in the descents: maps come to rest where the gradients of loss and anchors cancel; pinned points stay."""

import numpy as np
import pytest

from lowdim import _native
from lowdim.relate.affinities import affinities, likelihoods
from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.relate.pairs import Pairs, draw_further, draw_mid
from lowdim.solve import divergence, pair_loss
from lowdim.solve.anchors import Anchors, cost, strengths
from lowdim.solve.cross_entropy import CrossEntropy, all_pairs, curve
from lowdim.solve.descent import descend
from lowdim.solve.divergence import Divergence, Falloff
from lowdim.solve.pair_loss import PairLoss
from lowdim.work import thread_limit

N = 17  # points that UMAP's epochs pair with all others
X = np.random.default_rng(0).normal(size=(N, 6))
NEAR = nearest(X, 8)
LOSSES = ["student", "gauss", "umap", "pacmap"]


REST = 0.03  # what is left of gradients that cancel, of the largest


def case(name):
    """Input of a loss, the loss, and the gradient (n, k) that its descent follows."""
    if name in ("student", "gauss"):
        P = affinities(NEAR.indices, likelihoods(NEAR.distances, [2.0])[0])
        falloff = Falloff(name)
        loss = Divergence(falloff, "exact")
        return P, loss, lambda Y: divergence.gradient(P, Y.astype(float), falloff)[1]
    if name == "umap":
        graph = fuzzy_union(NEAR.indices, memberships(NEAR.distances).values)
        loss = CrossEntropy(*curve(0.1, 1.0), 0.5)
        law = {"a": loss.a, "b": loss.b, "negatives": 2 * loss.negatives, "longest": _native.EPOCH_CUT}
        return graph, loss, lambda Y: _native.cross_entropy_gradient(*graph, Y, *all_pairs(N), **law)
    own = np.ascontiguousarray(NEAR.indices[:, :4])
    pairs = Pairs(own, draw_mid(X, 2, "euclidean", 0), *draw_further(own, 6, 0))
    return pairs, PairLoss(phased=False), lambda Y: pair_loss.gradient(pairs, Y)[1]


def lowered(relations, loss, Y, iterations, anchors=None, n_jobs=1):
    with thread_limit.using(n_jobs):
        found = descend(relations, Y, loss, iterations=iterations, every=1000, anchors=anchors)
    return found.embedding


def drawn(k, unit, scaled=False):
    """Anchors of different weights, the first of them 0."""
    rng = np.random.default_rng(1)
    shares = np.linspace(0, 0.8, N)
    return Anchors(2 * rng.normal(size=(N, k)).astype(np.float32), strengths(shares, unit), scaled)


def start(k):
    return np.random.default_rng(2).normal(size=(N, k)).astype(np.float32)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_a_map_comes_to_rest_where_loss_and_anchors_cancel(name, k, scaled):
    relations, loss, gradient = case(name)
    anchors = drawn(k, (5 if scaled else 1) * loss.anchor_unit(relations), scaled)
    Y = lowered(relations, loss, start(k), 3000, anchors)
    slopes = np.empty((N, k))
    for i, d in np.ndindex(N, k):
        step = np.zeros((N, k))
        step[i, d] = 1e-4
        slopes[i, d] = (cost(anchors, Y + step) - cost(anchors, Y - step)) / 2e-4
    assert np.abs(slopes).max() > 5e-3
    np.testing.assert_allclose(gradient(Y), -slopes, atol=REST * np.abs(slopes).max())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_pinned_points_do_not_move_and_the_others_come_to_rest(name, n_jobs):
    relations, loss, gradient = case(name)
    anchors = drawn(2, loss.anchor_unit(relations))
    anchors.weights[:5] = np.inf
    Y = start(2)
    Y[:5] = anchors.places[:5]
    found = lowered(relations, loss, Y, 3000, anchors, n_jobs)
    np.testing.assert_array_equal(found[:5], anchors.places[:5])
    pull = 2 * anchors.weights[5:, None] * (found - anchors.places)[5:]
    np.testing.assert_allclose(gradient(found)[5:], -pull, atol=REST * np.abs(pull).max())


@pytest.mark.parametrize("name", LOSSES)
def test_any_weight_is_stable_and_nothing_is_left_of_the_loss_as_it_grows(name):
    relations, loss, _ = case(name)
    places = drawn(2, 1.0).places
    for share in (0.99, 1 - 1e-6):
        weights = strengths(np.full(N, share), loss.anchor_unit(relations))
        Y = lowered(relations, loss, start(2), 500, Anchors(places, weights))
        assert np.abs(Y - places).max() < 20 * (1 - share) + 1e-4


def many(name):
    """A case large enough for threads, grids and points in an order of their own."""
    rows = np.random.default_rng(3).normal(size=(2600 if name != "pacmap" else 5100, 3))
    near = nearest(rows, 12)
    if name == "student":
        return affinities(near.indices, likelihoods(near.distances, [4.0])[0]), Divergence(Falloff("student"), "fft")
    if name == "umap":
        return fuzzy_union(near.indices, memberships(near.distances).values), CrossEntropy(*curve(0.1, 1.0), 5.0)
    own = np.ascontiguousarray(near.indices[:, :4])
    return Pairs(own, draw_mid(rows, 2, "euclidean", 0), *draw_further(own, 6, 0)), PairLoss()


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", ["student", "umap", "pacmap"])
def test_the_bits_do_not_depend_on_threads(name, scaled):
    relations, loss = many(name)
    n = len(relations[0]) - (name != "pacmap")
    rng = np.random.default_rng(4)
    places = (10 * rng.normal(size=(n, 2))).astype(np.float32)
    shares = rng.random(n)
    shares[::3] = 0 if scaled else 1
    anchors = Anchors(places, strengths(shares, loss.anchor_unit(relations)), scaled)
    one, two = (lowered(relations, loss, places, 30, anchors, n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    if not scaled:
        np.testing.assert_array_equal(one[::3], places[::3])
    assert np.abs(one - places)[1::3].max() > 0.1


@pytest.mark.parametrize("width", [2.0, 60.0])
@pytest.mark.parametrize(("k", "how"), [(1, "fft"), (2, "fft"), (2, "exact"), (3, "exact")])
@pytest.mark.parametrize("name", ["student", "gauss"])
def test_pinned_points_repel_as_others_do(name, k, how, width):
    n = 1400
    rng = np.random.default_rng(5)
    near = nearest(rng.normal(size=(n, 3)), 6)
    P = affinities(near.indices, likelihoods(near.distances, [3.0])[0])
    Y = (width * rng.normal(size=(n, k))).astype(np.float32)
    weights = np.where(np.arange(n) % 7 < 4, np.inf, 0).astype(np.float32)
    told = {}
    for repulsion in (how, "exact"):
        loss, seen = Divergence(Falloff(name), repulsion), []
        Z = descend(
            P, Y, loss, iterations=2, every=1, anchors=Anchors(Y, weights), report=lambda *a, to=seen: to.append(a[1])
        )
        told[repulsion] = Z.embedding, seen[0]
    free = weights == 0
    apart = np.abs(told[how][0] - told["exact"][0])
    assert apart.max() < 0.02 * np.abs(told["exact"][0] - Y)[free].max()
    assert told[how][1] == pytest.approx(told["exact"][1], rel=2e-3)
    # One step of all points moves the free ones as far as that beside pinned points does.
    together = descend(
        P, Y, Divergence(Falloff(name), "exact"), iterations=1, every=9, anchors=Anchors(Y, np.zeros_like(weights))
    )
    alone = descend(P, Y, Divergence(Falloff(name), "exact"), iterations=1, every=9, anchors=Anchors(Y, weights))
    np.testing.assert_allclose(alone.embedding[free], together.embedding[free], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(alone.embedding[~free], Y[~free])
