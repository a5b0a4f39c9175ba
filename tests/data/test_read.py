import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import sparse

from lowdim.data.read import read
from lowdim.data.table import Table

PLAIN = "name,a,b,kind\nr1,1,0.5,u\nr2,2,1.5,v\nr3,3,2.5,u\n"


@pytest.fixture
def put(tmp_path):
    def put(content: str | bytes, name: str = "t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def three_parts(error) -> bool:
    """Needed; came. Do: one line, a semicolon and then a sentence of advice."""
    text = str(error.value)
    return "\n" not in text and "; " in text and ". " in text.split("; ", 1)[1]


class TestText:
    def test_columns_labels_and_ids_are_told_apart(self, put):
        path = put(PLAIN)
        table = read(path, label="kind", id="name")
        np.testing.assert_array_equal(table.X, [[1, 0.5], [2, 1.5], [3, 2.5]])
        assert table.X.dtype == np.float64
        assert table.X.flags.c_contiguous
        assert table.names == ["a", "b"]
        assert table.labels.tolist() == ["u", "v", "u"]
        assert table.labels.dtype.kind == "U"
        assert table.ids.tolist() == ["r1", "r2", "r3"]
        assert (table.label_name, table.id_name, table.image_shape) == ("kind", "name", None)
        assert table.source == str(path)

    @pytest.mark.parametrize(
        ("name", "separator"),
        [("t.tsv", "\t"), ("t.csv", ";"), ("t.csv", "\t"), ("t.csv", "|"), ("T.CSV", ","), ("t [1]*.csv", ",")],
    )
    def test_separators_and_names_of_files_do_not_matter(self, put, name, separator):
        table = read(put(PLAIN.replace(",", separator), name), label="kind", drop=["name"])
        np.testing.assert_array_equal(table.X, [[1, 0.5], [2, 1.5], [3, 2.5]])

    def test_gzip_line_ends_byte_order_marks_and_blank_lines_do_not_matter(self, put):
        expected = read(put(PLAIN), label="kind", id="name")
        windows = b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode()
        blank = "\n" + PLAIN.replace("r2", "\nr2") + "\n\n"
        for content, name in ((gzip.compress(PLAIN.encode()), "a.csv.gz"), (windows, "b.csv"), (blank, "c.csv")):
            table = read(put(content, name), label="kind", id="name")
            np.testing.assert_array_equal(table.X, expected.X)
            assert table.ids.tolist() == expected.ids.tolist()

    def test_spaces_around_cells_do_not_matter(self, put):
        table = read(put("a, b, c\n1, 2, x\n3, +4.5, y\n"), label="c")
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4.5]])
        assert table.names == ["a", "b"]
        assert table.labels.tolist() == ["x", "y"]

    @pytest.mark.parametrize("first", ["1.5,-2,3e4", "0,1,3", "nan,1,2", "1,,2"])
    def test_a_first_line_of_numbers_is_data(self, put, first):
        table = read(put(f"{first}\n7,8,9\n6,5,4\n"), missing="drop")
        assert table.names == ["x0", "x1", "x2"]
        assert len(table.X) == (3 if "," in first and "nan" not in first and ",," not in first else 2)
        np.testing.assert_array_equal(table.X[-1], [6, 5, 4])

    @pytest.mark.parametrize(
        ("content", "names"),
        [
            ("0,1,2\n7,8,9\n", ["0", "1", "2"]),
            ("0,1\n7.5,8\n", ["0", "1"]),
            ("0,1\n1,1\n", ["x0", "x1"]),
            ("0\n1\n", ["x0"]),
            (",0,1\n0,7,8\n1,8,9\n", ["0", "1"]),
        ],
    )
    def test_the_counted_header_of_pandas_is_no_data(self, put, content, names):
        assert read(put(content)).names == names

    def test_the_row_index_of_pandas_is_the_id_and_never_a_feature(self, put, tmp_path):
        table = read(put(",a,k\n10,1,x\n11,2,y\n"), label="k")
        assert (table.names, table.ids.tolist(), table.id_name) == (["a"], [10, 11], "index")
        table = read(put(",a,k\n10,1,x\n11,2,y\n"), id="k")
        assert (table.names, table.ids.tolist()) == (["a"], ["x", "y"])
        assert read(put(",a\n10,1\n11,2\n"), columns=["index", "a"]).names == ["index", "a"]
        pl.DataFrame({"a": [1.0, 2.0], "__index_level_0__": ["p", "q"]}).write_parquet(tmp_path / "t.parquet")
        table = read(tmp_path / "t.parquet")
        assert (table.names, table.ids.tolist()) == (["a"], ["p", "q"])

    def test_lines_that_end_in_a_separator_have_no_further_column(self, put):
        table = read(put("a,b,\n1,2,\n3,4,\n"))
        assert table.names == ["a", "b"]
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])

    def test_labels_and_ids_keep_what_numbers_would_lose(self, put):
        table = read(put("i,k,a\n007,01,1\n10,2,2\n"), label="k", id="i")
        assert table.ids.tolist() == ["007", "10"]
        assert table.labels.tolist() == ["01", "2"]
        table = read(put("i,k,a\n7,1,1\n10,2,2\n"), label="k", id="i")
        assert (table.ids.dtype.kind, table.labels.dtype.kind) == ("i", "i")
        table = read(put("i,k,a\n1.10,1.5,1\n1.1,2,2\n"), label="k", id="i")
        assert table.ids.tolist() == ["1.10", "1.1"]
        assert table.labels.tolist() == [1.5, 2.0]

    def test_booleans_and_long_integers_become_numbers(self, put):
        table = read(put("a,b,c\ntrue,False,12345678901234567890123\nfalse,True,1\n"))
        np.testing.assert_array_equal(table.X, [[1, 0, 12345678901234567890123.0], [0, 1, 1]])

    def test_columns_are_kept_in_the_order_asked_for(self, put):
        path = put("a,b,c\n1,2,3\n")
        assert read(path, columns=["c", "a"]).X.tolist() == [[3, 1]]
        assert read(path, columns=["c", "b", "a"], drop=["b"], label="c").names == ["a"]
        assert read(path, columns="b").names == ["b"]

    @pytest.mark.parametrize("binary", [True, False])
    def test_standard_input_is_read_with_any_separator(self, monkeypatch, binary):
        text = PLAIN.replace(",", "\t")
        stream = io.TextIOWrapper(io.BytesIO(text.encode())) if binary else io.StringIO(text)
        monkeypatch.setattr(sys, "stdin", stream)
        table = read("-", label="kind", id="name")
        assert table.X.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5]]
        assert table.source == "standard input"

    @pytest.mark.parametrize("text", ["x\n1\n2\n\n", "x\n1\n2\n\n\n\n", "1\n2\n\n", "x\r\n1\r\n2\r\n\r\n"])
    def test_blank_lines_at_the_end_of_one_column_are_no_rows(self, put, text):
        assert read(put(text)).X.tolist() == [[1.0], [2.0]]
        with pytest.raises(ValueError, match="has 1 missing"):
            read(put("x\n1\n\n2\n"))

    def test_labels_of_odd_kinds_are_taken_or_refused(self, tmp_path):
        path = tmp_path / "t.parquet"
        decimals = pl.Series([1, 2]).cast(pl.Decimal(10, 2))
        pl.DataFrame({"a": [1.0, 2.0], "price": decimals, "parts": [[1], [2]]}).write_parquet(path)
        assert read(path, label="price", drop=["parts"]).labels.dtype == np.float64
        with pytest.raises(ValueError, match=r"numbers, text or dates; 'parts' of .* holds List") as error:
            read(path, label="parts", drop=["price"])
        assert three_parts(error)


