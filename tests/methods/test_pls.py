"""Partial least squares: its identities, scikit-learn's numbers, and what it refuses."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSCanonical as TheirCanonical
from sklearn.cross_decomposition import PLSRegression as TheirRegression
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.linear_model import LinearRegression

import lowdim
from lowdim import PLSCanonical, PLSRegression


def related(rng, n=200, d=8, e=5):
    hidden = rng.normal(size=(n, 3))
    X = hidden @ rng.normal(size=(3, d)) + rng.normal(size=(n, d)) + 10
    return X * np.arange(1, d + 1), hidden @ rng.normal(size=(3, e)) + rng.normal(size=(n, e)) - 5


def aligned(ours, theirs):
    """Our columns with the signs of theirs."""
    return ours * np.sign(np.sum(ours * theirs, axis=0))


KINDS = [(PLSRegression, TheirRegression), (PLSCanonical, TheirCanonical)]


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize(("ours", "theirs"), KINDS)
def test_it_is_that_of_scikit_learn_up_to_signs(ours, theirs, scale, rng):
    for X, Y in (related(rng), load_linnerud(return_X_y=True)):
        k = min(3, Y.shape[1])
        found = ours(k, scale=scale).fit(X, Y)
        their = theirs(k, scale=scale, tol=1e-14, max_iter=20_000).fit(X, Y)
        for name in ("x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_rotations_"):
            mine, reference = getattr(found, name), getattr(their, name)
            np.testing.assert_allclose(aligned(mine, reference), reference, rtol=1e-4, atol=1e-6, err_msg=name)
        for mine, reference in zip(found.transform(X, Y), their.transform(X, Y), strict=True):
            np.testing.assert_allclose(aligned(mine, reference), reference, rtol=1e-4, atol=1e-5)
        if ours is PLSRegression:
            np.testing.assert_allclose(found.coef_, their.coef_, rtol=1e-5, atol=1e-9)
            np.testing.assert_allclose(found.intercept_, their.intercept_)
            np.testing.assert_allclose(found.predict(X), their.predict(X), rtol=1e-6)
            assert found.score(X, Y) == pytest.approx(their.score(X, Y))


@pytest.mark.parametrize("kind", [PLSRegression, PLSCanonical])
def test_scores_are_uncorrelated_and_weights_maximise_the_covariance(kind, rng):
    X, Y = related(rng)
    found = kind(4, scale=False).fit(X, Y)
    T, U = found.transform(X, Y)
    S = np.cov(T.T)
    np.testing.assert_allclose(S, np.diag(np.diag(S)), atol=1e-8 * S.max())
    np.testing.assert_allclose(np.linalg.norm(found.x_weights_, axis=0), 1)
    np.testing.assert_allclose(found.x_weights_.T @ found.x_weights_, np.eye(4), atol=1e-8)
    C = (X - X.mean(0)).T @ (Y - Y.mean(0))
    left, s, right = np.linalg.svd(C)
    np.testing.assert_allclose(np.abs(left[:, 0] @ found.x_weights_[:, 0]), 1)
    if kind is PLSCanonical:
        S = np.cov(U.T)
        np.testing.assert_allclose(S, np.diag(np.diag(S)), atol=1e-8 * S.max())
        assert T[:, 0] @ U[:, 0] == pytest.approx(s[0])
        np.testing.assert_allclose(np.abs(right[0] @ found.y_weights_[:, 0]), 1)


def test_all_components_give_least_squares(rng):
    X, Y = related(rng)
    found = PLSRegression(8).fit(X, Y)
    np.testing.assert_allclose(found.predict(X), LinearRegression().fit(X, Y).predict(X), rtol=1e-6)
    np.testing.assert_allclose(found.inverse_transform(found.transform(X)), X, rtol=1e-6)
    assert found.x_explained_variance_ratio_.sum() == pytest.approx(1)
    assert found.y_explained_variance_ratio_.sum() == pytest.approx(
        1 - np.sum(((Y - found.predict(X)) / Y.std(0)) ** 2) / Y.size
    )


def test_one_component_of_one_target_is_the_covariances(rng):
    X, Y = related(rng)
    y = Y[:, 0]
    found = PLSRegression(1).fit(X, y)
    w = np.cov(((X - X.mean(0)) / X.std(0)).T, y)[-1, :-1]
    np.testing.assert_allclose(np.abs(found.x_weights_[:, 0]), np.abs(w / np.linalg.norm(w)))
    assert found.predict(X).shape == y.shape
    assert PLSRegression(1).fit(X, y[:, None]).predict(X).shape == (200, 1)


def test_more_features_than_rows_predict_new_rows(rng):
    hidden = rng.normal(size=(600, 2))
    X = hidden @ rng.normal(size=(2, 200)) + 0.5 * rng.normal(size=(600, 200))
    y = hidden[:, 0]
    found = PLSRegression(2).fit(X[:40], y[:40])
    assert found.score(X[40:], y[40:]) > 0.9
    reference = TheirRegression(2).fit(X[:40], y[:40])
    np.testing.assert_allclose(found.predict(X), reference.predict(X), atol=1e-6)


@pytest.mark.parametrize("kind", [PLSRegression, PLSCanonical])
def test_precision_names_and_files(kind, rng, tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y = related(rng)
    double = kind(2).fit(X, Y)
    single = kind(2).fit(X.astype(np.float32), Y.astype(np.float32))
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.components_, double.components_, rtol=1e-2, atol=1e-4)
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    out = kind(2).set_output(transform="pandas").fit(table, Y).transform(table)
    assert list(out.columns) == [f"{kind.__name__.lower()}{j}" for j in range(2)]
    double.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    for a, b in zip(again.transform(X, Y), double.transform(X, Y), strict=True):
        np.testing.assert_array_equal(a, b)
    if kind is PLSRegression:
        np.testing.assert_array_equal(again.predict(X), double.predict(X))


def test_constant_columns_change_nothing(rng):
    X, Y = related(rng)
    more = np.column_stack([X, np.full(200, 7.0)])
    np.testing.assert_allclose(PLSRegression(3).fit(more, Y).predict(more), PLSRegression(3).fit(X, Y).predict(X))


def test_what_cannot_be_fitted_is_named(rng):
    X, Y = related(rng)
    with pytest.raises(ValueError, match=r"at most min\(n_samples - 1, n_features\) = 8; got 9"):
        PLSRegression(9).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_targets\) = 5; got 6"):
        PLSCanonical(6).fit(X, Y)
    with pytest.raises(ValueError, match="X and y that vary together are needed"):
        PLSRegression(1).fit(np.ones((20, 3)), np.arange(20.0))
    with pytest.raises(ValueError, match="one value for each of the 200 rows"):
        PLSRegression(1).fit(X, Y[1:])
    flat = np.column_stack([X[:, 0], 2 * X[:, 0]])
    with pytest.warns(UserWarning, match="1 pairs explain all that can be explained; got n_components=2"):
        found = PLSRegression(2).fit(flat, Y)
    assert found.n_components_ == 1
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="inverse_transform needs 2 columns"):
        PLSRegression(2).fit(X, y).inverse_transform(X)
