import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lowdim.data.read import read
from lowdim.data.write import write

Y = np.array([[0.1, -2.0], [1e-300, 3.5], [7.0, 1 / 3]])
COLUMNS = {"c0": Y[:, 0], "c1": Y[:, 1], "kind": ["u", "v, w", 'q"é'], "row": np.array([3, 1, 2])}


def contents(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npz"])
def test_what_is_written_is_read_back_exactly(tmp_path, kind):
    path = tmp_path / f"map.{kind}"
    write(path, COLUMNS, label="kind", id="row")
    named = {} if kind == "npz" else {"label": "kind", "id": "row"}
    table = read(path, **named)
    np.testing.assert_array_equal(table.X, Y)
    assert table.names == ["c0", "c1"]
    assert table.labels.tolist() == COLUMNS["kind"]
    assert table.ids.tolist() == [3, 1, 2]
    assert contents(tmp_path) == [path.name]


def test_id_and_label_come_before_the_components(tmp_path):
    write(tmp_path / "map.csv", COLUMNS, label="kind", id="row")
    assert (tmp_path / "map.csv").read_text().splitlines()[0] == "row,kind,c0,c1"
    write(tmp_path / "map.csv", COLUMNS)
    assert (tmp_path / "map.csv").read_text().splitlines()[0] == "c0,c1,kind,row"
    assert list(pd.read_csv(tmp_path / "map.csv")["kind"]) == COLUMNS["kind"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_numeric_types_survive_where_the_format_has_them(tmp_path, dtype):
    values = np.array([0, 1, 1]).astype(dtype)
    write(tmp_path / "a.npy", {"a": values, "b": values})
    assert np.load(tmp_path / "a.npy").dtype == dtype
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.column_stack([values, values]))
    write(tmp_path / "a.parquet", {"a": values})
    assert pl.read_parquet(tmp_path / "a.parquet")["a"].to_numpy().dtype == dtype


@pytest.mark.parametrize("binary", [True, False])
def test_a_dash_is_standard_output(monkeypatch, binary):
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding="ascii") if binary else io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    write("-", {"c0": [1.5], "kind": ["é"]}, label="kind")
    text = buffer.getvalue().decode() if binary else stream.getvalue()
    assert text == "kind,c0\né,1.5\n"


def test_objects_that_are_text_or_dates_are_written(tmp_path):
    kinds = np.array(["a", "bb"], dtype=object)
    write(tmp_path / "a.npz", {"c": [1.0, 2.0], "k": kinds}, label="k")
    assert read(tmp_path / "a.npz").labels.tolist() == ["a", "bb"]
    write(tmp_path / "a.csv", {"d": np.array(["2020-01-02"], "M8[D]"), "h": np.ones(1, np.float16)})
    assert (tmp_path / "a.csv").read_text() == "d,h\n2020-01-02,1.0\n"
    write(tmp_path / "a.csv", {0: np.array([0.5], np.longdouble), 1: np.array([2], ">i4")})
    assert (tmp_path / "a.csv").read_text() == "0,1\n0.5,2\n"


@pytest.mark.parametrize(
    ("target", "columns", "options", "text"),
    [
        ("map.xlsx", COLUMNS, {}, r"one of \.csv, \.tsv, .*needed; got '.*map\.xlsx'\. Change the ending"),
        ("map", COLUMNS, {}, "Change the ending"),
        ("map.csv", {}, {}, "one or more 1-D columns"),
        ("map.csv", {"a": [1, 2], "b": [1]}, {}, r"'a': \(2,\), 'b': \(1,\)"),
        ("map.csv", {"a": np.eye(2)}, {}, r"column of its own, Y\[:, j\]"),
        ("map.csv", {"a": [1j]}, {}, "'a' holds complex128"),
        ("map.csv", {"a": np.ma.masked_equal([1, 2], 2)}, {}, r"'a' has masked ones. Pass a.filled"),
        ("map.csv", {"a": np.array([1, "x", None], object)}, {}, "objects of several kinds"),
        ("map.npy", COLUMNS, {}, r"numbers only; 'kind' hold text or dates\. Leave them out"),
        ("map.npz", COLUMNS, {"id": "row"}, "numbers only; 'kind'"),
        ("map.npz", {"k": [1]}, {"label": "k"}, "needs a column beside the label"),
        ("map.csv", COLUMNS, {"label": "species"}, r"label must be one of .*got 'species'\. Add it"),
        ("map.csv", COLUMNS, {"id": "nr"}, "id must be one of"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, target, columns, options, text):
    with pytest.raises(ValueError, match=text):
        write(tmp_path / target, columns, **options)
    assert contents(tmp_path) == []


@pytest.mark.parametrize("name", ["map.csv", "map.tsv", "map.parquet", "map.npy", "map.npz"])
def test_a_failure_halfway_keeps_the_old_file(tmp_path, monkeypatch, name):
    def fail(*_, **__):
        raise OSError("disk full")

    path = tmp_path / name
    write(path, {"a": [1.0, 2.0]})
    before = path.read_bytes()
    for place, attribute in ((pl.DataFrame, "write_csv"), (pl.DataFrame, "write_parquet"), (np, "save"), (np, "savez")):
        monkeypatch.setattr(place, attribute, fail)
    with pytest.raises(OSError, match="disk full"):
        write(path, {"a": [3.0, 4.0]})
    assert path.read_bytes() == before
    assert contents(tmp_path) == [name]


def test_a_missing_folder_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="Create it"):
        write(tmp_path / "no" / "map.csv", COLUMNS)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(1, 6), st.integers(1, 4)),
        elements={"allow_nan": False, "allow_infinity": False},
    ),
    st.data(),
)
def test_embeddings_and_odd_labels_survive_a_round_trip(tmp_path, embedding, data):
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5).map(lambda t: f"<{t}>")
    n = len(embedding)
    labels = data.draw(st.lists(text, min_size=n, max_size=n))
    columns = {f"t-SNE {j}": column for j, column in enumerate(embedding.T)}
    for kind in ("csv", "tsv", "parquet", "npz"):
        write(tmp_path / f"a.{kind}", {**columns, "k": labels}, label="k")
        table = read(tmp_path / f"a.{kind}", label="y" if kind == "npz" else "k")
        np.testing.assert_array_equal(table.X.astype(embedding.dtype), embedding)
        assert table.labels.tolist() == labels
        assert table.names == list(columns)


def test_an_npz_file_holds_nothing_but_what_was_written(tmp_path, monkeypatch):
    """numpy.savez keeps every keyword as an array, where it does not know it."""
    saved = {}
    monkeypatch.setattr(np, "savez", lambda file, **arrays: saved.update(arrays))
    write(tmp_path / "a.npz", {"c": [1.0], "k": ["a"]}, label="k")
    assert set(saved) == {"X", "names", "y"}