class TestMissing:
    CELLS = "a,b,k\n1,4,x\n{},5,y\n3,NA,z\n5,6,x\n"

    @pytest.mark.parametrize("cell", ["", "NA", "NaN", "nan", "null", "?", " ", "#N/A"])
    def test_an_error_names_columns_and_counts(self, put, cell):
        with pytest.raises(ValueError, match=r"'a' has 1 missing, 'b' has 1 missing\. Pass missing='drop'") as error:
            read(put(self.CELLS.format(cell)), label="k")
        assert three_parts(error)

    def test_drop_takes_labels_and_ids_along(self, put):
        table = read(put(self.CELLS.format("")), label="k", missing="drop")
        assert table.X.tolist() == [[1, 4], [5, 6]]
        assert table.labels.tolist() == ["x", "x"]

    def test_mean_fills_in_column_means(self, put):
        table = read(put(self.CELLS.format("")), label="k", missing="mean")
        assert table.X.tolist() == [[1, 4], [3, 5], [3, 5], [5, 6]]

    def test_missing_labels_are_kept_or_dropped(self, put):
        path = put("a,k\n1,3\n2,\n3,4\n")
        for missing in ("error", "mean"):
            np.testing.assert_array_equal(read(path, label="k", missing=missing).labels, [3, np.nan, 4])
        table = read(path, label="k", missing="drop")
        assert table.labels.tolist() == [3, 4]
        assert table.labels.dtype.kind == "i"

    def test_a_missing_id_is_an_empty_text(self, put):
        assert read(put("i,a\np,1\n,2\n"), id="i").ids.tolist() == ["p", ""]

    def test_many_columns_are_counted(self, put):
        path = put(",".join("abcdefg") + "\n" + "," * 6 + "\n" + ",".join("1234567") + "\n")
        with pytest.raises(ValueError, match="'e' has 1 missing and 2 more columns"):
            read(path)

    def test_nothing_left_and_nothing_to_average_are_errors(self, put):
        path = put("a,b\n1,\n2,\n")
        with pytest.raises(ValueError, match=r"every row of .* has a missing value"):
            read(path, missing="drop")
        with pytest.raises(ValueError, match=r"'b' have none in 2 rows\. Pass them in drop"):
            read(path, missing="mean")

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_arrays_follow_the_same_rules(self, tmp_path, dtype):
        X = np.array([[1, 2], [np.nan, 4], [3, 6]], dtype)
        np.save(tmp_path / "a.npy", X)
        with pytest.raises(ValueError, match="'x0' has 1 missing"):
            read(tmp_path / "a.npy")
        mean = read(tmp_path / "a.npy", missing="mean").X
        assert mean.dtype == dtype
        assert mean.tolist() == [[1, 2], [2, 4], [3, 6]]
        assert read(tmp_path / "a.npy", missing="drop").X.tolist() == [[1, 2], [3, 6]]

    def test_sparse_zeros_count_in_the_mean(self, tmp_path):
        sparse.save_npz(tmp_path / "s.npz", sparse.csr_matrix([[0, 1.0], [np.nan, 0], [6, 0]]))
        with pytest.raises(ValueError, match="'x0' has 1 missing"):
            read(tmp_path / "s.npz")
        np.testing.assert_array_equal(read(tmp_path / "s.npz", missing="mean").X.toarray(), [[0, 1], [3, 0], [6, 0]])
        assert read(tmp_path / "s.npz", missing="drop").X.toarray().tolist() == [[0, 1], [6, 0]]

    def test_an_unknown_rule_is_refused(self, put):
        with pytest.raises(ValueError, match=r"missing must be 'error', 'drop', 'mean' or 'keep'; got 'ignore'"):
            read(put(PLAIN), missing="ignore")


