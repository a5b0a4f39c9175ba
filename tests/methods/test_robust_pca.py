from importlib.util import find_spec

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from lowdim import PCA, RobustPCA
from lowdim.solve import low_rank


@pytest.fixture(params=[(90, 60), (50, 130)])
def corrupted(rng, request):
    """Rows of rank three, a twentieth of whose entries are something else."""
    n, d = request.param
    L = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))
    S = np.where(rng.random((n, d)) < 0.05, 20 * rng.normal(size=(n, d)), 0.0)
    return L + S, L, S


def test_both_parts_are_recovered(corrupted):
    X, L, S = corrupted
    robust = RobustPCA(center=False).fit(X)
    assert robust.rank_ == 3
    np.testing.assert_allclose(robust.inverse_transform(robust.transform(X)), L, atol=1e-4 * np.abs(L).max())
    np.testing.assert_allclose(robust.outliers(X), S, atol=1e-3)
    assert robust.sparse_share_ == pytest.approx((S != 0).mean(), abs=0.02)
    assert robust.residual_ <= 1e-7
    np.testing.assert_allclose(robust.singular_values_, np.linalg.svd(L)[1][:3], rtol=1e-4)


def test_pca_is_led_astray_where_it_is_not(corrupted):
    X, L, _ = corrupted
    true = np.linalg.svd(L)[2][:3]
    errors = [
        np.linalg.norm(true - true @ model.components_.T @ model.components_)
        for model in (PCA(3).fit(X), RobustPCA(3, center=False).fit(X))
    ]
    assert errors[1] < 1e-4 < 0.1 < errors[0]


def test_the_parts_are_optimal(corrupted):
    """The multiplier is in the subdifferentials of both norms, at the solution of the algorithm."""
    X, *_ = corrupted
    n, d = X.shape
    weight = max(n, d) ** -0.5
    robust = RobustPCA(center=False, tol=1e-9).fit(X)
    U = robust.components_
    L = X @ np.zeros((d, d)) + robust.inverse_transform(robust.transform(X))
    S = X - L
    # ‖L‖_* + λ‖S‖_1 does not fall along random directions that keep the sum
    value = np.linalg.norm(L, "nuc") + weight * np.abs(S).sum()
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * (rng.normal(size=(n, len(U))) @ U + rng.normal(size=(n, d)) * (np.abs(S) > 0.1))
        assert np.linalg.norm(L + step, "nuc") + weight * np.abs(S - step).sum() >= value - 1e-6


def test_clean_rows_give_the_span_of_pca(rng):
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 30))
    robust, pca = RobustPCA(2, center=False, penalty=10.0).fit(X), PCA(2).fit(X - 0)
    singular = np.linalg.svd(X)[2][:2]
    np.testing.assert_allclose(np.linalg.svd(robust.components_ @ singular.T)[1], 1.0, atol=1e-6)
    assert robust.sparse_share_ == 0
    assert pca.components_.shape == robust.components_.shape


def test_scores_of_a_row_are_least_absolute_deviations(rng):
    U = np.linalg.qr(rng.normal(size=(20, 2)))[0].T
    X = rng.normal(size=(5, 2)) @ U + np.where(rng.random((5, 20)) < 0.2, 5 * rng.normal(size=(5, 20)), 0.0)
    X += 0.05 * rng.normal(size=X.shape)
    Y = low_rank.split_scores(X, U)
    for x, y in zip(X, Y, strict=True):
        cost = np.r_[np.zeros(2), np.ones(40)]
        best = linprog(
            cost, A_eq=np.hstack([U.T, np.eye(20), -np.eye(20)]), b_eq=x, bounds=[(None, None)] * 2 + [(0, None)] * 40
        )
        assert np.abs(x - y @ U).sum() <= best.fun * 1.01


def test_products_alone_give_what_all_eigenvalues_give(corrupted, monkeypatch):
    X, *_ = corrupted
    direct = low_rank.pursue(X, 0.1, 100, 1e-7)
    monkeypatch.setattr(low_rank, "_DIRECT", 10)
    krylov = low_rank.pursue(X, 0.1, 100, 1e-7)
    np.testing.assert_allclose(krylov.values, direct.values, rtol=1e-5)
    assert krylov.steps == direct.steps


def test_new_rows_are_split_as_those_of_the_fit(corrupted, rng):
    X, L, _ = corrupted
    robust = RobustPCA(center=False).fit(X)
    new = rng.normal(size=(4, 3)) @ np.linalg.svd(L)[2][:3]
    bad = new.copy()
    bad[:, 7] += 30
    found = robust.outliers(bad)
    np.testing.assert_allclose(found[:, 7], 30.0, atol=1e-2)
    np.testing.assert_allclose(robust.inverse_transform(robust.transform(bad)), new, atol=1e-2)


def test_a_fit_that_has_not_converged_says_so(corrupted):
    with pytest.warns(ConvergenceWarning, match="both parts miss .* after step 2, above tol"):
        RobustPCA(max_iter=2).fit(corrupted[0])


def test_ranks_that_do_not_exist_are_refused(rng):
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\) = 4; got 5"):
        RobustPCA(5).fit(rng.normal(size=(9, 4)))
    with pytest.raises(ValueError, match="RobustPCA: rows of X must differ from their median"):
        RobustPCA().fit(np.ones((9, 4)))


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_tensors_give_what_arrays_give(corrupted):
    import torch

    X = corrupted[0]
    here, there = RobustPCA().fit(X), RobustPCA().fit(torch.tensor(X))
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-6)
    Y = there.transform(torch.tensor(X))
    assert isinstance(Y, torch.Tensor)
    np.testing.assert_allclose(Y.numpy(), here.transform(X), atol=1e-5)
    assert isinstance(there.outliers(torch.tensor(X)), torch.Tensor)
