"""Affinities from neighbours."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim.relate.affinities import affinities, likelihoods, neighbors_for
from lowdim.relate.duplicates import first_equal, match
from lowdim.relate.neighbors import nearest


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_affinities_are_a_symmetric_distribution(metric, rng):
    found = nearest(rng.normal(size=(300, 5)), 60, metric=metric)
    P = affinities(found.indices, likelihoods(found.distances, [20.0])[0])
    A = sp.csr_array((P.values.astype(float), P.indices, P.indptr), shape=(300, 300))
    assert abs(A - A.T).max() == 0
    np.testing.assert_allclose(A.sum(), 1, rtol=1e-6)
    assert (A.diagonal() == 0).all()


def test_as_many_neighbours_as_there_are():
    assert neighbors_for(30, 10**6) == 90
    assert neighbors_for(30, 2) == 1
    assert neighbors_for(1.5, 100) == 5


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_equal_rows_are_found(form, dtype, rng):
    X = rng.integers(0, 3, (200, 4)).astype(dtype)
    expected = [next(j for j in range(200) if (X[j] == X[i]).all()) for i in range(200)]
    np.testing.assert_array_equal(first_equal(form(X)), expected)
    Q = rng.integers(0, 4, (50, 4)).astype(dtype)
    expected = [next((j for j in range(200) if (X[j] == q).all()), -1) for q in Q]
    np.testing.assert_array_equal(match(form(X), form(Q)), expected)


def test_minus_zero_is_zero():
    np.testing.assert_array_equal(first_equal(np.array([[0.0, 1.0], [-0.0, 1.0]])), [0, 0])
