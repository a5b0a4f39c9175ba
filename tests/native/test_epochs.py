"""The kernels of UMAP's loss for every instruction set, rows of any length and maps of any width, against NumPy."""

import numpy as np
import pytest

from lowdim import _native

A, B, C = 1.577, 0.895, 5.0
EPS = 1e-3


def graph_of(n, most, seed=0):
    """A symmetric graph whose rows have 0 to about ``most`` entries, as sparse rows, and the array itself."""
    rng = np.random.default_rng(seed)
    V = rng.uniform(0.01, 1.0, (n, n)) * (rng.random((n, n)) < rng.uniform(0, min(1.0, most / n), (n, 1)))
    V[0, 1] = 0.7
    V = np.triu(V, 1).astype(np.float32)
    V += V.T
    indptr = np.concatenate([[0], np.cumsum((V > 0).sum(axis=1))]).astype(np.int64)
    columns = np.nonzero(V)[1].astype(np.int32)
    return (indptr, columns, V[V > 0]), V


def gradient_by_hand(V, Y):
    n, d = len(Y), V.sum(axis=1, dtype=float)
    step = Y[:, None].astype(float) - Y[None]
    t = np.square(step).sum(axis=2) + EPS
    u = A * t**B
    push = C / (2 * n) * (d[:, None] + d) * B / (t * (1 + u))
    np.fill_diagonal(push, 0)
    return 4 * np.einsum("ij,ijk->ik", V * B * u / (t * (1 + u)) - push, step)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize(("n", "most"), [(2, 2), (17, 5), (90, 80)])
def test_gradient_is_that_of_the_formula(isa, n, most, k):
    graph, V = graph_of(n, most)
    Y = (3 * np.random.default_rng(1).normal(size=(n, k))).astype(np.float32)
    G = _native.cross_entropy_gradient(
        *graph,
        Y,
        np.random.default_rng(2).permutation(n).astype(np.int32),
        np.arange(1, n, dtype=np.int32)[None],
        a=A,
        b=B,
        negatives=2 * C,
        longest=np.inf,
        n_threads=2,
    )
    wanted = gradient_by_hand(V, Y)
    np.testing.assert_allclose(G, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4, 1e14])
def test_points_at_any_distance_have_finite_forces(isa, scale):
    graph, _ = graph_of(40, 20)
    Y = (scale * np.random.default_rng(1).normal(size=(40, 2))).astype(np.float32)
    given = {"a": 0.3, "b": 4.0, "negatives": 10.0, "longest": 4.0}
    G = _native.cross_entropy_gradient(
        *graph, Y, np.arange(40, dtype=np.int32), np.arange(1, 40, dtype=np.int32)[None], **given
    )
    assert np.isfinite(G).all()


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 2100])
def test_epochs_move_every_copy_of_a_point(isa, n, k):
    """Partners are read from places that repeat themselves: two epochs by hand."""
    graph, V = graph_of(n, 12)
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(n, k)).astype(np.float32)
    order, shifts = rng.permutation(n).astype(np.int32), rng.integers(1, n, (2, 3), dtype=np.int32)
    maps = []
    for threads in (1, 2):
        Z = Y.copy()
        _native.lower_cross_entropy(
            *graph, Z, order, shifts, a=A, b=B, negatives=2 * C, rate=1e-3, every=10, report=lambda *_: False,
            n_threads=threads,
        )  # fmt: skip
        maps.append(Z)
    np.testing.assert_array_equal(*maps)
    law = {"a": A, "b": B, "negatives": 2 * C, "longest": 4.0}
    rate = 1e-3 / (V.max() or 1.0)  # edges of the largest weight count as 1; the steps are too small to be damped
    first = -rate * _native.cross_entropy_gradient(*graph, Y, order, shifts[:1], **law)
    after = Y + first
    moved = after + 0.45 * first - 0.25 * rate * _native.cross_entropy_gradient(*graph, after, order, shifts[1:], **law)
    far = np.abs(moved - Y).max()
    assert far > 1e-4
    np.testing.assert_allclose(maps[0], moved - moved.mean(axis=0), atol=0.02 * far)
