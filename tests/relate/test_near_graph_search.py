"""The approximate search by its operation: metrics, types, recall, when it is chosen, odd shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.relate import near_graph, neighbors
from lowdim.work import memory, thread_limit


def grouped(n, d, seed=0, dtype="float32"):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) + 2 * rng.standard_normal((12, d))[rng.integers(12, size=n)]).astype(dtype)


def test_an_approximate_search_tells_its_recall_and_keeps_its_bits(monkeypatch):
    monkeypatch.setattr(near_graph, "_TREES", 1)
    monkeypatch.setattr(near_graph, "_ROUNDS", 0)
    monkeypatch.setattr(near_graph, "_LEAF", 100)
    X = np.random.default_rng(0).standard_normal((3000, 20)).astype(np.float32)
    with thread_limit.using(1):
        once = neighbors.nearest(X, 10, how="approximate", seed=3)
    with thread_limit.using(2):
        again = neighbors.nearest(X, 10, how="approximate", seed=3)
    np.testing.assert_array_equal(once.indices, again.indices)
    np.testing.assert_array_equal(once.distances, again.distances)
    exact = neighbors.nearest(X, 10, how="exact")
    share = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(once.indices, exact.indices, strict=True)])
    assert (once.how, exact.recall) == ("approximate", None)
    assert 0.05 < share < 0.9
    assert abs(once.recall - share) < 0.05


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "mahalanobis"])
@pytest.mark.parametrize("queries", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_it_finds_what_the_exact_search_finds_in_every_metric(metric, queries, dtype):
    X, Q = np.split(grouped(2700, 16, dtype=dtype), [2500])
    Q = Q if queries else None
    found = neighbors.nearest(X, 8, Q, metric, "approximate")
    exact = neighbors.nearest(X, 8, Q, metric, "exact")
    same = found.indices == exact.indices
    right = found.distances <= exact.distances[:, -1:] * (1 + 1e-5)
    assert right.mean() > 0.93
    assert abs(found.recall - right.mean()) < 0.03
    np.testing.assert_allclose(found.distances[same], exact.distances[same], rtol=2e-5, atol=1e-7)


def test_pixels_are_searched_as_bytes():
    X = np.random.default_rng(0).integers(0, 256, (1500, 30)).astype(np.uint8)
    found, exact = (neighbors.nearest(X, 6, how=how) for how in ("approximate", "exact"))
    assert (found.distances <= exact.distances[:, -1:]).mean() > 0.93


@pytest.mark.parametrize("dtype", ["bool", "int16", "int64", ">f4"])
def test_rows_of_other_types_are_read_too(dtype):
    X = (grouped(400, 12) * 3).astype(dtype)
    found, exact = (neighbors.nearest(X, 4, how=how) for how in ("approximate", "exact"))
    assert (found.distances <= exact.distances[:, -1:]).mean() > 0.95


def test_queries_may_have_another_precision():
    X, Q = np.split(grouped(850, 9, dtype="float64"), [800])
    X = X.astype(np.float16)
    found, exact = (neighbors.nearest(X, 4, Q, how=how) for how in ("approximate", "exact"))
    assert (found.distances <= exact.distances[:, -1:] * (1 + 1e-5)).mean() > 0.95


def test_duplicates_count_as_found_whatever_their_index():
    X = np.repeat(grouped(40, 5), 50, axis=0)
    found = neighbors.nearest(X, 10, how="approximate")
    assert found.recall == 1.0
    assert (found.distances == 0).all()


def test_it_is_chosen_by_the_sizes(monkeypatch):
    assert near_graph.is_faster(100_000, 100_000, 768, 15, itself=True)
    assert not near_graph.is_faster(20_000, 20_000, 768, 15, itself=True)
    assert not near_graph.is_faster(1_000_000, 1000, 768, 15, itself=False)
    assert not near_graph.is_faster(70_000, 70_000, 50, 91, itself=True)
    X = grouped(600, 10)
    assert neighbors.nearest(X, 3).how == "exact"
    monkeypatch.setattr(near_graph, "is_faster", lambda *sizes, itself: True)
    assert neighbors.nearest(X, 3).how == "approximate"
    assert neighbors.nearest(X, 3, how="exact").how == "exact"


def test_rows_without_direction_are_refused():
    X = grouped(300, 4)
    X[7] = 0
    with pytest.raises(ValueError, match="row 7 is"):
        neighbors.nearest(X, 3, metric="cosine", how="approximate")
    with pytest.raises(ValueError, match="row 7 is constant"):
        neighbors.nearest(X, 3, metric="correlation", how="approximate")


def test_values_whose_squares_overflow_are_refused():
    X = grouped(300, 4, dtype="float64") * 1e160
    with pytest.raises(ValueError, match="Neighbours"):
        neighbors.nearest(X, 3, how="approximate")
    large = neighbors.nearest(grouped(300, 4) * np.float32(1e18), 3, how="approximate")
    assert large.recall == neighbors.nearest(grouped(300, 4), 3, how="approximate").recall > 0.9


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "3M")
    with pytest.raises(MemoryError, match="approximate search among 9,000 rows"):
        neighbors.nearest(grouped(9000, 100), 15, how="approximate")


def test_the_memory_asked_for_grows_by_bytes_of_the_rows():
    with memory.recording() as asked:
        neighbors.nearest(grouped(3000, 500, dtype="float16"), 5, how="approximate")
    assert 3000 * 500 < max(asked) < 2.5 * 3000 * 500


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 700),
    d=st.integers(1, 70),
    k=st.integers(1, 40),
    levels=st.integers(1, 50),
    dtype=st.sampled_from(["float16", "float32", "float64", "uint8"]),
    asking=st.integers(0, 60),
)
def test_any_shape_gives_distinct_rows_by_distance(n, d, k, levels, dtype, asking):
    rng = np.random.default_rng(n + d)
    X = rng.integers(0, levels, (n, d)).astype(dtype)
    Q = rng.integers(0, levels, (asking, d)).astype(dtype) if asking else None
    k = min(k, n - (Q is None))
    found = neighbors.nearest(X, k, Q, how="approximate")
    assert all(len(set(row)) == k for row in found.indices.tolist())
    assert (np.diff(found.distances, axis=1) >= 0).all()
    A = X if Q is None else Q
    true = np.linalg.norm(A[:, None].astype(np.float64) - X[found.indices], axis=2)
    np.testing.assert_allclose(found.distances, true, rtol=1e-6)
    assert 0 <= found.recall <= 1
    if Q is None:
        assert not (found.indices == np.arange(n)[:, None]).any()
    tied = found.distances[:, 1:] == found.distances[:, :-1]
    assert (found.indices[:, 1:] > found.indices[:, :-1])[tied].all()
