import numpy as np
import pytest

from lowdim.solve import cholesky
from lowdim.solve.cholesky import nystroem, pivoted_cholesky


def decaying_gram(n=300, rate=0.9, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    return (Q * rate ** np.arange(n)) @ Q.T


def factor(K, uniform=False, **options):
    find = nystroem if uniform else pivoted_cholesky
    return find(lambda S: K[S].copy(), np.diag(K).copy(), **{"seed": 0, **options})


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
    np.testing.assert_allclose(low.dual(np.eye(40)).T @ K[S], F, atol=10 * tol)


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


@pytest.mark.parametrize("uniform", [False, True])
def test_a_matrix_of_zeros_has_a_factor_of_zeros(uniform):
    low = factor(np.zeros((5, 5), np.float32), uniform, rank=3, tol=0.1)
    assert low.factor.dtype == np.float32
    assert not low.factor.any()
    assert not low.dual(low.eigenpairs(2)[1]).any()
    assert low.error == 0


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


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("rank", [300, 600])
def test_float32_never_takes_rounding_for_a_direction(uniform, gamma, rank):
    X = np.random.default_rng(0).normal(size=(600, 5))
    K = np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))
    low = factor(K.astype(np.float32), uniform, rank=rank, tol=0.1)
    F = low.factor.astype(float)
    assert np.linalg.eigvalsh(K - F.T @ F)[0] > -5e-4  # of 600
    assert low.error == pytest.approx(np.trace(K - F.T @ F) / len(K), abs=1e-5)
    assert 0 < low.error < 0.03


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_indefinite_matrices_are_refused(uniform, dtype, rng):
    X = rng.normal(size=(200, 5))
    K = np.abs(np.tanh(0.5 * X @ X.T + 0.1)).astype(dtype)
    with pytest.raises(ValueError, match=r"needs a positive semidefinite kernel; got .*Use approximation=None"):
        factor(K, uniform, rank=100, tol=0.1)


def test_a_diagonal_that_the_rows_do_not_have_ends_the_search(rng):
    X = rng.normal(size=(100, 3))
    K = X @ X.T
    low = pivoted_cholesky(lambda S: K[S].copy(), np.diag(K) + 0.1, rank=50, tol=0.1, seed=0)
    assert len(low.pivots) == 3


@pytest.mark.parametrize("uniform", [False, True])
def test_a_search_by_tolerance_counts_all_rows_against_the_memory(uniform, monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "7M")  # 458 rows of 2,000 numbers, 256 of them to work with
    with pytest.raises(MemoryError, match=r"A factor of rank 2\d\d needs .*Raise tol, or pass a smaller rank="):
        factor(np.eye(2000), uniform, rank=None, tol=0.01)
