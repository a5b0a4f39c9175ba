from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import FactorAnalysis as Peer
from sklearn.exceptions import ConvergenceWarning

from lowdim import FactorAnalysis
from lowdim.solve.factors import ROTATIONS, orthogonal, rotated


@pytest.fixture
def modelled(rng):
    """Rows of two factors, each of which loads on four of eight features; noise of its own for each."""
    L = np.kron(np.eye(2), [1.0, 0.9, 0.8, 0.7])
    noise = np.linspace(0.1, 0.8, 8)
    X = rng.normal(size=(20_000, 2)) @ L + rng.normal(size=(20_000, 8)) * np.sqrt(noise) + 5
    return X, L, noise


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_the_model_that_made_the_rows_is_found(modelled, rotation):
    X, L, noise = modelled
    fa = FactorAnalysis(2, rotation=rotation).fit(X)
    np.testing.assert_allclose(fa.noise_variance_, noise, atol=0.03)
    loadings = fa.components_ if fa.components_[0, 0] > 0.5 else fa.components_[::-1]
    np.testing.assert_allclose(loadings, L, atol=0.04)
    np.testing.assert_allclose(fa.factor_correlations_, np.eye(2), atol=0.05)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_it_agrees_with_scikit_learn(k):
    X = load_wine().data
    X = X / X.std(axis=0)
    ours, peer = FactorAnalysis(k).fit(X), Peer(k, svd_method="lapack").fit(X)
    np.testing.assert_allclose(ours.noise_variance_, peer.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(ours.loglike_, peer.loglike_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(peer.components_), atol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(peer.transform(X)), atol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.get_covariance(), peer.get_covariance(), atol=1e-8)
    np.testing.assert_allclose(ours.get_precision(), peer.get_precision(), atol=1e-7)


@pytest.mark.parametrize("rotation", [None, *ROTATIONS])
def test_a_rotation_changes_neither_covariance_nor_likelihood(rotation):
    X = load_wine().data
    X = X / X.std(axis=0)
    fa, plain = FactorAnalysis(3, rotation=rotation).fit(X), FactorAnalysis(3).fit(X)
    np.testing.assert_allclose(fa.get_covariance(), plain.get_covariance(), atol=1e-8)
    assert fa.score(X) == pytest.approx(plain.score(X))
    density = multivariate_normal(fa.mean_, fa.get_covariance()).logpdf(X)
    np.testing.assert_allclose(fa.score_samples(X), density, rtol=1e-8)
    np.testing.assert_allclose(fa.get_covariance() @ fa.get_precision(), np.eye(13), atol=1e-8)
    np.testing.assert_allclose(np.diag(fa.factor_correlations_), 1.0)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_no_rotation_of_two_factors_is_simpler(rng, gamma):
    def criterion(B):
        return (B**4).sum() - gamma / B.shape[1] * np.square(np.square(B).sum(axis=1)).sum()

    L = rng.normal(size=(2, 9))
    found = orthogonal(L, gamma)
    turns = [np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) for a in np.linspace(0, np.pi, 400)]
    assert criterion(found) >= max(criterion(R @ L) for R in turns) - 1e-9


def test_promax_finds_correlated_factors(rng):
    L = np.kron(np.eye(2), [1.0, 0.9, 0.8, 0.7])
    F = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=50_000)
    X = F @ L + 0.3 * rng.normal(size=(50_000, 8))
    fa = FactorAnalysis(2, rotation="promax").fit(X)
    assert fa.factor_correlations_[0, 1] == pytest.approx(0.5, abs=0.1)
    assert np.abs(np.corrcoef(fa.transform(X).T, F.T)[:2, 2:]).max(axis=0).min() > 0.95
    assert rotated(L, "promax").correlations[0, 1] == pytest.approx(0.0, abs=1e-6)


def test_the_likelihood_never_falls():
    fa = FactorAnalysis(5, tol=1e-3).fit(load_wine().data)
    assert (np.diff(fa.loglike_) > -1e-6).all()


def test_rows_fewer_than_features_give_what_the_covariance_gives(rng):
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 40)) + rng.normal(size=(30, 40))
    wide = FactorAnalysis(3).fit(X)
    peer = Peer(3, svd_method="lapack").fit(X)
    np.testing.assert_allclose(wide.noise_variance_, peer.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(wide.loglike_, peer.loglike_, rtol=1e-9)


def test_sparse_rows_give_what_dense_rows_give(rng):
    X = rng.poisson(0.5, size=(500, 6)).astype(float)
    dense, sparse = (FactorAnalysis(2).fit(A) for A in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-8)


def test_float32_is_near_float64():
    X = load_digits().data[:, 10:14]
    single, double = (FactorAnalysis(1).fit(X.astype(dtype)) for dtype in ("float32", "float64"))
    np.testing.assert_allclose(single.noise_variance_, double.noise_variance_, rtol=1e-3)


def test_a_fit_that_has_not_settled_says_so():
    with pytest.warns(ConvergenceWarning, match="the log-likelihood still rose by .* in step 2, above tol"):
        FactorAnalysis(2, max_iter=2).fit(load_wine().data)


def test_ranks_that_do_not_exist_are_refused(rng):
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\) = 4; got 5"):
        FactorAnalysis(5).fit(rng.normal(size=(9, 4)))
    with pytest.raises(ValueError, match="FactorAnalysis: rows of X must differ"):
        FactorAnalysis(1).fit(np.ones((9, 4)))


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("shape", [(60, 8), (20, 40)])
def test_tensors_give_what_arrays_give(rng, shape):
    import torch

    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) + rng.normal(size=shape)
    here, there = FactorAnalysis(2).fit(X), FactorAnalysis(2).fit(torch.tensor(X))
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-7)
    F = there.transform(torch.tensor(X))
    assert isinstance(F, torch.Tensor)
    np.testing.assert_allclose(F.numpy(), here.transform(X), atol=1e-7)
    np.testing.assert_allclose(there.score_samples(torch.tensor(X)).numpy(), here.score_samples(X), rtol=1e-7)
