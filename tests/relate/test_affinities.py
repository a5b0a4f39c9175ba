"""Affinities from neighbours."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim.relate.affinities import affinities, likelihoods, neighbors_for
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
