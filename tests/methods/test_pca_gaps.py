"""PCA of rows with gaps: the likelihood's maximum, by other ways to it, and what is said of gaps afterwards."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import PCA
from lowdim.compose import pca_with_gaps as em
from lowdim.relate.gaps import Frame, survey

TIGHT = {"missing": "em", "tol": 1e-12, "max_iter": 3000}


@pytest.fixture
def rows(rng):
    """60 rows of 7 features near a plane, far from the origin."""
    return rng.normal(size=(60, 2)) @ rng.normal(size=(2, 7)) * 3 + rng.normal(size=(60, 7)) + 50


@pytest.fixture
def holes(rows, rng):
    X = rows.copy()
    X[rng.random(X.shape) < 0.3] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 50
    return X


def by_completion(X, k, passes=4000):
    """The same maximum by another algorithm: gaps are latent too, and the model is PCA of the expected scatter."""
    known = ~np.isnan(X)
    mean, C = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(passes):
        full, extra = np.where(known, X, 0.0), np.zeros_like(C)
        for i, o in enumerate(known):
            m = ~o
            gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
            full[i, m] = mean[m] + gain @ (X[i, o] - mean[o])
            extra[np.ix_(m, m)] += C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)]
        mean = full.mean(axis=0)
        values, vectors = np.linalg.eigh((np.cov(full.T, bias=True) * len(X) + extra) / len(X))
        noise, U = values[:-k].mean(), vectors[:, -k:]
        new = (U * (values[-k:] - noise)) @ U.T + noise * np.eye(len(C))
        if np.abs(new - C).max() < 1e-11:
            break
        C = new
    return mean, C


def test_complete_rows_are_fitted_as_without_it(rows):
    plain, other = PCA(2).fit(rows), PCA(2, missing="em").fit(rows)
    assert other.solver_ == plain.solver_
    assert other.n_iter_ == 1
    np.testing.assert_array_equal(other.components_, plain.components_)
    np.testing.assert_array_equal(other.transform(rows), plain.transform(rows))
    np.testing.assert_array_equal(other.impute(rows), rows)


@pytest.mark.parametrize("standardize", [False, True])
def test_em_itself_ends_at_pca_where_nothing_is_missing(rows, standardize):
    plain = PCA(2, standardize=standardize).fit(rows)
    frame = Frame(plain.mean_ + 1.0, plain.scale_, False)
    found = em.learn(rows, frame, 2, None, seed=0, tol=1e-14, max_iter=5000)
    n = len(rows)
    np.testing.assert_allclose(found.values * n / (n - 1), plain.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(found.noise * n / (n - 1), plain.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(found.vectors @ plain.components_.T), np.eye(2), atol=1e-5)
    np.testing.assert_allclose(frame.shift + frame.scale * found.mean, plain.mean_, atol=1e-6)


def test_it_agrees_with_an_independent_alternating_solution(holes):
    pca = PCA(2, **TIGHT).fit(holes)
    mean, C = by_completion(holes, 2)
    n = len(holes)
    np.testing.assert_allclose(pca.mean_, mean, rtol=1e-6)
    np.testing.assert_allclose(pca.get_covariance() * (n - 1) / n, C, rtol=1e-4, atol=1e-5)


def test_the_loss_falls_and_is_the_likelihood_of_the_observed_values(holes):
    pca = PCA(2, **TIGHT).fit(holes)
    assert (np.diff(pca.loss_curve_) <= 1e-12).all()
    assert len(pca.loss_curve_) == pca.n_iter_
    n, C = len(holes), pca.get_covariance()
    for scale, close in (((n - 1) / n, pca.loss_curve_[-1]), (1.0, None)):
        found = []
        for x in holes:
            o = ~np.isnan(x)
            S, r = C[np.ix_(o, o)] * scale, x[o] - pca.mean_[o]
            found.append(-0.5 * (o.sum() * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + r @ np.linalg.solve(S, r)))
        if close is None:
            np.testing.assert_allclose(pca.score_samples(holes), found, rtol=1e-8)
        else:
            np.testing.assert_allclose(-np.sum(found) / (~np.isnan(holes)).sum(), close, rtol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
def test_gaps_are_filled_by_their_conditional_mean_and_deviation(holes, standardize):
    pca = PCA(2, standardize=standardize, **TIGHT).fit(holes)
    filled, errors = pca.impute(holes, return_std=True)
    C = pca.get_covariance()
    for x, row, error in zip(holes, filled, errors, strict=True):
        o, m = ~np.isnan(x), np.isnan(x)
        gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        np.testing.assert_array_equal(row[o], x[o])
        np.testing.assert_array_equal(error[o], 0)
        np.testing.assert_allclose(row[m], pca.mean_[m] + gain @ (x[o] - pca.mean_[o]), rtol=1e-8)
        expected = np.sqrt(np.diag(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)]))
        np.testing.assert_allclose(error[m], expected, rtol=1e-7)


def test_scores_are_those_of_the_filled_rows(holes):
    for whiten in (False, True):
        pca = PCA(2, standardize=True, whiten=whiten, missing="em").fit(holes)
        np.testing.assert_allclose(pca.transform(holes), pca.transform(pca.impute(holes)), atol=1e-9)


def test_the_error_of_a_row_is_that_of_its_observed_values(holes):
    pca = PCA(2, standardize=True, missing="em").fit(holes)
    apart = np.square(holes - pca.inverse_transform(pca.transform(holes)))
    np.testing.assert_allclose(pca.reconstruction_error(holes), np.nansum(apart, axis=1), rtol=1e-9)


def test_rows_of_low_rank_are_recovered(rng):
    truth = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)) + 5
    X = truth.copy()
    X[rng.random(X.shape) < 0.3] = np.nan
    seen = (~np.isnan(X)).sum(axis=1) > 4
    pca = PCA(3, missing="em", tol=1e-9, max_iter=2000).fit(X[seen])
    assert pca.explained_variance_ratio_.sum() > 1 - 1e-6
    np.testing.assert_allclose(pca.impute(X[seen]), truth[seen], atol=1e-2)


def test_standard_errors_are_those_that_occur(rng):
    truth = rng.normal(size=(3000, 3)) @ rng.normal(size=(3, 10)) + 0.5 * rng.normal(size=(3000, 10))
    X = truth.copy()
    X[rng.random(X.shape) < 0.2] = np.nan
    X = np.where(np.isnan(X).all(axis=1, keepdims=True), 0.0, X)
    filled, errors = PCA(3, missing="em").fit(X).impute(X, return_std=True)
    gaps = np.isnan(X)
    ratio = (truth - filled)[gaps] / errors[gaps]
    assert 0.95 < ratio.std() < 1.05
    assert abs(ratio.mean()) < 0.05


def test_weights_are_repetitions(holes, rng):
    weights = rng.integers(0, 4, len(holes)).astype(float)
    once = PCA(2, **TIGHT).fit(holes, sample_weight=weights)
    often = PCA(2, **TIGHT).fit(np.repeat(holes, weights.astype(int), axis=0))
    np.testing.assert_allclose(once.get_covariance(), often.get_covariance(), rtol=1e-4)
    np.testing.assert_allclose(once.mean_, often.mean_, rtol=1e-6)


def test_zeros_are_gaps_of_sparse_and_dense_rows(holes):
    with_zeros = np.nan_to_num(holes)
    nan = PCA(2, missing="em", tol=1e-12, max_iter=4000).fit(holes)
    for X in (with_zeros, sp.csr_array(with_zeros), sp.csr_array(holes)):
        other = PCA(2, missing="em_zeros", tol=1e-12, max_iter=4000).fit(X)
        np.testing.assert_allclose(other.get_covariance(), nan.get_covariance(), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(other.transform(X), nan.transform(holes), rtol=1e-3, atol=1e-2)
        np.testing.assert_allclose(other.impute(X), nan.impute(holes), rtol=1e-3)
        np.testing.assert_allclose(other.score_samples(X), nan.score_samples(holes), rtol=1e-3)
    stored = sp.csr_array(with_zeros)
    stored.data[:3] = np.nan
    expected = holes.copy()
    expected[np.isnan(stored.toarray())] = np.nan
    assert PCA(2, missing="em_zeros").fit(stored).transform(stored).shape == (60, 2)
    keep = PCA(2, missing="em").fit(stored)  # other zeros are zeros
    np.testing.assert_allclose(keep.mean_, PCA(2, missing="em").fit(stored.toarray()).mean_)


@pytest.mark.parametrize("shape", [(20, 40), (40, 20)])
def test_wide_rows_and_precision(shape, rng):
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) * 2 + 0.3 * rng.normal(size=shape) + 4
    X[rng.random(shape) < 0.2] = np.nan
    double = PCA(2, **TIGHT).fit(X)
    single = PCA(2, missing="em", tol=1e-7, max_iter=2000).fit(X.astype(np.float32))
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.explained_variance_, double.explained_variance_, rtol=2e-2)
    np.testing.assert_allclose(single.impute(X.astype(np.float32)), double.impute(X), atol=0.1)


def test_the_same_bits_for_any_number_of_threads_and_order(rng):
    X = rng.normal(size=(3000, 2)) @ rng.normal(size=(2, 150)) + rng.normal(size=(3000, 150))
    X[rng.random(X.shape) < 0.2] = np.nan
    one, two = (PCA(3, missing="em", n_jobs=j).fit(X) for j in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.transform(X), two.transform(np.asfortranarray(X)))


def test_a_file_is_read_block_by_block(holes, tmp_path):
    np.save(tmp_path / "rows.npy", holes)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    found = PCA(2, missing="em").fit(mapped)
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(found.components_, PCA(2, missing="em").fit(holes).components_)


def test_chunks_come_near_the_fit_of_all_rows(rng):
    X = rng.normal(size=(4000, 3)) @ rng.normal(size=(3, 10)) * 2 + rng.normal(size=(4000, 10)) + 20
    X[rng.random(X.shape) < 0.3] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 20
    whole, parts = PCA(3, missing="em", tol=1e-8).fit(X), PCA(3, missing="em")
    for start in range(0, 4000, 400):
        parts.partial_fit(X[start : start + 400])
    assert parts.n_samples_ == 4000
    np.testing.assert_allclose(parts.get_covariance(), whole.get_covariance(), atol=0.02 * whole.get_covariance().max())
    first = PCA(3, missing="em").fit(X[:400])
    apart = [np.abs(pca.get_covariance() - whole.get_covariance()).max() for pca in (parts, first)]
    assert apart[0] < apart[1] / 5
    assert parts.score(X) > first.score(X)


def test_a_saved_model_fills_gaps(holes, tmp_path):
    pca = PCA(2, missing="em").fit(holes)
    pca.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.impute(holes), pca.impute(holes))
    np.testing.assert_array_equal(again.loss_curve_, pca.loss_curve_)


def test_tables_keep_their_names(holes):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(holes, columns=list("abcdefg"))
    found = PCA(2, missing="em").set_output(transform="pandas").fit(table)
    np.testing.assert_allclose(found.transform(table).to_numpy(), PCA(2, missing="em").fit(holes).transform(holes))


def test_what_cannot_be_learnt_is_named_before_work(holes):
    with pytest.raises(ValueError, match="must be finite; got NaN"):
        PCA(2).fit(holes)
    X = holes.copy()
    X[:, 3] = np.nan
    with pytest.raises(
        ValueError, match=r"every column must have an observed value; got none in 1 of 7, the first is 3"
    ):
        PCA(2, missing="em").fit(X)
    X = holes.copy()
    X[5] = np.nan
    with pytest.raises(ValueError, match=r"every row must have an observed value; got none in row 5"):
        PCA(2, missing="em").fit(X)
    with pytest.raises(ValueError, match="in row 5"):
        PCA(2, missing="em").fit(holes).transform(X)
    X = holes.copy()
    X[4, 2] = np.inf
    with pytest.raises(ValueError, match="infinity at row 4, column 2"):
        PCA(2, missing="em").fit(X)
    with pytest.raises(ValueError, match=r"must be at least 1 and below min\(n_samples, n_features\) = 7"):
        PCA(7, missing="em").fit(holes)
    with pytest.raises(ValueError, match=r"n_components must be a number or None; got 0\.9"):
        PCA(0.9, missing="em").fit(holes)
    with pytest.raises(ValueError, match="Set missing='em'"):
        PCA(2).fit(np.nan_to_num(holes)).impute(holes)
    with pytest.warns(UserWarning, match="max_iter=2 passes ended before"):
        PCA(2, missing="em", tol=1e-14, max_iter=2).fit(holes)


def test_survey_sees_columns_that_vary_little_about_a_large_mean(rng):
    X = 1e6 + 1e-2 * rng.normal(size=(500, 3))
    X[::3, 1] = np.nan
    found = survey(X, False)
    np.testing.assert_allclose(found.variance, np.nanvar(X, axis=0), rtol=1e-6)
    assert found.gaps == np.isnan(X).sum()


def test_pixels_with_gaps_share_one_unit(rng):
    pixels = rng.integers(0, 17, size=(100, 64)) / 16
    pixels[:, :4] *= 1e-3
    pixels[rng.random(pixels.shape) < 0.3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCA(2, missing="em").fit(pixels)
