"""Multiple correspondence analysis: correspondence analysis of indicators, corrections, classes of numbers."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim import MCA

REFERENCE = json.loads((Path(__file__).parent / "factominer.json").read_text())
SURVEY = pl.DataFrame(REFERENCE["table"])
CATEGORIES = SURVEY.select("town", "likes", "owns")


def close(found, reference, unit=1.0):
    """Equal but for the signs of components, to 1e-8 of the largest value."""
    if isinstance(found, pl.DataFrame):
        found = found.select(pl.col(pl.Float64)).to_numpy()
    reference = np.asarray(reference) * unit
    assert found.shape == reference.shape
    np.testing.assert_allclose(np.abs(found), np.abs(reference), atol=1e-8 * np.abs(reference).max())


def test_rows_columns_and_levels_have_factominers_numbers():
    table = SURVEY.drop("age", "size")
    model, known = MCA(3, supplementary=["pay", "club"]).fit(table), REFERENCE["mca"]
    passive = ~pl.col("active")
    close(model.eigenvalues_, known["eigenvalues"])
    close(model.transform(table), known["rows"])
    close(model.row_cos2(table), known["row_cos2"])
    close(model.row_contributions(table), known["row_contributions"], 0.01)
    for name, what in (("coordinates", "levels"), ("cos2", "level_cos2"), ("v_test", "level_v")):
        close(model.levels(name).filter("active"), known[what])
        close(model.levels(name).filter(passive), known[f"sup_{what}"])
    close(model.levels("contributions"), known["level_contributions"], 0.01)
    close(model.columns().filter("active"), known["columns"])
    close(model.columns("correlations").filter(passive), known["sup_correlations"])


def test_greenacres_correction_has_the_numbers_of_ca():
    model, known = MCA(2, correction="greenacre").fit(CATEGORIES), np.array(REFERENCE["greenacre"])
    some = model.eigenvalues_ > 0
    close(model.eigenvalues_[some], known[: some.sum(), 0])
    close(model.explained_variance_ratio_[some], known[: some.sum(), 1])


def test_benzecris_shares_are_of_the_inertias_above_the_mean_and_coordinates_stay():
    plain, corrected = MCA(5).fit(CATEGORIES), MCA(2, correction="benzecri").fit(CATEGORIES)
    above = plain.eigenvalues_[plain.eigenvalues_ > 1 / 3]
    expected = (3 / 2 * (above - 1 / 3)) ** 2
    np.testing.assert_allclose(corrected.eigenvalues_[: len(expected)], expected[:2])
    np.testing.assert_allclose(corrected.explained_variance_ratio_.sum(), expected[:2].sum() / expected.sum())
    np.testing.assert_allclose(corrected.transform(CATEGORIES), plain.transform(CATEGORIES)[:, :2], atol=1e-12)
    with pytest.raises(ValueError, match="needs two active columns; got 1"):
        MCA(correction="benzecri").fit(CATEGORIES.select("town"))


def test_it_is_correspondence_analysis_of_the_indicators():
    Z = CATEGORIES.to_dummies().to_numpy().astype(float)
    P = Z / Z.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    U, s, Vt = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), full_matrices=False)
    model = MCA(4).fit(CATEGORIES)
    np.testing.assert_allclose(model.eigenvalues_, s[:4] ** 2)
    close(model.transform(CATEGORIES), (U * s / np.sqrt(r)[:, None])[:, :4])
    close(model.levels(), (Vt.T * s / np.sqrt(c)[:, None])[:, :4])
    assert model.total_inertia_ == pytest.approx((s**2).sum()) == pytest.approx(Z.shape[1] / 3 - 1)


def test_numbers_are_levels_if_few_and_whole_and_cut_otherwise(rng):
    days = pl.Series(np.datetime64("2024-01-01", "D") + np.arange(80))
    table = pl.DataFrame({"x": rng.normal(size=80), "score": rng.integers(1, 6, 80), "day": days, "t": ["a", "b"] * 40})
    model = MCA(2, bins=4, plan={"t": "category", "x": "number"}).fit(table)
    levels = dict(model.levels().group_by("column", maintain_order=True).agg("level").iter_rows())
    assert levels["score"] == list("12345")
    assert [len(levels[name]) for name in ("x", "day", "t")] == [4, 4, 2]
    assert levels["day"][0] == "≤ 2024-01-20"
    np.testing.assert_allclose(model._made[0].shares, 0.25)
    np.testing.assert_allclose(model._made[0].knots, np.sort(table["x"].to_numpy())[[19, 39, 59]])
    new = table[:3].with_columns(pl.Series("x", [-99.0, 0.0, 99.0]))
    assert np.isfinite(model.transform(new)).all()
    back = model.inverse_transform(model.transform(table))
    assert set(back["x"]) <= set(levels["x"])


def test_a_saved_model_cuts_numbers_as_before(rng, tmp_path):
    table = pl.DataFrame({"x": rng.normal(size=50), "t": rng.choice(["a", "b"], 50)})
    model = MCA(2, correction="greenacre").fit(table)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(table), model.transform(table))
    assert again.levels("cos2").equals(model.levels("cos2"))


@pytest.mark.parametrize("n", [1, 7, 100])
def test_numbers_that_hardly_vary_have_two_classes(n):
    x = np.zeros(100)
    x[:n] = 0.5
    model = MCA(1).fit(pl.DataFrame({"x": x, "t": ["a", "b"] * 50}))
    assert len(model._made[0].levels) in (0, 2)  # a constant is left out


def test_numbers_near_the_largest_are_cut_too(tmp_path):
    x = np.array([-1.7e308, 4.7e307, 8.5e307, -1.4e308, 1.3e308])
    model = MCA(1).fit(pl.DataFrame({"x": x, "t": list("ababa")}))
    model.save(tmp_path / "m.lowdim")
    assert lowdim.load(tmp_path / "m.lowdim")._made[0].levels == model._made[0].levels


def test_there_are_no_more_classes_than_rows():
    model = MCA(1, bins=2**31 - 1).fit(pl.DataFrame({"x": [0.5, 1.25, 2.0, 8.5], "t": list("abab")}))
    assert len(model._made[0].levels) == 4


def test_whole_classes_do_not_share_names():
    x = 1e9 + np.arange(40) / 100
    model = MCA(1).fit(pl.DataFrame({"x": x, "t": ["a", "b"] * 20}))
    assert len(set(model._made[0].levels)) == 4
