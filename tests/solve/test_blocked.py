"""Cholesky factors block by block against LAPACK."""

import numpy as np
import pytest

from lowdim.solve import blocked_cholesky


@pytest.mark.parametrize("n", [1, 7, 16, 40])
def test_factor_and_solution_are_those_of_lapack(n, monkeypatch):
    monkeypatch.setattr(blocked_cholesky, "_BLOCK", 8)
    rng = np.random.default_rng(n)
    Z = rng.normal(size=(n, n + 3))
    A = Z @ Z.T
    L, X = A.copy(), rng.normal(size=(n, 3))
    blocked_cholesky.factorise(L)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(A @ blocked_cholesky.solve_by(L, X), X, atol=1e-6)


def test_what_is_not_definite_is_refused(monkeypatch):
    monkeypatch.setattr(blocked_cholesky, "_BLOCK", 2)
    with pytest.raises(np.linalg.LinAlgError):
        blocked_cholesky.factorise(np.diag([1.0, 1.0, 1.0, -1.0]))
