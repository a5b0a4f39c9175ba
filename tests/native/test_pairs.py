"""Kernels on pairs of rows against NumPy in float64: edges of vectors and tiles, threads, instruction sets, layouts."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lowdim import _native

DTYPES = ["float32", "float64"]
SIDES = [(1, 1), (1, 17), (3, 8), (5, 31), (16, 33), (17, 64), (33, 65), (70, 129)]


def draw(*shape, dtype="float64", seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials_are_right_to_the_last_digits(isa, dtype, monkeypatch):
    b = np.linspace(0, 85, 100_003).astype(dtype)
    G = np.zeros((1, len(b)), dtype)
    _native.gaussian(G, np.zeros(1, dtype), b, 1.0)
    np.testing.assert_allclose(G[0], np.exp(-b.astype(np.longdouble)).astype(float), rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n"), SIDES)
def test_gaussian_matches_numpy(dtype, m, n):
    X, Y = draw(m, 6, dtype=dtype), draw(n, 6, dtype=dtype, seed=1)
    a, b = (np.einsum("ij,ij->i", Z, Z) for Z in (X, Y))
    G = X @ Y.T
    expected = np.exp(-0.3 * np.maximum(0, a[:, None].astype(float) + b - 2 * G))
    _native.gaussian(G, a, b, 0.3, n_threads=2)
    np.testing.assert_allclose(G, expected, rtol=20 * np.finfo(dtype).eps)


def test_gaussian_holds_at_the_ends():
    G = np.array([[0.0, 1.0, np.nan, -1e30]])
    _native.gaussian(G, np.zeros(1), np.array([1e6, 1.0, 0.0, np.inf]), 1.0)
    assert 0 <= G[0, 0] < 1e-300  # far apart
    assert G[0, 1] == 1.0  # a squared distance that rounding made negative counts as 0
    assert np.isnan(G[0, 2])
    assert 0 <= G[0, 3] < 1e-300


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 15, 16, 17, 33])
def test_city_block_distances_match_numpy(isa, dtype, d, monkeypatch):
    for m, n in ((1, 1), (4, 2), (5, 3), (17, 18), (33, 7)):
        X, Y, D = draw(m, d, dtype=dtype), draw(n, d, dtype=dtype, seed=1), np.empty((m, n), dtype)
        _native.manhattan(X, Y, D, n_threads=2)
        expected = np.abs(X[:, None].astype(float) - Y[None]).sum(axis=2)
        np.testing.assert_allclose(D, expected, rtol=10 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130, 257])
def test_mirroring_strips_makes_a_symmetric_matrix(dtype, n):
    whole = draw(n, n, dtype=dtype)
    whole = whole + whole.T
    K = np.tril(whole)
    for start in range(0, n, 50):
        K[start : start + 50, min(n, start + 50) :] = np.nan  # not there yet
        _native.mirror(K, start, min(n, start + 50), n_threads=2)
    np.testing.assert_array_equal(K, whole)


def test_views_with_contiguous_rows_are_written_in_place():
    wide = np.zeros((4, 10), np.float32)
    _native.gaussian(wide[:, 2:7], np.ones(4, np.float32), np.zeros(5, np.float32), 1.0)
    np.testing.assert_allclose(wide[:, 2:7], np.exp(-1), rtol=1e-6)
    assert not np.delete(wide, slice(2, 7), axis=1).any()


def test_threads_do_not_change_a_bit():
    for dtype in DTYPES:
        one, two = (draw(100, 333, dtype=dtype) for _ in range(2))
        a, b = np.full(100, 3, dtype), np.full(333, 4, dtype)
        _native.gaussian(one, a, b, 0.1, n_threads=1)
        _native.gaussian(two, a, b, 0.1, n_threads=3)
        np.testing.assert_array_equal(one, two)


def test_wrong_arrays_are_refused_before_anything_is_written():
    G, a, b = np.zeros((3, 4)), np.zeros(3), np.zeros(4)
    with pytest.raises(ValueError, match=r"one entry a row of G \(3\); got 4"):
        _native.gaussian(G, b, b, 1.0)
    with pytest.raises(ValueError, match=r"one entry a column of G \(4\); got 3"):
        _native.gaussian(G, a, a, 1.0)
    with pytest.raises(ValueError, match="contiguous rows"):
        _native.gaussian(G.T, b, a, 1.0)
    with pytest.raises(ValueError, match="n_threads must be 1 or more; got 0"):
        _native.gaussian(G, a, b, 1.0, n_threads=0)
    with pytest.raises(ValueError, match="as many columns"):
        _native.manhattan(np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="one column a row of Y"):
        _native.manhattan(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="must be square"):
        _native.mirror(G, 0, 3)
    with pytest.raises(ValueError, match="from 0 to at most 3"):
        _native.mirror(np.zeros((3, 3)), 1, 4)
    with pytest.raises(TypeError):
        _native.gaussian(G.astype(int), a, b, 1.0)


def test_an_unknown_instruction_set_is_refused():
    code = "import numpy as np; from lowdim import _native; _native.gaussian(np.eye(2), np.ones(2), np.ones(2), 1.0)"
    env = os.environ | {"LOWDIM_ISA": "mmx"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert "LOWDIM_ISA must be" in result.stderr
