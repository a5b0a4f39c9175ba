"""``lowdim doctor``, and twelve tables as people have them, through every command."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import lowdim
from lowdim.cli import main
from lowdim.explorer.opening import session_of
from lowdim.methods.prepared_table import PreparedTable, named_rows

TABLES = Path(__file__).parents[1] / "data" / "tables"
# what the screen of each must say, and options that a person adds
NAMES = {
    "sales.csv": ["skip = 3", "drop_totals = true", "'amount' in $, 'discount' in %, 'weight' in kg", "'NORTH'"],
    "survey.csv": ["ordered answers", "several options in a cell", "free text", "15 missing values"],
    "passengers.csv": ["'Name': free text", "missing values"],
    "genes.tsv": ["transpose = true"],
    "report.csv": ["looks like totals", "looks like repeated headers", "'Preis' in €"],
    "copies.csv": ["1,451 of 1,500 rows are copies"],
    "patients.ndjson": ["'dose' in mg", "'born': dates"],
    "inventory.xlsx::Stock": ["'item': identifiers", "'checked': dates"],
    "sensors.parquet": ["'grade': ordered answers", "'at': dates"],
    "orders.sqlite::orders": ["'zip': codes that begin with zeros"],
    "unusable.csv": ["'mix': cannot be used", "'nothing': cannot be used", "-999 apart from all others"],
    "postcodes.txt": ["'zip': codes"],
}


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def done(*args: object) -> Result:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("name", NAMES)
def test_a_table_goes_through_doctor_reduce_transform_and_the_explorer(name, tmp_path):
    if ".xlsx" in name:
        pytest.importorskip("fastexcel")
    source, plan, model = TABLES / name, tmp_path / "plan.toml", tmp_path / "m.lowdim"
    screen = done("doctor", source, "--fix", plan)
    for words in NAMES[name]:
        assert words in screen.stdout
    made = done("reduce", source, "--prepare", plan, "--save", model, "-o", tmp_path / "a.csv")
    layout = [
        word
        for option in ("skip", "transpose", "drop-totals", "drop-duplicates")
        if (found := re.search(rf"^{option.replace('-', '_')} = (\w+)$", plan.read_text(), re.M))
        for word in ([f"--{option}"] if found[1] == "true" else [f"--{option}", found[1]])
    ]
    done("transform", model, source, *layout, "-o", tmp_path / "b.csv")
    a, b = pl.read_csv(tmp_path / "a.csv"), pl.read_csv(tmp_path / "b.csv")
    components = [column for column in a.columns if column.startswith("pca")]
    np.testing.assert_allclose(a[components].to_numpy(), b[components].to_numpy(), atol=1e-9)
    assert np.isfinite(a[components].to_numpy()).all()
    assert "internal error" not in made.stderr
    # without a plan: told in one screen what was done and left out, or refused with the option that mends it
    plain = run("reduce", source, "--missing", "median")
    assert plain.exit_code == 0 or "--skip" in plain.stderr, plain.output
    model = lowdim.load(model)
    table = lowdim.data.read(source, mixed=True, **_options(layout))
    X = model[:-1].transform(named_rows(table))
    session = session_of(PreparedTable(table, X, chain=model[:-1]), name)
    session.fit("pca", {})
    session.map(1).join(60)
    assert session.map(1).Y is not None


def _options(layout):
    words = [word.removeprefix("--").replace("-", "_") for word in layout]
    return {w: int(words[i + 1]) if w == "skip" else True for i, w in enumerate(words) if not w.isdigit()}


def test_a_column_that_repeats_the_label_is_left_out_by_the_plan(tmp_path):
    plan = tmp_path / "plan.toml"
    screen = done("doctor", TABLES / "passengers.csv", "--label", "Survived", "--fix", plan).stdout
    assert "'alive': repeats the label 'Survived'" in screen
    assert screen.index("alive") < screen.index("missing values")  # the most harmful first
    assert 'label = "Survived"' in plan.read_text()
    made = done(
        "compare", TABLES / "passengers.csv", "--prepare", plan, "--methods", "pca,lda", "-o", tmp_path / "m.csv"
    )
    assert "alive" in made.stderr
    report = done("reduce", TABLES / "passengers.csv", "--prepare", plan, "-m", "lda")
    assert report.stdout.startswith("Survived,lda0")


def test_a_plan_lies_beside_the_data_unless_it_has_a_name(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n7,5\n")
    assert "nothing to report" in done("doctor", tmp_path / "t.csv", "--fix").stdout
    assert (tmp_path / "t.toml").read_text().startswith("# Edit this file and pass it to --prepare.\nrules = 2\n")
    assert "ends in .toml" in run("doctor", tmp_path / "t.csv", "--fix", "plan.txt").stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rules = 3\n", "written for version 3 of the rules"),
        ("[reading]\ncolour = 1\n", r"[reading] of a plan may set label, id"),
        ("[reading]\nskip = 'x'\n", "skip in [reading]"),
    ],
)
def test_plans_that_say_something_else_are_refused(text, words, tmp_path):
    (tmp_path / "p.toml").write_text(text)
    result = run("reduce", TABLES / "copies.csv", "--prepare", tmp_path / "p.toml")
    assert result.exit_code == 2
    assert words in result.stderr


def test_other_kinds_of_tables_hold_the_same_numbers(tmp_path):
    frame = pl.DataFrame({"a": [1.5, 2.0, 4.0], "b": [3, 1, 2], "c": ["x", "y", "x"]})
    frame.write_json(tmp_path / "t.json")
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_ipc(tmp_path / "t.feather")
    frame.write_ipc_stream(tmp_path / "t.arrow")
    (tmp_path / "t.txt").write_text(frame.write_csv(separator="|"))
    names = ["t.json", "t.jsonl", "t.feather", "t.arrow", "t.txt"]
    for package, name in (("duckdb", "t.duckdb"), ("pyreadstat", "t.dta")):
        try:
            module = __import__(package)
        except ImportError:
            continue
        if package == "duckdb":
            with module.connect(str(tmp_path / name)) as base:
                base.execute(
                    "create table t as select * from (values (1.5, 3, 'x'), (2.0, 1, 'y'), (4.0, 2, 'x')) v(a, b, c)"
                )
            names += ["t.duckdb", "t.duckdb::t", "t.duckdb::select * from t"]
        else:
            module.write_dta(frame.to_pandas(), str(tmp_path / name))
            names.append(name)
    for name in names:
        table = lowdim.data.read(tmp_path / name, label="c")
        np.testing.assert_array_equal(np.asarray(table.X, float), [[1.5, 3], [2, 1], [4, 2]])
        assert table.labels.tolist() == ["x", "y", "x"]


def test_parts_of_databases_and_spreadsheets_go_by_name():
    with pytest.raises(
        ValueError, match=r"one table is needed; .* has 'orders', 'empty'. Name one, as by '.*::orders'"
    ):
        lowdim.data.read(TABLES / "orders.sqlite")
    with pytest.raises(ValueError, match="table must name a table of .*; got 'order'. Did you mean 'orders'"):
        lowdim.data.read(f"{TABLES / 'orders.sqlite'}::order")
    query = lowdim.data.read(f"{TABLES / 'orders.sqlite'}::select id, total from orders where id < 5")
    assert query.X.shape == (5, 2)
    with pytest.raises(ValueError, match="a readable SQLite file is needed"):
        lowdim.data.read(f"{TABLES / 'orders.sqlite'}::select nothing from orders")
    pytest.importorskip("fastexcel")
    with pytest.raises(ValueError, match="Did you mean 'Stock'"):
        lowdim.data.read(f"{TABLES / 'inventory.xlsx'}::stock")
