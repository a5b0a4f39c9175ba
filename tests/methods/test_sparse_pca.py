from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import ElasticNet

from lowdim import PCA, SparsePCA
from lowdim.solve import sparse_components


@pytest.fixture(name="wine")
def standardised_wine():
    X = load_wine().data
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("alpha", [0.0, 1e-9])
def test_without_a_penalty_it_is_pca(wine, alpha):
    sparse, pca = SparsePCA(3, alpha=alpha, ridge_alpha=1e-9, tol=1e-7).fit(wine), PCA(3).fit(wine)
    np.testing.assert_allclose(sparse.components_, pca.components_, atol=1e-5)
    np.testing.assert_allclose(sparse.explained_variance_, pca.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(sparse.transform(wine), pca.transform(wine), atol=1e-4)
    np.testing.assert_allclose(
        sparse.inverse_transform(sparse.transform(wine)), pca.inverse_transform(pca.transform(wine)), atol=1e-4
    )


def test_components_that_were_sparse_are_found(rng):
    """Two factors of four features each, and a third that is a mixture of both: the example of the paper."""
    V1, V2 = 17 * rng.normal(size=5000), np.sqrt(300) * rng.normal(size=5000)
    V3 = -0.3 * V1 + 0.925 * V2 + rng.normal(size=5000)
    X = np.column_stack([V1] * 4 + [V2] * 4 + [V3] * 2) + rng.normal(size=(5000, 10))
    found = SparsePCA(2, alpha=0.55, ridge_alpha=1.0).fit(X)
    used = {tuple(np.flatnonzero(row)) for row in found.components_}
    assert used <= {(0, 1, 2, 3), (4, 5, 6, 7), (4, 5, 6, 7, 8, 9)}
    assert len(used) == 2
    assert found.explained_variance_ratio_.sum() > 0.75


def test_each_regression_is_an_elastic_net(wine):
    S = np.cov(wine.T, bias=True)
    V = PCA(2).fit(wine).components_
    penalty, ridge = np.array([0.7, 0.4]), 0.3
    B = sparse_components.regressions(S, S + ridge * np.eye(13), V.T, V.T, penalty)
    for j in range(2):  # ‖z − X b‖²/n + ridge ‖b‖² + penalty ‖b‖_1 in the units of scikit-learn
        alpha = penalty[j] / 2 + ridge
        peer = ElasticNet(alpha=alpha, l1_ratio=penalty[j] / 2 / alpha, fit_intercept=False, tol=1e-12, max_iter=10**5)
        np.testing.assert_allclose(B[:, j], peer.fit(wine, wine @ V[j]).coef_, atol=1e-5)


def test_a_larger_penalty_leaves_fewer_loadings(wine):
    path = SparsePCA(2).path(wine)
    assert path.nonzeros.shape == (20, 2)
    assert (path.nonzeros[0] == 13).all()
    assert path.nonzeros[-1].sum() <= 4
    assert (np.diff(path.nonzeros.sum(axis=1)) <= 1).all()
    assert (np.diff(path.explained) < 0.01).all()
    assert path.explained[0] == pytest.approx(PCA(2).fit(wine).explained_variance_ratio_.sum())
    with pytest.raises(ValueError, match=r"alphas must be numbers in \[0, 1\)"):
        SparsePCA(2).path(wine, [0.2, 1.5])


def test_variances_of_correlated_scores_count_once(wine):
    sparse = SparsePCA(3, alpha=0.3).fit(wine)
    Y = sparse.transform(wine)
    R = np.linalg.qr(Y - Y.mean(axis=0))[1]
    np.testing.assert_allclose(sparse.explained_variance_, np.diag(R) ** 2 / (len(Y) - 1), rtol=1e-6)
    np.testing.assert_array_equal(sparse.n_nonzero_, (sparse.components_ != 0).sum(axis=1))
    np.testing.assert_allclose(np.linalg.norm(sparse.components_, axis=1), 1.0)


def test_dense_sparse_and_float32_rows_agree():
    X = load_digits().data[:, 20:36]
    models = [SparsePCA(2).fit(A) for A in (X, sp.csr_array(X), X.astype(np.float32))]
    for model in models[1:]:
        np.testing.assert_allclose(model.components_, models[0].components_, atol=1e-3)


def test_ranks_that_do_not_exist_are_refused(rng):
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\) = 4; got 5"):
        SparsePCA(5).fit(rng.normal(size=(9, 4)))
    with pytest.raises(ValueError, match="SparsePCA: rows of X must differ"):
        SparsePCA(1).fit(np.ones((9, 4)))


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_tensors_give_what_arrays_give(wine):
    import torch

    here, there = SparsePCA(2).fit(wine), SparsePCA(2).fit(torch.tensor(wine))
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-8)
    Y = there.transform(torch.tensor(wine))
    assert isinstance(Y, torch.Tensor)
    np.testing.assert_allclose(Y.numpy(), here.transform(wine), atol=1e-8)
