"""Native smoothest coordinates of a graph: exact where it is small, near the eigenvectors where it is large."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import kneighbors_graph

from lowdim import _native
from lowdim.compose.spectral_map import spectral_map


def parts(A):
    A = sp.csr_array(A, dtype=np.float32)
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data


def sheet(rng, n, sides=(3, 1)):
    A = kneighbors_graph(rng.random((n, len(sides))) * sides, min(8, n - 1))
    return sp.csr_array(A.maximum(A.T))


def aligned(Y, Z):
    """Cosines of the angles between the spaces of the columns."""
    Y, Z = (np.linalg.qr(one - one.mean(axis=0))[0] for one in (Y, Z))
    return np.linalg.svd(Y.T @ Z)[1]


@pytest.mark.parametrize("n", [3, 4, 20, 50, 159])
def test_small_graphs_are_solved_exactly(rng, n):
    A = sheet(rng, n)
    found = _native.smoothest(*parts(A), 2)
    expected = spectral_map(A.toarray(), 2, seed=0, tol=1e-12)
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[2], expected.values[None], atol=1e-6)
    if n > 4:  # other values may be equal
        np.testing.assert_allclose(found[1], expected.positions, atol=1e-5)


@pytest.mark.parametrize(("n", "k"), [(500, 2), (3000, 3), (9000, 2)])
def test_large_sheets_are_laid_out_as_by_their_eigenvectors(rng, n, k):
    A = sheet(rng, n)
    _, found, values = _native.smoothest(*parts(A), k)
    expected = spectral_map(sp.csr_array(A), k, seed=0, tol=1e-8)
    np.testing.assert_allclose(values[0], expected.values, rtol=0.02)
    assert aligned(found, expected.positions).min() > 0.995


def test_coordinates_are_centred_and_of_one_size(rng):
    """Σ d y = 0 and Σ d y yᵀ = Σ d, also where eigenvalues are equal."""
    complete, ring = np.ones((40, 40)) - np.eye(40), np.roll(np.eye(3000), 1, 0) + np.roll(np.eye(3000), -1, 0)
    for A, k in ((complete, 5), (ring, 2), (sheet(rng, 2000), 12), (sheet(rng, 2000, (1, 1, 1, 1)), 4)):
        Y, degrees = _native.smoothest(*parts(A), k)[1], np.asarray(A.sum(axis=1)).ravel()
        np.testing.assert_allclose(degrees @ Y / degrees.sum(), 0, atol=1e-5)
        np.testing.assert_allclose((Y.T * degrees) @ Y / degrees.sum(), np.eye(k), atol=1e-4)


def test_clusters_that_few_edges_join_lie_apart(rng):
    A = sp.lil_array(sp.block_diag([sheet(rng, 800, (1,) * 5) for _ in range(4)]))
    for i, j in ((0, 900), (850, 1700), (1650, 2500)):
        A[i, j] = A[j, i] = 0.01
    Y = _native.smoothest(*parts(A), 3)[1]
    spread = [Y[i : i + 800].std(axis=0).max() for i in range(0, 3200, 800)]
    assert max(spread) < 0.05


def test_every_component_is_solved_alone(rng):
    sizes = [5, 700, 1, 60, 5000, 2, 3]
    blocks = [sheet(rng, size) if size > 1 else sp.csr_array((1, 1)) for size in sizes]
    whole = sp.block_diag(blocks, format="csr")
    mixed = rng.permutation(whole.shape[0])
    labels = np.repeat(np.arange(len(sizes)), sizes)[mixed]
    part, Y, values = _native.smoothest(*parts(whole[mixed][:, mixed]), 2)
    firsts = [np.flatnonzero(labels == c)[0] for c in range(len(sizes))]
    np.testing.assert_array_equal(part, np.argsort(np.argsort(firsts))[labels])
    for c in range(len(sizes)):
        rows = np.flatnonzero(labels == c)
        inside = whole[mixed][:, mixed][rows][:, rows]
        alone = _native.smoothest(*parts(inside), 2)
        np.testing.assert_array_equal(alone[1], Y[rows])
        np.testing.assert_array_equal(alone[2][0], values[part[rows[0]]])


def test_edges_of_weight_0_connect_nothing():
    edges = np.array([[0, 1, 1.0], [1, 2, 1.0], [2, 3, 0.0], [3, 4, 1.0], [4, 5, 2.0]])
    i, j, w = edges[:, 0].astype(int), edges[:, 1].astype(int), edges[:, 2]
    A = sp.coo_array((np.tile(w, 2), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(6, 6)).tocsr()
    assert A.nnz == 10  # the zeros are stored
    part, Y, _ = _native.smoothest(*parts(A), 1)
    np.testing.assert_array_equal(part, [0, 0, 0, 1, 1, 1])
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("n", [300, 30_000])
def test_the_bits_do_not_depend_on_threads(rng, n):
    A = sp.block_diag([sheet(rng, n), sheet(rng, 50), sheet(rng, 400)], format="csr")
    one, two, five = (_native.smoothest(*parts(A), 2, n_threads=threads) for threads in (1, 2, 5))
    for a, b, c in zip(one, two, five, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@given(st.integers(1, 400), st.integers(1, 9), st.floats(0.0, 1.0), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_any_graph_has_finite_coordinates(n, k, hubs, seed):
    """Stars, rows without edges, weights of many sizes."""
    rng = np.random.default_rng(seed)
    tails = np.where(rng.random(2 * n) < hubs, 0, rng.integers(0, n, 2 * n))
    ends, weights = rng.integers(0, n, 2 * n), 10.0 ** rng.uniform(-6, 3, 2 * n)
    A = sp.coo_array((weights, (tails, ends)), shape=(n, n)).tocsr()
    part, Y, values = _native.smoothest(*parts(A + A.T), k, n_threads=2)
    assert np.isfinite(Y).all()
    assert np.isfinite(values).all()
    assert (values > -1e-6).all()
    assert (values < 2.001).all()
    assert len(values) == part.max() + 1


def test_wrong_arguments_are_refused(rng):
    starts, columns, values = parts(sheet(rng, 20))
    for wrong, message in (
        ((starts, columns, values[1:], 2), "as many columns as values"),
        ((starts, columns, values, 0), "k of 1 or more"),
        ((starts[::-1].copy(), columns, values, 2), "starts must rise"),
        ((starts, columns + np.int32(1), values, 2), "rows of the graph"),
        ((starts, columns, values * np.float32(np.nan), 2), "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            _native.smoothest(*wrong)
