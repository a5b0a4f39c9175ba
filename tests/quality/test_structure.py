"""Structure and separation: found where it is, not where it is not, by tests on rows that chose nothing."""

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import quality
from lowdim.relate.null_rows import exceedance, gaussian_like, permuted_columns


def blobs(seed, n=300, d=5, classes=10):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 10 * rng.normal(size=(classes, d))[rng.integers(classes, size=n)]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_permuted_columns_keep_values_and_lose_dependence(form, rng):
    A = rng.normal(size=(500, 1)) * np.ones(3) * (rng.random((500, 1)) < 0.5)
    P = permuted_columns(form(A), rng)
    P = P.toarray() if sp.issparse(P) else P
    np.testing.assert_array_equal(np.sort(P, axis=0), np.sort(A, axis=0))
    assert np.corrcoef(P.T)[0, 1] < 0.2


def test_gaussian_rows_have_the_covariance(rng):
    A = rng.normal(size=(3000, 3)) @ rng.normal(size=(3, 3)) + 5
    G = gaussian_like(A, rng)
    np.testing.assert_allclose(np.cov(G.T), np.cov(A.T), atol=0.1 * np.cov(A.T).max())
    np.testing.assert_allclose(G.mean(axis=0), A.mean(axis=0), atol=0.2)
    assert gaussian_like(A.astype(np.float32)[:20], rng).dtype == np.float32


def test_exceedance_is_students(rng):
    """A draw among equals has a uniform p-value."""
    p = np.array([exceedance(x[0], x[1:], lower=True) for x in rng.normal(size=(2000, 10))])
    assert abs((p < 0.05).mean() - 0.05) < 0.02
    assert abs((p < 0.5).mean() - 0.5) < 0.05
    assert exceedance(1.0, np.ones(5), lower=True) == 1
    assert exceedance(0.0, np.ones(5), lower=True) == 0


def test_noise_has_no_structure_and_blobs_have():
    noise = [
        quality.structure(np.random.default_rng(i).normal(size=(100, 4)), draws=8, random_state=i) for i in range(12)
    ]
    assert sum(found.p_value < 0.05 for found in noise) <= 3
    quiet = max(noise, key=lambda found: min(found.p_values.values()))
    assert str(quiet).startswith("The data have no more neighbourhood structure than columns shuffled")
    for seed in range(3):
        found = quality.structure(blobs(seed), draws=8)
        assert max(found.p_values.values()) < 1e-4
        assert "more neighbourhood structure than columns shuffled independently (p = below 0.0001) and" in str(found)


def test_correlated_gaussian_columns_are_told_from_islands(rng):
    found = quality.structure(rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(300, 6)))
    assert found.p_values["permuted"] < 0.01
    assert found.p_values["gaussian"] > 0.05
    assert "correlated columns alone explain it" in str(found)


def test_a_map_is_compared_by_its_loss_and_recall(rng):
    quick = {"max_iter": 100}
    found = quality.structure(blobs(0, 150), "tsne", parameters=quick, draws=3)
    assert set(found.observed) == {"distance", "dimension", "loss", "recall"}
    assert found.observed["loss"] < found.null["permuted"]["loss"].min()
    assert found.observed["recall"] > found.null["permuted"]["recall"].max()
    assert found.p_value < 0.05
    again = quality.structure(blobs(0, 150), lowdim.TSNE(**quick, random_state=0), draws=3, n_jobs=1)
    assert again.observed == found.observed
    assert "loss" not in quality.structure(rng.normal(size=(60, 3)), "pca", draws=2).observed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: quality.structure(X[:40]), "at least 50 samples"),
        (lambda X: quality.structure(X, "lda"), "that learns from X alone is needed; lda learns from labels"),
        (lambda X: quality.structure(X, lowdim.TSNE(metric="precomputed")), "got metric='precomputed'"),
        (lambda X: quality.structure(X, parameters={"a": 1}), "parameters need a method"),
        (lambda X: quality.structure(X, "tsne", parameters={"a": 1}), "TSNE takes"),
        (lambda X: quality.structure(X, draws=1), "draws must be an integer ≥ 2"),
        (lambda X: quality.structure(X, sample=10), "sample must be at least 50"),
        (lambda X: quality.separation(X, [0] * 60), "at least two groups are needed; got 1"),
        (lambda X: quality.separation(X, [0] * 59 + [1]), "groups of at least 8 rows are needed; 1 has 1"),
        (lambda X: quality.separation(X, [range(20), range(19, 40)]), "must not overlap; both hold row 19"),
        (lambda X: quality.separation(X, [range(20), range(50, 61)]), "row numbers from 0 to 59"),
        (lambda X: quality.separation(X, [0, 1, 2]), "one label for each of the 60 rows"),
    ],
)
def test_arguments_without_sense_are_refused(call, message, rng):
    with pytest.raises(ValueError, match=message):
        call(rng.normal(size=(60, 3)))


def test_a_cloud_cut_in_two_is_not_apart_and_two_clouds_are():
    """Halves of one cloud differ by construction, and so does what a lasso leaves out between them."""
    apart = {"cut": 0, "lassos": 0, "clouds": 0}
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4))
        y = rng.integers(2, size=200)
        groups = {
            "cut": X[:, 0] > 0,
            "lassos": np.where(X[:, 0] < -0.5, 0, np.where(X[:, 0] > 0.5, 1, -1)),
            "clouds": y,
        }
        for name, one in groups.items():
            shift = 6.0 * y[:, None] * [1, 0, 0, 0] if name == "clouds" else 0
            apart[name] += quality.separation(X + shift, one, random_state=seed)[0].p_value < 0.05
    assert apart["cut"] <= 3
    assert apart["lassos"] <= 3
    assert apart["clouds"] == 15


def test_groups_by_label_or_by_rows_and_of_any_form(rng):
    X = rng.normal(size=(120, 3))
    X[:60] += 8
    names = ["far"] * 60 + ["near"] * 50 + [None] * 10
    by_label, by_rows = quality.separation(X, names)[0], quality.separation(X, [range(60), range(60, 110)])[0]
    assert by_label.groups == ("far", "near")
    assert by_label.sizes == by_rows.sizes == (60, 50)
    assert by_label.across == by_rows.across == 0
    assert by_label.gap > 1
    assert by_label.expected == pytest.approx(2 * 60 * 50 / (110 * 109))
    assert str(by_label).startswith("far and near are apart in the data (0 of the held-out rows lie between")
    sparse = quality.separation(sp.csr_array(X), names)[0]
    assert (sparse.valley, sparse.peaks) == (by_label.valley, by_label.peaks)
    assert len(quality.separation(X, np.arange(120) % 4)) == 6
