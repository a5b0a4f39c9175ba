"""Neighbours against distances of all pairs: metrics, ties, duplicates, precision, grouping, threads, radius."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import lowdim
from lowdim.relate import neighbors, partition, trees
from lowdim.work import memory, thread_limit

DENSE = ("euclidean", "cosine", "manhattan", "mahalanobis")


def draw(n, d, seed=0, dtype="float64"):
    return np.random.default_rng([seed, n, d]).standard_normal((n, d)).astype(dtype)


def distances(X, Q=None, metric="euclidean"):
    A = (X if Q is None else Q).astype(np.float64)
    names = {"manhattan": "cityblock"}
    extra = {"VI": np.linalg.pinv(np.atleast_2d(np.cov(X.T.astype(np.float64))))} if metric == "mahalanobis" else {}
    D = cdist(A, X.astype(np.float64), names.get(metric, metric), **extra)
    if Q is None:
        np.fill_diagonal(D, np.inf)
    return D


def by_sorting(D, k):
    order = np.lexsort((np.broadcast_to(np.arange(D.shape[1]), D.shape), D), axis=1)[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


@pytest.fixture
def in_groups(monkeypatch):
    """The way of large data, for small data."""
    monkeypatch.setattr(partition, "_PLAIN", 0)
    monkeypatch.setattr(trees, "_ROWS", 10**9)


# Not the cosine in one dimension nor Mahalanobis's distance in as many as rows: there all are at one distance.
@pytest.mark.parametrize(
    ("metric", "n", "d"),
    [
        (metric, n, d)
        for metric in DENSE
        for n, d in [(12, 1), (60, 3), (300, 7), (400, 40), (90, 200)]
        if not (metric == "cosine" and d == 1) and not (metric == "mahalanobis" and d >= n)
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neighbours_are_those_of_all_distances(metric, n, d, dtype):
    X, Q = draw(n, d, dtype=dtype), draw(25, d, seed=1, dtype=dtype)
    for queries in (None, Q):
        found = neighbors.nearest(X, 5, queries=queries, metric=metric)
        order, D = by_sorting(distances(X, queries, metric), 5)
        np.testing.assert_allclose(found.distances, D, rtol=2e-5 if dtype == "float32" else 1e-6, atol=1e-6)
        assert np.mean(found.indices == order) > 0.999
        assert found.indices.dtype == np.int32
        assert found.distances.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [1, 2, 17, 33, 70])
def test_groups_and_stages_leave_the_answer_exact(in_groups, isa, dtype, d, monkeypatch):
    X = draw(900, d, dtype=dtype) * np.linspace(2, 0.1, d)
    X = (X + 5 * draw(900, d, seed=2)[np.arange(900) // 90]).astype(dtype)
    Q = (draw(41, d, seed=3) * 3).astype(dtype)
    for queries in (None, Q):
        parts = partition.of(X, queries, seed=0)
        assert parts.groups > 10
        found = neighbors.nearest(X, 20, queries=queries)
        order, D = by_sorting(distances(X, queries), 20)
        np.testing.assert_array_equal(found.indices, order)
        np.testing.assert_allclose(found.distances, D, rtol=1e-6)


def test_ties_go_to_the_lower_index(in_groups):
    X = np.random.default_rng(0).integers(0, 3, (600, 20)).astype(np.float32)
    D = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(neighbors.nearest(X, 30).indices, by_sorting(D, 30)[0])
    np.testing.assert_array_equal(neighbors.nearest(sp.csr_array(X), 30).indices, by_sorting(D, 30)[0])


def test_ties_go_to_the_lower_index_in_a_tree():
    X = np.random.default_rng(0).integers(0, 30, (2500, 2)).astype(float)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    found = neighbors.nearest(X, 12)
    assert found.how == "tree"
    np.testing.assert_array_equal(found.indices, by_sorting(D, 12)[0])
    queries = X[:40] + 0.5
    found = neighbors.nearest(X, 12, queries=queries)
    np.testing.assert_array_equal(found.indices, by_sorting(cdist(queries, X), 12)[0])


@pytest.mark.parametrize("n", [300, 2600])
@pytest.mark.parametrize("d", [2, 20])
def test_rows_that_are_all_equal_have_the_first_others(n, d):
    found = neighbors.nearest(np.full((n, d), 3.7), 4)
    np.testing.assert_array_equal(found.indices[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(found.indices[2], [0, 1, 3, 4])
    np.testing.assert_array_equal(found.indices[-1], [0, 1, 2, 3])
    assert not found.distances.any()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "mahalanobis"])
def test_duplicates_are_neighbours_and_the_row_itself_is_not(metric):
    X = np.repeat(draw(100, 6, dtype="float32"), 3, axis=0)
    found = neighbors.nearest(X, 2, metric=metric)
    rows = np.arange(300)
    expected = np.array([[j for j in range(3 * (i // 3), 3 * (i // 3) + 3) if j != i] for i in rows])
    np.testing.assert_array_equal(found.indices, expected)
    assert not found.distances.any()


def test_a_large_offset_and_far_clusters_do_not_cancel(in_groups):
    X = draw(800, 12, dtype="float32") * np.float32(1e-3)
    X[400:] += np.float32(100)  # steps of float32 here are 1e-5
    X += np.float32(1000)
    np.testing.assert_array_equal(neighbors.nearest(X, 8).indices, by_sorting(distances(X), 8)[0])


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_tiny_and_huge_numbers_neither_vanish_nor_overflow(in_groups, scale):
    X = draw(500, 20)
    found = neighbors.nearest((X * scale).astype(np.float64), 6)
    np.testing.assert_array_equal(found.indices, neighbors.nearest(X, 6).indices)


def test_numbers_at_the_ends_of_their_type_are_searched_or_refused():
    X = draw(40, 3)
    single = (1e-40 * X).astype("float32")  # subnormal: a scale that makes them of order 1 overflows float32
    np.testing.assert_array_equal(neighbors.nearest(single, 5).indices, neighbors.nearest(X, 5).indices)
    for scale in (1e-320, 1e-200, 1e200, 1e307):
        for big in (scale * X, sp.csr_array(scale * X), scale * draw(2500, 3)):  # by groups, by strips, by the tree
            with pytest.raises(ValueError, match="values must differ by 1e-150 to"):
                neighbors.nearest(big, 5)


def test_float64_rows_that_float32_cannot_tell_apart_are_told_apart(in_groups):
    X = 1 + draw(500, 10) * 1e-9
    np.testing.assert_array_equal(neighbors.nearest(X, 6).indices, by_sorting(distances(X - 1), 6)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_wide_rows_turn_to_leading_axes_and_stay_exact(in_groups, dtype):
    rng = np.random.default_rng(0)
    X = (
        rng.standard_normal((900, 12)) @ rng.standard_normal((12, 700)) + 0.1 * rng.standard_normal((900, 700))
    ).astype(dtype)
    X[450:] = X[:450]  # equal rows tie
    parts = partition.of(X, None, 0)
    assert len(parts.stages) > 1  # which a search of wide rows had not
    Z, some = parts.points.values.astype(np.float64), rng.permutation(900)[:40]
    turned, plain = (np.linalg.norm(A[some, None] - A[some], axis=2) for A in (Z / parts.scale, X.astype(np.float64)))
    np.testing.assert_allclose(turned, plain, rtol=1e-4, atol=1e-4)
    found = neighbors.nearest(X, 7)
    D = distances(X, None, "euclidean")
    right = np.sort(D, axis=1)[:, :7]
    np.testing.assert_allclose(found.distances, right, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(found.indices[:, 0], (np.arange(900) + 450) % 900)


def test_threads_and_seeds_change_nothing(in_groups):
    X = draw(1500, 30, dtype="float32")
    found = []
    for n_jobs, seed in ((1, 0), (2, 0), (3, 7)):
        with thread_limit.using(n_jobs):
            found.append(neighbors.nearest(X, 15, seed=seed))
    for other in found[1:]:
        np.testing.assert_array_equal(other.indices, found[0].indices)
        np.testing.assert_array_equal(other.distances, found[0].distances)


@pytest.mark.parametrize("metric", [*DENSE, "precomputed"])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_radius_reaches_all_within_it(metric, grouped, request):
    if grouped:
        request.getfixturevalue("in_groups")
    X, Q = draw(400, 6), draw(30, 6, seed=1)
    for queries in (None, Q):
        D = distances(X, queries, "euclidean" if metric == "precomputed" else metric)
        radius = float(np.quantile(D[np.isfinite(D)], 0.05))
        if metric == "precomputed":
            given = np.where(np.isinf(D), 0, D)
            near = neighbors.within(given, radius, queries=None if queries is None else given, metric=metric)
        else:
            near = neighbors.within(X, radius, queries=queries, metric=metric)
        assert len(near.indptr) == len(D) + 1
        for i in range(len(D)):
            row = slice(near.indptr[i], near.indptr[i + 1])
            count = int((D[i] <= radius * (1 + 1e-12)).sum())
            order, values = by_sorting(D[i : i + 1], count)
            np.testing.assert_array_equal(near.indices[row], order[0])
            np.testing.assert_allclose(near.distances[row], values[0], rtol=1e-5)


def test_a_radius_takes_points_at_its_very_end():
    X = np.arange(5.0)[:, None]
    near = neighbors.within(X, 1.0)
    np.testing.assert_array_equal(near.indices, [1, 0, 2, 1, 3, 2, 4, 3])
    assert len(neighbors.within(X, 0.5).indices) == 0


@pytest.mark.parametrize("turn", [np.asarray, sp.csr_array])
def test_a_radius_reaches_a_distance_whose_square_is_rounded(turn):
    X = turn(np.vstack([np.zeros((1, 200)), np.tri(200)]))  # row i is √i from the first
    for i in range(1, 200):
        assert neighbors.within(X, np.sqrt(i), queries=X[[0]]).indptr[1] == i + 1


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_have_the_neighbours_of_dense_ones(metric):
    rng = np.random.default_rng(0)
    X = rng.random((200, 30)) * (rng.random((200, 30)) < 0.2)
    X[:, 0] += 0.01 + rng.random(200) / 100
    sparse, dense = neighbors.nearest(sp.csr_array(X), 7, metric=metric), neighbors.nearest(X, 7, metric=metric)
    np.testing.assert_array_equal(sparse.indices, dense.indices)
    np.testing.assert_allclose(sparse.distances, dense.distances, rtol=1e-5)
    again = neighbors.nearest(sp.csr_array(X), 7, queries=sp.csr_array(X[:9]), metric=metric)
    assert not again.distances[:, 0].any()
    np.testing.assert_array_equal(again.indices[:, 0], np.arange(9))


def test_given_distances_keep_their_precision():
    D = distances(draw(50, 3))
    np.fill_diagonal(D, 0)
    found = neighbors.nearest(D, 4, metric="precomputed")
    np.fill_diagonal(D, np.inf)
    order, values = by_sorting(D, 4)
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.distances, values)


def test_neighbours_equal_scikit_learn_on_real_data():
    from sklearn.datasets import load_digits

    X = load_digits().data
    theirs = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(X).kneighbors()[0]
    np.testing.assert_allclose(neighbors.nearest(X, 10).distances, theirs, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 80), d=st.integers(1, 40), k=st.integers(1, 79), seed=st.integers(0, 99))
def test_any_shape_works(n, d, k, seed):
    k = min(k, n - 1)
    X = np.random.default_rng(seed).integers(-3, 4, (n, d)).astype(np.float32)
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(neighbors.nearest(X, k).indices, by_sorting(D, k)[0])


def test_rows_without_a_direction_are_refused():
    X = draw(20, 3)
    X[7] = 0
    with pytest.raises(ValueError, match="row 7"):
        neighbors.nearest(X, 3, metric="cosine")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_mahalanobis_does_not_depend_on_the_units_of_features(dtype):
    X = draw(120, 4)
    in_units = (X * [1.0, 1e4, 1e-4, 1e6]).astype(dtype)
    found = neighbors.nearest(in_units, 7, metric="mahalanobis")
    wanted = neighbors.nearest(X, 7, metric="mahalanobis")
    assert np.mean(found.indices == wanted.indices) > 0.99
    np.testing.assert_allclose(found.distances, wanted.distances, rtol=1e-5)


def test_mahalanobis_refuses_what_has_no_covariance():
    with pytest.raises(ValueError, match="rows that differ"):
        neighbors.nearest(np.ones((20, 3)), 3, metric="mahalanobis")
    with pytest.raises(ValueError, match="dense rows"):
        neighbors.nearest(sp.csr_array(draw(20, 3)), 3, metric="mahalanobis")


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "1000")
    with pytest.raises(MemoryError, match="5 neighbours of 100 rows"):
        neighbors.nearest(draw(100, 3), 5)


def test_rows_that_overflow_in_the_metric_are_refused_in_words(rng):
    X = rng.random((50, 5))
    Q = X[:3].copy()
    Q[1] = np.finfo(float).max
    for model in (lowdim.Isomap(metric="mahalanobis"), lowdim.TSNE(metric="mahalanobis", max_iter=20, random_state=0)):
        fitted = model.fit(X)
        with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match="got nan. Scale the data"):
            fitted.transform(Q)


def test_pairs_within_a_radius_are_estimated_before_they_are_collected(rng, monkeypatch):
    X = rng.random((3000, 4))
    monkeypatch.setenv("LOWDIM_MEMORY", "100M")
    assert len(neighbors.within(X, 0.05).indices) < 3000 * 100
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(MemoryError, match=r"pairs of neighbours within radius=1e\+20 needs? .* Lower radius"):
            neighbors.within(rows, 1e20)
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    monkeypatch.setattr(memory, "require", lambda *_: None)  # an estimate from a sample may be too low
    with pytest.raises(MemoryError, match="more than .* pairs of neighbours within radius=9 need more memory"):
        neighbors.within(X, 9.0)


def test_a_radius_beyond_all_rows_joins_them_all(rng):
    X = rng.random((50, 5))
    near = neighbors.within(X, 1e20)
    np.testing.assert_array_equal(np.diff(near.indptr), 49)
    np.testing.assert_array_equal(
        lowdim.Isomap(radius=1e20).fit_transform(X), lowdim.Isomap(radius=9.0).fit_transform(X)
    )


def test_the_threads_of_the_tree_have_ended_when_a_search_is_interrupted(rng, monkeypatch):
    X = rng.normal(size=(20_000, 2))
    seen = []

    def query(self, Q, k):
        seen.append(len(Q))
        raise KeyboardInterrupt

    monkeypatch.setattr(trees.KDTree, "query", query)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        trees.nearest(X, 3, None)
    assert threading.active_count() == before
    assert len(seen) < 5
