"""Systems solved by sparse factors, against NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim import _native
from lowdim.solve.sparse_lu import SparseLU


def draw(n, density, seed):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=density, random_state=rng, format="csc")
    return sp.csc_array(A + sp.eye_array(n) * rng.choice([-2.0, 3.0], n))


@given(n=st.integers(1, 60), width=st.integers(1, 11), density=st.floats(0, 0.5), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_solutions_are_those_of_the_dense_matrix(n, width, density, seed):
    A = draw(n, density, seed)
    B = np.asfortranarray(np.random.default_rng(seed).normal(size=(n, width)))
    for pivot in (0.1, 1.0):  # rows change places with 1
        factor = SparseLU(A, pivot)
        for transposed, M in ((False, A), (True, A.T)):
            X = factor.solve(B, transposed)
            scale = np.abs(X).max(initial=1.0) * max(1.0, float(abs(A).sum(axis=0).max()))
            np.testing.assert_allclose(M @ X, B, atol=1e-9 * scale)


def test_every_instruction_set_is_right(isa):
    A = draw(80, 0.1, 3)
    B = np.random.default_rng(0).normal(size=(80, 9))
    factor = SparseLU(A, 0.1)
    np.testing.assert_allclose(factor.solve(B), np.linalg.solve(A.toarray(), B), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(factor.solve(B, True), np.linalg.solve(A.toarray().T, B), rtol=1e-8, atol=1e-10)


def test_neither_threads_nor_other_columns_change_a_bit():
    factor, B = SparseLU(draw(500, 0.01, 1), 0.1), np.random.default_rng(0).normal(size=(500, 10))
    for transposed in (False, True):
        one = _native.lu_solve(*factor._parts, B, transposed=transposed)
        for n_threads in (2, 3, 5):
            found = _native.lu_solve(*factor._parts, B, transposed=transposed, n_threads=n_threads)
            np.testing.assert_array_equal(one, found)
        single = _native.lu_solve(*factor._parts, B[:, 9:].copy(), transposed=transposed)
        np.testing.assert_array_equal(single[:, 0], one[:, 9])


def test_factors_that_do_not_fit_are_refused():
    parts, B = SparseLU(draw(6, 0.3, 0), 0.1)._parts, np.ones((6, 2))
    wrong = [(1, np.full_like(parts[1], 6), "from 0 to 5"), (1, np.full_like(parts[1], -1), "from 0 to 5"),
             (7, np.zeros(6, np.int32), "permutations"), (8, np.full(6, 9, np.int32), "permutations"),
             (0, np.zeros(7, np.int32), "must rise"), (6, np.ones(5), "factors of 6 rows")]  # fmt: skip
    for place, value, message in wrong:
        with pytest.raises(ValueError, match=message):
            _native.lu_solve(*parts[:place], value, *parts[place + 1 :], B)


def test_a_singular_matrix_raises():
    with pytest.raises(RuntimeError):
        SparseLU(sp.csc_array(np.zeros((3, 3))), 0.1)
