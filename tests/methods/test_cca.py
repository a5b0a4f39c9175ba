import numpy as np
import pytest
from sklearn.cross_decomposition import CCA as Theirs  # noqa: N811
from sklearn.datasets import load_iris, load_linnerud

import lowdim
from lowdim import CCA, LDA


def related(rng, n=300, d=6, e=4):
    Z = rng.normal(size=(n, 3))
    X = Z @ rng.normal(size=(3, d)) + rng.normal(size=(n, d))
    Y = Z @ rng.normal(size=(3, e)) + rng.normal(size=(n, e))
    return X * np.geomspace(1, 100, d), Y + 5.0


def test_scores_have_unit_variance_and_the_correlations_told(rng):
    X, Y = related(rng)
    cca = CCA().fit(X, Y)
    A, B = cca.transform(X, Y)
    n = len(X)
    np.testing.assert_allclose(A.T @ A / n, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(B.T @ B / n, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(A.T @ B / n, np.diag(cca.correlations_), atol=1e-9)
    assert (np.diff(cca.correlations_) <= 0).all()
    np.testing.assert_array_equal(cca.transform(X), A)


def test_equals_the_singular_values_of_orthonormal_bases(rng):
    X, Y = related(rng)
    bases = [np.linalg.qr(A - A.mean(axis=0))[0] for A in (X, Y)]
    expected = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    np.testing.assert_allclose(CCA().fit(X, Y).correlations_, expected, atol=1e-10)


def test_equals_scikit_learn(rng):
    X, Y = load_linnerud(return_X_y=True)
    theirs = Theirs(1, max_iter=5000, tol=1e-12).fit(X, Y)
    a, b = theirs.transform(X, Y)
    expected = np.corrcoef(a[:, 0], b[:, 0])[0, 1]
    cca = CCA().fit(X, Y)
    assert cca.correlations_[0] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(abs(np.corrcoef(cca.transform(X)[:, 0], a[:, 0])[0, 1]), 1.0, rtol=1e-6)


def test_one_column_is_multiple_correlation(rng):
    X, Y = related(rng)
    y = Y[:, 0]
    fitted = np.column_stack([np.ones(len(X)), X])
    prediction = fitted @ np.linalg.lstsq(fitted, y, rcond=None)[0]
    cca = CCA().fit(X, y)
    assert cca.n_components_ == 1
    np.testing.assert_array_equal(CCA().fit(X, Y[:, :1]).components_, cca.components_)  # and no warning
    assert cca.correlations_[0] == pytest.approx(np.corrcoef(prediction, y)[0, 1])


def test_labels_as_indicators_give_lda():
    X, y = load_iris(return_X_y=True)
    cca, lda = CCA().fit(X, np.eye(3)[y]), LDA().fit(X, y)
    assert cca.n_components_ == 2  # three indicators are dependent
    ratio = cca.correlations_**2 / (1 - cca.correlations_**2)
    np.testing.assert_allclose(ratio, lda.eigenvalues_, rtol=1e-8)
    cosine = np.abs(np.sum(cca.components_ * lda.components_, axis=1))
    lengths = np.linalg.norm(cca.components_, axis=1) * np.linalg.norm(lda.components_, axis=1)
    np.testing.assert_allclose(cosine / lengths, 1.0)


def test_dependent_and_constant_columns_change_nothing(rng):
    X, Y = related(rng)
    more = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X)), X[:, 2]])
    np.testing.assert_allclose(CCA().fit(more, Y).correlations_, CCA().fit(X, Y).correlations_, atol=1e-9)


def test_ridge_lowers_what_noise_can_reach(rng):
    X, Y = rng.normal(size=(30, 20)), rng.normal(size=(30, 15))
    fresh = rng.normal(size=(500, 20)), rng.normal(size=(500, 15))
    with pytest.warns(UserWarning, match="CCA: .* got 20 and 15, so 6 of the correlations are 1"):
        plain = CCA(1).fit(X, Y)
    ridged = CCA(1, ridge=5.0).fit(X, Y)
    assert plain.correlations_[0] > 0.95 > ridged.correlations_[0]
    A, B = plain.transform(*fresh)
    assert abs(np.corrcoef(A[:, 0], B[:, 0])[0, 1]) < 0.3
    S = X.T @ X / 30 - np.outer(X.mean(0), X.mean(0)) + 5.0 * np.eye(20)
    w = ridged.components_[0]
    assert w @ S @ w == pytest.approx(1.0)


def test_saved_models_keep_both_views(rng, tmp_path):
    X, Y = related(rng)
    cca = CCA(2).fit(X, Y)
    cca.save(tmp_path / "cca.lowdim")
    again = lowdim.load(tmp_path / "cca.lowdim")
    for a, b in zip(cca.transform(X, Y), again.transform(X, Y), strict=True):
        np.testing.assert_array_equal(a, b)


def test_wrong_views_are_refused(rng):
    X, Y = related(rng)
    with pytest.raises(ValueError, match=r"at most min\(n_features, n_targets\) = 4; got 5"):
        CCA(5).fit(X, Y)
    with pytest.raises(ValueError, match="one value for each of the 300 rows"):
        CCA().fit(X, Y[1:])
    with pytest.raises(ValueError, match="second view, numbers"):
        CCA().fit(X, np.full(300, "a"))
    with pytest.raises(ValueError, match=r"the 4 columns that fit saw; got 3"):
        CCA().fit(X, Y).transform(X, Y[:, :3])
    with pytest.raises(ValueError, match="value for every row"):
        CCA().fit(X, np.where(Y > 8, np.nan, Y))


@pytest.mark.parametrize("scales", [(1e200, 1.0), (1.0, 1e200), (1e154, 1e154)])
def test_squares_that_overflow_are_refused_in_words(scales, rng):
    X, Y = rng.normal(size=(30, 3)) * scales[0], rng.normal(size=(30, 2)) * scales[1]
    with pytest.raises(ValueError, match="squares of these values overflow"):
        CCA(1).fit(X, Y)
