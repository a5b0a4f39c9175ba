"""Guttman's transform against NumPy."""

import numpy as np
import pytest

from lowdim import _native

ISAS = ["default", "avx2", "avx512"]


def expected(D, W, P, Y):
    D, W, P, Y = (A.astype(float) for A in (D, np.ones_like(D) if W is None else W, P, Y))
    gaps = P[:, None] - Y[None]
    d = np.linalg.norm(gaps, axis=2)
    share = np.where(d > 0, W * D / np.where(d > 0, d, 1), 0)
    return np.einsum("ij,ijc->ic", share, gaps), np.column_stack([(W * (D - d) ** 2).sum(1), (W * d**2).sum(1)])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 15, 530, 1100])
@pytest.mark.parametrize("weighted", [False, True])
def test_transform_and_sums_are_those_of_the_formula(isa, k, n, weighted, monkeypatch):
    monkeypatch.setenv("LOWDIM_ISA", isa)
    rng = np.random.default_rng(n)
    Y, P = (rng.normal(size=(m, k)).astype(np.float32) for m in (n, 7))
    P[0] = Y[0]  # at distance 0
    D, W = np.abs(rng.normal(size=(7, n))).astype(np.float32), rng.uniform(size=(7, n)).astype(np.float32)
    moved, sums = _native.guttman(D, W if weighted else None, P, np.ascontiguousarray(Y.T), n_threads=2)
    right, totals = expected(D, W if weighted else None, P, Y)
    scale = np.abs(D).sum(axis=1, keepdims=True)
    assert (np.abs(moved - right) <= 1e-6 * scale).all()
    np.testing.assert_allclose(sums, totals, rtol=1e-5, atol=1e-5)


def test_threads_do_not_change_the_bits():
    rng = np.random.default_rng(0)
    Y, D = rng.normal(size=(300, 2)).astype(np.float32), rng.uniform(size=(300, 300)).astype(np.float32)
    one, two = (_native.guttman(D, None, Y, np.ascontiguousarray(Y.T), n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_arrays_that_do_not_fit_are_refused():
    D, Y = np.zeros((3, 4), np.float32), np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="guttman: points"):
        _native.guttman(D, None, Y, np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match="as many weights as distances"):
        _native.guttman(D, np.zeros((3, 3), np.float32), Y, np.zeros((2, 4), np.float32))
