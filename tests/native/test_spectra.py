"""Eigenpairs of many small matrices against NumPy."""

import numpy as np
import pytest

from lowdim import _native

ISAS = ["default", "avx2", "avx512"]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("k", [1, 2, 3, 8, 13, 40])
def test_values_and_vectors_are_those_of_lapack(isa, k, monkeypatch):
    monkeypatch.setenv("LOWDIM_ISA", isa)
    Z = np.random.default_rng(k).normal(size=(70, k, 5))
    G = Z @ Z.transpose(0, 2, 1)
    G[3] = 0
    values, vectors = _native.spectra(G.copy(), n_threads=2)
    scale = np.abs(G).max()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(G)[:, ::-1], atol=1e-13 * scale * k)
    np.testing.assert_allclose(vectors @ vectors.transpose(0, 2, 1), np.broadcast_to(np.eye(k), G.shape), atol=1e-12)
    np.testing.assert_allclose(vectors.transpose(0, 2, 1) @ (values[:, :, None] * vectors), G, atol=1e-12 * scale)


def test_threads_do_not_change_the_bits():
    G = np.random.default_rng(0).normal(size=(200, 9, 9))
    G += G.transpose(0, 2, 1)
    one, two = (_native.spectra(G.copy(), n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_no_matrices_have_no_spectra_and_oblongs_are_refused():
    assert _native.spectra(np.empty((0, 3, 3)))[0].shape == (0, 3)
    with pytest.raises(ValueError, match="stacked squares; got 2 × 3"):
        _native.spectra(np.zeros((1, 2, 3)))
