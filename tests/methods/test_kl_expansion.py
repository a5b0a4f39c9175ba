import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from lowdim import PCA, KLExpansion


def averaged(X, y, priors=None):
    """Σ_c π_c S_c by its definition."""
    classes, counts = np.unique(y, return_counts=True)
    pi = counts / counts.sum() if priors is None else priors
    return sum(p * np.cov(X[y == c].T, bias=True) for p, c in zip(pi, classes, strict=True))


@pytest.mark.parametrize("priors", ["empirical", "uniform", [0.1, 0.2, 0.7]])
def test_directions_are_eigenvectors_of_the_averaged_covariance(priors):
    X, y = load_iris(return_X_y=True)
    X, y = X[20:], y[20:]
    kl = KLExpansion(priors=priors).fit(X, y)
    S = averaged(X, y, kl.priors_)
    U = kl.components_
    np.testing.assert_allclose(U @ U.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(U @ S @ U.T, np.diag(kl.eigenvalues_), atol=1e-12)
    assert (np.diff(kl.eigenvalues_) <= 0).all()
    Y = kl.transform(X)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Y.var(axis=0, ddof=1), kl.score_variance_, rtol=1e-9)


@pytest.mark.parametrize("labels", [None, np.full(1797, "one")])
def test_one_class_is_pca(labels):
    X = load_digits().data
    kl, pca = KLExpansion(20).fit(X, labels), PCA(20).fit(X)
    np.testing.assert_allclose(kl.components_, pca.components_, atol=1e-8)
    np.testing.assert_allclose(kl.score_variance_, pca.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(kl.eigenvalues_, pca.explained_variance_ * 1796 / 1797, rtol=1e-9)
    np.testing.assert_allclose(kl.transform(X), pca.transform(X), atol=1e-7)


@pytest.mark.parametrize("priors", ["empirical", "uniform"])
def test_both_sides_agree_on_wide_data(rng, priors):
    y = np.array([0] * 7 + [1] * 12 + [2] * 11)
    X = rng.normal(size=(30, 50)) * np.geomspace(5, 1, 50) + rng.normal(size=(3, 50))[y] * 5
    kl = KLExpansion(10, priors=priors).fit(X, y)
    values, vectors = np.linalg.eigh(averaged(X, y, kl.priors_))
    np.testing.assert_allclose(kl.eigenvalues_, values[::-1][:10], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(kl.components_ * vectors.T[::-1][:10], axis=1)), 1.0)
    np.testing.assert_allclose(kl.transform(X).var(axis=0, ddof=1), kl.score_variance_, rtol=1e-9)


def test_all_components_give_the_rows_back():
    X, y = load_digits(return_X_y=True)
    kl = KLExpansion().fit(X, y)
    np.testing.assert_allclose(kl.inverse_transform(kl.transform(X)), X, atol=1e-10)
    np.testing.assert_allclose(kl.components_ @ kl.components_.T, np.eye(64), atol=1e-10)
    few = KLExpansion(5).fit(X, y)
    back = few.inverse_transform(few.transform(X))
    np.testing.assert_allclose(few.reconstruction_error(X), np.square(X - back).sum(axis=1), rtol=1e-9)


def test_integers_give_the_directions_of_floats():
    X, y = load_digits(return_X_y=True)
    expected = KLExpansion(5).fit(X, y)
    kl = KLExpansion(5).fit(X.astype("uint8"), y)
    np.testing.assert_allclose(kl.components_, expected.components_, atol=1e-5)
    assert kl.components_.dtype == "float32"


def test_wrong_labels_and_priors_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="one label for each of the 150 rows"):
        KLExpansion().fit(X, y[:9])
    with pytest.raises(ValueError, match="add up to 1"):
        KLExpansion(priors=[0.5, 0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match=r"at most .* = 4; got 5"):
        KLExpansion(5).fit(X, y)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("offset", [1e7, -3e7])
def test_where_the_data_lie_does_not_matter(rng, wide, offset):
    y = np.arange(30) % 3
    X = np.rint(rng.normal(size=(30, 50 if wide else 5)) * np.linspace(200, 50, 50 if wide else 5)) + 40.0 * y[:, None]
    plain, moved = KLExpansion(4).fit(X, y), KLExpansion(4).fit(X + offset, y)
    np.testing.assert_allclose(moved.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(moved.components_, plain.components_, atol=1e-5)
    np.testing.assert_allclose(moved.score_variance_, plain.score_variance_, rtol=1e-5)


def test_values_whose_squares_overflow_are_told(rng):
    X = rng.normal(size=(20, 3)) * 1e200
    with pytest.raises(ValueError, match="variances must fit in float64; the squares of these values overflow. Scale"):
        KLExpansion().fit(X, np.arange(20) % 2)
