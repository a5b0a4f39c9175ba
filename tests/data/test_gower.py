"""Gower's distances: the formula, R's numbers, missing values, and methods that use them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import lowdim
from lowdim import Prepare
from lowdim.data import gower_distances

TABLE = pl.DataFrame(
    {
        "age": [20.0, 30, None, 60, 25],
        "town": ["Rome", "Oslo", "Oslo", None, "Rome"],
        "agree": ["agree", "disagree", "neutral", "agree", "neutral"],
        "owns": ["yes", "no", "yes", "yes", "no"],
    }
)
# cluster 2.1 of R: daisy(data.frame(age, factor(town), ordered(agree), factor(owns)), metric = "gower")
DAISY = [[0, 0.8125, 0.5, 1 / 3, 0.40625], [0.8125, 0, 0.5, 11 / 12, 0.40625], [0.5, 0.5, 0, 0.25, 2 / 3]]
DAISY += [[1 / 3, 11 / 12, 0.25, 0, 0.7916666666666666], [0.40625, 0.40625, 2 / 3, 0.7916666666666666, 0]]


def test_distances_are_those_of_daisy():
    np.testing.assert_allclose(gower_distances(TABLE), DAISY, atol=1e-15)
    np.testing.assert_allclose(gower_distances(TABLE, TABLE[1:3]), DAISY[1:3], atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_prepared_rows_have_them_as_manhattan_distances(data):
    n = data.draw(st.integers(3, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    table = pl.DataFrame({"x": rng.normal(size=n), "c": rng.choice(["a", "b", "c"], n), "d": rng.integers(0, 9, n)})
    plan = {"x": {"weight": data.draw(st.floats(0.1, 5))}, "c": {"kind": "category"}, "d": {"kind": "number"}}
    try:
        prepare = Prepare("gower", plan=plan).fit(table)
    except ValueError:  # constant columns
        return
    Z = prepare.transform(table)
    D = gower_distances(table, plan=plan)
    np.testing.assert_allclose(cdist(Z, Z, "cityblock"), D, atol=1e-12)
    assert D.max() <= 1 + 1e-12
    weights = {"x": plan["x"]["weight"], "c": 1.0, "d": 1.0}
    kept = [name for name, done in zip(prepare.plan_["column"], prepare.plan_["columns"], strict=True) if done]
    parts = [weights[name] * (_apart(table[name], levels=name == "c")) for name in kept]
    np.testing.assert_allclose(D, sum(parts) / sum(weights[name] for name in kept), atol=1e-12)


def _apart(column, *, levels):
    values = column.to_numpy()
    if levels:
        return (values[:, None] != values).astype(float)
    return np.abs(np.subtract.outer(values, values)) / np.ptp(values)


def test_a_pair_without_a_common_value_has_no_distance_and_other_columns_are_refused():
    table = pl.DataFrame({"a": [1.0, None, 3.0], "b": [None, "x", "y"]})
    with pytest.warns(UserWarning, match=r"gower_distances: .*left out: 'b' \(every value is different\)\. Name their"):
        assert np.isnan(gower_distances(table)[0, 1])
    with pytest.raises(ValueError, match="gower_distances: Y must have the columns of X"):
        gower_distances(TABLE, TABLE.drop("age"))
    with pytest.raises(ValueError, match="^gower_distances: "):
        gower_distances(pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}, schema={"a": pl.String, "b": pl.Float64}))
    with pytest.raises(ValueError, match="dates='cyclic' too"):
        Prepare("gower", dates="cyclic").fit(pl.DataFrame({"d": pl.Series(np.arange(9).astype("M8[D]"))}))


def test_compare_measures_by_them_where_the_preparation_says_so(rng):
    table = pl.DataFrame({"x": rng.normal(size=60), "c": rng.choice(["a", "b", "c"], 60)})
    made = lowdim.compare(table, methods=["mds", "pca"], prepare="gower")
    assert made.models["mds"][-1].metric == "manhattan"
    mine = lowdim.MDS(metric="precomputed", random_state=0).fit(gower_distances(table))
    assert made.models["mds"][-1].stress_ == pytest.approx(mine.stress_, rel=1e-3)


def test_levels_and_options_come_back_and_files_keep_the_scaling(tmp_path, rng):
    table = TABLE.drop_nulls()
    prepare = Prepare("gower").fit(table)
    prepare.save(tmp_path / "p.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "p.lowdim").transform(table), prepare.transform(table))
    with pytest.warns(UserWarning, match="levels that fit did not see"):
        new = prepare.transform(table.with_columns(pl.lit("Bonn").alias("town")))
    assert np.isfinite(new).all()
