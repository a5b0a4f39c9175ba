"""Preparation of tables: kinds recognised by stated rules, columns of comparable weight, nothing done in silence."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, RobustScaler, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim import Prepare


@pytest.fixture
def people(rng):
    """A table as people bring it; n is small enough for every gap to be known."""
    n = 120
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    frame = pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "city": rng.choice(["Berlin", "Oslo", "Rome", "Paris"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "married": rng.choice(["yes", "no"], n),
            "joined": days,
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(10, 1, n),
            "planet": ["Earth"] * n,
        }
    )
    return frame.with_columns(pl.when(pl.int_range(n) == 7).then(None).otherwise(pl.col("age")).alias("age"))


def kinds(model):
    return dict(zip(model.plan_["column"], model.plan_["kind"], strict=True))


@pytest.mark.parametrize("model", [Prepare(), Prepare("robust", missing="mean"), Prepare("as_is", missing="median")])
def test_scikit_learn_finds_nothing_to_complain_about(model):
    check_estimator(model, on_skip=None)


def test_kinds_are_recognised_and_every_decision_is_told(people):
    model = Prepare(missing="median").fit(people)
    assert kinds(model) == {
        "name": "identifier",
        "city": "category",
        "married": "yes/no",
        "joined": "date",
        "age": "number",
        "income": "number",
        "planet": "constant",
    }
    assert model.plan_["done"].to_list() == [
        "left out",
        "one-hot encoded to 4, scaled as a group",
        "coded 0 and 1, standardised",
        "as days, standardised",
        "standardised; 1 missing value filled by the median",
        "standardised",
        "left out",
    ]
    assert model.plan_["why"][0] == "every value is different"
    assert model.describe() == [
        "1 identifier left out: name",
        "1 categorical column one-hot encoded to 4",
        "1 yes/no column coded 0 and 1, standardised",
        "1 date column as days, standardised",
        "2 number columns standardised",
        "1 constant column left out: planet",
        "1 missing value filled by the median",
    ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False, True], "yes/no"),
        (["ja", "NEIN", "ja"], "yes/no"),
        (["yes", "no", "perhaps"] * 3, "category"),
        (["1,5", "2,25", "1.000,0"], "number"),
        (["1,234", "12,345.5", "7"], "number"),
        (["0012", "0013", "0012"] * 4, "code"),
        (["24.12.2020", "1.2.2021", "3.4.2022"], "date"),
        (["12/24/2020", "02/01/2021", "03/04/2022"], "date"),
        (["2020-01-01 10:30", "2020-01-02 11:00", "2020-01-01 10:30"], "date"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), None], "date"),
        (list(range(100, 120)), "identifier"),
        ([float(i) for i in range(20)], "number"),
        (["a", "b", "a"], "category"),
        (["a", "b", "c"], "identifier"),
        ([3, 3, 3], "constant"),
        (["x", None, "x"], "constant"),
    ],
)
def test_rules_for_kinds(values, kind):
    frame = pl.DataFrame({"a": values, "other": np.arange(len(values)) ** 2.0})
    assert kinds(Prepare(missing="mean").fit(frame))["a"] == kind


@pytest.mark.parametrize(
    ("numbers", "peer"),
    [
        ("standardize", StandardScaler()),
        ("as_is", None),
        ("robust", RobustScaler(unit_variance=True)),
        ("ranks", QuantileTransformer(n_quantiles=200)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_scaled_as_scikit_learn_does(numbers, peer, dtype, rng):
    X = rng.lognormal(size=(200, 3)).astype(dtype)
    Y = Prepare(numbers).fit_transform(X)
    expected = X if peer is None else peer.fit_transform(X)
    if numbers == "ranks":  # ours have mean 0 and variance 1, and the ends lie half a rank inside
        expected = ((expected * 199 + 0.5) / 200 - 0.5) * np.sqrt(12)
    np.testing.assert_allclose(Y, expected, rtol=1e-4 if dtype == "float32" else 1e-9, atol=1e-5)
    assert Y.dtype == dtype


def test_logarithms_are_standardised(rng):
    X = rng.lognormal(size=(50, 2))
    np.testing.assert_allclose(Prepare("log1p").fit_transform(X), StandardScaler().fit_transform(np.log1p(X)))
    with pytest.raises(ValueError, match=r"log\(1 \+ x\) needs values above -1; column 'x1' goes down to -1"):
        Prepare("log1p").fit(np.array([[0.0, -1.0], [1.0, 2.0]]))


def test_levels_are_those_of_scikit_learn_where_nothing_is_scaled(people):
    Y = Prepare("as_is", plan={c: "drop" for c in people.columns if c != "city"}).fit_transform(people)
    np.testing.assert_array_equal(Y, OneHotEncoder(sparse_output=False).fit_transform(people[["city"]].to_numpy()))


def test_a_category_has_variance_1_in_every_direction_it_has(people):
    """The covariance of its columns is I − √p √pᵀ: eigenvalue 1 for each level but one, which has 0."""
    Y = Prepare(plan={c: "drop" for c in people.columns if c != "city"}).fit_transform(people)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-12)
    p = people["city"].value_counts().sort("city")["count"].to_numpy() / len(people)
    np.testing.assert_allclose(Y.T @ Y / len(Y), np.eye(4) - np.sqrt(np.outer(p, p)), atol=1e-12)


def test_a_yes_or_no_weighs_the_same_as_a_category_of_two_levels(people):
    columns = people.select("married", pl.col("married").alias("again"))
    Y = Prepare(plan={"again": "category"}).fit_transform(columns)
    distances = [np.linalg.norm(part[:, None] - part[None], axis=-1) for part in (Y[:, :1], Y[:, 1:])]
    np.testing.assert_allclose(*distances, atol=1e-12)


def test_pca_of_categories_is_multiple_correspondence_analysis(people, rng):
    """Eigenvalues are those of the scaled indicator matrix (Q D^-1/2 ... ), Q times the inertias of the analysis."""
    table = pl.DataFrame({name: rng.choice(list("abc"), 90) for name in ("u", "v")})
    Z = OneHotEncoder(sparse_output=False).fit_transform(table.to_numpy())
    n, Q = Z.shape[0], 2
    P = Z / (n * Q)
    r, c = P.sum(axis=1), P.sum(axis=0)
    inertias = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), compute_uv=False) ** 2
    variances = np.linalg.eigvalsh(np.cov(Prepare().fit_transform(table).T, ddof=0))[::-1]
    np.testing.assert_allclose(variances[:4], Q * inertias[:4], atol=1e-12)


def test_rare_levels_are_pooled_and_unseen_ones_join_them():
    frame = pl.DataFrame({"c": ["a"] * 50 + ["b"] * 30 + list("cdefg") * 2, "x": np.arange(90.0) ** 2})
    model = Prepare(max_levels=3).fit(frame)
    assert model.get_feature_names_out().tolist() == ["c=a", "c=b", "c=(rare)", "x"]
    assert "5 rare levels pooled" in model.plan_["done"][0]
    new = pl.DataFrame({"c": ["c", "new"], "x": [1.0, 1.0]})
    Y = model.transform(new)
    np.testing.assert_array_equal(Y[0], Y[1])


def test_unseen_levels_get_the_centre_with_a_warning(people):
    model = Prepare(missing="mean").fit(people)
    new = people.head(2).with_columns(city=pl.Series(["Berlin", "Atlantis"]))
    with pytest.warns(UserWarning, match="'city' has levels that fit did not see \\('Atlantis'\\)"):
        Y = model.transform(new)
    place = [i for i, name in enumerate(model.get_feature_names_out()) if name.startswith("city=")]
    np.testing.assert_array_equal(Y[1, place], 0)


def test_ordinal_levels_follow_the_order_given(people):
    frame = pl.DataFrame({"size": ["S", "L", "M", "S"], "x": [1.0, 4.0, 2.0, 9.0]})
    model = Prepare("as_is", plan={"size": ["S", "M", "L"]}).fit(frame)
    np.testing.assert_array_equal(model.transform(frame)[:, 0], [0, 2, 1, 0])
    with pytest.raises(ValueError, match="must hold one of 'S', 'M', 'L', as in fit; got 'XL' in row 1"):
        model.transform(pl.DataFrame({"size": ["S", "XL"], "x": [1.0, 1.0]}))
    with pytest.raises(ValueError, match="must name all its levels; it lacks 'L'"):
        Prepare(plan={"size": ["S", "M"]}).fit(frame)
    ordered = pd.DataFrame({"size": pd.Categorical(["S", "L", "M", "S"], ["S", "M", "L"], ordered=True), "x": range(4)})
    Y = Prepare("as_is", categories="ordinal", plan={"x": {"weight": 2.0}}).fit_transform(ordered)
    np.testing.assert_array_equal(Y, [[0, 0], [2, 2], [1, 4], [0, 6]])


def test_gaps_are_refused_filled_or_dropped_as_asked():
    frame = pd.DataFrame({"x": [1.0, np.nan, 2.0, 9.0], "c": ["a", "b", None, "b"], "y": [1, 2, 3, 5]})
    with pytest.raises(ValueError, match="NaN at row 1 .*column 'x'.*missing='median'"):
        Prepare().fit(frame)
    plain = Prepare("as_is", missing="mean").fit_transform(frame)
    np.testing.assert_allclose(plain[:, 0], [1, 4, 2, 9])
    np.testing.assert_allclose(plain[2, 1:3], [1 / 3, 2 / 3])
    middle = Prepare("as_is", missing="median").fit_transform(frame)
    np.testing.assert_allclose(middle[:, 0], [1, 2, 2, 9])
    np.testing.assert_allclose(middle[2, 1:3], [0, 1])
    model = Prepare("as_is", missing="drop", plan={"c": "category"}).fit(frame)
    np.testing.assert_array_equal(model.complete(frame), [True, False, False, True])
    assert model.describe()[-1] == "2 rows with missing values left out"
    dropped = model.set_output(transform="pandas").transform(frame)
    assert dropped.index.tolist() == [0, 3]
    np.testing.assert_array_equal(dropped["y"], [1, 5])


def test_gaps_that_a_plan_fills_cost_no_row():
    frame = pl.DataFrame({"x": [1.0, None, 2.0, 9.0], "y": [None, 2.0, 3.0, 5.0]})
    model = Prepare("as_is", missing="drop", plan={"x": {"missing": "mean"}}).fit(frame)
    np.testing.assert_array_equal(model.complete(frame), [False, True, True, True])
    np.testing.assert_allclose(model.transform(frame), [[5.5, 2], [2, 3], [9, 5]])


def test_a_column_of_one_value_in_the_rows_that_stay_costs_no_row():
    frame = pl.DataFrame({"x": [1.0, None, 2.0, 9.0], "c": ["a", "b", None, "a"]})
    model = Prepare("as_is", missing="drop").fit(frame)
    assert kinds(model) == {"x": "number", "c": "constant"}
    np.testing.assert_array_equal(model.complete(frame), [True, False, True, True])
    np.testing.assert_array_equal(model.transform(frame)[:, 0], [1, 2, 9])


def test_indicators_tell_where_gaps_were():
    frame = pl.DataFrame({"x": [1.0, None, 2.0, 9.0], "y": [1, 2, 3, 5]})
    model = Prepare("as_is", missing="mean", indicators=True).fit(frame)
    assert model.get_feature_names_out().tolist() == ["x", "x (missing)", "y"]
    np.testing.assert_array_equal(model.transform(frame)[:, 1], [0, 1, 0, 0])


def test_a_rule_for_gaps_set_after_the_fit_uses_what_the_fit_learned():
    model = Prepare("as_is").fit(pl.DataFrame({"x": [1.0, 2.0, 9.0]}))
    new = pl.DataFrame({"x": [None, 5.0]}, schema={"x": pl.Float64})
    with pytest.raises(ValueError, match="NaN at row 0"):
        model.transform(new)
    np.testing.assert_array_equal(model.set_params(missing="median").transform(new)[:, 0], [2, 5])
    np.testing.assert_array_equal(model.set_params(missing="mean").transform(new)[:, 0], [4, 5])
    np.testing.assert_array_equal(model.set_params(missing="drop").transform(new)[:, 0], [5])


def test_dates_become_days_and_circles():
    days = pl.Series([datetime.datetime(1970, 1, 2, 12), datetime.datetime(1971, 1, 2), datetime.datetime(1970, 1, 8)])
    frame = pl.DataFrame({"t": days, "x": [1, 2, 4]})
    np.testing.assert_array_equal(Prepare("as_is").fit_transform(frame)[:, 0], [1.5, 366, 7])
    model = Prepare("as_is", dates="cyclic").fit(frame)
    names = model.get_feature_names_out().tolist()
    assert names[:3] == ["t", "t sin of year", "t cos of year"]
    Y = model.transform(frame)
    turn = 2 * np.pi * 1.5 / 7
    np.testing.assert_allclose(Y[0, [3, 4]], [np.sin(turn), np.cos(turn)])
    np.testing.assert_allclose(Y[:, 6], np.cos([np.pi, 0, 0]), atol=1e-12)
    assert Prepare(dates="drop").fit(frame).get_feature_names_out().tolist() == ["x"]


@pytest.mark.parametrize("spelt", [["1.1.2020", "5.2.2021", "7.3.2022"], ["2020-01-01", "2021-02-05", "2022-03-07"]])
def test_dates_in_text_are_the_same_dates(spelt):
    true = pl.Series([datetime.date(2020, 1, 1), datetime.date(2021, 2, 5), datetime.date(2022, 3, 7)])
    np.testing.assert_array_equal(
        Prepare().fit_transform(pl.DataFrame({"t": spelt})), Prepare().fit_transform(pl.DataFrame({"t": true}))
    )


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"x": [str(i) for i in range(30)] + ["oops"]}, "'x' must hold numbers in every row; got 'oops' in row 30"),
        ({"d": ["2020-01-01"] * 5 + ["2020-02-02", "soon"]}, "'d' must hold dates .*got 'soon' in row 6"),
        ({"d": ["2020-01-01", "2020-13-45", "2020-02-02"]}, "'d' must hold dates .*got '2020-13-45' in row 1"),
        ({"x": [None, None, None]}, "'x' has none"),
        (
            {"c": [f"v{i // 2}" for i in range(400)]},
            "'c' has 200, of which the 49 most frequent cover 2[45]% of the rows",
        ),
        ({"x": [1.0, float("inf"), 2.0]}, "must be finite; got inf"),
        ({"x": [1, 1, 1], "s": ["a", "b", "c"]}, "at least one column must be left"),
        ({"x": [[1], [2], [3]]}, "columns must hold numbers, text or dates; 'x' does not: it holds List"),
    ],
)
def test_columns_that_cannot_be_used_are_named(frame, words):
    with pytest.raises(ValueError, match=words):
        Prepare(missing="mean").fit(pl.DataFrame(frame))


def test_a_plan_says_what_the_rules_cannot(people):
    codes = people.with_columns(age=pl.col("age").fill_null(3) % 3)
    model = Prepare(plan={"age": "category", "name": "drop", "income": {"numbers": "ranks", "weight": 0.5}}).fit(codes)
    assert [n for n in model.get_feature_names_out() if n.startswith("age")] == ["age=0", "age=1", "age=2"]
    assert np.ptp(model.transform(codes)[:, -1]) == pytest.approx(0.5 * np.sqrt(12) * 119 / 120)
    assert model.plan_["why"][4] == "the plan says so"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"agee": "drop"}, "plan must name columns of the table; got 'agee'. Did you mean 'age'"),
        ({"age": "colour"}, "kind of column 'age' must be one of 'number'.*got 'colour'"),
        ({"age": {"colour": 1}}, "plan of column 'age' may say numbers"),
        ({"age": {"numbers": "cubed"}}, "numbers of column 'age' must be one of"),
        ({"age": 3}, "plan must give a kind"),
        ({"joined": {"format": "day"}}, "format of column 'joined' must be a format"),
        ({"city": "number"}, "column 'city' must hold numbers in every row; got"),
        ({"city": "date"}, "column 'city' must hold dates in every row; got"),
        ({"city": "yes/no"}, "column 'city' must hold yes or no; got '.*' in row 0"),
        ({"joined": "number"}, "column 'joined' must hold numbers; got Date"),
        ({"income": "date"}, "column 'income' must hold dates; got Float64"),
        (
            {"joined": {"kind": "date", "format": "%Q"}, "name": {"kind": "date", "format": "%Q"}},
            "dates as %Q in every row",
        ),
        ({"planet": {"weight": 0}}, "weight of column 'planet' must be"),
    ],
)
def test_plans_that_cannot_be_followed_say_why(plan, words, people):
    with pytest.raises(ValueError, match=words):
        Prepare(missing="mean", plan=plan).fit(people)


def test_names_that_would_meet_and_lengths_of_time_as_levels_are_refused():
    with pytest.raises(ValueError, match="two would be called 'c=a'"):
        Prepare().fit(pl.DataFrame({"c": ["a", "b", "a"], "c=a": [1.0, 2.0, 4.0]}))
    hours = pl.Series([datetime.timedelta(hours=h) for h in (1, 2, 1)])
    with pytest.raises(ValueError, match="got durations"):
        Prepare(plan={"t": "category"}).fit(pl.DataFrame({"t": hours}))
    np.testing.assert_allclose(Prepare("as_is").fit_transform(pl.DataFrame({"t": hours}))[:, 0] * 24, [1, 2, 1])


def test_a_column_of_another_kind_at_transform_is_named(people):
    model = Prepare(missing="mean").fit(people)
    with pytest.raises(ValueError, match="'income' must hold numbers, as in fit; got 'much' in row 1"):
        model.transform(people.head(3).with_columns(income=pl.Series(["1.5", "much", "2"])))
    with pytest.raises(ValueError, match="'income' must hold numbers, as in fit; got Date"):
        model.transform(people.head(3).with_columns(income=pl.col("joined")))
    with pytest.raises(ValueError, match="'joined' must hold dates, as in fit; got Float64"):
        model.transform(people.head(3).with_columns(joined=pl.col("income")))
    with pytest.raises(ValueError, match="'married' must hold yes or no, as in fit; got 'perhaps'"):
        model.transform(people.head(3).with_columns(married=pl.Series(["yes", "no", "perhaps"])))


def test_pandas_polars_and_objects_are_prepared_alike(people):
    expected = Prepare(missing="mean").fit_transform(people)
    frame = people.to_pandas()
    objects = pd.DataFrame({c: pd.Series(people[c].to_list(), dtype=object) for c in people.columns})
    nullable = frame.assign(age=frame["age"].astype("Int64"), city=frame["city"].astype("category"))
    for other in (frame, objects, nullable):
        np.testing.assert_allclose(Prepare(missing="mean").fit_transform(other), expected)
    np.testing.assert_allclose(Prepare(missing="mean").fit_transform(objects.to_numpy()), expected)
    assert np.isfinite(Prepare(missing="mean").fit_transform(people.rows())).all()


def test_frames_come_out_under_names(people):
    model = Prepare(missing="mean").set_output(transform="pandas").fit(people.to_pandas())
    Y = model.transform(people.to_pandas())
    assert list(Y.columns) == model.get_feature_names_out().tolist()
    assert Y.columns[:2].tolist() == ["city=Berlin", "city=Oslo"]
    assert model.sources() == [1, 1, 1, 1, 2, 3, 4, 5]


def test_a_saved_preparation_is_identical(people, tmp_path):
    model = Prepare("ranks", missing="median", dates="cyclic", indicators=True, plan={"city": {"max_levels": 3}})
    model.fit(people)
    model.save(tmp_path / "p.lowdim")
    again = lowdim.load(tmp_path / "p.lowdim")
    np.testing.assert_array_equal(again.transform(people), model.transform(people))
    assert again.plan_.equals(model.plan_)
    assert again.get_params() == model.get_params() == clone(model).get_params()
    assert pickle.loads(pickle.dumps(model)).plan_.equals(model.plan_)


def test_a_chain_prepares_drops_rows_from_labels_too_and_is_saved_whole(people, tmp_path):
    y = np.arange(len(people)) % 3
    model = lowdim.chain(Prepare(missing="drop"), lowdim.PCA(5), lowdim.LDA()).fit(people, y)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    Y = again.transform(people)
    assert Y.shape == (len(people) - 1, 2)
    np.testing.assert_array_equal(Y, model.transform(people))
    assert again.feature_names_in_.tolist() == people.columns
    labels = lowdim.chain(Prepare(missing="drop"), lowdim.LDA()).fit_transform(people.to_pandas(), y)
    assert len(labels) == len(people) - 1


@pytest.mark.parametrize(
    "change",
    [
        {"action": "eval"},
        {"scale": 0.0},
        {"scale": "1"},
        {"shares": np.zeros(3)},
        {"levels": [1, 2, 3, 4]},
        {"mean": float("nan")},
        {"circles": ["moon"]},
        {"evil": 1},
    ],
)
def test_hostile_recipes_are_refused(change, people, tmp_path):
    model = Prepare(missing="mean").fit(people)
    model._recipes[1] = model._recipes[1] | change
    model.save(tmp_path / "p.lowdim")
    with pytest.raises(lowdim.persist.ModelFileError, match="an invalid model"):
        lowdim.load(tmp_path / "p.lowdim")


def test_input_is_left_untouched(people, rng):
    before = people.clone()
    Prepare(missing="mean").fit_transform(people)
    assert people.equals(before)
    X = rng.normal(size=(10, 3))
    X[0, 0] = np.nan
    X.flags.writeable = False
    Prepare(missing="mean").fit_transform(X)


def test_duplicate_names_and_too_few_rows_are_refused(people):
    twice = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="must be unique; got 'a' more than once"):
        Prepare().fit(twice)
    with pytest.raises(ValueError, match="at least 2 samples.*1 sample"):
        Prepare().fit(people.head(1))


@given(
    columns=st.lists(
        st.lists(st.none() | st.floats(allow_nan=True) | st.text(max_size=4) | st.booleans(), min_size=6, max_size=6),
        min_size=1,
        max_size=4,
    ),
    numbers=st.sampled_from(["standardize", "as_is", "robust", "ranks"]),
)
@settings(max_examples=60, deadline=None)
def test_any_table_is_prepared_to_finite_numbers_or_refused_in_words(columns, numbers):
    X = np.array(list(zip(*columns, strict=True)), dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = Prepare(numbers, missing="mean").fit(X)
        except ValueError as error:
            told = str(error)
        else:
            told, Y = "", model.transform(X)
    if told:
        assert told.startswith("Prepare: ")
        return
    assert np.isfinite(Y).all()
    assert Y.shape == (6, len(model.get_feature_names_out()))


def test_the_number_of_levels_may_be_a_numpy_integer():
    table = pd.DataFrame({"a": list("aaaaabc"), "b": np.arange(7.0) ** 2})
    names = [Prepare(max_levels=most).fit(table).get_feature_names_out().tolist() for most in (2, np.int64(2))]
    assert names[0] == names[1]
