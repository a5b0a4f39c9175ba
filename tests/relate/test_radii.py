"""Local radii against their definition."""

import numpy as np
import pytest

from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.relate.radii import local_radii, log_radii, rows_radii


def related(X, k=7):
    near = nearest(X, k)
    return fuzzy_union(near.indices, memberships(near.distances).values), near


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_radii_are_weighted_means_of_squares(dtype, rng):
    X = rng.normal(size=(60, 4)).astype(dtype)
    graph, near = related(X)
    V = np.zeros((60, 60))
    V[np.repeat(np.arange(60), np.diff(graph.indptr)), graph.indices] = graph.values
    D = np.square(X[:, None].astype(float) - X[None]).sum(axis=2)
    found = local_radii(graph, near.indices, near.distances)
    np.testing.assert_allclose(found, (V * D).sum(axis=1) / V.sum(axis=1), rtol=1e-5)


def test_an_edge_that_no_list_holds_does_not_count(rng):
    graph, near = related(rng.normal(size=(30, 3)))
    last = local_radii(graph, near.indices[20:], near.distances[20:])  # edges among the first 20 rows have no length
    i = 25
    edges = slice(graph.indptr[i], graph.indptr[i + 1])
    square = {}
    for at in range(20, 30):
        for j, d in zip(near.indices[at], near.distances[at], strict=True):
            square[at, j] = square[j, at] = float(d) ** 2
    known = [(j, v) for j, v in zip(graph.indices[edges], graph.values[edges], strict=True) if (i, j) in square]
    expected = sum(v * square[i, j] for j, v in known) / sum(v for _, v in known)
    assert last[i - 20] == pytest.approx(expected, rel=1e-6)
    alone = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32)
    assert local_radii(alone, np.array([[0]], np.int32), np.array([[2.0]])).tolist() == [4.0]
    assert np.isnan(local_radii(alone, np.array([[1]], np.int32), np.array([[2.0]]))).all()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_unit_of_the_rows_shifts_all_radii_alike(scale, rng):
    X = rng.normal(size=(50, 3))
    X[:20] = X[0]  # equal rows have no radius of their own
    np.testing.assert_allclose(rows_radii(scale * X, 6), rows_radii(X, 6) + 2 * np.log(scale), atol=1e-4)


def test_radii_do_not_depend_on_the_number_of_threads(rng):
    from lowdim.work.thread_limit import using

    graph, near = related(rng.normal(size=(3000, 3)))
    found = []
    for threads in (1, 3):
        with using(threads):
            found.append(local_radii(graph, near.indices, near.distances))
    assert np.array_equal(*found)


def test_rows_without_distances_have_a_floor():
    radii, floor = log_radii(np.zeros(3))
    assert (radii == 0).all()
    assert floor == 1.0
    assert log_radii(np.array([4.0, 0.0, np.nan]))[1] == pytest.approx(4e-8)
