"""The gradient of the divergence, by finite differences, and the divergence itself."""

import numpy as np
import pytest

import lowdim
from lowdim.relate.affinities import affinities, likelihoods
from lowdim.relate.neighbors import nearest
from lowdim.solve import divergence
from lowdim.solve.descent import descend
from lowdim.solve.divergence import Divergence, Falloff


@pytest.fixture(scope="module")
def rows():
    found = nearest(np.random.default_rng(0).normal(size=(40, 6)), 15)
    return affinities(found.indices, likelihoods(found.distances, [5.0])[0])


FALLOFFS = [Falloff("student"), Falloff("student", 0.5), Falloff("student", 4.0), Falloff("gauss")]


def by_hand(P, Y, falloff):
    n = len(Y)
    A = np.zeros((n, n))
    A[np.repeat(np.arange(n), np.diff(P.indptr)), P.indices] = P.values
    s = np.square(Y[:, None] - Y[None]).sum(axis=2)
    nu = falloff.dof
    f = np.exp(-s) if falloff.name == "gauss" else (1 + s / nu) ** (-(nu + 1) / 2)
    np.fill_diagonal(f, 0)
    some = A > 0
    return (A[some] * np.log(A[some] * f.sum() / f[some])).sum()


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("falloff", FALLOFFS)
def test_gradient_matches_finite_differences(rows, falloff, k):
    Y = np.random.default_rng(1).normal(size=(40, k))
    loss, G = divergence.gradient(rows, Y, falloff)
    np.testing.assert_allclose(loss, by_hand(rows, Y, falloff), rtol=1e-6)
    for i, d in [(0, 0), (7, k - 1), (39, 0)]:
        step = np.zeros_like(Y)
        step[i, d] = 1e-5
        slope = (by_hand(rows, Y + step, falloff) - by_hand(rows, Y - step, falloff)) / 2e-5
        # P sums to 1 to the precision of float32, which the gradient takes for granted
        np.testing.assert_allclose(G[i, d], slope, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("falloff", FALLOFFS)
def test_divergence_is_that_of_all_pairs(rows, falloff, k):
    Y = np.random.default_rng(2).normal(size=(40, k)).astype(np.float32)
    found = divergence.divergence(rows, Y, falloff)
    np.testing.assert_allclose(found.value, by_hand(rows, Y.astype(float), falloff), rtol=1e-5)
    np.testing.assert_allclose(found.points.sum(), found.value)
    assert found.error == 0


@pytest.mark.parametrize("k", [2, 3])
def test_a_certified_divergence_is_within_what_it_tells(k, monkeypatch, rng):
    found = nearest(rng.normal(size=(1500, 4)), 15)
    P = affinities(found.indices, likelihoods(found.distances, [5.0])[0])
    Y = (10 * rng.normal(size=(1500, k))).astype(np.float32)
    exact = divergence.divergence(P, Y, Falloff("student")).value
    monkeypatch.setattr(divergence, "_EXACT_NORMALISER", 1000)
    near = divergence.divergence(P, Y, Falloff("student"))
    told = near.error
    assert abs(near.value - exact) <= told + 1e-6 * exact
    assert told < 1e-3


def test_two_points_and_their_half():
    P = affinities(np.array([[1], [0]], np.int32), np.ones((2, 1), np.float32))
    loss, G = divergence.gradient(P, np.array([[0.0], [3.0]]), Falloff("student"))
    np.testing.assert_allclose([loss, *G.ravel()], 0, atol=1e-7)  # one pair: P and Q are the same


def test_the_grid_reaches_the_divergence_of_exact_sums(rng):
    centres = rng.normal(size=(12, 10)) * 4
    X = (centres[rng.integers(0, 12, 2400)] + rng.normal(size=(2400, 10))).astype(np.float32)
    grid, exact = (lowdim.TSNE(method=how, random_state=0).fit(X).kl_divergence_ for how in ("fft", "exact"))
    assert grid < 1.015 * exact  # the grid's error, which momentum magnifies


def test_the_error_of_the_forces_is_told(rng, monkeypatch):
    monkeypatch.setattr(divergence, "_EXACT_NORMALISER", 500)
    X = rng.normal(size=(2500, 4)).astype(np.float32)
    model = lowdim.TSNE(max_iter=300, method="fft", random_state=0).fit(X)
    assert 0 < model.force_error_ < 0.02
    assert 0 < model.kl_divergence_error_ < 1e-3


def test_losses_during_a_descent_are_those_of_the_map(rng):
    """They come from affinities of 16 bits: each is within 2⁻⁹, and their errors cancel in the sum."""
    X = rng.normal(size=(600, 5)).astype(np.float32) + 4 * rng.integers(0, 3, (600, 1)).astype(np.float32)
    near = nearest(X, 30)
    P = affinities(near.indices, likelihoods(near.distances, [10.0])[0])
    seen = []

    def report(done, value, Y):
        seen.append((value, Y.copy()))
        return False

    loss = Divergence(Falloff("student"), "exact", exaggerated=20)
    descend(P, rng.normal(0, 1e-2, (600, 2)), loss, iterations=120, every=20, report=report)
    assert len(seen) == 5
    for value, Y in seen:
        exact = divergence.divergence(P, Y, Falloff("student")).value
        assert value == pytest.approx(exact, rel=1e-4)
        assert value != exact
