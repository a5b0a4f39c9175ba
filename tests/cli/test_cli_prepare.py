"""Tables as people bring them, from a file to a map and back from a saved model."""

import gzip
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import lowdim
from lowdim.cli import main


def run(*args: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)


def done(*args: object, stdin: str | None = None) -> Result:
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Semicolons, decimal commas, Latin-1, text, dates, gaps and a constant."""
    rng = np.random.default_rng(1)
    lines = ["name;city;married;joined;age;height;country"]
    for i in range(60):
        city = rng.choice(["München", "Köln", "Wien"], p=[0.5, 0.3, 0.2])
        age = "" if i == 4 else int(rng.integers(18, 80))
        height = f"{rng.normal(1.7, 0.1):.2f}".replace(".", ",")
        day = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.20{rng.integers(10, 24)}"
        lines.append(f"Person {i};{city};{rng.choice(['ja', 'nein'])};{day};{age};{height};DE")
    (tmp_path / "people.csv").write_bytes("\n".join(lines).encode("latin-1"))
    return tmp_path / "people.csv"


def expected(path: Path, **params: object) -> tuple[pl.DataFrame, lowdim.Prepare]:
    frame = lowdim.data.read(path, mixed=True).X
    return frame, lowdim.Prepare(**params).fit(frame)


def test_what_is_done_is_told_in_one_line_per_kind(people):
    result = done("reduce", people, "--missing", "median", "-o", people.parent / "map.csv")
    assert result.stderr.splitlines() == [
        f"lowdim: read {people}: encoded in Windows-1252 (Latin-1), separated by semicolons, "
        "decimal commas in 1 column.",
        "lowdim: prepared: 1 identifier left out: name.",
        "lowdim: prepared: 1 categorical column one-hot encoded to 3.",
        "lowdim: prepared: 1 yes/no column coded 0 and 1, standardised.",
        "lowdim: prepared: 1 date column as days, standardised.",
        "lowdim: prepared: 2 number columns standardised.",
        "lowdim: prepared: 1 constant column left out: country.",
        "lowdim: prepared: 1 missing value filled by the median.",
        f"lowdim: wrote {people.parent / 'map.csv'} (60 rows, 2 components).",
    ]
    assert run("reduce", people, "--missing", "median", "-q").stderr == ""


@pytest.mark.parametrize("method", ["pca", "tsne", "isomap"])
def test_a_saved_model_places_the_same_table_in_the_same_places(people, tmp_path, method):
    model, first, again = tmp_path / "m.lowdim", tmp_path / "a.csv", tmp_path / "b.csv"
    options = ["--missing", "median", "--scale", "--id", "name", "--set", "verbose=0"]
    done("reduce", people, *options, "-m", method, "--first", "pca=4", "--save", model, "-o", first)
    done("transform", model, people, "--id", "name", "-o", again)
    a, b = pl.read_csv(first), pl.read_csv(again)
    assert a.columns == b.columns
    np.testing.assert_allclose(a[:, 1:].to_numpy(), b[:, 1:].to_numpy(), atol=1e-8)
    assert [name for name, _ in lowdim.load(model).steps][:2] == (
        ["prepare", "pca-1"] if method == "pca" else ["prepare", "pca"]
    )


def test_the_map_is_that_of_the_library(people, tmp_path):
    done("reduce", people, "--missing", "mean", "-o", tmp_path / "map.csv", "-q")
    frame, prepare = expected(people, missing="mean")
    want = lowdim.PCA(2).fit_transform(prepare.transform(frame))
    np.testing.assert_allclose(pl.read_csv(tmp_path / "map.csv").to_numpy(), want, atol=1e-10)


def test_dropped_rows_take_their_labels_and_ids_along(people, tmp_path):
    model = tmp_path / "m.lowdim"
    result = done(
        "reduce", people, "--missing", "drop", "--label", "city", "--id", "name", "-m", "lda", "--save", model
    )
    assert "1 row with missing values left out" in result.stderr
    out = done("transform", model, people, "--id", "name")
    frame = pl.read_csv(out.stdout.encode())
    assert len(frame) == 59
    assert "Person 4" not in frame["name"].to_list()


def test_new_tables_may_lack_what_was_left_out_and_have_columns_in_any_order(people, tmp_path):
    model = tmp_path / "m.lowdim"
    done("reduce", people, "--missing", "median", "--save", model)
    new = "height,age,city,joined,married,shoe\n1.8,,Atlantis,01.02.2020,ja,43\n"
    result = done("transform", model, "-", stdin=new)
    assert len(result.stdout.splitlines()) == 2
    assert "left out 'shoe', which the model was not fitted with" in result.stderr
    assert "levels that fit did not see ('Atlantis')" in result.stderr
    wrong = run("transform", model, "-", stdin=new.replace("1.8", "tall"))
    assert wrong.exit_code == 2
    assert "column 'height' must hold numbers, as in fit; got 'tall' in row 0" in wrong.stderr
    lacking = run("transform", model, "-", stdin="height,age\n1,2\n")
    assert lacking.exit_code == 2
    assert "lacks 'city', 'married', 'joined'" in lacking.stderr


def test_a_rule_for_gaps_can_be_given_at_transform(tmp_path):
    (tmp_path / "t.csv").write_text("c,x\na,1\nb,2\na,9\nb,4\n")
    model = tmp_path / "m.lowdim"
    done("reduce", tmp_path / "t.csv", "-k", "1", "--save", model)
    assert "NaN at row 0" in run("transform", model, "-", stdin="c,x\na,\n").stderr
    filled = done("transform", model, "-", "--missing", "median", stdin="c,x\na,\n").stdout
    assert filled == done("transform", model, "-", stdin="c,x\na,3\n").stdout


@pytest.mark.parametrize("option", [["--scale"], ["--log"], ["--first", "pca=2"], ["--categories", "drop"]])
def test_what_the_model_decides_is_refused_at_transform(option, people, tmp_path):
    done("reduce", people, "--missing", "median", "--save", tmp_path / "m.lowdim")
    done("transform", tmp_path / "m.lowdim", people, "--prepare", "auto")
    for given in (option, ["--prepare", "none"]):
        result = run("transform", tmp_path / "m.lowdim", people, *given)
        assert result.exit_code == 2
        assert f"{given[0]} is part of the model" in result.stderr
        assert result.stderr.count("\n") == 1


def test_one_rule_scales_numbers_whether_text_stands_beside_them_or_not(tmp_path):
    """Numbers of a table are standardised, unless all share one unit; a column of text changes nothing for them."""
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0, 8.0], "b": [10.0, 0.0, 30.0, 5.0]})
    frame.write_csv(tmp_path / "t.csv")
    X = frame.to_numpy()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    logs = np.log1p(X)
    logs = (logs - logs.mean(axis=0)) / logs.std(axis=0)
    asked = [([], scaled), (["--scale"], scaled), (["--log"], logs), (["--prepare", "auto"], scaled)]
    for options, rows in (*asked, (["--prepare", "none"], X)):
        result = done("reduce", tmp_path / "t.csv", "-m", "kernel_pca", "--set", "kernel=linear", *options)
        got = pl.read_csv(result.stdout.encode()).to_numpy()
        np.testing.assert_allclose(got, lowdim.KernelPCA(2, kernel="linear").fit_transform(rows), atol=1e-9)
        assert ("prepared" in result.stderr) == (options != ["--prepare", "none"])
    frame.with_columns(name=pl.Series(["p", "q", "r", "s"])).write_csv(tmp_path / "named.csv")
    named, plain = (done("reduce", tmp_path / f"{name}.csv", "-m", "pca").stdout for name in ("named", "t"))
    assert named == plain


def test_numbers_of_one_unit_keep_their_scales_whether_text_stands_beside_them_or_not(tmp_path):
    X, _ = lowdim.data.load("digits")
    frame = pl.DataFrame(X[:200], schema=[f"p{j}" for j in range(64)])
    frame.write_csv(tmp_path / "t.csv")
    frame.with_columns(name=pl.Series([f"digit {i}" for i in range(200)])).write_csv(tmp_path / "named.csv")
    plain, named = (
        pl.read_csv(done("reduce", tmp_path / f"{name}.csv", "-m", "pca").stdout.encode()).to_numpy()
        for name in ("t", "named")
    )
    np.testing.assert_allclose(plain, lowdim.PCA(2).fit_transform(X[:200]), atol=1e-9)
    np.testing.assert_allclose(named / np.std(named), plain / np.std(plain), atol=1e-9)
    np.save(tmp_path / "a.npy", X[:200, 20:23] * [1, 10, 100])
    array = done("reduce", tmp_path / "a.npy", "-m", "pca")
    assert "prepared" not in array.stderr


def test_columns_that_cannot_be_used_are_left_out_with_a_warning(tmp_path):
    rows = "".join(f"{i * i},{i % 7},{'oops' if i == 30 else i * 1.5},v{i // 2}\n" for i in range(400))
    (tmp_path / "t.csv").write_text("x,y,bad,codes\n" + rows)
    result = done("reduce", tmp_path / "t.csv", "-o", tmp_path / "m.csv", "--save", tmp_path / "m.lowdim")
    assert "warning: 2 columns were left out, since they cannot be used: 'bad' (must hold numbers" in result.stderr
    assert done("transform", tmp_path / "m.lowdim", tmp_path / "t.csv").stdout == (tmp_path / "m.csv").read_text()
    refused = run("reduce", tmp_path / "t.csv", "--on-unusable", "error")
    assert refused.exit_code == 2
    assert "2 columns cannot be used" in refused.stderr
    assert "--on-unusable drop" in refused.stderr


def test_inspect_describes_any_table_and_refuses_none(people):
    text = done("inspect", people).stdout
    line = {row.split("  ")[0]: row for row in text.splitlines()}
    assert "60 rows × 7 columns" in line["shape"]
    assert "(encoded in Windows-1252 (Latin-1), separated by semicolons, decimal commas in 1 column)" in line["data"]
    assert line["missing"].endswith("'age' has 1 missing")
    assert re.search(r"name +identifier +60 +left out \(every value is different\)", line["name"])
    assert re.search(r"joined +date +\d+ +20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d +as days, standardised", line["joined"])
    assert "one-hot encoded to 3" in line["city"]
    assert "pca0" in text
    assert "intrinsic dimension" in text


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,\n2,\n3,\n",
        "x,y\n" + "".join(f"{i},{'oops' if i == 30 else i}\n" for i in range(40)),
        "a\nx\ny\nz\n",
        "a,b\nx,\ny,\nz,\n",
        "c\n" + "".join(f"v{i // 2}\n" for i in range(400)),
        "when,x\n" + "".join(f"2020-01-{i:02d},{i}\n" for i in range(1, 40)),
        "x\n1\n",
    ],
)
def test_inspect_tells_what_cannot_be_used(text, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    assert "column " in done("inspect", tmp_path / "t.csv").stdout


def test_inspect_writes_a_plan_that_reduce_follows(people, tmp_path):
    plan = tmp_path / "plan.toml"
    done("inspect", people, "--plan", plan)
    changed = plan.read_text().replace('missing = "error"', 'missing = "median"')
    plan.write_text(changed.replace('[columns."age"]\nkind = "number"', '[columns."age"]\nkind = "drop"'))
    result = done("reduce", people, "--prepare", plan)
    assert "1 number column standardised" in result.stderr
    assert "1 number column left out: age" in result.stderr


def test_models_with_a_preparation_are_described(people, tmp_path):
    model = tmp_path / "m.lowdim"
    done("reduce", people, "--missing", "median", "--first", "pca=3", "-m", "tsne", "--save", model)
    text = done("inspect", model).stdout
    assert "Prepare, then PCA, then TSNE" in text
    assert re.search(r"city +category: one-hot encoded to 3", text)


def test_a_report_tells_how_the_data_were_prepared(people, tmp_path):
    page = tmp_path / "r.html"
    given = ["compare", people, "--missing", "median", "--first", "pca=3", "--methods", "pca,isomap", "-o", page]
    done(*given)
    text = page.read_text(encoding="utf-8")
    assert "<li>1 categorical column one-hot encoded to 3</li>" in text
    assert "<li>7 columns reduced to 3 by PCA</li>" in text
    assert "1 missing value filled by the median" in text
    assert f"lowdim reduce {people} --missing median --first pca=3 --method isomap" in text


def test_selection_takes_the_columns_of_a_category_together(people, tmp_path):
    model = tmp_path / "s.lowdim"
    given = ["select", people, "--target", "married", "--missing", "median", "--features", "2", "--keep", "city"]
    result = done(*given, "--save", model)
    assert "2 of 6 columns selected for KNeighborsClassifier" in result.stdout
    header = done("transform", model, people).stdout.splitlines()[0].split(",")
    assert header[:3] == ["city=Köln", "city=München", "city=Wien"]
    assert len(header) == 4


@pytest.mark.parametrize(
    ("content", "args", "words"),
    [
        ("x,y\n" + "".join(f"1{i},{'oops' if i == 30 else i * i}\n" for i in range(40)), "", "got 'oops' in row 30"),
        ("c,x,y\na,1,\nb,2,\na,4,\n", "--missing mean", "'y' has none"),
        ("c,x\n" + "".join(f"v{i // 2},{i * i}\n" for i in range(400)), "", "'c' has 200, of which the 49 most"),
        ("d,x\n" + "".join(f"{i}.1.2020,{i * i}\n" for i in range(1, 40)), "", "got '32.1.2020' in row 31"),
        ("a,b,a\n1,2,3\n3,4,5\n", "", "'a' more than once"),
        ("c,x\na,1\nb,2,3\n", "", "line 3"),
        ("", "", "is empty"),
        ("c,x\n", "", "column names only"),
        ("c,x\na,1\nb,2\na,5\n", "--prepare plan.toml", "plan must name columns of the table; got 'y'"),
        ("c,x\na,1\nb,2\na,5\n", "--prepare none.toml", "there is none at 'none.toml'"),
        ("c,x\na,1\nb,2\na,5\n", "--prepare broken.toml", "'broken.toml' is not one"),
        ("c,x\na,1\nb,2\na,5\n", "--prepare strange.toml", "has 'colour'"),
        ("c,x\na,1\nb,2\na,5\n", "--first pca", "such as pca=50"),
        ("c,x\na,1\nb,2\na,5\n", "--first nope=3", "must be one of"),
        ("c,x\na,1\nb,2\na,5\n", "--first select=3", "a method with components"),
        ("c,x\na,1\nb,2\na,5\n", "--prepare none --log", "got --log too"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(content, args, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(content)
    (tmp_path / "plan.toml").write_text('[columns.y]\nkind = "drop"\n')
    (tmp_path / "broken.toml").write_text("numbers = \n")
    (tmp_path / "strange.toml").write_text('colour = "red"\n')
    before = sorted(tmp_path.iterdir())
    strict = ["--on-unusable", "error", "--save", "m.lowdim", "-o", "map.csv"]
    result = run("reduce", "t.csv", *args.split(), *strict)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_sparse_tables_are_scaled_as_before(tmp_path):
    import scipy.sparse as sp

    sp.save_npz(tmp_path / "s.npz", sp.random(40, 6, 0.5, format="csr", random_state=0))
    assert "prepared" not in done("reduce", tmp_path / "s.npz", "--scale", "-m", "kernel_pca").stderr
    refused = run("reduce", tmp_path / "s.npz", "--scale", "-m", "kernel_pca", "--save", tmp_path / "m.lowdim")
    assert refused.exit_code == 2
    assert "is sparse" in refused.stderr
    done("reduce", tmp_path / "s.npz", "--scale", "--save", tmp_path / "m.lowdim")
    assert "needs a dense table" in run("reduce", tmp_path / "s.npz", "--log").stderr


def test_gzip_in_another_encoding(people, tmp_path):
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(people.read_bytes()))
    assert "Latin-1" in done("reduce", tmp_path / "p.csv.gz", "--missing", "mean").stderr
