"""The approximate search of neighbours: what the bindings refuse, edges, the same bits, every instruction set."""

import numpy as np
import pytest

from lowdim import _native

PLAN = {"trees": 4, "leaf": 64, "rounds": 2, "keep": 12, "by_trees": 0.9, "target": 0.97, "seed": 0, "n_threads": 2}


def search(X, queries=None, k=5, **change):
    queries = None if queries is None else (queries, None, None)
    return _native.near_graph((X, None, None), queries, k=k, **{**PLAN, **change})[:2]


def exact(X, k, queries=None):
    A = X.astype(np.float64)
    D = np.square((A if queries is None else queries.astype(np.float64))[:, None] - A).sum(axis=2)
    if queries is None:
        np.fill_diagonal(D, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), D.shape), D), axis=1)[:, :k]
    return order, np.sqrt(np.take_along_axis(D, order, axis=1))


def drawn(n, d, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 3 * rng.standard_normal((8, d))[rng.integers(8, size=n)]
    return (X * 20 + 128).clip(0, 255).astype(dtype) if dtype == "uint8" else X.astype(dtype)


@pytest.fixture(params=["default", "avx2", "avx512", "avx512vnni"])
def each_isa(request):
    before = _native.isa()
    try:
        _native.set_isa(request.param)
    except (ValueError, RuntimeError):
        pytest.skip("this processor lacks it")
    yield request.param
    _native.set_isa(before)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8"])
@pytest.mark.parametrize("d", [1, 3, 4, 52, 53, 64, 130])
def test_a_leaf_that_holds_all_rows_finds_the_nearest(dtype, d, each_isa):
    X = drawn(60, d, dtype)
    indices, distances = search(X, keep=30)
    right, lengths = exact(X, 5)
    np.testing.assert_allclose(distances, lengths, rtol=1e-6)
    if dtype != "uint8" and d > 1:  # elsewhere bytes may leave out some of many that tie
        np.testing.assert_array_equal(indices, right)


def test_every_instruction_set_finds_the_same(each_isa):
    X = drawn(700, 37, "float16")
    found = search(X, k=9)
    _native.set_isa("default")
    plain = search(X, k=9)
    np.testing.assert_array_equal(found[0], plain[0])
    np.testing.assert_array_equal(found[1], plain[1])


@pytest.mark.parametrize("queries", [False, True])
def test_threads_change_no_bit_and_a_seed_repeats(queries):
    X, Q = np.split(drawn(3500, 20), [3000]) if queries else (drawn(3000, 20), None)
    one, two, other = search(X, Q, n_threads=1), search(X, Q, n_threads=3), search(X, Q, seed=5)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])
    assert 0.4 < (one[0] == other[0]).mean() < 1  # another forest, mostly the same neighbours


@pytest.mark.parametrize("queries", [False, True])
def test_most_neighbours_are_found_among_many_rows(queries):
    X, Q = np.split(drawn(4300, 24), [4000]) if queries else (drawn(4000, 24), None)
    indices, distances = search(X, Q, k=10, keep=18, trees=24)
    right, lengths = exact(X, 10, Q)
    assert (distances <= lengths[:, -1:] * (1 + 1e-6)).mean() > 0.95
    assert all(len(set(row)) == 10 for row in indices.tolist())
    if Q is None:
        assert not (indices == np.arange(4000)[:, None]).any()
    assert (np.diff(distances, axis=1) >= 0).all()
    asked = X if Q is None else Q
    np.testing.assert_allclose(
        distances, np.linalg.norm(asked[:, None].astype(np.float64) - X[indices], axis=2), rtol=1e-5
    )
    assert right.shape == indices.shape


def test_more_effort_finds_more():
    X = np.random.default_rng(0).standard_normal((4000, 30)).astype(np.float32)
    lengths = exact(X, 10)[1]

    def share(**change):
        distances = search(X, k=10, keep=18, by_trees=1.1, target=1.1, **change)[1]
        return (distances <= lengths[:, -1:] * (1 + 1e-6)).mean()

    few, trees, rounds = share(trees=2, rounds=0), share(trees=8, rounds=0), share(trees=2, rounds=2)
    assert few < 0.5
    assert trees > few + 0.1
    assert rounds > few + 0.1


def test_equal_rows_are_neighbours_at_no_distance():
    X = np.repeat(drawn(6, 9), 300, axis=0)
    indices, distances = search(X, k=20, keep=24)
    assert (distances == 0).all()
    assert (X[indices] == X[:, None]).all()


def test_constant_rows_and_all_zeros_have_neighbours():
    for X in (np.zeros((900, 4), np.float32), np.full((900, 4), 7, np.uint8)):
        indices, distances = search(X, k=3)
        assert (distances == 0).all()
        assert all(len(set(row)) == 3 for row in indices.tolist())


