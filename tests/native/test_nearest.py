"""The search of neighbours and the smallest of rows: what the bindings refuse, edges, Ctrl-C."""

import itertools

import numpy as np
import pytest

from lowdim import _native


def given(n=40, d=5, groups=2, dtype="float32", seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)
    order, starts = np.arange(n, dtype=np.int32), np.linspace(0, n, groups + 1).astype(np.int64)
    centres = np.array([X[a:b].mean(axis=0) for a, b in itertools.pairwise(starts)], np.float32)
    return (X.astype(np.float32), X, order, starts), centres, np.array([d], np.int64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be 1 to 39"),
        ({"k": 40}, "k must be 1 to 39"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_numbers_out_of_range_are_refused(change, message):
    points, centres, stages = given()
    with pytest.raises(ValueError, match=message):
        _native.nearest(points, centres, stages, **{"k": 3, **change})


def test_arrays_that_do_not_fit_are_refused():
    (values, exact, order, starts), centres, stages = given()
    with pytest.raises(ValueError, match="starts must rise"):
        _native.nearest((values, exact, order, starts[::-1].copy()), centres, stages, k=3)
    with pytest.raises(ValueError, match="order must hold rows"):
        _native.nearest((values, exact, order + 1, starts), centres, stages, k=3)
    with pytest.raises(ValueError, match="stages must rise"):
        _native.nearest((values, exact, order, starts), centres, stages - 1, k=3)
    with pytest.raises(ValueError, match=r"same columns; got \(40, 5\), \(40, 5\)"):
        _native.nearest((values, exact, order, starts), centres[:, 1:].copy(), stages - 1, k=3)
    with pytest.raises(ValueError, match=r"a row each; got \(40, 5\), \(39, 5\), \(40,\)"):
        _native.nearest((values, exact[1:], order, starts), centres, stages, k=3)
    with pytest.raises(ValueError, match="four"):
        _native.nearest((values, exact, order), centres, stages, k=3)
    with pytest.raises(ValueError, match="radius must be 0 or more"):
        _native.within((values, exact, order, starts), centres, stages, radius=-1.0, scale=1.0, most=9)


def test_an_exception_from_tick_stops_the_search():
    points, centres, stages = given(n=60_000, d=32, groups=200)

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.nearest(points, centres, stages, k=40, tick=stop)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [1, 7, 400])
def test_the_smallest_entries_come_by_value_and_column(dtype, k):
    D = np.random.default_rng(0).integers(0, 50, (30, 1000)).astype(dtype)
    skip = np.arange(30, dtype=np.int32)
    for skipped in (None, skip):
        indices, values = _native.smallest(D, k, skip=skipped, n_threads=2)
        E = D.copy()
        if skipped is not None:
            E[np.arange(30), skip] = np.inf
        expected = np.argsort(E, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(E, expected, axis=1))


def test_smallest_refuses_what_does_not_fit():
    D = np.zeros((3, 4))
    with pytest.raises(ValueError, match="k must be 1 to 4"):
        _native.smallest(D, 5)
    with pytest.raises(ValueError, match="k must be 1 to 3"):
        _native.smallest(D, 4, skip=np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="contiguous rows"):
        _native.smallest(D.T, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", [0, 1])
def test_what_is_no_number_is_refused(value, part):
    points, centres, stages = given(dtype="float64")
    queries = tuple(array.copy() for array in points)
    queries[part][7, 2] = value
    with pytest.raises(ValueError, match="nearest: rows must be finite; got NaN or infinity"):
        _native.nearest(points, centres, stages, k=3, queries=queries)
    with pytest.raises(ValueError, match="nearest: rows must be finite"):
        _native.within(queries, centres, stages, radius=1.0, scale=1.0, most=10**6)
    D = points[0].copy()
    D[3, 4] = value
    with pytest.raises(ValueError, match="smallest: distances must be finite"):
        _native.smallest(D, 2)
    with pytest.raises(ValueError, match="smallest: distances must be finite"):
        _native.smallest(D[:, 1:], 2)


@pytest.mark.parametrize("radius", [1e3, 1e20, 1e200, np.inf])
@pytest.mark.parametrize("n", [17, 40])  # tiles that end in padding
def test_a_radius_beyond_all_points_finds_them_all_once(radius, n):
    points, centres, stages = given(n=n)
    counts, indices, distances = _native.within(points, centres, stages, radius=radius, scale=1.0, most=n * n)
    np.testing.assert_array_equal(counts, n - 1)
    for i, row in enumerate(indices.reshape(n, n - 1)):
        np.testing.assert_array_equal(np.sort(row), np.delete(np.arange(n), i))
    assert (np.diff(distances.reshape(n, n - 1), axis=1) >= 0).all()


def test_more_pairs_than_allowed_are_not_collected():
    points, centres, stages = given(n=40)
    whole = _native.within(points, centres, stages, radius=1e3, scale=1.0, most=40 * 39)
    assert whole is not None
    for most in (0, 100, 40 * 39 - 1):
        assert _native.within(points, centres, stages, radius=1e3, scale=1.0, most=most, n_threads=2) is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_finite_check_sees_every_place(isa, dtype, rng):
    X = rng.normal(size=(5, 27)).astype(dtype)
    for i in range(5):
        for j in range(27):
            D = X.copy()
            D[i, j] = -np.nan if (i + j) % 2 else np.inf
            with pytest.raises(ValueError, match="finite"):
                _native.smallest(D, 2)
    _native.smallest(np.full((2, 3), -np.finfo(dtype).max, dtype), 2)


def _rows(kind, rng, n=130, d=15):
    X = rng.standard_normal((n, d)) * np.linspace(3, 0.3, d)
    if kind == "ties":
        X = np.round(X)
    if kind == "outlier":  # whole numbers of a unit that reaches it would say nothing about the others
        X[7] *= 1e5
    if kind == "duplicates":
        X[20:80] = X[3]
    return X.astype(np.float32)


def _in_groups(X, centres):
    nearest = np.argmin(((X[:, None] - centres[None]) ** 2).sum(axis=2), axis=1)
    starts = np.concatenate([[0], np.cumsum(np.bincount(nearest, minlength=len(centres)))])
    return X, X, np.argsort(nearest, kind="stable").astype(np.int32), starts.astype(np.int64)


@pytest.mark.parametrize("kind", ["normal", "ties", "outlier", "duplicates"])
@pytest.mark.parametrize("stages", [[15], [3, 8, 15], [5, 15]])
def test_every_instruction_set_finds_the_nearest(isa, kind, stages, rng):
    X, Q = _rows(kind, rng), 2 * _rows(kind, rng, n=29)
    centres = np.stack([X[0], X[1], np.full(15, 1e3, np.float32)])  # the last group is empty
    points, queries = _in_groups(X, centres), _in_groups(Q, centres)
    for rows, asked in ((X, None), (Q, queries)):
        D = np.sqrt(((rows[:, None].astype(np.float64) - X[None]) ** 2).sum(axis=2))
        if asked is None:
            np.fill_diagonal(D, np.inf)
        expected = np.argsort(D, axis=1, kind="stable")[:, :7]
        stops = np.array(stages, np.int64)
        indices, distances = _native.nearest(points, centres, stops, k=7, queries=asked)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_allclose(distances, np.take_along_axis(D, expected, axis=1), rtol=1e-6, atol=1e-6)
        counts, found, _ = _native.within(points, centres, stops, queries=asked, radius=4.0, scale=1.0, most=99999)
        np.testing.assert_array_equal(counts, (D <= 4.0).sum(axis=1))
        order = np.argsort(D, axis=1, kind="stable")
        np.testing.assert_array_equal(found, np.concatenate([o[:c] for o, c in zip(order, counts, strict=True)]))
