import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lowdim.work import blockwise
from lowdim.work.blockwise import column_blocks, float_dtype, row_blocks


@given(
    X=hnp.arrays(st.sampled_from(["uint8", "int16", "float32", "float64"]), hnp.array_shapes(min_dims=2, max_dims=2)),
    dtype=st.sampled_from(["float32", "float64"]),
    order=st.sampled_from("CF"),
    size=st.sampled_from([1, 40, 2**20]),
)
@settings(max_examples=60, deadline=None)
def test_blocks_put_together_are_the_array(X, dtype, order, size):
    X = np.asarray(np.nan_to_num(X), order=order)
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        patch.setattr(blockwise, "_BLOCK_BYTES", size)
        expected = X.astype(dtype)
        np.testing.assert_array_equal(np.vstack([block.copy() for _, block in row_blocks(X, dtype)]), expected)
        np.testing.assert_array_equal(np.hstack([block.copy() for _, block in column_blocks(X, dtype)]), expected)
        rows = [rows for rows, _ in row_blocks(X, dtype)]
    assert rows[0].start == 0
    assert rows[-1].stop == len(X)


def test_what_is_subtracted_leaves_the_array_alone(rng):
    X = rng.normal(size=(50, 3))
    kept = X.copy()
    centred = np.vstack([block.copy() for _, block in row_blocks(X, np.float64, less=X.mean(axis=0))])
    np.testing.assert_allclose(centred.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_array_equal(X, kept)


def test_no_copy_is_made_where_none_is_needed(rng):
    X = rng.normal(size=(50, 3))
    assert all(np.shares_memory(block, X) for _, block in row_blocks(X, np.float64))


def test_sparse_blocks_are_dense(rng):
    X = sp.random_array((30, 4), density=0.3, random_state=rng, format="csc")
    np.testing.assert_array_equal(np.vstack([b.copy() for _, b in row_blocks(X, np.float64)]), X.toarray())


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("uint8", "f4"),
        ("int16", "f4"),
        ("float16", "f4"),
        ("bool", "f4"),
        ("float32", "f4"),
        ("int32", "f8"),
        ("f8", "f8"),
    ],
)
def test_small_types_become_float32_and_others_float64(dtype, expected):
    assert float_dtype(np.dtype(dtype)) == expected
