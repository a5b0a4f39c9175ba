"""Truncated SVD: its identities, its solvers against each other and against scikit-learn, and PCA."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD as Theirs

import lowdim
from lowdim import PCA, TruncatedSVD

SOLVERS = ["auto", "covariance", "gram", "svd", "randomized"]


@pytest.fixture
def rows(rng):
    return rng.normal(size=(120, 15)) @ np.diag(0.8 ** np.arange(15)) + rng.normal(size=15)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_every_solver_finds_the_singular_vectors(solver, form, rows):
    found = TruncatedSVD(4, svd_solver=solver, random_state=0).fit(form(rows))
    _, s, V = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(found.singular_values_, s[:4], rtol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(found.components_ * V[:4], axis=1)), 1, rtol=1e-8)
    np.testing.assert_allclose(found.transform(form(rows)), rows @ found.components_.T, atol=1e-9)


def test_it_is_that_of_scikit_learn(rows):
    ours, theirs = TruncatedSVD(5).fit(rows), Theirs(5, algorithm="arpack").fit(rows)
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7)
    np.testing.assert_allclose(np.abs(ours.transform(rows)), np.abs(theirs.transform(rows)), atol=1e-7)


def test_of_centred_rows_it_is_pca(rows):
    centred = rows - rows.mean(axis=0)
    ours, pca = TruncatedSVD(3).fit(centred), PCA(3).fit(rows)
    np.testing.assert_allclose(ours.components_, pca.components_, atol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_)


def test_no_matrix_of_the_rank_is_nearer(rows, rng):
    found = TruncatedSVD(3).fit(rows)
    back = found.inverse_transform(found.transform(rows))
    error = np.square(rows - back).sum()
    s = np.linalg.svd(rows, compute_uv=False)
    assert error == pytest.approx(np.square(s[3:]).sum())
    np.testing.assert_allclose(found.reconstruction_error(rows).sum(), error)
    other = np.linalg.qr(rng.normal(size=(15, 3)))[0]
    assert np.square(rows - rows @ other @ other.T).sum() > error


def test_zeros_stay_zeros():
    X = sp.random_array((300, 80), density=0.05, random_state=0, format="csr")
    found = TruncatedSVD(5, svd_solver="randomized", random_state=0).fit(X)
    np.testing.assert_allclose(found.transform(sp.csr_array((2, 80))), 0)
    np.testing.assert_allclose(found.singular_values_, np.linalg.svd(X.toarray(), compute_uv=False)[:5], rtol=1e-6)


def test_precision_and_files(rows, tmp_path):
    single = TruncatedSVD(3).fit(rows.astype(np.float32))
    assert single.components_.dtype == single.transform(rows.astype(np.float32)).dtype == np.float32
    single.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(rows), single.transform(rows))


def test_what_cannot_be_fitted_is_named(rows):
    with pytest.raises(ValueError, match="n_components"):
        TruncatedSVD(16).fit(rows)
    with pytest.raises(ValueError, match="must be finite"):
        TruncatedSVD(2).fit(np.where(rows > 2, np.nan, rows))


def test_rows_of_lower_rank_have_singular_values_of_zero(rng):
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 6))
    found = TruncatedSVD(4).fit(X)
    np.testing.assert_allclose(found.singular_values_[2:], 0, atol=1e-6)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(4), atol=1e-8)