@pytest.mark.parametrize(("n", "k"), [(2, 1), (9, 8), (300, 299), (300, 150)])
def test_k_may_be_near_the_number_of_rows(n, k):
    X = drawn(n, 5, "float64")
    indices, distances = search(X, k=k, keep=k, leaf=20)
    right, lengths = exact(X, k)
    if k == n - 1:
        np.testing.assert_array_equal(indices, right)
        np.testing.assert_allclose(distances, lengths, rtol=1e-6)
    assert all(len(set(row)) == k for row in indices.tolist())


def test_queries_far_from_all_points_find_points():
    X, Q = drawn(500, 6), drawn(2000, 6, seed=1) + 1e4
    indices, distances = search(X, Q.astype(np.float32), k=7)
    lengths = exact(X, 7, Q)[1]
    assert (distances <= lengths[:, -1:] * 1.001).mean() > 0.9
    assert indices.max() < 500


@pytest.mark.parametrize("scale", [1e-18, 1e-30, 1e17])
def test_rows_of_any_size_are_compared(scale):
    X = drawn(200, 7) * np.float32(scale)
    indices, _ = search(X, leaf=256, keep=40)
    right, _ = exact(X.astype(np.float64) / scale, 5)
    assert (indices == right).mean() > 0.999


def test_a_long_row_does_not_blur_the_others():
    X = drawn(200, 7)
    X[3] *= 1e6
    indices, _ = search(X, leaf=256, keep=40)
    right, _ = exact(X, 5)
    others = np.arange(200) != 3
    assert (indices[others] == right[others]).mean() > 0.95


def test_means_and_norms_are_those_of_the_rows():
    X = drawn(150, 12, "float16")
    A = X.astype(np.float32)
    means = A.mean(axis=1, dtype=np.float64)
    C = (A - means[:, None]).astype(np.float32)
    norms = np.sqrt(np.square(C.astype(np.float64)).sum(axis=1))
    found = _native.near_graph((X, means, norms), None, k=5, **{**PLAN, "leaf": 256, "keep": 40})
    plain = search(np.ascontiguousarray(C / norms[:, None].astype(np.float32)), leaf=256, keep=40)
    np.testing.assert_array_equal(found[0], plain[0])
    np.testing.assert_array_equal(found[1], plain[1])


@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8"])
def test_the_sample_knows_how_far_its_true_neighbours_are(dtype, queries, each_isa):
    X = drawn(900, 24, dtype)
    Q = (drawn(300, 24, dtype, seed=5), None, None) if queries else None
    _, _, rows, farthest = _native.near_graph((X, None, None), Q, k=5, **{**PLAN, "trees": 1, "rounds": 0})
    assert len(rows) == 200
    assert np.isnan(farthest).mean() < 0.5
    right = exact(X, 5, Q and Q[0])[1][rows, -1]
    known = ~np.isnan(farthest)
    np.testing.assert_allclose(farthest[known], right[known], rtol=1e-6)


def test_a_sample_of_bytes_that_blur_is_not_sure():
    X = drawn(900, 24, "float64")
    X[:, 0] += 1e6 * np.arange(900) % 7e6  # the unit of every byte
    _, _, _, farthest = _native.near_graph((X, None, None), None, k=5, **PLAN)
    assert np.isnan(farthest).all()


def test_candidates_are_ranked_by_distance_and_index():
    X = np.array([[0.0], [1.0], [1.0], [5.0]], np.float32)
    found = _native.rank_candidates(
        (X, None, None), (X[:1], None, None), np.array([[3, 2, 1]], np.int32), k=2, n_threads=1
    )
    np.testing.assert_array_equal(found[0], [[1, 2]])
    np.testing.assert_array_equal(found[1], [[1, 1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be 1 to 39"),
        ({"k": 40}, "k must be 1 to 39"),
        ({"keep": 4}, "room for k"),
        ({"leaf": 1}, "two rows in a leaf"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_numbers_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        search(drawn(40, 3), **change)


def test_arrays_that_do_not_fit_are_refused():
    X = drawn(40, 3)
    with pytest.raises(ValueError, match="float16, float32, float64 or uint8"):
        search(X.astype(np.int32))
    with pytest.raises(ValueError, match="same columns"):
        search(X, X[:, :2].copy())
    with pytest.raises(ValueError, match="as many as rows"):
        _native.near_graph((X, None, np.ones(3)), None, k=5, **PLAN)
    with pytest.raises(ValueError, match="these three"):
        _native.near_graph((X, None), None, k=5, **PLAN)
    with pytest.raises(ValueError, match="must be rows of the points"):
        _native.rank_candidates((X, None, None), (X, None, None), np.full((40, 5), 40, np.int32), k=2, n_threads=1)


def test_an_exception_from_tick_stops_the_search():
    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(drawn(60_000, 64), k=30, keep=40, trees=30, by_trees=1.1, tick=stop)


def test_progress_rises_to_at_most_the_rows_asked_for():
    seen = []
    search(drawn(30_000, 32), k=20, keep=28, tick=seen.append)
    assert seen == sorted(seen)
    assert max(seen, default=0) <= 30_000
