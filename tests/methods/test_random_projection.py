"""Random projections: how far distances change, what directions are like, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.random_projection import johnson_lindenstrauss_min_dim as theirs

import lowdim
from lowdim import GaussianRandomProjection, SparseRandomProjection, johnson_lindenstrauss_min_dim

KINDS = [GaussianRandomProjection, SparseRandomProjection]
each_kind = pytest.mark.parametrize("kind", KINDS)


def test_the_bound_is_that_of_scikit_learn():
    for n in (1, 2, 1000, 10**6):
        for eps in (0.05, 0.1, 0.5, 0.99):
            assert johnson_lindenstrauss_min_dim(n, eps=eps) == theirs(n, eps=eps)
    for wrong in (0.0, 1.0, -1):
        with pytest.raises(ValueError, match="eps must be between 0 and 1"):
            johnson_lindenstrauss_min_dim(10, eps=wrong)
    with pytest.raises(ValueError, match="n_samples must be 1 or more"):
        johnson_lindenstrauss_min_dim(0)


@each_kind
def test_the_bound_holds_for_all_pairs(kind, rng):
    X = rng.normal(size=(60, 3000))
    found = kind("auto", eps=0.4, random_state=0).fit(X)
    assert found.n_components_ == johnson_lindenstrauss_min_dim(60, eps=0.4) < 3000
    ratio = np.square(pdist(found.transform(X)) / pdist(X))
    assert 0.6 <= ratio.min() <= ratio.max() <= 1.4


@each_kind
def test_squared_lengths_are_right_on_average(kind, rng):
    x = rng.normal(size=(1, 400))
    lengths = [
        np.square(kind(50, random_state=seed).fit_transform(x.repeat(2, axis=0))[0]).sum() for seed in range(300)
    ]
    mean, true = np.mean(lengths), np.square(x).sum()
    assert abs(mean / true - 1) < 4 * np.sqrt(2 / 50 / 300)
    assert np.std(lengths) / true == pytest.approx(np.sqrt(2 / 50), rel=0.2)


def test_entries_have_the_variance_and_density_they_should(rng):
    X = rng.normal(size=(5, 900))
    R = GaussianRandomProjection(200, random_state=0).fit(X).components_
    assert R.var() == pytest.approx(1 / 200, rel=0.02)
    for density, expected in (("auto", 1 / 30), (1 / 3, 1 / 3), (1.0, 1.0), (1, 1.0)):
        found = SparseRandomProjection(200, density=density, random_state=0).fit(X)
        R = found.components_
        assert found.density_ == pytest.approx(expected)
        assert R.nnz / (200 * 900) == pytest.approx(expected, rel=0.05)
        np.testing.assert_allclose(np.abs(R.data), np.sqrt(1 / expected / 200))
        assert abs(np.sign(R.data).mean()) < 0.05


@each_kind
def test_rows_are_multiplied_whatever_their_form(kind, rng):
    X = rng.normal(size=(30, 200)) * (rng.random((30, 200)) < 0.2)
    found = kind(20, random_state=1).fit(X)
    R = found.components_.toarray() if sp.issparse(found.components_) else found.components_
    for form in (np.asarray, sp.csr_array, np.asfortranarray):
        np.testing.assert_allclose(found.transform(form(X)), X @ R.T, atol=1e-12)
    assert found.transform(X.astype(np.float32)).dtype == np.float32
    assert kind(20, random_state=1).fit(X.astype(np.float32)).components_.dtype == np.float32


@each_kind
def test_seeds_names_and_files(kind, rng, tmp_path):
    pd = pytest.importorskip("pandas")
    X = rng.normal(size=(30, 40))
    found = kind(5, random_state=3).fit(X)
    np.testing.assert_array_equal(found.transform(X), kind(5, random_state=3).fit_transform(X))
    assert np.abs(found.transform(X) - kind(5, random_state=4).fit_transform(X)).max() > 0.1
    found.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(X), found.transform(X))
    out = kind(5).set_output(transform="pandas").fit_transform(pd.DataFrame(X))
    assert list(out.columns) == [f"{kind.__name__.lower()}{j}" for j in range(5)]


@each_kind
def test_what_reduces_nothing_is_said(kind, rng):
    X = rng.normal(size=(100, 50))
    with pytest.raises(ValueError, match=r"100 rows need [\d,]+ components for eps=0\.1; got 50 features"):
        kind("auto").fit(X)
    with pytest.raises(ValueError, match=r"n_components must be at most n_features = 50; got 60"):
        kind(60).fit(X)