class TestDialects:
    GERMAN = "größe;gewicht;umsatz\n1,75;70,5;1.234.567,5\n1,60;55,0;999,0\n"

    @pytest.mark.parametrize(
        ("encoding", "note"),
        [
            ("utf-8", None),
            ("utf-8-sig", "encoded in UTF-8 with a byte order mark"),
            ("cp1252", "encoded in Windows-1252 (Latin-1)"),
            ("utf-16", "encoded in UTF-16"),
        ],
    )
    def test_encodings_are_recognised_and_told(self, put, encoding, note):
        table = read(put(self.GERMAN.encode(encoding)))
        assert table.names == ["größe", "gewicht", "umsatz"]
        np.testing.assert_array_equal(table.X, [[1.75, 70.5, 1234567.5], [1.6, 55, 999]])
        told = ["separated by semicolons", "decimal commas in 3 columns"]
        assert list(table.notes) == ([note, *told] if note else told)

    def test_latin_1_far_from_the_beginning_is_recognised(self, put):
        lines = ["name,x", *(f"a{i},{i}" for i in range(5000)), "é,7"]
        table = read(put("\n".join(lines).encode("latin-1")), id="name")
        assert table.ids[-1] == "é"
        assert table.notes == ("encoded in Windows-1252 (Latin-1)",)

    def test_thousands_in_quotes_are_numbers(self, put):
        table = read(put('a,b\n"1,234",5\n"12,345.5",6\n'))
        np.testing.assert_array_equal(table.X, [[1234, 5], [12345.5, 6]])
        assert table.notes == ("thousands separators in 1 column",)

    def test_decimal_commas_without_a_header(self, put):
        np.testing.assert_array_equal(read(put("1,5;2,5\n3,5;4\n")).X, [[1.5, 2.5], [3.5, 4]])

    def test_a_mixed_table_is_a_frame_with_its_gaps(self, put):
        path = put("id,city,x,when\n1,Oslo,1.5,2020-01-01\n2,,,2020-02-01\n")
        table = read(path, id="id", mixed=True)
        assert table.mixed
        assert table.names == table.X.columns == ["city", "x", "when"]
        assert table.X["city"].to_list() == ["Oslo", None]
        assert repr(table).startswith("Table(2 × 3 mixed from")
        numbers = read(put("a,b\n1,\n2,3\n", "n.csv"), mixed=True)
        assert not numbers.mixed
        assert np.isnan(numbers.X[0, 1])

    def test_labels_of_mixed_tables_may_be_missing(self, put):
        path = put("kind,city,x\na,Oslo,1\n,Rome,2\nb,,3\n")
        assert read(path, label="kind", mixed=True).labels.tolist() == ["a", None, "b"]
        table = read(path, label="kind", mixed=True, missing="drop")
        assert (table.labels.tolist(), table.X["city"].to_list()) == (["a", "b"], ["Oslo", None])


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (b"", "is empty"),
            (b"\n\n", "is empty"),
            (b"a,b\n", "column names only"),
            (b"a,b\n1,2\n3,4,5\n", r"needs 2 cells; line 3 of .* has 3\. Correct the line"),
            (b"a,b\n1,2\n\n3\n", "needs 2 cells; line 4 of .* has 1"),
            (b"a,b\n1,\xe9\n2,3\n", r"column 'b' of .* holds 'é' in row 1"),
            ("a,b\n1,2\n".encode("utf-16")[:-1], "UTF-8"),
            (b"a,b,a\n1,2,3\n", r"column names must be unique; .* has 'a' more than once\. Rename"),
            (b"PAR1\x00\x00\n", "binary"),
            (b"a,b\n1,2\nx,4\n", r"column 'a' of .* holds 'x' in row 2\. Correct the value"),
            (b"a,b\nu,2\nv,4\n", r"'a' holds text\. Pass label="),
            (b"a,b\n1;2,2\n3,4\n", r"column 'a' of .* holds '1;2' in row 1"),
        ],
    )
    def test_a_bad_text_file_says_what_to_do(self, put, content, text):
        with pytest.raises(ValueError, match=text) as error:
            read(put(content))
        assert three_parts(error)

    def test_non_numeric_columns_are_named_up_to_five(self, put):
        with pytest.raises(ValueError, match="'a', 'b', 'c', 'd', 'e' and 2 more hold text"):
            read(put("a,b,c,d,e,f,g,h\nx,x,x,x,x,x,x,1\n"))

    def test_kinds_of_parquet_columns_are_named(self, tmp_path):
        frame = pl.DataFrame({"x": [1.0], "d": ["2020-01-01"], "l": [[1, 2]], "n": ["12"]})
        frame.with_columns(pl.col("d").str.to_date()).write_parquet(tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=r"'d', 'l', 'n' hold Date, List\(.*\), text"):
            read(tmp_path / "t.parquet")
        assert read(tmp_path / "t.parquet", drop=["d", "l"], label="n").labels.tolist() == ["12"]

    @pytest.mark.parametrize("option", ["label", "id", "columns", "drop"])
    def test_an_unknown_column_is_answered_with_the_nearest(self, put, option):
        value = "kinds" if option in ("label", "id") else ["kinds"]
        with pytest.raises(ValueError, match=rf"{option} must name a column .*got 'kinds'. Did you mean 'kind'\?"):
            read(put(PLAIN), **{option: value})
        value = "zzz" if option in ("label", "id") else ["zzz"]
        with pytest.raises(ValueError, match=r"got 'zzz'. There are 'name', 'a', 'b', 'kind'"):
            read(put(PLAIN), **{option: value})

    def test_no_feature_left_is_an_error(self, put):
        with pytest.raises(ValueError, match="at least one feature column is needed"):
            read(put("a\n1\n"), label="a")

    def test_paths_that_lead_nowhere_suggest_a_data_set(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"there is none at 'digit'.* Did you mean .*'digits'\?"):
            read("digit")
        with pytest.raises(FileNotFoundError, match="Check the path") as error:
            read(tmp_path / "no.csv")
        assert three_parts(error)
        with pytest.raises(FileNotFoundError, match="Check the path"):
            read("x" * 5000)

    def test_unknown_kinds_of_files_and_sources_are_refused(self, put):
        with pytest.raises(ValueError, match=r"t\.docx'\. Convert it to one of \.csv, ") as error:
            read(put("x", "t.docx"))
        assert three_parts(error)
        with pytest.raises(ValueError, match=r"got the address 'https://a.b/t.csv'\. Download it first"):
            read("https://a.b/t.csv")
        with pytest.raises(ValueError, match="only spreadsheets and databases have parts"):
            read(f"{put('a,b')}::x")
        with pytest.raises(TypeError, match=r"got ndarray\. Pass arrays .* straight to a method"):
            read(np.eye(2))

    @pytest.mark.parametrize("name", ["t.npy", "t.npz", "t.parquet", "t.csv.gz", "t.tsv.gz"])
    @pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04half", b"\x1f\x8b\x08\x00half", b"\x93NUMPY\x01"])
    def test_damaged_files_say_so_in_one_line(self, put, name, content):
        path = put(content, name)
        with pytest.raises(ValueError, match=r"t\.(npy|npz|parquet|csv\.gz|tsv\.gz)") as error:
            read(path)
        assert three_parts(error)

    @pytest.mark.parametrize("name", ["t.npy", "t.npz", "t.parquet", "t.csv.gz"])
    def test_a_file_cut_short_says_so(self, tmp_path, name):
        path = tmp_path / name
        X = np.random.default_rng(0).random((200, 3))
        if name == "t.parquet":
            pl.DataFrame(X).write_parquet(path)
        elif name == "t.csv.gz":
            path.write_bytes(gzip.compress(pl.DataFrame(X).write_csv().encode()))
        else:
            (np.save if name == "t.npy" else np.savez)(path, X)
        path.write_bytes(path.read_bytes()[:-500])
        with pytest.raises(ValueError, match=f"read: a readable .* file is needed; .*{name} is not one") as error:
            read(path)
        assert three_parts(error)


