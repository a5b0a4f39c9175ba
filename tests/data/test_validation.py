import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from lowdim.data import options, validation


class Model(BaseEstimator):
    pass


def test_types_orders_and_memory_maps_pass_uncopied(tmp_path, rng):
    np.save(tmp_path / "x.npy", rng.random((9, 3)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for X in (np.ones((4, 3), np.uint8), np.asfortranarray(rng.random((4, 3))), rng.random((4, 6))[:, ::2], mapped):
        passed = validation.rows(X, "Model")
        assert passed.dtype == X.dtype
        assert np.shares_memory(passed, X)


def test_sparse_rows_come_out_canonical_and_the_callers_stay_as_they_are(rng):
    X = rng.normal(size=(5, 3))
    canonical = sp.csr_array(X)
    assert validation.rows(canonical, "Model", sparse=True) is canonical
    entries = [np.repeat(canonical.data / 2, 2), np.repeat(canonical.indices, 2), canonical.indptr * 2]
    kept = [part.copy() for part in entries]
    rows = validation.rows(sp.csr_array(tuple(entries), shape=X.shape), "Model", sparse=True)
    np.testing.assert_array_equal(rows.data, canonical.data)
    for part, before in zip(entries, kept, strict=True):
        np.testing.assert_array_equal(part, before)


def test_masked_values_are_not_uncovered(rng):
    X = np.ma.masked_greater(rng.random((4, 3)), 2)
    assert validation.rows(X, "Model").shape == (4, 3)
    X[2, 1] = np.ma.masked
    with pytest.raises(ValueError, match="a masked array with 1, the first in row 2. Drop those rows"):
        validation.rows(X, "Model")


def test_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"must be unique; got 'a' more than once. Rename them, or pass X.to_numpy"):
        validation.rows(pd.DataFrame(np.ones((3, 3)), columns=["a", "b", "a"]), "Model")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns_are_named(frame):
    data = frame({"age": [1.0, 2.0], "name": ["x", "y"], "town": ["u", "v"]})
    with pytest.raises(ValueError, match=r"got text in column 'name', 'town'. Drop these columns"):
        validation.rows(data, "Model")


def test_the_place_of_a_bad_value_is_told_with_its_column_name():
    data = pd.DataFrame({"age": [1.0, 2.0], "height": [3.0, np.nan]})
    with pytest.raises(ValueError, match="NaN at row 1, column 'height' \\(1 NaN or infinity values in 2 rows\\)"):
        validation.rows(data, "Model")


def test_large_but_finite_values_pass():
    X = np.full((3, 2), 1e308)
    assert validation.rows(X, "Model") is not None


def test_a_witness_stands_in_for_the_data():
    X = np.ones((5, 2))
    validation.demand_finite("Model", X, np.array([np.inf]))  # the sum overflowed, the data did not
    X[3, 1] = np.inf
    validation.demand_finite("Model", X, np.array([0.0]))  # trusted: not looked at
    with pytest.raises(ValueError, match="infinity at row 3, column 1"):
        validation.demand_finite("Model", X, np.array([np.nan]))


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (options.integer(1), [1, np.int8(3)], [0, 1.0, True, "1", None]),
        (options.real(0, 1, closed="left"), [0, 0.5, np.float32(0.25)], [1, -0.1, np.nan, "x", True]),
        (options.real(0), [1e-9, 5], [0, np.inf]),
        (options.share(), [0.5], [0.0, 1.0, 1, "0.5"]),
        (options.flag, [True, np.False_], [0, 1, None]),
        (options.one_of("a", "b"), ["a"], ["c", 0, None]),
        (options.seed, [None, 0, np.random.default_rng(0), np.random.RandomState(0)], [-1, 0.5, "x"]),
        (options.jobs, [None, 1, -2], [0, 1.5, "x", True]),
        (options.integer(2) | options.none, [None, 2], [1, "x"]),
    ],
)
def test_rules_accept_what_they_say(rule, good, bad):
    assert all(map(rule.accepts, good))
    assert not any(map(rule.accepts, bad))


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i1", "u2", "i8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_numbers_are_taken_as_they_are(dtype, order):
    X = np.asarray(np.arange(6).reshape(3, 2), dtype=dtype, order=order)
    assert validation.rows(X, "PCA") is X
