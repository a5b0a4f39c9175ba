"""Measures of distances against their formulas over all pairs."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from scipy.stats import pearsonr, spearmanr
from sklearn.isotonic import IsotonicRegression

from lowdim import PCA, data, quality
from lowdim.compose import metric_space
from lowdim.compose.metric_space import both
from lowdim.quality import distance_scores
from lowdim.quality.measure import Sample


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(90, 6)) * 2.0 ** -np.arange(6)
    return X, X[:, :2].copy()


def test_blocks_of_distances_have_one_size(pair, monkeypatch):
    X = both("a test", *pair, "euclidean")[0]
    expected = squareform(pdist(pair[0])) + np.diag(np.full(90, np.inf))
    monkeypatch.setattr(metric_space, "_STRIP_BYTES", 8 * 90 * 60)  # 60 rows
    for rows, size in ((None, 45), (np.arange(5, 70, 2), 33), (np.array([8]), 1)):
        sample, parts = Sample(90, rows), []
        for part, D in X.strips(sample, "distances"):
            np.testing.assert_allclose(D, expected[sample.where[part]], rtol=1e-12)
            parts.append(len(D))
        assert parts == [size] * (len(sample) // size)


def test_correlations_and_residual_variance(pair):
    d, e = (pdist(A) for A in pair)
    assert quality.shepard_correlation(*pair) == pytest.approx(spearmanr(d, e).statistic)
    assert quality.shepard_correlation(*pair, kind="pearson") == pytest.approx(pearsonr(d, e).statistic)
    assert quality.residual_variance(*pair) == pytest.approx(1 - pearsonr(d, e).statistic ** 2)


def test_stresses_are_their_formulas(pair):
    X, Y = pair
    d, e = pdist(X), pdist(Y)
    assert quality.stress(X, Y, scaled=False) == pytest.approx(np.sqrt(((d - e) ** 2).sum() / (d**2).sum()))
    assert quality.stress(X, Y, "sammon", scaled=False) == pytest.approx(((d - e) ** 2 / d).sum() / d.sum())
    alphas = np.linspace(0.5, 2, 3001)[:, None]
    best = np.sqrt((((d - alphas * e) ** 2).sum(axis=1) / (d**2).sum()).min())
    assert quality.stress(X, Y) == pytest.approx(best, rel=1e-5)
    best = (((d - alphas * e) ** 2 / d).sum(axis=1) / d.sum()).min()
    assert quality.stress(X, Y, "sammon") == pytest.approx(best, rel=1e-5)
    rising = IsotonicRegression().fit_transform(d, e)
    assert quality.stress(X, Y, "kruskal") == pytest.approx(np.sqrt(((e - rising) ** 2).sum() / (e**2).sum()))


def test_perfect_maps_and_units(pair, rng):
    X, Y = pair
    turned = X @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    for kind in ("normalised", "kruskal", "sammon"):
        assert quality.stress(X, turned, kind) == pytest.approx(0, abs=1e-6)
        assert quality.stress(X, 7 * Y, kind) == pytest.approx(quality.stress(X, Y, kind))
        assert 0 < quality.stress(X, Y, kind) < 1
    assert quality.stress(X, 7 * Y, scaled=False) > 1
    assert quality.shepard_correlation(X, turned) == pytest.approx(1)
    assert quality.residual_variance(X, turned) == pytest.approx(0, abs=1e-9)
    assert quality.shepard_correlation(X, turned**0) == 0  # a map of one point keeps no order
    assert quality.shepard_correlation(X, rng.normal(size=(90, 2))) == pytest.approx(0, abs=0.1)


def test_precomputed_and_sparse_data(pair):
    X, Y = pair
    for measure in (quality.shepard_correlation, quality.residual_variance, quality.stress):
        assert measure(squareform(pdist(X)), Y, metric="precomputed") == pytest.approx(measure(X, Y))
        assert measure(sp.csr_array(X), Y) == pytest.approx(measure(X, Y))
        sampled = measure(sp.csr_array(X), Y, sample=900)
        assert sampled == pytest.approx(measure(X, Y, sample=900))


def test_samples_of_pairs_are_near_and_state_their_error(rng):
    X = rng.normal(size=(800, 5))
    Y = X[:, :2]
    for measure in (quality.shepard_correlation, quality.residual_variance, quality.stress):
        whole, part = measure(X, Y), measure(X, Y, sample=20_000)
        assert (whole.error, whole.sampled, part.sampled) == (0, None, 20_000)
        assert 0 < part.error < 0.02
        assert abs(part - whole) < 4 * part.error
        assert measure(X, Y, sample=20_000, n_jobs=1) == part


def test_reconstruction_error_is_what_pca_leaves(decaying):
    pca = PCA(3).fit(decaying)
    back = pca.inverse_transform(pca.transform(decaying))
    error = quality.reconstruction_error(decaying, back)
    assert error == pytest.approx(pca.reconstruction_error(decaying).mean())
    share = 1 - PCA(12).fit(decaying).explained_variance_ratio_[:3].sum()
    assert quality.reconstruction_error(sp.csr_array(decaying), back, relative=True) == pytest.approx(share)


@pytest.mark.parametrize("m", [100, 400])
def test_standard_errors_are_those_of_repeated_samples(pair, m):
    X, Y = pair
    measures = [quality.shepard_correlation, quality.residual_variance, quality.stress]
    for measure in (*measures, partial(quality.stress, kind="kruskal"), partial(quality.stress, kind="sammon")):
        found = [measure(X, Y, sample=m, random_state=seed) for seed in range(60)]
        typical = np.mean([part.error**2 for part in found]) ** 0.5
        assert 0.6 < typical / np.std([float(part) for part in found]) < 1.6


def test_kruskals_stress_of_a_sample_is_low_by_less_than_its_error():
    X, _ = data.load("digits")
    X = X[::4]
    Y = PCA(2).fit_transform(X)
    found = [quality.stress(X, Y, "kruskal", sample=2000, random_state=seed) for seed in range(20)]
    low = quality.stress(X, Y, "kruskal", sample=None) - np.mean([float(part) for part in found])
    assert 0 < low < np.mean([part.error for part in found])


def test_samples_too_small_for_an_error_say_so(pair):
    assert np.isnan(quality.stress(*pair, sample=2).error)


def test_data_or_maps_that_do_not_vary(pair):
    X, Y = pair
    for kind in ("normalised", "kruskal", "sammon"):
        assert quality.stress(X, 0 * Y, kind) == 1
        assert quality.stress(0 * X, 0 * Y, kind) == 0
    corners = np.eye(90)  # all as far apart, up to rounding
    assert quality.residual_variance(corners, Y) == 1
    assert quality.shepard_correlation(corners, corners, kind="pearson") == 0
    with pytest.raises(ValueError, match="distinct rows are needed"):
        quality.reconstruction_error(0 * X + 0.1, X, relative=True)


def test_what_cannot_be_measured_is_told(pair):
    X, Y = pair
    with pytest.raises(ValueError, match="kind must be one of 'normalised', 'kruskal', 'sammon'; got 'kruskall'. Did"):
        quality.stress(X, Y, "kruskall")
    with pytest.raises(ValueError, match="X_back must have the 6 columns of X; got 2"):
        quality.reconstruction_error(X, Y)
    with pytest.raises(ValueError, match="X_back must have one row for each of the 90 rows of X; got 5"):
        quality.reconstruction_error(X, X[:5])
    with pytest.raises(ValueError, match="distinct rows are needed for relative=True"):
        quality.reconstruction_error(X * 0, X, relative=True)
    with pytest.raises(ValueError, match="at least 3 samples"):
        quality.stress(X[:2], Y[:2])


def test_all_pairs_side_by_side_are_refused_where_memory_lacks(pair, monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "100K")
    with pytest.raises(MemoryError, match=r"4,005 pairs needs .* Pass sample="):
        quality.shepard_correlation(*pair, sample=None)


def test_the_work_does_not_jump_with_the_number_of_rows(monkeypatch):
    looked = []
    monkeypatch.setattr(distance_scores, "spearman", lambda d, e: looked.append(len(d)) or 0.0)
    for n in (900, 1000, 1010, 3000, 3200):
        quality.shepard_correlation(np.arange(n)[:, None], np.arange(n)[:, None])
    most = [looked[i] for i in (0, 1)]
    assert most == [900 * 899 // 2, 1000 * 999 // 2]
    assert max(looked) == 500_000


def test_pairs_are_computed_once_for_all_measures(pair, monkeypatch):
    spaces = both("report", *pair, "euclidean")
    found = distance_scores.Pairs("report", *spaces, None, 0)
    made = []
    monkeypatch.setattr(found, "blocks", lambda: made.append(1) or distance_scores.Pairs.blocks(found))
    found.all()
    assert made == [1]


def test_stress_of_rows_that_are_all_equal_is_refused(rng):
    with pytest.raises(ValueError, match="distinct rows of X are needed"):
        quality.stress(np.zeros((5, 2)), rng.normal(size=(5, 2)), scaled=False)