class TestArrays:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int64, np.float16])
    def test_npy_stays_a_memory_map_of_its_type(self, tmp_path, dtype):
        X = np.arange(12).reshape(4, 3).astype(dtype)
        np.save(tmp_path / "a.npy", X)
        table = read(tmp_path / "a.npy")
        assert isinstance(table.X, np.memmap)
        assert not table.X.flags.writeable
        assert table.X.dtype == dtype
        np.testing.assert_array_equal(table.X, X)
        table = read(tmp_path / "a.npy", label="x1", id="x0")
        np.testing.assert_array_equal(table.labels, X[:, 1])
        np.testing.assert_array_equal(table.ids, X[:, 0])
        assert table.names == ["x2"]
        assert table.labels.dtype == dtype

    def test_boolean_arrays_become_numbers(self, tmp_path):
        np.save(tmp_path / "a.npy", np.array([[True, False]]))
        assert read(tmp_path / "a.npy").X.tolist() == [[1, 0]]
        assert read(tmp_path / "a.npy").X.dtype == np.uint8

    def test_npz_gives_x_y_and_what_is_named(self, tmp_path):
        X = np.eye(3, dtype=np.float32)
        np.savez(tmp_path / "a.npz", X=X, y=["a", "b", "c"], z=[5, 6, 7], other=np.zeros((9, 9)))
        table = read(tmp_path / "a.npz")
        assert table.X.dtype == np.float32
        assert (table.labels.tolist(), table.label_name, table.ids) == (["a", "b", "c"], "y", None)
        table = read(tmp_path / "a.npz", label="z", id="y", drop=["x1"])
        assert (table.labels.tolist(), table.ids.tolist(), table.names) == ([5, 6, 7], ["a", "b", "c"], ["x0", "x2"])
        assert read(tmp_path / "a.npz", label="x2").labels.tolist() == [0, 0, 1]

    def test_npz_with_one_array_needs_no_name(self, tmp_path):
        np.savez(tmp_path / "a.npz", np.eye(2))
        np.testing.assert_array_equal(read(tmp_path / "a.npz").X, np.eye(2))
        np.savez(tmp_path / "b.npz", data=np.eye(2), y=[1, 2])
        assert read(tmp_path / "b.npz").labels.tolist() == [1, 2]

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
    def test_sparse_npz_becomes_csr(self, tmp_path, kind):
        S = sparse.random(6, 5, density=0.5, format=kind, random_state=0)
        sparse.save_npz(tmp_path / "s.npz", S)
        table = read(tmp_path / "s.npz", label="x4", columns=["x3", "x0"])
        assert table.X.format == "csr"
        np.testing.assert_array_equal(table.X.toarray(), S.toarray()[:, [3, 0]])
        np.testing.assert_array_equal(table.labels, S.toarray()[:, 4])

    def test_sparse_indices_out_of_range_are_refused(self, tmp_path):
        parts = {"data": np.ones(1), "indices": np.array([9]), "indptr": np.array([0, 1]), "shape": (1, 2)}
        np.savez(tmp_path / "s.npz", format="csr", **parts)
        with pytest.raises(ValueError, match=r"a readable \.npz file is needed"):
            read(tmp_path / "s.npz")

    @pytest.mark.parametrize(
        ("X", "text"),
        [
            (np.arange(5.0), r"shape \(5,\)\. Save X\.reshape\(-1, 1\)"),
            (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)\. Save X\.reshape\(len\(X\), -1\)"),
            (np.array([["a", "b"]]), "holds text"),
            (np.zeros((2, 2), complex), "holds complex numbers"),
            (np.zeros((2, 2), [("a", float)]), r"holds \[\('a', '<f8'\)\]"),
            (np.array([[1, None]], object), "numbers"),
            (np.zeros((0, 3)), "needed"),
        ],
    )
    def test_arrays_that_are_no_table_are_refused(self, tmp_path, X, text):
        np.save(tmp_path / "a.npy", X)
        np.savez(tmp_path / "a.npz", X=X)
        for name in ("a.npy", "a.npz"):
            with pytest.raises(ValueError, match=text) as error:
                read(tmp_path / name)
            assert three_parts(error)

    def test_ambiguous_and_uneven_archives_are_refused(self, tmp_path):
        np.savez(tmp_path / "a.npz", train=np.eye(2), test=np.eye(2))
        with pytest.raises(ValueError, match=r"a single array, is needed; .* has 'train', 'test'\. Save"):
            read(tmp_path / "a.npz")
        np.savez(tmp_path / "b.npz", X=np.eye(2), y=np.zeros(3))
        with pytest.raises(ValueError, match=r"'y' must hold one value for each of the 2 rows .*shape is \(3,\)"):
            read(tmp_path / "b.npz")

    def test_float32_tables_stay_float32(self, tmp_path):
        single = pl.Series([1.5, 2.5], dtype=pl.Float32)
        pl.DataFrame({"a": single, "b": single}).write_parquet(tmp_path / "s.parquet")
        pl.DataFrame({"a": single, "b": [1, 2]}).write_parquet(tmp_path / "m.parquet")
        assert read(tmp_path / "s.parquet").X.dtype == np.float32
        assert read(tmp_path / "m.parquet").X.dtype == np.float64


