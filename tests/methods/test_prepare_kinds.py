"""Kinds of columns of the second round: units, answers, several options, codes, free text; all obstacles at once."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim import Prepare


def kinds(frame, **params):
    model = Prepare(missing="mean", **params).fit(frame)
    return dict(zip(model.plan_["column"], model.plan_["kind"], strict=True)), model


@pytest.mark.parametrize(
    ("cells", "numbers", "unit"),
    [
        (["$1,234.50", "-$3", "($20)"], [1234.5, -3, -20], "$"),
        (["1.234,56 €", "7 €", "-3,5 €"], [1234.56, 7, -3.5], "€"),
        (["73%", "4.5 %", "12"], [73, 4.5, 12], "%"),
        (["12.3 kg", "5 KG", "1e1 kg"], [12.3, 5, 10], "kg"),
        (["(1,614)", "1,200", "(3)"], [-1614, 1200, -3], ""),
        (["EUR 5", "EUR 7.5", "EUR 9"], [5, 7.5, 9], "EUR"),
        (["1 month", "12 months", "3 months"], [1, 12, 3], "months"),
        (["1614-", "20", "3-"], [-1614, 20, -3], ""),
    ],
)
def test_numbers_with_units_are_numbers(cells, numbers, unit):
    frame = pl.DataFrame({"x": cells, "y": [1.0, 4.0, 9.0]})
    found, model = kinds(frame, numbers="as_is")
    assert found["x"] == "number"
    np.testing.assert_allclose(model.transform(frame)[:, 0], numbers)
    assert (unit in model.plan_["done"][0]) if unit else ("in '" not in model.plan_["done"][0])
    new = pl.DataFrame({"x": ["17", "3"], "y": [1.0, 1.0]})
    np.testing.assert_allclose(model.transform(new)[:, 0], [17, 3])
    with pytest.raises(ValueError, match=r"column 'x' must hold numbers.*as in fit; got '5 parsecs' in row 1"):
        model.transform(new.with_columns(x=pl.Series(["17", "5 parsecs"])))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["12A", "4B", "7C"] * 5, "category"),
        (["500 ml", "1 l", "500 ml"] * 5, "category"),
        (["10:30", "11:20", "10:30"] * 4, "category"),
        (["2D", "3D", "2D"] * 4, "category"),
        (["01234", "98765", "01234"] * 4, "code"),
        ([f"0{i}" for i in range(100, 400)], "code"),
        (["Yes", "yes", "Y", "NO", "no", None] * 3, "yes/no"),
        (["disagree", "Strongly agree", "neutral", "agree"] * 3, "ordinal"),
        (["1 - never", "2", "5 - always"] * 3, "ordinal"),
        (["trifft zu", "trifft nicht zu", "teils-teils"] * 3, "ordinal"),
        (["klein", "mittel", "groß"] * 4, "ordinal"),
        (["bus;train", "bus", "car;bus", "train;car"] * 3, "multi-select"),
        (["Rome, Italy", "Oslo, Norway", "Paris, France"] * 3, "category"),
        ([f"I think that part {i} of the trip was rather long" for i in range(60)], "text"),
        (["M", "f", "F", "m"] * 3, "category"),
    ],
)
def test_text_has_kinds_of_its_own(cells, kind):
    frame = pl.DataFrame({"a": cells, "x": np.arange(len(cells)) ** 2.0})
    assert kinds(frame)[0]["a"] == kind


def test_units_that_differ_and_cells_that_are_no_numbers_are_named():
    frame = pl.DataFrame({"w": [f"{i} kg" for i in range(60)] + ["3 lb"], "x": np.arange(61) ** 2.0})
    with pytest.raises(ValueError, match=r"'w' must hold numbers in 'kg' in every row; got '3 lb' in row 60"):
        Prepare().fit(frame)
    rows = [f"${i}" for i in range(60)] + ["n/k", "free", "n/k", "tbd"]
    frame = pl.DataFrame({"p": rows, "x": np.arange(64) ** 2.0})
    with pytest.raises(
        ValueError, match=r"got 'n/k' in row 60 \(counted from 0\), 'free' in row 61, 'n/k' in row 62 and 1"
    ):
        Prepare().fit(frame)


def test_ordered_answers_are_coded_by_their_place():
    frame = pl.DataFrame({"a": ["agree", "Disagree", "strongly agree", "neutral"], "x": [1.0, 4, 9, 16]})
    model = Prepare("as_is").fit(frame)
    np.testing.assert_array_equal(model.transform(frame)[:, 0], [3, 1, 4, 2])
    new = frame.with_columns(a=pl.Series(["AGREE ", "strongly disagree", "Neutral.", "agree"]))
    np.testing.assert_array_equal(model.transform(new)[:, 0], [3, 0, 2, 3])
    with pytest.raises(ValueError, match="got 'often' in row 0"):
        model.transform(frame.with_columns(a=pl.Series(["often", "agree", "agree", "agree"])))
    np.testing.assert_array_equal(Prepare(categories="drop").fit(frame).sources(), [1])


def test_types_that_order_their_levels_are_ordinal_without_asking():
    sizes = ["S", "XXL", "odd", "S"]
    order = ["S", "odd", "XXL"]
    frames = [
        pd.DataFrame({"s": pd.Categorical(sizes, order, ordered=True), "x": [1.0, 4, 9, 16]}),
        pl.DataFrame({"s": pl.Series(sizes, dtype=pl.Enum(order)), "x": [1.0, 4, 9, 16]}),
    ]
    for frame in frames:
        np.testing.assert_array_equal(Prepare("as_is").fit_transform(frame)[:, 0], [0, 2, 1, 0])
        assert Prepare(rules=1).fit(frame).plan_["kind"][0] == "category"
    loose = pd.DataFrame({"s": pd.Categorical(sizes, order), "x": [1.0, 4, 9, 16]})
    assert Prepare().fit(loose).plan_["kind"][0] == "category"


def test_several_options_become_indicators_of_at_most_variance_one(rng):
    """The correlation matrix of the indicators, divided by its largest eigenvalue."""
    options = np.array(["bus", "car", "train"])
    chosen = rng.random((200, 3)) < [0.3, 0.5, 0.7]
    chosen[~chosen.any(axis=1), 0] = True
    frame = pl.DataFrame({"t": ["; ".join(options[row]) for row in chosen], "x": rng.normal(size=200)})
    model = Prepare().fit(frame)
    assert model.get_feature_names_out().tolist() == ["t=bus", "t=car", "t=train", "x"]
    Y = model.transform(frame)[:, :3]
    R = np.corrcoef(chosen.T)
    np.testing.assert_allclose(Y.T @ Y / 200, R / np.linalg.eigvalsh(R)[-1], atol=1e-12)
    np.testing.assert_array_equal(Prepare("as_is").fit_transform(frame)[:, :3], chosen)
    new = pl.DataFrame({"t": ["train;boat"], "x": [0.0]})
    with pytest.warns(UserWarning, match="'t' has levels that fit did not see \\('boat'\\)"):
        row = Prepare("as_is").fit(frame).transform(new)
    np.testing.assert_array_equal(row[0, :3], [0, 0, 1])


def test_spelling_variants_are_merged_and_told():
    cells = ["Berlin", "berlin", "Berlin ", "BERLIN", "Berlin", "Rome", "New  York", "New York", "new york", "Aa", "AA"]
    frame = pl.DataFrame({"c": cells, "x": np.arange(11) ** 2.0})
    model = Prepare(plan={"c": {"max_levels": 9}}).fit(frame)
    assert [n for n in model.get_feature_names_out() if n[0] == "c"] == [
        "c=AA",
        "c=Aa",
        "c=Berlin",
        "c=New York",
        "c=Rome",
    ]
    assert "spelling variants merged" in model.plan_["done"][0]
    assert "spelling variants merged in 1 column: c" in model.describe()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Y = model.transform(frame.with_columns(c=pl.lit("ROME")))
    np.testing.assert_array_equal(Y[:, 4], model.transform(frame)[5, 4])
    exact = Prepare(plan={"c": {"kind": "category", "max_levels": 9}}).fit(frame)
    assert len(exact.get_feature_names_out()) == 9 + 1


def test_all_obstacles_are_named_at_once(tmp_path):
    frame = pl.DataFrame(
        {
            "half": [str(i) for i in range(30)] + ["oops"] * 20,
            "empty": pl.Series([None] * 50, dtype=pl.Float64),
            "lists": [[1]] * 50,
            "x": np.arange(50) ** 2.0,
            "gap": [None, *range(3, 52)],
            "gaps": [None, None, *range(5, 53)],
        }
    )
    with pytest.raises(ValueError, match="3 columns cannot be used") as caught:
        Prepare().fit(frame)
    words = str(caught.value)
    assert all(f"'{name}' (" in words for name in ("half", "empty", "lists"))
    assert "on_unusable='drop'" in words
    assert "missing='median'" in words
    assert "'gap' has 1, 'gaps' has 2" in words
    with pytest.warns(UserWarning, match="3 columns were left out, since they cannot be used: 'half'"):
        model = Prepare(missing="mean", on_unusable="drop").fit(frame)
    assert model.get_feature_names_out().tolist() == ["x", "gap", "gaps"]
    model.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="2 columns cannot be used"):
        Prepare(on_unusable="drop").fit(frame.select("half", "empty"))


def test_rules_of_version_1_recognise_what_they_did(tmp_path):
    frame = pl.DataFrame(
        {
            "price": [f"${i}.50" for i in range(40)],
            "zip": ["01234", "98765"] * 20,
            "mood": ["agree", "disagree"] * 20,
            "city": ["Rome", "rome"] * 20,
        }
    )
    assert Prepare(rules=1).fit(frame).plan_["kind"].to_list() == ["identifier", "number", "category", "category"]
    assert Prepare().fit(frame).plan_["kind"].to_list() == ["number", "code", "ordinal", "constant"]
    (tmp_path / "old.toml").write_text('numbers = "ranks"\n')
    (tmp_path / "new.toml").write_text('rules = 2\nnumbers = "ranks"\n')
    from lowdim.data.plan_files import read_plan

    assert [read_plan(tmp_path / f"{name}.toml")["rules"] for name in ("old", "new")] == [1, 2]


def test_pooled_numbers_keep_their_relative_scales(rng):
    X = rng.normal(size=(100, 3)) * [1, 2, 5]
    Y = Prepare("pooled").fit_transform(X)
    np.testing.assert_allclose(Y * np.sqrt(np.mean(X.var(axis=0))), X - X.mean(axis=0))


def test_a_plan_names_kinds_orders_and_separators():
    frame = pl.DataFrame({"a": ["x/y", "x", "y/z"] * 4, "b": ["good", "meh", "bad"] * 4, "x": np.arange(12) ** 2.0})
    plan = {"a": {"kind": "multi-select", "separator": "/"}, "b": {"kind": "ordinal", "order": ["bad", "meh", "good"]}}
    model = Prepare("as_is", plan=plan).fit(frame)
    np.testing.assert_array_equal(model.transform(frame)[:3, :4], [[1, 1, 0, 2], [1, 0, 0, 1], [0, 1, 1, 0]])
    with pytest.raises(ValueError, match="the answers in column 'b' .* are of no known scale"):
        Prepare(plan={"b": "ordinal"}).fit(frame)


def test_times_with_offsets_are_instants_on_both_sides_of_a_change_of_clocks():
    text = ["2024-03-31T01:30:00+01:00", "2024-03-31T03:30:00+02:00", "2024-03-31T04:30:00.5+0200"]
    found, model = kinds(pl.DataFrame({"at": text, "x": [1.0, 5.0, 2.0]}), numbers="as_is")
    assert found["at"] == "date"
    days = model.transform(pl.DataFrame({"at": text, "x": [1.0, 5.0, 2.0]}))[:, 0]
    np.testing.assert_allclose(np.diff(days) * 86_400, [3600, 3600.5], rtol=1e-6)
    utc = pl.Series(["2024-03-31 00:30:00"]).str.to_datetime().to_numpy().astype("M8[s]").astype(float) / 86_400
    np.testing.assert_allclose(days[:1], utc)


def test_codes_with_extensions_stay_text():
    found, _ = kinds(pl.DataFrame({"zip": ["94110", "10001-1234", "94110", "10001-1234"], "x": [1.0, 2, 4, 3]}))
    assert found["zip"] == "code"


def test_infinity_is_refused_unless_its_column_is_left_out():
    frame = pl.DataFrame({"a": [1.0, np.inf, 2.0], "b": [1.0, 2.0, 5.0]})
    with pytest.raises(ValueError, match="X must be finite; got inf .* row 1 .*'a'"):
        Prepare().fit(frame)
    assert Prepare(plan={"a": "drop"}).fit_transform(frame).shape == (3, 1)
    with pytest.warns(UserWarning, match="1 column was left out.*'a' \\(X must be finite"):
        assert Prepare(on_unusable="drop").fit_transform(frame).shape == (3, 1)


def test_indian_thousands_are_numbers():
    found, model = kinds(pl.DataFrame({"pay": ["₹1,23,456", "₹12,34,567.5", "₹5,000"], "x": [1.0, 5, 2]}))
    assert found["pay"] == "number"
    assert model._made[0].mean == pytest.approx(np.mean([123456, 1234567.5, 5000]))
