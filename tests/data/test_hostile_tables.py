"""Time zones, memory, forks, formulas and odd types: an answer or an error of ours."""

import datetime
import gzip
import multiprocessing
import os
import warnings
from decimal import Decimal
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim import Prepare
from lowdim.data import read, write

TOKYO = datetime.timezone(datetime.timedelta(hours=9))


def test_instants_are_the_same_numbers_in_every_container():
    """2024-01-01 00:00 in UTC, plus half days; naive times are as they are."""
    naive = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=12 * i) for i in (0, 1, 5)]
    aware = [moment.replace(tzinfo=datetime.UTC).astimezone(TOKYO) for moment in naive]
    x = [1.0, 4.0, 9.0]
    series = pd.Series(aware)
    zoned = pl.Series(naive).dt.replace_time_zone("UTC").dt.convert_time_zone
    frames = {
        "naive": pl.DataFrame({"t": naive, "x": x}),
        "pandas": pd.DataFrame({"t": series.dt.tz_convert("Asia/Tokyo"), "x": x}),
        "pandas, UTC": pd.DataFrame({"t": series.dt.tz_convert("UTC"), "x": x}),
        "objects": pd.DataFrame({"t": pd.Series(aware, dtype=object), "x": x}),
        "polars": pl.DataFrame({"t": zoned("Asia/Tokyo"), "x": x}),
        "Arrow": pl.DataFrame({"t": zoned("America/New_York"), "x": x}).to_arrow(),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {name: Prepare("as_is").fit_transform(frame)[:, 0] for name, frame in frames.items()}
        model = Prepare("as_is").fit(frames["naive"])
        np.testing.assert_array_equal(model.transform(frames["pandas"])[:, 0], found["naive"])
    for days in found.values():
        np.testing.assert_array_equal(days, 19723 + np.array([0, 0.5, 2.5]))


def test_a_packed_file_that_does_not_fit_is_refused_before_it_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000, 1))
    assert path.stat().st_size < 2**18
    monkeypatch.setenv("LOWDIM_MEMORY", "64M")
    with pytest.raises(MemoryError, match="unpacked so far, needs"):
        read(path)
    monkeypatch.delenv("LOWDIM_MEMORY")
    with pytest.warns(UserWarning, match="copies of others"):
        assert read(path).X.shape == (2_000_000, 2)


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lowdim.data.text_lines._LONGEST", 2**16)
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1" * 2**17 + b",2\n")
    with pytest.raises(ValueError, match=r"lines of at most 64 kB are needed; line 2 of"):
        read(tmp_path / "t.csv")


def test_parquet_bombs_are_refused(tmp_path, monkeypatch):
    pl.DataFrame({"t": ["x" * 10_000] * 50_000, "a": range(50_000)}).write_parquet(tmp_path / "text.parquet")
    pl.DataFrame({"l": [[0] * 10_000] * 2_000, "a": range(2_000)}).write_parquet(tmp_path / "lists.parquet")
    monkeypatch.setenv("LOWDIM_MEMORY", "100M")
    for name, words in (("text", "the text of"), ("lists", "the lists in 'l'")):
        with pytest.raises(MemoryError, match=words):
            read(tmp_path / f"{name}.parquet", mixed=True)