class TestImages:
    def image(self, path, pixels, mode=None):
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(np.asarray(pixels))
        (image.convert(mode) if mode else image).save(path)

    def test_subfolders_are_labels_and_files_ids(self, tmp_path):
        rng = np.random.default_rng(0)
        pixels = rng.integers(0, 256, (3, 4, 5), dtype=np.uint8)
        for file, image in zip(("b/1.png", "a/2.bmp", "a/1.PNG"), pixels, strict=True):
            self.image(tmp_path / file, image)
        (tmp_path / "notes.txt").write_text("no image")
        (tmp_path / ".hidden.png").write_bytes(b"no image")
        table = read(tmp_path)
        assert table.ids.tolist() == ["a/1.PNG", "a/2.bmp", "b/1.png"]
        assert table.labels.tolist() == ["a", "a", "b"]
        assert (table.image_shape, table.X.dtype, table.names[6]) == ((4, 5), np.uint8, "pixel_1_1")
        np.testing.assert_array_equal(table.X.reshape(-1, 4, 5), pixels[::-1])

    def test_colours_become_grey_and_sixteen_bits_stay(self, tmp_path):
        grey = np.full((2, 2), 80, np.uint8)
        self.image(tmp_path / "c" / "1.png", grey, "RGB")
        self.image(tmp_path / "c" / "2.png", grey, "P")
        self.image(tmp_path / "c" / "3.png", grey, "RGBA")
        table = read(tmp_path / "c")
        assert table.X.tolist() == [[80] * 4] * 3
        assert table.labels is None
        self.image(tmp_path / "d" / "1.png", np.full((2, 2), 40000, np.uint16))
        assert read(tmp_path / "d").X.max() == 40000

    def test_chosen_pixels_are_no_image(self, tmp_path):
        self.image(tmp_path / "1.png", np.zeros((2, 2), np.uint8))
        assert read(str(tmp_path), drop=["pixel_0_0"]).image_shape is None

    def test_images_of_two_sizes_name_the_first_that_differs(self, tmp_path):
        self.image(tmp_path / "1.png", np.zeros((2, 3), np.uint8))
        self.image(tmp_path / "2.png", np.zeros((3, 2), np.uint8))
        with pytest.raises(ValueError, match=r"'1.png' is 3 × 2 uint8 and '2.png' 2 × 3 uint8\. Resize") as error:
            read(tmp_path)
        assert three_parts(error)

    def test_empty_mixed_and_damaged_folders_are_refused(self, tmp_path):
        with pytest.raises(ValueError, match=r"has none\. Check the path") as error:
            read(tmp_path)
        assert three_parts(error)
        self.image(tmp_path / "a" / "1.png", np.zeros((2, 2), np.uint8))
        self.image(tmp_path / "2.png", np.zeros((2, 2), np.uint8))
        with pytest.raises(ValueError, match="has 1 of 2 outside subfolders"):
            read(tmp_path)
        (tmp_path / "2.png").unlink()
        (tmp_path / "a" / "3.png").write_bytes(b"no image")
        with pytest.raises(ValueError, match=r"3\.png is not one .*Replace or remove it"):
            read(tmp_path)


