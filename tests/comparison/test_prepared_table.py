"""One way from a table to a map: Python, the command line and the explorer prepare, fit and name alike."""

import inspect
import io
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import lowdim
from lowdim.cli import main
from lowdim.cli.preparation_options import NAMES
from lowdim.explorer.opening import open_session
from lowdim.methods.prepared_table import Preparation

OPTIONS = {"missing": "median", "first": ("pca", 4), "categories": "ordinal", "log": True}
WORDS = ["--missing", "median", "--first", "pca=4", "--categories", "ordinal", "--log"]


def people(n=80, seed=0):
    """A table with text, dates, gaps, names and classes."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    age[3] = np.nan
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "town": rng.choice(["Rome", "Oslo", "Bern"], n),
            "age": age,
            "income": rng.lognormal(3, 1, n),
            "height": rng.normal(1.7, 0.1, n),
            "joined": pd.date_range("2020-01-01", periods=n, freq="9D"),
            "party": rng.choice(["left", "right"], n),
        }
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    return path


def printed(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_compare_and_explore_take_every_option_of_the_command_line():
    settings = {one.name for one in fields(Preparation)}
    settings.remove("aside")  # columns that --drop names, which a plan may name too
    assert set(NAMES) == settings
    assert settings <= set(inspect.signature(lowdim.compare).parameters)
    with pytest.raises(ValueError, match="explore takes .*got scales. Did you mean 'scale'"):
        lowdim.explore(np.eye(5), scales=True, browser=True)


@pytest.mark.parametrize("kind", ["pandas", "polars", "table"])
def test_a_table_in_python_gives_the_maps_of_the_command_line(kind, table, tmp_path):
    frame = people()
    data = {
        "pandas": frame,
        "polars": pl.read_csv(table, try_parse_dates=True),
        "table": lowdim.data.read(table, label="party", id="name", mixed=True),
    }[kind]
    beside = {} if kind == "table" else {"y": "party", "id": "name"}
    made = lowdim.compare(data, methods=["pca", "lda"], **beside, **OPTIONS)
    out = tmp_path / "measures.csv"
    printed("compare", table, "--label", "party", "--id", "name", *WORDS, "--methods", "pca,lda", "-o", out, "-q")
    told = pl.read_csv(out).drop("seconds", "megabytes")
    for name in told.columns[1:]:
        np.testing.assert_allclose(told[name], made.table[name], rtol=1e-6)
    text = printed("reduce", table, "--label", "party", "--id", "name", *WORDS, "-q")
    mapped = pl.read_csv(io.StringIO(text))
    np.testing.assert_allclose(mapped.select("pca0", "pca1"), made.embeddings["pca"], atol=1e-8)
    session = open_session(data, title="people", **beside, **OPTIONS)
    fitted = session.fit("pca", {})
    fitted.join(60)
    np.testing.assert_allclose(fitted.Y, made.embeddings["pca"], atol=1e-5)
    assert session.identity == "name"
    assert session.colour == "party"


def test_models_take_tables_like_the_one_compared_and_are_saved_with_its_preparation(tmp_path):
    made = lowdim.compare(people().astype({"joined": str}), "party", ["pca", "lda"], id="name", **OPTIONS)
    new = people(20, seed=5).astype({"joined": str})
    features = new.drop(columns=["name", "party"])
    for name, model in made.models.items():
        assert list(model.feature_names_in_) == list(features.columns)
        lowdim.save(model, tmp_path / f"{name}.lowdim")
        want = model.transform(features)
        np.testing.assert_array_equal(lowdim.load(tmp_path / f"{name}.lowdim").transform(features), want)
        new.to_csv(tmp_path / "new.csv", index=False)
        placed = pl.read_csv(
            io.StringIO(printed("transform", tmp_path / f"{name}.lowdim", tmp_path / "new.csv", "--id", "name", "-q"))
        )
        np.testing.assert_allclose(placed.drop("name").to_numpy(), want, atol=1e-8)
    made.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "person 79" in page
    assert "1 missing value filled by the median" in page
    assert "missing=&#x27;median&#x27;" in page
    assert "5 columns reduced to 4 by PCA" in page


def test_rows_that_are_dropped_take_labels_and_further_columns_along():
    frame = people()
    made = lowdim.compare(frame, frame["party"], ["pca"], id=frame["name"], missing="drop")
    assert len(made.labels.codes) == 79
    assert len(made.embeddings["pca"]) == 79
    assert "person 3" not in made.prepared.table.ids
    session = open_session(frame, "party", {"row": np.arange(80)}, id="name", missing="drop")
    assert session.n == 79
    assert session.column("row").numbers.tolist() == [i for i in range(80) if i != 3]


def test_the_order_of_categories_is_that_of_their_type():
    size = pd.Categorical(["small", "large", "medium"] * 10, categories=["small", "medium", "large"], ordered=True)
    frame = pd.DataFrame({"size": size, "x": np.arange(30.0), "z": np.arange(30.0) % 7})
    made = lowdim.compare(frame, methods=["pca"], categories="ordinal", prepare="auto")
    codes = made.prepared.X[:3, made.prepared.names.index("size")]
    assert codes[0] < codes[2] < codes[1]
    assert lowdim.compare(frame, "size", ["pca"]).labels.names == ("small", "medium", "large")


def test_sparse_rows_are_scaled_where_no_model_carries_it_and_refused_where_one_would():
    X = sp.random(60, 8, 0.5, format="csr", random_state=0)
    assert lowdim.compare(X, methods=["pca"], scale=True).scale
    with pytest.raises(ValueError, match="scale=True needs dense rows here"):
        open_session(X, scale=True)
    with pytest.raises(ValueError, match="log=True needs a dense table"):
        lowdim.compare(X, methods=["pca"], log=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"missing": "mode"}, "missing must be .*got 'mode'"),
        ({"prepare": "none", "log": True}, "prepare='none' leaves the data as they are; got log=True too"),
        ({"prepare": lowdim.Prepare(), "missing": "drop"}, "got missing='drop' too. Set it there"),
        ({"first": ("select", 3)}, "a method with components is needed"),
        ({"first": ("lda", 1)}, "first=LDA learns from labels; data has none"),
    ],
)
def test_settings_that_contradict_are_refused_before_any_work(settings, words):
    with pytest.raises(ValueError, match=words):
        lowdim.compare(people()[["age", "income", "height"]].fillna(30.0), methods=["pca"], **settings)