def _fits(queue):
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "c": ["x", "y", "x"]})
    try:
        queue.put(Prepare().fit_transform(frame).shape)
    except RuntimeError as error:
        queue.put(str(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Using fork.*:RuntimeWarning")
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_tables_in_other_processes_are_prepared_or_refused_at_once(how):
    pl.DataFrame({"a": [3, 1, 2]}).sort("a")  # starts the threads of polars, as any table does
    context = multiprocessing.get_context(how)
    queue = context.Queue()
    process = context.Process(target=_fits, args=(queue,))
    process.start()
    answer = queue.get(timeout=120)
    process.join(60)
    if how == "spawn":
        assert answer == (3, 3)
    else:
        assert "do not survive a fork" in answer
        assert "spawn" in answer


def test_joblib_prepares_tables():
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "c": ["x", "y", "x"]})
    made = joblib.Parallel(n_jobs=2)(joblib.delayed(Prepare().fit_transform)(frame) for _ in range(2))
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_text_that_a_spreadsheet_would_run_is_written_as_text(tmp_path, ending):
    columns = {"=sum": np.array(["+1", "@a", "-b", "ok"]), "x": np.array([-1.0, 2.0, 3.0, 4.0])}
    write(tmp_path / f"a.{ending}", columns, id="=sum")
    separator = "," if ending == "csv" else "\t"
    first = [line.split(separator)[0] for line in (tmp_path / f"a.{ending}").read_text().splitlines()]
    assert first == ["'=sum", "'+1", "'@a", "'-b", "ok"]
    write(tmp_path / f"b.{ending}", columns, id="=sum", raw=True)
    assert (tmp_path / f"b.{ending}").read_text().startswith("=sum")
    write(tmp_path / "c.parquet", columns, id="=sum")
    assert pl.read_parquet(tmp_path / "c.parquet").columns[0] == "=sum"


def test_exports_of_the_explorer_are_as_harmless():
    from lowdim.explorer.exports import _table
    from lowdim.explorer.opening import open_session

    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "name": ["=a", "b", "c", "b"]})
    session = open_session(frame.select("x"), table=frame.select("name"))
    text = _table(session, "rows", "csv", None, np.zeros(4, bool)).decode()
    assert "'=a" in text


@pytest.mark.parametrize(
    "column",
    [
        pd.arrays.SparseArray([0.0, 1.0, 0.0, 5.0]),
        pd.period_range("2020-01", periods=4, freq="M"),
        pd.Series([Decimal("1.5"), Decimal(2), None, Decimal(3)], dtype=object),
        pd.Series([Fraction(1, 2), Fraction(2), Fraction(3), Fraction(5)], dtype=object),
        pd.array([True, None, False, True], dtype="bool[pyarrow]"),
        pd.Series([datetime.date(2020, 1, i) for i in (1, 5, 2, 9)], dtype="date32[pyarrow]"),
        pd.Series(["a\ud800", "b", "a\ud800", "b"], dtype=object),
    ],
    ids=["sparse", "period", "decimal", "fraction", "Arrow bool", "Arrow date", "surrogate"],
)
def test_odd_types_have_an_answer(column):
    frame = pd.DataFrame({"c": column, "x": [1.0, 4.0, 2.0, 9.0]})
    Y = Prepare(missing="mean").fit_transform(frame)
    assert np.isfinite(Y).all()
    assert Y.shape[1] >= 2


def test_names_given_twice_are_our_error():
    X = pd.DataFrame(np.eye(5)[:, :3], columns=["a", "b", "a"])
    for call in (Prepare().fit, lowdim.PCA(2).fit, lambda X: lowdim.compare(X, methods=["pca"]), lowdim.reduce):
        with pytest.raises((ValueError, TypeError)) as error:
            call(X)
        assert "unique" in str(error.value) or "Prepare" in str(error.value), error.value


def test_dates_in_another_format_name_the_expected_one():
    model = Prepare().fit(pl.DataFrame({"d": ["1.2.2020", "3.4.2021", "5.6.2022"], "x": [1.0, 2, 4]}))
    with pytest.raises(ValueError, match=r"'d' must hold dates as %d.%m.%Y, as in fit; got '2020-01-02' in row 0"):
        model.transform(pl.DataFrame({"d": ["2020-01-02"], "x": [1.0]}))


def test_names_in_another_case_are_suggested(tmp_path):
    (tmp_path / "t.csv").write_text("Fare,AGE\n1,2\n3,4\n")
    for name, meant in (("fare", "Fare"), ("age", "AGE")):
        with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
            read(tmp_path / "t.csv", label=name)
