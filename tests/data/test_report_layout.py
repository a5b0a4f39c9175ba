"""Tables laid out as reports are recognised, told with the option that mends them, and mended where it is given."""

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.data import read


@pytest.fixture
def put(tmp_path):
    def put(text, name="t.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return put


BODY = "city,sales,costs\n" + "".join(f"c{i},{i * i + 1},{7 * i}\n" for i in range(12))


@pytest.mark.parametrize("above", ["Report of 2023\n", "Report,,\n\nmade by hand,,\n", "a;b\n"])
def test_titles_above_the_header_are_refused_with_the_option_that_skips_them(put, above):
    skip = above.count("\n")
    path = put(above + BODY)
    with pytest.raises(ValueError, match=rf"seems to begin in line {skip + 1}, below .*Pass skip={skip}"):
        read(path, mixed=True)
    table = read(path, mixed=True, skip=skip)
    assert table.X.equals(read(put(BODY, "plain.csv"), mixed=True).X)


def test_a_header_with_few_names_is_a_header_if_one_says_so(put):
    path = put("Report,\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="skip=1"):
        read(path)
    assert read(path, skip=0).X.shape == (2, 2)


def test_an_index_without_a_name_and_blank_lines_are_no_titles(put):
    assert read(put("\n\n,a\n0,1\n1,2\n")).names == ["a"]


@pytest.mark.parametrize("word", ["Total", "Grand total", "Gesamtsumme", "TOTALS"])
def test_totals_are_told_and_left_out_if_asked(put, word):
    path = put(BODY + f"{word},518,462\n")
    with pytest.warns(UserWarning, match=r"row 13 looks like totals. Pass drop_totals=True"):
        assert read(path, mixed=True).X.height == 13
    assert read(path, mixed=True, drop_totals=True).X["city"].to_list() == [f"c{i}" for i in range(12)]


def test_a_last_row_that_adds_up_the_others_is_a_total(put, rng):
    X = rng.integers(1, 100, (20, 3))
    lines = [",".join(map(str, row)) for row in [*X, X.sum(axis=0)]]
    with pytest.warns(UserWarning, match="row 21 looks like totals"):
        read(put("a,b,c\n" + "\n".join(lines)))
    assert read(put("a,b,c\n" + "\n".join(lines)), drop_totals=True).X.shape == (20, 3)


def test_repeated_headers_are_told_and_left_out_if_asked(put):
    path = put(BODY + BODY)
    with pytest.warns(UserWarning, match="row 13 looks like repeated headers"):
        read(path, mixed=True)
    table = read(path, mixed=True, drop_totals=True)
    assert table.X["sales"].dtype.is_numeric()
    assert table.X.height == 24


def test_copies_of_rows_are_told_and_left_out_if_asked(put):
    path = put("a,b\n" + "1,2\n" * 1500 + "".join(f"{i},{i * i}\n" for i in range(3, 300)))
    with pytest.warns(UserWarning, match="1,499 of 1,797 rows are copies of others. Pass drop_duplicates=True"):
        read(path)
    assert read(path, drop_duplicates=True).X.shape == (298, 2)


@pytest.mark.parametrize("head", ["gene", "name"])
def test_samples_in_columns_are_told_and_turned_if_asked(put, head, rng):
    X = rng.normal(size=(30, 5))
    frame = pl.DataFrame({head: [f"g{i}" for i in range(30)]} | {f"sample_{j}": X[:, j] for j in range(5)})
    path = put(frame.write_csv())
    with pytest.warns(UserWarning, match="samples seem to be in columns.*Pass transpose=True"):
        read(path, mixed=True)
    table = read(path, transpose=True, id="column")
    np.testing.assert_array_equal(table.X, X.T)
    assert table.names == [f"g{i}" for i in range(30)]
    assert table.ids.tolist() == [f"sample_{j}" for j in range(5)]


def test_ordinary_tables_are_not_suspected(put, rng, tmp_path, recwarn):
    frame = pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(40)],
            "total": rng.normal(size=40),
            "type": ["sum", "part"] * 20,
            "x": range(40),
        }
    )
    read(put(frame.write_csv()), mixed=True)
    for name in ("iris", "digits"):
        X, _ = lowdim.data.load(name)
        pl.DataFrame(X, schema=[f"a{j}" for j in range(X.shape[1])]).write_csv(tmp_path / "x.csv")
        read(tmp_path / "x.csv")
    assert not recwarn.list


def test_arrays_take_none_of_these_options(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(4))
    with pytest.raises(ValueError, match="transpose is for tables of named columns"):
        read(tmp_path / "a.npy", transpose=True)


@pytest.mark.parametrize("mixed", [True, False])
def test_postcodes_keep_their_zeros_where_text_is_taken(put, mixed):
    path = put("zip,n,x\n" + "".join(f"{code},{i},{i}.5\n" for i, code in enumerate(["02134", "98765", "02134"] * 5)))
    table = read(path, mixed=mixed)
    assert table.mixed == mixed
    if mixed:
        assert table.X["zip"].to_list()[:2] == ["02134", "98765"]
        assert table.X["n"].dtype.is_integer()
    late = put("zip,x\n" + "".join(f"{i},{i}\n" for i in range(10_000, 40_000)) + "01234,5\n")
    assert read(late, mixed=True).mixed


def test_labels_with_gaps_reach_every_method_that_needs_none(put, rng, tmp_path):
    kinds = ["a", "b", "", "a"] * 15
    rows = "".join(
        f"{k},{x:.3f},{y:.3f},{z:.3f}\n" for k, (x, y, z) in zip(kinds, rng.normal(size=(60, 3)), strict=True)
    )
    table = read(put("kind,x,y,z\n" + rows), label="kind")
    assert table.labels[:4].tolist() == ["a", "b", None, "a"]
    made = lowdim.compare(table.X, table.labels, ["pca", "isomap"])
    assert set(made.embeddings) == {"pca", "isomap"}
    made.report(tmp_path / "r.html")
    every = lowdim.compare(table.X[:, :2], table.labels)
    assert "which 15 rows lack" in every.left_out["lda"]
    with pytest.raises(ValueError, match="LDA learns from the labels of all rows; 15 have none"):
        lowdim.compare(table.X, table.labels, ["lda"])
    with pytest.raises(ValueError, match="y must have a label for every row"):
        lowdim.LDA().fit(table.X, table.labels)
    lowdim.show.scatter(table.X[:, :2], table.labels)
    lowdim.data.write(tmp_path / "m.csv", {"kind": table.labels, "x": table.X[:, 0]}, label="kind")
    assert read(tmp_path / "m.csv", label="kind").labels[:4].tolist() == ["a", "b", None, "a"]


def test_a_table_of_text_and_numbers_is_turned(tmp_path):
    (tmp_path / "t.csv").write_text("what,s1,s2,s3\nage,31,28,60\ntown,Rome,,Oslo\nsize,1.5,2,\n")
    table = lowdim.data.read(tmp_path / "t.csv", mixed=True, transpose=True, missing="keep")
    assert table.X["age"].to_list() == [31, 28, 60]
    assert table.X["town"].to_list() == ["Rome", None, "Oslo"]
    assert table.X["size"].to_list() == [1.5, 2, None]
