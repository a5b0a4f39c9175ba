"""The correlation of densities against its formula in float64, its gradient by finite differences, and its descents."""

from dataclasses import replace

import numpy as np
import pytest

from lowdim import _native
from lowdim.relate.affinities import affinities, likelihoods
from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.relate.radii import local_radii, log_radii
from lowdim.solve.anchors import Anchors
from lowdim.solve.cross_entropy import CrossEntropy, curve
from lowdim.solve.density import Density, Trend, map_radii
from lowdim.solve.descent import descend, place
from lowdim.solve.divergence import Divergence, Falloff
from lowdim.work.thread_limit import using

A, B = curve(0.1, 1.0)
SIMILARITIES = [{"a": A, "b": B}, {"dof": 1.0}, {"dof": 2.5}]
N = 45


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(3)
    near = nearest(rng.normal(size=(N, 3)) * rng.lognormal(size=(N, 1)), 6)
    return fuzzy_union(near.indices, memberships(near.distances).values)


@pytest.fixture(scope="module")
def radii():
    return np.random.default_rng(4).normal(size=N).astype(np.float32)


def radii_by_hand(graph, Y, similarity):
    i, j = np.repeat(np.arange(len(Y)), np.diff(graph.indptr)), graph.indices
    s = np.square(Y[i] - Y[j]).sum(axis=1)
    if "a" in similarity:
        w = 1 / (1 + similarity["a"] * (s + _native.EPOCH_SOFT) ** similarity["b"])
    else:
        w = (1 + s / similarity["dof"]) ** (-(similarity["dof"] + 1) / 2)
    above, below = np.zeros(len(Y)), np.zeros(len(Y))
    np.add.at(above, i, w * s)
    np.add.at(below, i, w)
    return np.log(_native.DENSITY_FLOOR + above / below)


def correlation_by_hand(graph, Y, similarity, R, shift):
    r = radii_by_hand(graph, Y, similarity)
    return (R * (r - r.mean())).mean() / np.sqrt(r.var() + shift)


def differences(value, Y, h=1e-5):
    slopes = np.zeros_like(Y)
    for at in np.ndindex(*Y.shape):
        step = np.zeros_like(Y)
        step[at] = h
        slopes[at] = (value(Y + step) - value(Y - step)) / (2 * h)
    return slopes


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_radii_and_gradient_are_those_of_the_formula(similarity, k, graph, radii):
    Y = np.random.default_rng(k).normal(size=(N, k)).astype(np.float32)
    np.testing.assert_allclose(
        map_radii(graph, Y, similarity), radii_by_hand(graph, Y.astype(float), similarity), atol=1e-4
    )
    total = float(graph.values.sum(dtype=float))
    found = _native.density_gradient(*graph, Y, **similarity, radii=radii, density=(2.0, 0.0, 0.1, 0.0, 0.0, 0.0))
    expected = differences(lambda Y: correlation_by_hand(graph, Y, similarity, radii, 0.1), Y.astype(float))
    np.testing.assert_allclose(found, 2 * total * expected, atol=2e-3 * np.abs(2 * total * expected).max())
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-3 * np.abs(found).sum())  # a shift changes nothing


@pytest.mark.parametrize("similarity", SIMILARITIES[:2])
def test_rows_that_follow_a_trend_have_its_gradient(similarity, graph, radii):
    Y = np.random.default_rng(1).normal(size=(N, 2)).astype(np.float32)
    mean, deviation, corr = 0.3, 1.2, 0.7
    found = _native.density_gradient(
        *graph, Y, **similarity, radii=radii, density=(1.5, 0.0, 0.1, mean, deviation, corr)
    )
    each = 1.5 * float(graph.values.sum(dtype=float)) / N

    def value(Y):
        z = (radii_by_hand(graph, Y, similarity) - mean) / deviation
        return each * (radii * z - corr * z * z / 2).sum()

    expected = differences(value, Y.astype(float))
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_a_point_changes_the_correlation_of_many_by_what_new_rows_add():
    """To first order in 1/n: n (corr of n + 1 − corr of n) is R z − corr z²/2 less its mean over the points."""
    rng = np.random.default_rng(0)
    n = 200_000
    R = rng.normal(size=n)
    R = (R - R.mean()) / R.std()
    r = 0.8 * R + 0.6 * rng.normal(size=n)

    def corr(R, r):
        return (R * (r - r.mean())).mean() / np.sqrt(r.var())

    before, mean, S = corr(R, r), r.mean(), r.std()
    own, new = 1.3, np.array([-1.0, 0.5, 2.0])
    # R stays standardised by the trend, as of new rows.
    change = [n * (corr(np.append(R, own), np.append(r, one)) - before) for one in new]
    z = (new - mean) / S
    added = own * z - before * z * z / 2
    np.testing.assert_allclose(np.diff(change), np.diff(added), rtol=1e-3)


def rows(n=400):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 5)) * np.where(np.arange(n) % 2, 1.0, 0.2)[:, None]
    X[:, 0] += np.where(np.arange(n) % 2, 6, 0)
    return X.astype(np.float32)


