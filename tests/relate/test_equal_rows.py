"""Equal rows: found whatever the values, in every type and layout, also where keys collide."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim.relate import equal_rows
from lowdim.relate.equal_rows import find_equal


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_row_of_zeros_and_ones_finds_itself_first(dtype):
    # All patterns of 17 columns: 131,072 rows, whose keys must differ although 1.0 ends in 23 or 52 zero bits.
    rows = np.arange(2**17)
    X = ((rows[:, None] >> np.arange(17)) & 1).astype(dtype)
    for keys in (equal_rows._keys(X), equal_rows._keys_of_words(X)):
        assert len(np.unique(keys)) == len(X)
    np.testing.assert_array_equal(find_equal(X, X), rows)


@pytest.mark.parametrize("value", [1.0, 2.0, 255.0, 0.5, 1e30])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_keys_use_all_their_bits(value, dtype):
    X = np.eye(64, dtype=dtype) * value
    for keys in (equal_rows._keys(X), equal_rows._keys_of_words(X)):
        assert np.all(keys % 2**8 != 0)  # few zeros at the end, which all sums would share


@pytest.mark.parametrize("columns", [1, 3, 4, 8, 13])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int16"])
def test_rows_of_every_type_find_the_first_that_equals_them(dtype, columns, rng):
    X = rng.integers(-2, 3, (400, columns)).astype(dtype)
    if X.dtype.kind == "f":
        X[(X == 0) & (rng.random(X.shape) < 0.5)] = -0.0
    first: dict[tuple, int] = {}
    expected = [first.setdefault(tuple(x.tolist()), i) for i, x in enumerate(X + X.dtype.type(0))]
    np.testing.assert_array_equal(find_equal(X, X), expected)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_whose_keys_collide_are_told_apart(make, monkeypatch, rng):
    X = rng.integers(0, 3, (60, 3)).astype(float)
    Q = np.concatenate([X[::-1], X[:5] + 10])
    expected = [next((i for i, x in enumerate(X) if np.array_equal(x, q)), -1) for q in Q]
    np.testing.assert_array_equal(find_equal(make(X), make(Q)), expected)
    for keys in ("_keys", "_keys_of_words"):
        monkeypatch.setattr(equal_rows, keys, lambda X: np.zeros(X.shape[0], np.uint64))
    np.testing.assert_array_equal(find_equal(make(X), make(Q)), expected)
    itself = make(X)
    firsts = [next(i for i, x in enumerate(X) if np.array_equal(x, q)) for q in X]
    np.testing.assert_array_equal(find_equal(itself, itself), firsts)
