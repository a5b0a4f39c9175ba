"""Smallest eigenpairs of sparse symmetric matrices: every solver against LAPACK."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import data
from lowdim.relate.graph import neighbor_graph
from lowdim.solve import polynomials, smallest_symmetric
from lowdim.work import thread_limit


def laplacian(X, k):
    graph = neighbor_graph(X, k, None, "euclidean")
    V = sp.csr_array((np.exp(-graph.lengths.astype(float)), graph.ends, graph.starts), shape=(graph.n, graph.n))
    degrees = V.sum(axis=1)
    root = sp.diags_array(1 / np.sqrt(degrees))
    return sp.csr_array(sp.eye_array(graph.n) - root @ V @ root), np.sqrt(degrees)


CASES = {
    "sheet": lambda: laplacian(data.load("swissroll", n_samples=600)[0], 10),
    "cloud": lambda: laplacian(np.random.default_rng(0).normal(size=(600, 12)), 8),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", smallest_symmetric.SOLVERS)
@pytest.mark.parametrize("k", [1, 3, 9])
def test_solvers_agree_with_lapack(case, solver, k, monkeypatch):
    L, null = CASES[case]()
    monkeypatch.setattr(smallest_symmetric, "_choose", lambda *_: [solver])
    found = smallest_symmetric.smallest_symmetric(L, k, null=null, seed=0, tol=1e-11)
    values, vectors = np.linalg.eigh(L.toarray())
    assert found.solver == solver
    assert found.residual < 1e-10
    np.testing.assert_allclose(found.values, values[1 : k + 1], rtol=1e-8)
    np.testing.assert_allclose(np.linalg.svd(vectors[:, 1 : k + 1].T @ found.vectors)[1], 1, atol=1e-6)
    np.testing.assert_allclose(null @ found.vectors, 0, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_rough_eigenvectors_by_polynomials_in_float32_reach_their_tolerance(case, monkeypatch):
    L, null = CASES[case]()
    monkeypatch.setattr(smallest_symmetric, "_choose", lambda *_: ["chebyshev"])
    found = smallest_symmetric.smallest_symmetric(L, 2, null=null, seed=0, tol=1e-5, largest=2.0)
    values, vectors = np.linalg.eigh(L.toarray())
    assert found.residual <= 1e-5
    np.testing.assert_allclose(found.values, values[1:3], atol=1e-6)
    np.testing.assert_allclose(np.linalg.svd(vectors[:, 1:3].T @ found.vectors)[1], 1, atol=1e-4)
    with thread_limit.using(1):
        again = smallest_symmetric.smallest_symmetric(L, 2, null=null, seed=0, tol=1e-5, largest=2.0)
    np.testing.assert_array_equal(again.vectors, found.vectors)


def test_several_null_vectors_are_left_out():
    L, null = CASES["sheet"]()
    both = sp.csr_array(sp.block_diag([L, L]))
    apart = np.zeros((1200, 2))
    apart[:600, 0] = apart[600:, 1] = null
    found = smallest_symmetric.smallest_symmetric(both, 2, null=apart, seed=0)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(L.toarray())[[1, 1]], rtol=1e-6)


def test_structure_chooses_the_solver(monkeypatch):
    sheet, cloud = CASES["sheet"]()[0], CASES["cloud"]()[0]

    def chosen(A):
        return smallest_symmetric._choose(
            A, 3, np.asarray(smallest_symmetric.reverse_cuthill_mckee(A, symmetric_mode=True))
        )

    assert chosen(sheet)[0] == "band"
    assert chosen(sheet[:100][:, :100]) == ["dense"]
    monkeypatch.setattr(smallest_symmetric, "_BAND", 0.0)
    assert chosen(cloud) == ["chebyshev"]
    monkeypatch.setattr(smallest_symmetric, "_NARROW", 1.0)
    assert chosen(sheet) == ["lu", "chebyshev"]
    monkeypatch.setattr(smallest_symmetric.memory, "available", lambda: 2**20)
    assert chosen(sheet) == ["chebyshev"]


def test_a_solver_that_fails_is_followed_by_the_next_and_the_residual_told(monkeypatch):
    L, null = CASES["cloud"]()
    monkeypatch.setattr(smallest_symmetric, "_choose", lambda *_: ["band", "chebyshev"])
    monkeypatch.setattr(smallest_symmetric, "_band_factor", lambda *_: None)
    assert smallest_symmetric.smallest_symmetric(L, 2, null=null, seed=0).solver == "chebyshev"
    monkeypatch.setattr(smallest_symmetric, "by_polynomials", partial(polynomials.by_polynomials, degrees=1))
    found = smallest_symmetric.smallest_symmetric(L, 2, null=null, seed=0)
    assert found.residual > 1e-8
    assert not found.converged


@pytest.mark.parametrize("solver", smallest_symmetric.SOLVERS)
def test_threads_do_not_change_the_bits(solver, monkeypatch):
    L, null = CASES["cloud"]()
    monkeypatch.setattr(smallest_symmetric, "_choose", lambda *_: [solver])
    found = []
    for n in (1, 2):
        with thread_limit.using(n):
            found.append(smallest_symmetric.smallest_symmetric(L, 2, null=null, seed=0).vectors)
    np.testing.assert_array_equal(*found)
