import numpy as np
import pytest

from lowdim.solve import cholesky
from lowdim.solve.cholesky import pivoted_cholesky


def decaying_gram(n=300, rate=0.9, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    return (Q * rate ** np.arange(n)) @ Q.T


def factor(K, uniform=False, **options):
    return pivoted_cholesky(lambda S: K[S].copy(), np.diag(K).copy(), uniform=uniform, **{"seed": 0, **options})


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factor_is_nystroems_and_the_error_is_the_trace_left(uniform, dtype):
    K = decaying_gram()
    low = factor(K.astype(dtype), uniform, rank=40, tol=0.1)
    S, F = low.pivots, low.factor.astype(float)
    assert low.factor.dtype == dtype
    assert len(set(S.tolist())) == len(S) == 40
    nystroem = K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    tol = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(F.T @ F, nystroem, atol=tol)
    assert low.error == pytest.approx(np.trace(K - F.T @ F) / np.trace(K), abs=tol)
    np.testing.assert_allclose(np.tril(F[:, S], -1), 0, atol=tol)  # upper triangular at the pivots


@pytest.mark.parametrize("uniform", [False, True])
def test_a_tolerance_finds_the_rank(uniform):
    K = decaying_gram(rate=0.8)
    for tol in (0.1, 0.01, 1e-4):
        low = factor(K, uniform, rank=None, tol=tol)
        assert low.error <= tol
        assert len(low.pivots) < 200
    assert len(factor(K, rank=None, tol=0.1).pivots) < len(factor(K, rank=None, tol=1e-4).pivots)


def test_a_loose_tolerance_still_gives_as_many_as_asked_for():
    assert len(factor(decaying_gram(rate=0.5), rank=None, tol=0.9, least=12).pivots) >= 12


def test_random_pivots_are_near_the_best_rank_and_beat_uniform_ones_on_odd_data():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(950, 2)) * 0.01, rng.normal(size=(50, 2)) * 20])  # a crowd, and few far away
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    best = 1 - np.sort(np.linalg.eigvalsh(K))[::-1][:30].sum() / np.trace(K)
    chosen = [factor(K, rank=30, tol=0.1, seed=s).error for s in range(5)]
    uniform = [factor(K, True, rank=30, tol=0.1, seed=s).error for s in range(5)]
    assert max(chosen) < 3 * best + 0.01
    assert np.mean(chosen) < np.mean(uniform)


def test_it_ends_where_the_rank_does():
    X = np.random.default_rng(0).normal(size=(200, 3))
    low = factor(X @ X.T, rank=50, tol=0.1)
    assert len(low.pivots) == 3
    np.testing.assert_allclose(low.factor.T @ low.factor, X @ X.T, atol=1e-10)
    assert len(factor(np.zeros((5, 5)), rank=3, tol=0.1).pivots) == 0


def test_a_search_by_tolerance_has_an_end(monkeypatch):
    monkeypatch.setattr(cholesky, "MOST", 20)
    low = factor(np.eye(100), rank=None, tol=0.01)
    assert len(low.pivots) == 20
    assert low.error == pytest.approx(0.8)


def test_eigenpairs_and_dual_weights_are_those_of_the_low_rank_matrix():
    K = decaying_gram()
    low = factor(K, rank=30, tol=0.1)
    approx = low.factor.T @ low.factor
    H = np.eye(300) - 1 / 300
    values, V, scores, offset = low.eigenpairs(5)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(H @ approx @ H)[::-1][:5])
    np.testing.assert_allclose(scores.T @ scores, np.diag(values), atol=1e-12)
    np.testing.assert_allclose(K[:, low.pivots] @ low.dual(V) - offset, scores, atol=1e-10)


def test_same_seed_same_pivots_and_others_with_another():
    K = decaying_gram()
    np.testing.assert_array_equal(factor(K, rank=20, tol=0.1).pivots, factor(K, rank=20, tol=0.1).pivots)
    assert factor(K, rank=20, tol=0.1, seed=1).pivots.tolist() != factor(K, rank=20, tol=0.1).pivots.tolist()
