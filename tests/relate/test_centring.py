import numpy as np
import pytest

from lowdim.relate.centring import CentredProduct, centre, centre_new, gram_means


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(700, 5)) + 3  # more than one block of rows
    return X @ X.T


def by_projector(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_in_place_and_in_products_are_the_projector(gram, dtype, rng):
    expected, K, V = by_projector(gram), gram.astype(dtype), rng.normal(size=(700, 4))
    apply = CentredProduct(lambda V: K @ V.astype(dtype))
    scale = np.abs(gram).max() * (3e-6 if dtype == "float32" else 1e-13)
    np.testing.assert_allclose(apply(V), expected @ V, atol=100 * scale)
    np.testing.assert_allclose(apply(V), expected @ V, atol=100 * scale)  # also when the means are known
    np.testing.assert_allclose(apply.means.rows, gram.mean(axis=1), atol=scale)
    means = centre(K)
    assert K.dtype == dtype
    np.testing.assert_allclose(K, expected, atol=scale)
    np.testing.assert_allclose(means.rows, gram.mean(axis=1), atol=scale)
    assert means.total == pytest.approx(gram.mean(), rel=1e-5)


def test_new_rows_are_centred_with_the_training_means(rng):
    X, Z = rng.normal(size=(40, 3)) + 5, rng.normal(size=(7, 3))
    K = Z @ X.T
    centre_new(K, gram_means(X @ X.T))
    np.testing.assert_allclose(K, (Z - X.mean(axis=0)) @ (X - X.mean(axis=0)).T, atol=1e-10)


def test_overflow_is_named():
    with pytest.raises(ValueError, match=r"must be finite; got NaN or infinity.*Scale the data"):
        centre(np.array([[1.0, np.inf], [np.inf, 1.0]]))
    with pytest.raises(ValueError, match="must be finite"):
        CentredProduct(lambda V: V * np.nan)(np.eye(3))
