"""PaCMAP's loss against NumPy, its gradient by finite differences, and the descent that lowers it."""

import numpy as np
import pytest

from lowdim import _native
from lowdim.solve.descent import descend, place
from lowdim.solve.pair_loss import PairLoss, gradient

PAIRS = np.array([[3, 8], [20, 1]], np.int32)  # to leave out


def others(n, rng):
    """Partners of three kinds that are not the row itself."""
    return tuple((np.arange(n)[:, None] + rng.integers(1, n, size=(n, k))).astype(np.int32) % n for k in (5, 3, 9))


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    return *others(30, rng), rng.permutation(30).astype(np.int32), np.array([2, 7, 11], np.int32), PAIRS


def by_hand(pairs, Y, weights):
    total = 0.0
    order = pairs[3]

    def further(a, b):
        return (1 / (2 + np.square(Y[a] - Y[b]).sum(axis=1))).sum()

    total += weights[2] * sum(further(order, np.roll(order, -shift)) for shift in pairs[4])
    total -= weights[2] * further(*pairs[5].T)
    for partners, weight, term in zip(
        pairs[:3], weights, (lambda d: d / (10 + d), lambda d: d / (10000 + d), lambda d: 1 / (1 + d)), strict=True
    ):
        d = np.square(Y[:, None] - Y[partners]).sum(axis=2) + 1
        total += weight * term(d).sum()
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("weights", [(1.0, 0.0, 1.0), (2.0, 500.0, 1.0), (0.0, 3.0, 0.0)])
def test_gradient_matches_finite_differences(pairs, weights, k):
    Y = (3 * np.random.default_rng(1).normal(size=(30, k))).astype(np.float32)
    loss, G = gradient(pairs, Y, weights)
    np.testing.assert_allclose(loss, by_hand(pairs, Y.astype(float), weights), rtol=1e-4)
    for i, d in [(0, 0), (7, k - 1), (29, 0)]:
        step = np.zeros((30, k))
        step[i, d] = 1e-5
        slope = (by_hand(pairs, Y + step, weights) - by_hand(pairs, Y - step, weights)) / 2e-5
        np.testing.assert_allclose(G[i, d], slope, rtol=1e-4, atol=1e-5)


def adam(pairs, Y, iterations):
    """The descent in NumPy."""
    Y, m, v = Y.astype(float), 0.0, 0.0
    first, second = 2 * iterations // 9, 4 * iterations // 9
    for i in range(iterations):
        share = i / first
        weights = (2, 1000 * (1 - share) + 3 * share, 1) if i < first else (3, 3, 1) if i < second else (1, 0, 1)
        G = gradient(pairs, Y.astype(np.float32), weights)[1].astype(float)
        m, v = 0.9 * m + 0.1 * G, 0.999 * v + 0.001 * G**2
        Y = Y - np.sqrt(1 - 0.999 ** (i + 1)) / (1 - 0.9 ** (i + 1)) * m / (np.sqrt(v) + 1e-7)
    return Y - Y.mean(axis=0)


def test_descent_is_adam_in_three_phases(pairs):
    Y = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    found = descend(pairs, Y, PairLoss(), iterations=18, every=5)
    np.testing.assert_allclose(found.embedding, adam(pairs, Y, 18), atol=2e-3)
    assert found.marks == [5, 10, 15]
    at = descend(pairs, Y, PairLoss(), iterations=18, every=10, report=lambda done, *_: True)
    np.testing.assert_allclose(at.losses[0], PairLoss().at(pairs, at.embedding).value, rtol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_many_points_move_as_few_do_in_whatever_order_they_stand(k, rng):
    ring = rng.permutation(5200).astype(np.int32), np.array([5, 900], np.int32), PAIRS
    pairs, Y = (*others(5200, rng), *ring), rng.normal(size=(5200, k)).astype(np.float32)
    np.testing.assert_allclose(
        descend(pairs, Y, PairLoss(), iterations=9, every=5).embedding, adam(pairs, Y, 9), atol=2e-2
    )


def test_without_phases_the_loss_told_is_the_one_lowered(pairs):
    Y = 3 * np.random.default_rng(1).normal(size=(30, 2))
    found = descend(pairs, Y, PairLoss(phased=False, rate=0.05), iterations=200, every=20)
    assert (np.diff(found.losses) < 0).all()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_any_number_of_threads_gives_the_same_bits(k, rng):
    from lowdim.work import thread_limit

    ring = rng.permutation(5500).astype(np.int32), np.array([5, 900], np.int32), PAIRS
    many = *others(5500, rng), *ring
    Y, maps = rng.normal(size=(5500, k)), []
    for threads in (1, 2):
        with thread_limit.using(threads):
            maps.append(descend(many, Y, PairLoss(), iterations=30, every=10))
    np.testing.assert_array_equal(maps[0].embedding, maps[1].embedding)
    assert maps[0].losses == maps[1].losses


def test_a_new_point_goes_where_its_own_loss_is_least(rng):
    Y = (5 * rng.normal(size=(60, 2))).astype(np.float32)
    neighbors, p = np.array([[3, 9, 20, 4]], np.int32), np.array([[1.0, 1.0, 0.0, 1.0]], np.float32)

    def own(y):
        d = np.square(Y.astype(float) - y).sum(axis=1) + 1
        return (p[0] * (d / (10 + d))[neighbors[0]]).sum() + 6 * np.mean(1 / (1 + d))

    y = place(neighbors, p, Y, PairLoss(further=6.0))[0]
    for step in 3e-2 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]):
        assert own(y) < own(y + step) + 1e-5


def test_native_descent_refuses_partners_that_are_no_rows(pairs):
    wrong = np.full((30, 2), 30, np.int32)
    with pytest.raises(ValueError, match="partners must be rows"):
        _native.pair_loss(pairs[0], wrong, *pairs[2:], np.zeros((30, 2), np.float32), (1.0, 1.0, 1.0))
