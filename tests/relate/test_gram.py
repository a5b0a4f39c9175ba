import numpy as np
import pytest
import scipy.sparse as sp

from lowdim.relate.gram import Centred


@pytest.fixture(params=["dense", "fortran", "sparse", "integers"])
def rows(request, rng):
    X = np.where(rng.random((15, 40)) < 0.4, rng.integers(1, 9, size=(15, 40)), 0)
    kinds = {"dense": X.astype(float), "fortran": np.asfortranarray(X, dtype=float), "integers": X}
    return X.astype(float), sp.csr_array(X.astype(float)) if request.param == "sparse" else kinds[request.param]


@pytest.mark.parametrize("weighted", [False, True])
def test_products_equal_those_of_the_centred_matrix(rows, weighted, rng):
    X, given = rows
    weights = rng.random(15) if weighted else None
    mean, scale = X.mean(axis=0), X.std(axis=0) + 1
    Z = (X - mean) / scale * (1 if weights is None else np.sqrt(weights)[:, None])
    centred = Centred(given, mean, scale, weights)
    U, V = rng.normal(size=(15, 3)), rng.normal(size=(40, 3))
    np.testing.assert_allclose(centred.gram(), Z @ Z.T, atol=1e-10)
    np.testing.assert_allclose(centred.pull(U), U.T @ Z, atol=1e-10)
    np.testing.assert_allclose(centred.scatter_operator()(V), Z.T @ (Z @ V), atol=1e-9)
    np.testing.assert_allclose(centred.dense(np.float64), Z, atol=1e-12)
