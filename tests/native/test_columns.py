"""Sums of columns, and memory that threads touch."""

import numpy as np
import pytest

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.rows import touched


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (1000, 5), (70, 0)])
def test_sums_are_those_of_numpy(dtype, shape):
    rng = np.random.default_rng(0)
    X, shift, weights = rng.normal(3, 1, shape).astype(dtype), rng.normal(3, 1, shape[1]), rng.random(shape[0])
    away = X.astype(np.float64) - shift
    results = [_native.column_sums(X, shift, weights, n_threads=n) for n in (1, 2, 5)]
    for sums, squares in results:
        np.testing.assert_allclose(sums, weights @ away, atol=1e-10)
        np.testing.assert_allclose(squares, weights @ away**2, atol=1e-10)
        np.testing.assert_array_equal(sums, results[0][0])
        np.testing.assert_array_equal(squares, results[0][1])


def test_shapes_that_do_not_fit_are_refused():
    X = np.ones((4, 3))
    with pytest.raises(ValueError, match="columns of X"):
        _native.column_sums(X, np.ones(2), np.ones(4))
    with pytest.raises(ValueError, match="rows of X"):
        _native.column_sums(X, np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="shape of X"):
        _native.centre_columns(X, np.ones((4, 2)))
    with pytest.raises(ValueError, match="shape of X"):
        _native.centre_columns(X[:0], np.ones((0, 3)))


@pytest.mark.parametrize("shape", [(1, 1), (3, 341), (257, 4099), (0, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_the_array_itself_is_touched(shape, dtype):
    size = shape[0] * shape[1]
    around = np.full(size + 64, 7, dtype)
    out = around[32 : 32 + size].reshape(shape)
    _native.touch(out, n_threads=3)
    assert (around[:32] == 7).all()
    assert (around[32 + size :] == 7).all()


def test_large_arrays_have_the_shape_and_type_asked_for():
    with thread_limit.within(3):
        found = touched((2100, 2100), np.float32)
    assert found.shape == (2100, 2100)
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
