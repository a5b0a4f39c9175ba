"""Smallest eigenpairs: every solver against LAPACK."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from lowdim import data
from lowdim.relate.neighbors import nearest
from lowdim.relate.weights import barycentric
from lowdim.solve import polynomials, smallest_eigenpairs, sparse_lu
from lowdim.solve.eigenpairs import warn_unless_converged


def matrix(X, k):
    n, near = len(X), nearest(X, k).indices.ravel()
    W = sp.csr_array((barycentric(X, np.arange(n + 1) * k, near, 1e-3), near, np.arange(n + 1) * k), shape=(n, n))
    return sp.csr_array(sp.eye_array(n) - W), int(np.argmax(np.bincount(near, minlength=n)))


def reference(B, k):
    n = B.shape[0]
    values, vectors = np.linalg.eigh((B.T @ B).toarray() + 10 * np.ones((n, n)) / n)
    return values[:k], vectors[:, :k]


CASES = {
    "sheet": lambda: matrix(data.load("swissroll", n_samples=600)[0], 10),
    "cloud": lambda: matrix(np.random.default_rng(0).normal(size=(600, 12)), 8),
}


# Polynomials alone are hopeless on a sheet, whose eigenvalues are 1e-10.
@pytest.mark.parametrize(
    ("case", "solver"),
    [(case, "dense") for case in CASES]
    + [(case, "lu") for case in CASES]
    + [("cloud", "chebyshev"), ("cloud", "cholesky")],
)
@pytest.mark.parametrize("k", [1, 2, 9])
def test_solvers_agree_with_lapack(case, solver, k, monkeypatch):
    B, root = CASES[case]()
    monkeypatch.setattr(smallest_eigenpairs, "_order", lambda *_: [solver])
    found = smallest_eigenpairs.smallest(B, k, root, seed=0)
    values, vectors = reference(B, k)
    assert found.solver == solver
    assert found.residual < 1e-8
    np.testing.assert_allclose(found.values, values, rtol=1e-4, atol=1e-13)
    np.testing.assert_allclose(np.linalg.svd(vectors.T @ found.vectors)[1], 1, atol=1e-4)
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0, atol=1e-9)


def _order(B):
    return smallest_eigenpairs._order(B.shape[0], smallest_eigenpairs._profile(B))


def test_structure_chooses_the_solver(monkeypatch):
    sheet, cloud = CASES["sheet"]()[0], CASES["cloud"]()[0]
    assert _order(sheet)[0] == "lu"
    monkeypatch.setattr(smallest_eigenpairs, "_FLOPS", 2.0 * np.square(smallest_eigenpairs._profile(sheet)).sum())
    assert _order(sheet)[0] == "lu"
    assert _order(cloud)[:2] == ["chebyshev", "cholesky"]
    monkeypatch.setattr(smallest_eigenpairs, "_MOST_WHOLE", 0)
    assert _order(cloud)[:2] == ["chebyshev", "lu"]
    assert smallest_eigenpairs._order(100, np.zeros(0)) == ["dense"]


def test_a_solver_that_fails_is_followed_by_the_next(monkeypatch):
    B, root = CASES["cloud"]()
    monkeypatch.setattr(smallest_eigenpairs, "_by_factor", lambda *_: None)
    monkeypatch.setattr(smallest_eigenpairs, "_order", lambda *_: ["lu", "chebyshev"])
    assert smallest_eigenpairs.smallest(B, 2, root, seed=0).solver == "chebyshev"
    monkeypatch.setattr(
        smallest_eigenpairs,
        "by_polynomials",
        lambda *a, **named: polynomials.by_polynomials(*a, **named | {"degrees": 1}),
    )
    found = smallest_eigenpairs.smallest(B, 2, root, seed=0)
    assert found.residual > 1e-8
    assert not found.converged
    with pytest.warns(ConvergenceWarning, match="residual .* iterations of the solver 'chebyshev'.*Ask for fewer"):
        warn_unless_converged(found, "Ask for fewer components.")


def test_a_factor_that_does_not_fit_in_memory_is_followed_by_polynomials(monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    B, root = CASES["cloud"]()
    monkeypatch.setattr(sparse_lu.sla, "splu", fail)
    monkeypatch.setattr(smallest_eigenpairs, "_order", lambda *_: ["lu", "chebyshev"])
    assert smallest_eigenpairs.smallest(B, 2, root, seed=0).solver == "chebyshev"


def test_singular_factors_and_more_null_vectors_are_survived():
    # Weights that rebuild a line exactly: M has null vectors beside the constant one.
    n = 500
    W = sp.lil_array((n, n))
    for i in range(1, n - 1):
        W[i, i - 1] = W[i, i + 1] = 0.5
    W[0, [1, 2]] = [2.0, -1.0]
    W[n - 1, [n - 2, n - 3]] = [2.0, -1.0]
    found = smallest_eigenpairs.smallest(sp.csr_array(sp.eye_array(n) - W), 1, 5, seed=0)
    assert found.values[0] < 1e-9  # the residual at which polynomials stop
    line = np.linspace(-1, 1, n)
    assert abs(found.vectors[:, 0] @ line) / np.linalg.norm(line) > 1 - 1e-6


def test_factors_are_kept_without_those_of_superlu(monkeypatch):
    made = []
    splu = sparse_lu.sla.splu
    monkeypatch.setattr(sparse_lu.sla, "splu", lambda *a, **named: made.append(splu(*a, **named)) or made[0])
    factor = sparse_lu.SparseLU(sp.csc_array(np.diag([2.0, 4.0, 5.0])), pivot=0.1)
    assert len(made) == 1
    for part in factor._parts:
        while part is not None:  # an array that belongs to SuperLU keeps both of its factors in memory
            assert part is not made[0]
            part = part.base