class TestNames:
    def test_a_data_set_is_read_by_name(self):
        table = read("digits")
        assert isinstance(table, Table)
        assert (table.X.shape, table.label_name, table.image_shape) == ((1797, 64), "y", (8, 8))
        assert repr(table) == "Table(1797 × 64 float64 from 'digits', label='y', image_shape=(8, 8))"

    def test_a_file_goes_before_a_data_set_of_its_name(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "digits").write_text(PLAIN)
        with pytest.raises(ValueError, match="a file of a known kind is needed; got 'digits'"):
            read("digits")

    def test_a_stored_set_without_labels_has_none(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
        np.savez(tmp_path / "mammoth_50k.npz", X=np.zeros((3, 3), np.float32))
        table = read("mammoth")
        assert table.labels is None
        assert table.names == ["x0", "x1", "x2"]
        monkeypatch.delenv("LOWDIM_DATA")
        with pytest.raises(FileNotFoundError, match="LOWDIM_DATA"):
            read("mammoth")


def test_h5ad_without_its_package_says_what_to_install(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="Install it: pip install h5py"):
        read(put("x", "t.h5ad"))


@pytest.mark.parametrize("kind", ["dense", "csr_matrix", "csc_matrix"])
def test_h5ad_gives_cells_genes_and_categories(tmp_path, kind):
    import h5py

    X = np.array([[1, 0, 2], [0, 3, 0], [4, 0, 5]], np.float32)
    with h5py.File(tmp_path / "c.h5ad", "w") as file:
        if kind == "dense":
            file["X"] = X
        else:
            S = sparse.csr_matrix(X) if kind == "csr_matrix" else sparse.csc_matrix(X)
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = kind, X.shape
            group["data"], group["indices"], group["indptr"] = S.data, S.indices, S.indptr
        for name, index in (("obs", ["c1", "c2", "c3"]), ("var", ["g1", "g2", "g3"])):
            file.create_group(name).attrs["_index"] = "_index"
            file[name]["_index"] = index
        file["obs"].create_group("type")["codes"] = np.array([1, -1, 0], np.int8)
        file["obs/type"]["categories"] = ["B", "T"]
        file["obs/n"] = [3, 1, 2]
    table = read(tmp_path / "c.h5ad", label="n", drop=["g2"])
    assert (table.names, table.ids.tolist(), table.labels.tolist()) == (["g1", "g3"], ["c1", "c2", "c3"], [3, 1, 2])
    assert sparse.issparse(table.X) == (kind != "dense")
    np.testing.assert_array_equal(table.X if kind == "dense" else table.X.toarray(), X[:, [0, 2]])
    table = read(tmp_path / "c.h5ad", label="type", missing="drop")
    assert (table.labels.tolist(), table.ids.tolist()) == (["T", "B"], ["c1", "c3"])
    with pytest.raises(ValueError, match="label must name a column"):
        read(tmp_path / "c.h5ad", label="none such")
    (tmp_path / "bad.h5ad").write_bytes(b"no such thing")
    with pytest.raises(ValueError, match=r"a readable \.h5ad file is needed"):
        read(tmp_path / "bad.h5ad")


def test_polars_pillow_and_h5py_wait_until_they_are_needed():
    code = (
        "import sys, lowdim.data.read, lowdim.data.write; sys.exit(bool({'polars', 'PIL', 'h5py'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0


cells = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False, width=64), st.integers(-(2**53), 2**53))
names = st.text("abcxyz_. ,;\"'é\t", min_size=1, max_size=6).filter(lambda name: name == name.strip())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_odd_tables_come_back_or_are_refused_for_what_they_lack(tmp_path, data):
    header = ["id", "first", *data.draw(st.lists(names, unique=True, max_size=3))]
    rows = data.draw(st.lists(st.tuples(*[cells] * (len(header) - 1)), min_size=1, max_size=6))
    frame = pl.DataFrame([(f"r{i}", *row) for i, row in enumerate(rows)], schema=header, orient="row", strict=False)
    frame = frame.with_columns(pl.col(header[1:]).cast(pl.Float64))
    expected = frame.select(header[1:]).to_numpy()
    full = ~np.isnan(expected).any(axis=1)
    for path in (tmp_path / "t.csv", tmp_path / "t.tsv", tmp_path / "t.parquet"):
        if path.suffix == ".parquet":
            frame.write_parquet(path)
        else:
            frame.write_csv(path, separator="," if path.suffix == ".csv" else "\t")
        if full.all():
            table = read(path, id="id")
            np.testing.assert_array_equal(table.X, expected)
            assert table.names == header[1:]
        else:
            with pytest.raises(ValueError, match="missing"):
                read(path, id="id")
        if full.any():
            table = read(path, id="id", missing="drop")
            np.testing.assert_array_equal(table.X, expected[full])
            assert table.ids.tolist() == [f"r{i}" for i in np.flatnonzero(full)]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text('ab1,;.-\t\n\r"NA? é', max_size=40) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_any_text_is_a_table_of_finite_width_or_a_clear_error(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    refusal = None
    try:
        table = read(path, missing="drop")
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.startswith("read: ")
        assert "\n" not in refusal
    else:
        assert table.X.shape[1] == len(table.names)
        assert not np.isnan(table.X).any()


@pytest.mark.parametrize("mark", ["-", "–", "..", ":"])
def test_marks_among_numbers_are_missing_and_told_and_levels_among_words(put, mark):
    table = read(put(f"a,b\n$1.50,+\n{mark},{mark}\n$3,+\n$2,{mark}\n"), mixed=True, missing="keep")
    assert table.X["a"].to_list() == ["$1.50", None, "$3", "$2"]
    assert table.X["b"].null_count() == 0
    assert table.notes == (f"{mark!r} taken as missing in 1 column",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
def test_a_first_line_that_names_the_separator_is_no_title(put, encoding):
    table = read(put("sep=;\na;b\n1;2\n3;4,5\n".encode(encoding)))
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4.5]])
    assert "separated by semicolons, as its first line says" in table.notes
    with pytest.raises(ValueError, match="line 4 of .* has 1"):
        read(put("sep=;\na;b\n1;2\n3\n".encode(encoding)))


def test_lines_above_a_table_in_utf16_are_left_out(put):
    table = read(put("Sales 2024\na\tb\n1\t2\n3\t4\n".encode("utf-16")), skip=1)
    assert table.names == ["a", "b"]


def test_words_for_missing_values_in_any_case_are_missing(put):
    with pytest.raises(ValueError, match="'a' has 3 missing"):
        read(put("a,b\n1,2\nn/a,3\n#DIV/0!,4\nn.a.,5\n"))


def test_a_first_sheet_of_notes_asks_for_another_and_a_blank_row_counts():
    pytest.importorskip("fastexcel")
    path = Path(__file__).parent / "tables" / "notes_first.xlsx"  # notes; a title, a blank row and a table
    with pytest.raises(ValueError, match=r"the first of .* has 2 row\(s\) of 1 column\(s\).*notes_first.xlsx::Data'"):
        read(path)
    with pytest.raises(ValueError, match="begin below 2 rows. Pass skip=2"):
        read(f"{path}::Data")
    assert read(f"{path}::Data", skip=2).names == ["a", "b", "c"]
