import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim import _native


def product(A, V, **options):
    return _native.csr_product(A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data, V, **options)


@given(
    n=st.integers(1, 40),
    d=st.integers(1, 40),
    width=st.integers(1, 40),
    density=st.floats(0, 1),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_product_is_that_of_the_dense_matrix(n, d, width, density, seed):
    rng = np.random.default_rng(seed)
    A, V = sp.random_array((n, d), density=density, random_state=rng, format="csr"), rng.normal(size=(d, width))
    np.testing.assert_allclose(product(A, V), A.toarray() @ V, atol=1e-12)


def test_every_instruction_set_is_right(isa, monkeypatch, rng):
    A, V = sp.random_array((50, 30), density=0.3, random_state=rng, format="csr"), rng.normal(size=(30, 35))
    np.testing.assert_allclose(product(A, V), A.toarray() @ V, atol=1e-12)


def test_threads_do_not_change_a_bit(rng):
    A, V = sp.random_array((5000, 800), density=0.05, random_state=rng, format="csr"), rng.normal(size=(800, 37))
    one = product(A, V)
    for n in (2, 3, 5):
        np.testing.assert_array_equal(product(A, V, n_threads=n), one)


@pytest.mark.parametrize(
    ("starts", "columns", "words"),
    [
        ([0, 2, 2], [0, 3], "columns must be from 0 to 2; got 3"),
        ([0, 2, 2], [0, -1], "got -1"),
        ([0, 2, 1], [0, 1], "starts must rise"),
        ([1, 1, 2], [0, 1], "starts must rise"),
        ([0, 1, 3], [0, 1], "starts must rise"),
        ([], [0, 1], "one start more than rows"),
        ([0, 2], [0], "as many columns as values"),
    ],
)
def test_matrices_that_lead_out_of_bounds_are_refused(starts, columns, words):
    with pytest.raises(ValueError, match=words):
        _native.csr_product(np.array(starts, np.int32), np.array(columns, np.int32), np.ones(2), np.ones((3, 2)))


def test_other_types_are_not_converted_in_silence():
    with pytest.raises(TypeError):
        _native.csr_product(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0), np.ones((3, 2)))
