"""New points of a line or a plane: every loss is at its bottom, alone or among others, by any number of threads."""

import numpy as np
import pytest

from lowdim import _native

A, B = 1.577, 0.895  # UMAP's curve
SOFT, CROWD = _native.EPOCH_SOFT, _native.EPOCH_CROWD_SOFT


def squares(y, Y):
    return np.square(y - Y.astype(float)).sum(axis=1)


def student(neighbors, p, Y, n_threads=1):
    return _native.place(neighbors, p, Y, dof=0.7, n_threads=n_threads)


def student_loss(y, others, p, Y):
    return (p * 0.85 * np.log1p(squares(y, others) / 0.7)).sum() + np.log(((1 + squares(y, Y) / 0.7) ** -0.85).sum())


def gauss(neighbors, p, Y, n_threads=1):
    return _native.place(neighbors, p, Y, falloff="gauss", n_threads=n_threads)


def gauss_loss(y, others, p, Y):
    return (p * squares(y, others)).sum() + np.log(np.exp(-squares(y, Y)).sum())


def entropy(neighbors, p, Y, n_threads=1):
    sample = np.arange(0, len(Y), 2, dtype=np.int32)
    return _native.place_new_cross_entropy(neighbors, p, Y, sample, a=A, b=B, negatives=10.0, n_threads=n_threads)


def entropy_loss(y, others, p, Y):
    pull = np.log1p(A * (squares(y, others) + SOFT) ** B)
    push = np.log1p(1 / (A * (squares(y, Y[::2]) + CROWD) ** B))
    return (p * pull).sum() + 5.0 * p.sum() * push.mean()


def pairs(neighbors, p, Y, n_threads=1):
    sample = np.arange(0, len(Y), 2, dtype=np.int32)
    return _native.place_new_pairs(neighbors, p, Y, sample, further=20.0, n_threads=n_threads)


def pairs_loss(y, others, p, Y):
    return (p * (1 - 10 / (11 + squares(y, others)))).sum() + 20.0 * (1 / (2 + squares(y, Y[::2]))).mean()


LAWS = [(student, student_loss), (gauss, gauss_loss), (entropy, entropy_loss), (pairs, pairs_loss)]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(("place", "loss"), LAWS, ids=["student", "gauss", "entropy", "pairs"])
def test_places_are_the_bottom_of_their_loss(place, loss, k):
    rng = np.random.default_rng(k)
    Y = (4 * rng.standard_normal((600, k))).astype(np.float32)
    centres = rng.integers(600, size=(40, 1))
    near = np.argsort(((Y[centres] - Y[None]) ** 2).sum(axis=2), axis=1)[:, :60]
    neighbors = np.take_along_axis(near, np.argsort(rng.random(near.shape), axis=1)[:, :20], axis=1).astype(np.int32)
    p = rng.dirichlet(np.ones(20), 40).astype(np.float32)
    at = place(neighbors, p, Y)
    for i in range(40):
        others = Y[neighbors[i]]
        box = others.min(axis=0), others.max(axis=0)
        assert ((at[i] >= box[0]) & (at[i] <= box[1])).all()
        here = loss(at[i], others, p[i], Y)
        steps = [0.02 * np.cos(angle + np.arange(k) * np.pi / 2) for angle in np.linspace(0, 6, 8)]
        around = [loss(np.clip(at[i] + step, *box), others, p[i], Y) for step in steps]
        assert here <= min(around) + 1e-4
        starts = np.argsort(-p[i], kind="stable")[:4]
        assert here <= min(loss(Y[neighbors[i, j]], others, p[i], Y) for j in starts) + 1e-4


@pytest.mark.parametrize("place", [place for place, _ in LAWS])
def test_a_place_depends_on_its_own_row_alone(place):
    rng = np.random.default_rng(0)
    Y = (4 * rng.standard_normal((900, 2))).astype(np.float32)
    neighbors = rng.integers(900, size=(300, 33)).astype(np.int32)
    p = rng.dirichlet(np.ones(33), 300).astype(np.float32)
    at = place(neighbors, p, Y)
    np.testing.assert_array_equal(place(neighbors, p, Y, n_threads=3), at)
    for i in (0, 17, 299):
        np.testing.assert_array_equal(place(neighbors[i : i + 1], p[i : i + 1], Y)[0], at[i])


@pytest.mark.parametrize("place", [place for place, _ in LAWS])
def test_one_neighbour_weights_of_zero_and_equal_points_are_places(place):
    Y = np.zeros((5, 2), np.float32)
    Y[4] = 3
    neighbors = np.array([[4, 0, 1], [0, 1, 2], [0, 4, 4]], np.int32)
    p = np.array([[1, 0, 0], [0.5, 0.25, 0.25], [0, 0, 0]], np.float32)
    at = place(neighbors, p, Y)
    np.testing.assert_array_equal(at[:2], [[3, 3], [0, 0]])
    assert np.isfinite(at).all()
