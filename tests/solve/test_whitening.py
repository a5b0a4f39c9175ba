"""Whitening of singular matrices: the pseudo-inverse, the rank, and the same by pivots as by eigenvectors."""

import numpy as np
import pytest

from lowdim.solve import discriminant
from lowdim.solve.discriminant import whiten


def of_rank(d, rank, smallest=1e-2, seed=0):
    rng = np.random.default_rng([seed, d, rank])
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0][:, :rank]
    return (Q * np.geomspace(1, smallest, rank)) @ Q.T


@pytest.mark.parametrize(("d", "rank"), [(1, 1), (5, 5), (6, 2), (40, 39), (40, 7), (60, 1)])
def test_whitening_gives_the_pseudo_inverse_and_the_rank(d, rank):
    S = of_rank(d, rank)
    P, _, found = whiten(S.copy(), 1e-8, scaled=False)
    assert found == rank
    expected = np.linalg.pinv(S, rcond=1e-8, hermitian=True)
    np.testing.assert_allclose(P @ P.T, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("scaled", [True, False])
def test_pivots_and_eigenvectors_agree(scaled, monkeypatch):
    S = of_rank(30, 24)
    pivots = whiten(S.copy(), 1e-8, how="range", scaled=scaled)
    monkeypatch.setattr(discriminant, "_by_pivots", lambda R, tol: None)
    vectors = whiten(S.copy(), 1e-8, how="range", scaled=scaled)
    assert pivots.rank == vectors.rank == 24
    np.testing.assert_allclose(pivots.P @ pivots.P.T, vectors.P @ vectors.P.T, rtol=1e-8, atol=1e-8)


def test_a_spectrum_without_a_gap_is_left_to_eigenvectors():
    S = of_rank(30, 30, smallest=1e-12)
    assert discriminant._by_pivots(S, 1e-6) is None
    P, how, rank = whiten(S.copy(), 1e-6, scaled=False)
    assert how == "range"
    assert rank == P.shape[1] == int((np.geomspace(1, 1e-12, 30) > 1e-6).sum())


def test_nothing_has_rank_0():
    assert whiten(np.zeros((4, 4)), 1e-8).rank == 0
