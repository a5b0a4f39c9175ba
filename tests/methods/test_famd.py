"""Factor analysis of mixed data: identities, FactoMineR's numbers, supplementary columns, new rows, files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import lowdim
from lowdim import FAMD, MCA
from lowdim.cli import main

REFERENCE = json.loads((Path(__file__).parent / "factominer.json").read_text())
SURVEY = pl.DataFrame(REFERENCE["table"])
ACTIVE = SURVEY.drop("pay", "club")


def close(found, reference, unit=1.0):
    """Equal but for the signs of components, to 1e-8 of the largest value."""
    if isinstance(found, pl.DataFrame):
        found = found.select(pl.col(pl.Float64)).to_numpy()
    reference = np.asarray(reference) * unit
    assert found.shape == reference.shape
    np.testing.assert_allclose(np.abs(found), np.abs(reference), atol=1e-8 * np.abs(reference).max())


@pytest.mark.parametrize("container", [pl.DataFrame, pd.DataFrame, "arrow"])
def test_rows_columns_and_levels_have_factominers_numbers(container):
    frame = SURVEY.to_arrow() if container == "arrow" else container(SURVEY.to_dict(as_series=False))
    model, known = FAMD(3, supplementary=["pay", "club"]).fit(frame), REFERENCE["famd"]
    passive = ~pl.col("active")
    close(model.eigenvalues_, known["eigenvalues"])
    close(model.transform(frame), known["rows"])
    close(model.row_cos2(frame), known["row_cos2"])
    close(model.row_contributions(frame), known["row_contributions"], 0.01)
    for name, what in (("coordinates", "levels"), ("cos2", "level_cos2"), ("v_test", "level_v")):
        close(model.levels(name).filter("active"), known[what])
        close(model.levels(name).filter(passive), known[f"sup_{what}"])
    close(model.levels("contributions"), known["level_contributions"], 0.01)
    close(model.columns().filter("active"), known["columns"])
    close(model.columns("cos2").filter("active"), known["column_cos2"])
    close(model.columns("contributions"), known["column_contributions"], 0.01)
    close(model.columns("correlations").filter("active"), known["correlations"])
    close(model.columns("correlations").filter(passive), known["sup_correlations"])
    close(model.columns().filter(passive & (pl.col("column") == "club")), known["sup_eta2"])


def test_numbers_alone_are_pca_of_correlations(rng):
    X = rng.normal(size=(60, 5)) * np.arange(1, 6) + 7
    pca = lowdim.PCA(3, standardize=True).fit(X)
    famd = FAMD(3).fit(X)
    np.testing.assert_allclose(famd.eigenvalues_, pca.explained_variance_ * 59 / 60)
    np.testing.assert_allclose(famd.explained_variance_ratio_, pca.explained_variance_ratio_)
    np.testing.assert_allclose(famd.transform(X), pca.transform(X), atol=1e-12)
    np.testing.assert_allclose(famd.inverse_transform(famd.transform(X)), pca.inverse_transform(pca.transform(X)))


def test_categories_alone_have_the_inertias_of_mca_times_the_columns():
    table = ACTIVE.select("town", "likes", "owns")
    famd, mca = FAMD(3).fit(table), MCA(3).fit(table)
    np.testing.assert_allclose(famd.eigenvalues_, 3 * mca.eigenvalues_)
    np.testing.assert_allclose(famd.transform(table), np.sqrt(3) * mca.transform(table), atol=1e-12)


def test_no_column_has_more_than_one_unit_in_a_component_and_contributions_add_up():
    model = FAMD(4).fit(SURVEY)
    inertia = model.columns().select(pl.col(pl.Float64))
    assert inertia.to_numpy().max() <= 1 + 1e-12
    np.testing.assert_allclose(inertia.sum().row(0), model.eigenvalues_)
    np.testing.assert_allclose(model.columns("contributions").select(pl.col(pl.Float64)).sum().row(0), 1)
    np.testing.assert_allclose(model.row_contributions(SURVEY).sum(axis=0), 1)
    assert model.total_inertia_ == pytest.approx(3 + 3 + 2 + 1 + 1)  # numbers, and levels less one


def test_all_directions_hold_all_of_a_row_and_give_the_table_back():
    model = FAMD(8).fit(ACTIVE)  # 2 numbers, 3 + 2 + 1 directions of levels
    with pytest.raises(ValueError, match="n_components must be at most 8, the directions of n_features = 5 columns"):
        FAMD(9).fit(ACTIVE)
    np.testing.assert_allclose(model.row_cos2(ACTIVE).sum(axis=1), 1)
    back = model.inverse_transform(model.transform(ACTIVE))
    assert back.columns == ACTIVE.columns
    np.testing.assert_allclose(back.select("age", "size").to_numpy(), ACTIVE.select("age", "size").to_numpy())
    for name in ("town", "likes", "owns"):
        assert back[name].to_list() == ACTIVE[name].to_list()


def test_supplementary_columns_change_nothing_and_are_not_needed_for_new_rows():
    with_them, without = FAMD(2, supplementary=["pay", "club"]).fit(SURVEY), FAMD(2).fit(ACTIVE)
    np.testing.assert_array_equal(with_them.eigenvalues_, without.eigenvalues_)
    unknown = SURVEY.with_columns(pl.lit(None, pl.Float64).alias("pay"), pl.lit("new").alias("club"))
    np.testing.assert_array_equal(with_them.transform(unknown), without.transform(ACTIVE))
    with pytest.raises(ValueError, match="supplementary must name columns of the table; got 'Pay'. Did you mean 'pay'"):
        FAMD(supplementary=["Pay"]).fit(SURVEY)
    with pytest.raises(ValueError, match="at least one active column"):
        FAMD(supplementary=SURVEY.columns).fit(SURVEY)


def test_rows_without_supplementary_values_have_places_and_files_need_not_have_the_columns(tmp_path):
    table = SURVEY.with_columns(pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("pay")).alias("pay"))
    model = FAMD(2, supplementary=["pay", "club"], missing="drop").fit(table)
    assert model.n_samples_ == table.height - 1
    assert model.transform(table).shape == (table.height, 2)
    assert model.complete(table).all()
    model.save(tmp_path / "m.lowdim")
    table.drop("pay", "club").write_csv(tmp_path / "new.csv")
    made = CliRunner().invoke(main, ["transform", str(tmp_path / "m.lowdim"), str(tmp_path / "new.csv")])
    assert made.exit_code == 0, made.output
    assert made.stdout.splitlines()[0] == "famd0,famd1"
    assert len(made.stdout.splitlines()) == table.height + 1


@pytest.mark.parametrize("cls", [FAMD, MCA])
def test_more_levels_than_rows_give_the_same_by_products_of_rows(cls, rng):
    table = pl.DataFrame({f"c{j}": rng.choice(list("abcdef"), 12) for j in range(8)} | {"x": rng.normal(size=12)})
    supplementary = ["c7", "x"]
    wide = cls(3, supplementary=supplementary).fit(table)
    long = cls(3, supplementary=supplementary).fit(pl.concat([table] * 5))  # the same shares of every level
    assert wide.components_.shape[1] > 12
    for found, known in [
        (wide.eigenvalues_, long.eigenvalues_),
        (wide.transform(table), long.transform(table)),
        (wide.total_inertia_, long.total_inertia_),
        *((wide.levels(name), long.levels(name)) for name in ("coordinates", "cos2", "contributions")),
        (wide.columns(), long.columns()),
    ]:
        if isinstance(found, pl.DataFrame):
            found, known = (frame.select(pl.col(pl.Float64)).to_numpy() for frame in (found, known))
        np.testing.assert_allclose(np.abs(found), np.abs(known), atol=1e-9)


def test_a_saved_model_places_columns_and_rows_as_before(tmp_path):
    model = FAMD(2, supplementary=["club"], missing="median").fit(SURVEY)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(SURVEY), model.transform(SURVEY))
    assert again.levels("v_test").equals(model.levels("v_test"))
    assert again.columns("cos2").equals(model.columns("cos2"))
    assert again.plan_.equals(model.plan_)


def test_missing_values_are_refused_filled_or_dropped_as_by_prepare():
    table = SURVEY.with_columns(pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("town")).alias("town"))
    with pytest.raises(ValueError, match=r"^FAMD: values must not be missing; got NaN at row 3.*'town'"):
        FAMD().fit(table)
    dropped = FAMD(missing="drop").fit(table)
    assert dropped.n_samples_ == table.height - 1
    assert dropped.transform(table).shape == (table.height - 1, 2)
    assert dropped.complete(table).tolist() == [row != 3 for row in range(table.height)]
    frame = table.to_pandas().set_index(pd.Index(range(100, 100 + table.height)))
    named = FAMD(missing="drop").set_output(transform="pandas").fit_transform(frame)
    assert named.index.tolist() == [100 + row for row in range(table.height) if row != 3]
    kept = FAMD().fit(table.filter(pl.col("town").is_not_null()))
    np.testing.assert_allclose(dropped.eigenvalues_, kept.eigenvalues_)
    neutral = FAMD(missing="mean").fit(table)
    assert neutral.transform(table).shape == (table.height, 2)


def test_ordered_answers_keep_their_order_and_a_plan_may_say_otherwise():
    table = SURVEY.with_columns(pl.Series("agree", ["agree", "disagree", "neutral", "agree"] * (SURVEY.height // 4)))
    assert FAMD().fit(table).levels().filter(pl.col("column") == "agree")["level"].to_list() == [
        "disagree",
        "neutral",
        "agree",
    ]
    coded = FAMD(plan={"agree": "ordinal", "age": "drop"}).fit(table)
    assert "agree" in coded.columns("correlations")["column"].to_list()
    assert "age" not in coded.columns()["column"].to_list()


def test_what_is_no_table_is_refused(rng):
    with pytest.raises(TypeError, match="sparse"):
        FAMD().fit(sp.csr_array(rng.random((9, 3))))
    with pytest.raises(ValueError, match="quantity must be one of coordinates, contributions, cos2, v_test; got 'eta'"):
        FAMD().fit(SURVEY).levels("eta")
    with pytest.raises(ValueError, match="supplementary must be None, or a list of columns; got 3"):
        FAMD(supplementary=3).fit(SURVEY)


def test_a_damaged_file_is_refused():
    model = FAMD(2, supplementary=["club"]).fit(SURVEY)
    model._passive = model._passive + 50
    with pytest.raises(ValueError, match="_passive"):
        model._check_state()


def test_compare_and_reliability_take_the_table():
    made = lowdim.compare(pl.concat([SURVEY] * 2), methods=["famd", "mca", "pca"], prepare="auto")
    assert {"famd", "mca"} <= set(made.embeddings)
    again = made.models["famd"].transform(pl.concat([SURVEY] * 2))
    np.testing.assert_allclose(again, made.embeddings["famd"], atol=1e-12)
    found = lowdim.quality.reliability(made.models["famd"], pl.concat([SURVEY] * 2), refits=2, random_state=0)
    assert len(found.score) == 2 * SURVEY.height
    assert "famd" not in lowdim.compare(SURVEY.select("age", "size", "pay"), methods=None, missing="mean").embeddings