def losses(X):
    near = nearest(X, 12)
    v = fuzzy_union(near.indices, memberships(near.distances).values)
    P = affinities(near.indices, likelihoods(near.distances, [4.0])[0])
    yield v, near, CrossEntropy(A, B, 5.0, rate=2.0)
    yield P, near, Divergence(Falloff("student"), "exact", exaggerated=50)


@pytest.mark.parametrize("which", [0, 1])
def test_descents_raise_the_correlation_and_have_the_same_bits(which):
    X = rows()
    graph, near, loss = list(losses(X))[which]
    known = log_radii(local_radii(graph, near.indices, near.distances))[0]
    term = Density.of(known, 1.0, 0.5, 0.5)
    start = np.random.default_rng(0).normal(size=(len(X), 2)).astype(np.float32)
    plain = descend(graph, start, loss, iterations=200, every=50).embedding
    nothing = replace(loss, density=replace(term, weight=0.0))
    assert np.array_equal(descend(graph, start, nothing, iterations=200, every=50).embedding, plain)
    never = replace(loss, density=replace(term, share=0.0))
    assert np.array_equal(descend(graph, start, never, iterations=200, every=50).embedding, plain)
    found = []
    for threads in (1, 2):
        with using(threads):
            found.append(descend(graph, start, replace(loss, density=term), iterations=200, every=50).embedding)
    assert np.array_equal(*found)
    before, after = (np.corrcoef(known, loss.radii_in(graph, Y))[0, 1] for Y in (plain, found[0]))
    assert after > max(before + 0.1, 0.8)


@pytest.mark.parametrize("which", [0, 1])
def test_pinned_points_stay_and_do_not_count(which):
    X = rows(200)
    graph, near, loss = list(losses(X))[which]
    known = log_radii(local_radii(graph, near.indices, near.distances))[0]
    start = np.random.default_rng(0).normal(size=(len(X), 2)).astype(np.float32)
    weights = np.where(np.arange(200) < 150, np.inf, 0).astype(np.float32)
    anchors = Anchors(start.copy(), weights)
    other = known.copy()
    other[:150] = -5.0
    maps = []
    for radii in (known, other):
        term = Density(radii.astype(np.float32), 1.0, 1.0, 0.5)
        by = replace(loss, density=term)
        maps.append(descend(graph, start, by, iterations=60, every=50, anchors=anchors).embedding)
    assert np.array_equal(maps[0][:150], start[:150])
    assert np.array_equal(*maps)


@pytest.mark.parametrize("which", [0, 1])
def test_new_points_are_placed_by_their_radius(which):
    """With the same neighbours, a row of larger radius is further from them."""
    X = rows()
    graph, near, loss = list(losses(X))[which]
    Y = descend(graph, X[:, :2], loss, iterations=200, every=50).embedding
    radii = loss.radii_in(graph, Y)
    trend = Trend(0.0, 1.0, float(radii.mean()), float(radii.std()), 0.9)
    picked = near.indices[::40].copy()
    weights = np.full(picked.shape, 1 / 12, np.float32)
    found = []
    for R in (-2.0, 2.0):
        term = Density(np.full(len(picked), R, np.float32), 20.0, 0.5, 0.0, trend)
        at = place(picked, weights, Y, replace(loss, density=term))
        found.append(np.square(at[:, None] - Y[picked]).sum(axis=2).mean())
    assert found[1] > found[0]


def test_radii_alike_or_unknown_leave_the_map_alone(graph):
    Y = np.random.default_rng(1).normal(size=(N, 2)).astype(np.float32)
    for radii in (np.zeros(N, np.float32), np.full(N, np.nan, np.float32)):
        gradient = _native.density_gradient(*graph, Y, a=A, b=B, radii=radii, density=(1.0, 0.5, 0.0, 0.0, 0.0, 0.0))
        assert (gradient == 0).all()
    assert Density.of(np.full(3, 7.0), 1.0, 0.5, 0.1).radii.tolist() == [0, 0, 0]


def test_the_kernels_refuse_what_they_cannot_use(graph):
    Y = np.zeros((N, 2), np.float32)
    radii = np.zeros(N, np.float32)
    for wrong in ((-1.0, 0.5, 0.1, 0, 0, 0), (1.0, 1.5, 0.1, 0, 0, 0), (1.0, 0.5, np.nan, 0, 0, 0)):
        with pytest.raises(ValueError, match="0 or more"):
            _native.density_gradient(*graph, Y, a=A, b=B, radii=radii, density=wrong)
    with pytest.raises(ValueError, match="one for each point"):
        _native.density_gradient(*graph, Y, a=A, b=B, radii=radii[1:], density=(1.0, 0.5, 0.1, 0, 0, 0))
    with pytest.raises(ValueError, match="finite or NaN"):
        _native.density_gradient(
            *graph, Y, a=A, b=B, radii=radii + np.float32(np.inf), density=(1.0, 0.5, 0.1, 0, 0, 0)
        )
