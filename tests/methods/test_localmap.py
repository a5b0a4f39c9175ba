"""PaCMAP with low_dist_thres, which is LocalMAP."""

import numpy as np
import pytest

import lowdim
from lowdim import PaCMAP, _native, quality
from lowdim.solve import pair_loss
from lowdim.solve.descent import descend
from lowdim.solve.pair_loss import LAST, PairLoss


@pytest.fixture(scope="module")
def digits():
    return lowdim.data.load("digits")


def pairs_of(rng, n=30):
    others = np.array([rng.permutation(np.delete(np.arange(n), i))[:8] for i in range(n)], np.int32)
    near, further = others[:, :3].copy(), others[:, 3:].copy()
    none = np.empty((n, 0), np.int32)
    return near, none, further, np.arange(n, dtype=np.int32), np.empty(0, np.int32), np.empty((0, 2), np.int32)


def by_hand(pairs, Y, local):
    Y = Y.astype(float)
    i = np.arange(len(Y))[:, None]
    near, further = (np.square(Y[i] - Y[of]).sum(axis=2) + 1 for of in (pairs[0], pairs[2]))
    root = np.sqrt(near)
    each = local / 2 * (root / (10 + near) + np.arctan(root / np.sqrt(10)) / np.sqrt(10))
    return each.sum() + (1 / (1 + further)).sum()


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_loss_and_gradient_are_those_of_the_formula(k, rng):
    pairs, Y = pairs_of(rng), 3 * rng.normal(size=(30, k))
    loss, G = pair_loss.gradient(pairs, Y.astype(np.float32), LAST, 7.0)
    assert loss == pytest.approx(by_hand(pairs, Y.astype(np.float32), 7.0), rel=1e-5)
    expected = np.zeros_like(Y)
    for at in np.ndindex(*Y.shape):
        step = np.zeros_like(Y)
        step[at] = 1e-5
        expected[at] = (by_hand(pairs, Y + step, 7.0) - by_hand(pairs, Y - step, 7.0)) / 2e-5
    np.testing.assert_allclose(G, expected, atol=2e-4 * np.abs(expected).max())


def test_the_force_of_near_pairs_is_pacmaps_times_half_the_distance_over_the_root(rng):
    pairs = list(pairs_of(rng))
    pairs[2] = np.empty((30, 0), np.int32)
    Y = np.zeros((30, 2), np.float32)
    Y[:, 0] = np.arange(30) * 5
    pairs[0] = ((np.arange(30) + 1) % 30)[:, None].astype(np.int32)
    _, plain = pair_loss.gradient(tuple(pairs), Y)
    _, local = pair_loss.gradient(tuple(pairs), Y, LAST, 10.0)
    last = 20 / (10 + 26) ** 2 * -5  # of row 1 by row 2, and the opposite by row 0
    assert plain[1, 0] == pytest.approx(0, abs=1e-6)
    wrap = 145.0
    assert plain[0, 0] == pytest.approx(last - 20 / (11 + wrap**2) ** 2 * wrap, rel=1e-4)
    root = 5 / np.sqrt(26)
    assert local[0, 0] == pytest.approx(
        last * root - 20 / (11 + wrap**2) ** 2 * wrap * 5 / np.sqrt(1 + wrap**2), rel=1e-4
    )


def test_partners_are_drawn_within_the_distance_and_not_among_the_near(rng):
    n = 500
    Y = rng.uniform(0, 10, size=(n, 2)).astype(np.float32)
    near = np.array([np.argsort(np.square(Y - y).sum(axis=1))[1:6] for y in Y], np.int32)
    before = rng.integers(0, n, size=(n, 7)).astype(np.int32)
    before[0] = 0
    Y[0] = 1000  # nobody is near
    draws = [
        _native.draw_local(near, before, Y, local=3.0, seed=5, round=at, n_threads=threads)
        for at, threads in ((1, 1), (1, 2), (2, 1))
    ]
    assert np.array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).mean() > 0.5
    found = draws[0]
    assert (found[0] == 0).all()  # those before
    apart = np.linalg.norm(Y[1:, None] - Y[found[1:]], axis=2)
    drawn_again = found[1:] != before[1:]
    assert (apart[drawn_again] <= 3 + 1e-5).all()
    assert drawn_again.mean() > 0.8
    for i in range(1, n):
        fresh = found[i][found[i] != before[i]]
        assert not set(fresh.tolist()) & {i, *near[i].tolist()}
        assert len(set(fresh.tolist())) == len(fresh)


def test_more_neighbours_are_kept_than_by_pacmap(digits):
    X, _ = digits
    plain = PaCMAP(random_state=0).fit_transform(X)
    local = PaCMAP(low_dist_thres=10, random_state=0).fit_transform(X)
    assert quality.neighborhood_recall(X, local) > quality.neighborhood_recall(X, plain)
    again = PaCMAP(low_dist_thres=10, random_state=0, n_jobs=2).fit_transform(X)
    assert np.array_equal(local, again)
    other = PaCMAP(low_dist_thres=10, random_state=1).fit_transform(X)
    assert not np.array_equal(local, other)


def test_the_first_phases_are_those_of_pacmap(digits):
    """The last phase begins after four ninths of the iterations."""
    X, _ = digits
    maps = {}
    for thres in (None, 10):
        maps[thres] = []

        def keep(done, loss, Y, to=maps[thres]):
            to.append(Y)

        PaCMAP(low_dist_thres=thres, max_iter=90, callback=keep, callback_every=20, random_state=0).fit(X[:300])
    for early in range(2):
        np.testing.assert_array_equal(maps[None][early], maps[10][early])
    assert not np.array_equal(maps[None][3], maps[10][3])


def test_new_rows_files_and_anchors(digits, tmp_path):
    X, _ = digits
    model = PaCMAP(low_dist_thres=10, random_state=0).fit(X[:600])
    new = model.transform(X[600:650])
    assert np.isfinite(new).all()
    model.save(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "map.lowdim").transform(X[600:650]), new)
    grown = model.extend(X[600:700])
    np.testing.assert_array_equal(grown.embedding_[:600], model.embedding_)
    assert quality.trustworthiness(X[:700], grown.embedding_) > 0.9


def test_many_rows_leave_the_ring_in_the_last_phase(rng, monkeypatch):
    monkeypatch.setattr("lowdim.relate.pairs.RING", 500)
    X = rng.normal(size=(900, 4)).astype(np.float32)
    X[:450, 0] += 12
    model = PaCMAP(low_dist_thres=10, max_iter=180, random_state=0).fit(X)
    assert quality.trustworthiness(X, model.embedding_) > 0.9
    again = PaCMAP(low_dist_thres=10, max_iter=180, random_state=0, n_jobs=2).fit(X)
    assert np.array_equal(model.embedding_, again.embedding_)


def test_a_stopped_descent_gives_its_map(rng):
    pairs = pairs_of(rng)
    start = rng.normal(size=(30, 2)).astype(np.float32)
    loss = PairLoss(further=5.0, local=10.0, seed=3)
    found = descend(pairs, start, loss, iterations=90, every=20, report=lambda done, _, __: done >= 60)
    assert found.iterations == 60
    assert np.isfinite(found.embedding).all()


@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, "10"])
def test_a_wrong_distance_is_named(wrong, digits):
    with pytest.raises(ValueError, match="low_dist_thres"):
        PaCMAP(low_dist_thres=wrong).fit(digits[0])
