"""``lowdim check``: the scores of quality for a saved map, and one plain sentence on the data."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import lowdim
from lowdim.cli import main


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def files(tmp_path, rng):
    X = rng.normal(size=(120, 4)) + 9 * rng.integers(3, size=(120, 1))
    frame = pl.DataFrame(X, schema=list("abcd")).with_columns(who=pl.Series([f"i{i}" for i in range(120)]))
    frame.write_csv(tmp_path / "t.csv")
    set_ = ["--set", "max_iter=80", "--method", "tsne"]
    made = run(
        "reduce", tmp_path / "t.csv", "--id", "who", *set_, "--save", tmp_path / "m.lowdim", "-o", tmp_path / "e.csv"
    )
    assert made.exit_code == 0, made.output
    return tmp_path


def test_the_table_is_that_of_quality(files):
    result = run("check", files / "m.lowdim", files / "t.csv", "--id", "who", "--refits", 1, "-o", files / "r.csv")
    assert result.exit_code == 0, result.output
    table = pl.read_csv(files / "r.csv")
    X = pl.read_csv(files / "t.csv").select("a", "b", "c", "d")
    model = lowdim.load(files / "m.lowdim")
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    rows = model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X
    found = lowdim.quality.reliability(last, rows, refits=1)
    np.testing.assert_allclose(table["score"], found.score)
    assert table["row"].to_list() == [f"i{i}" for i in range(120)]
    assert f"{len(found.dubious)} of 120 rows" in result.stdout
    assert "have more neighbourhood structure" in result.stdout
    if len(found.dubious):
        assert f"\ni{found.dubious[0]} " in result.stdout


def test_other_rows_are_refused_in_one_line(files):
    pl.read_csv(files / "t.csv").reverse().write_csv(files / "other.csv")
    result = run("check", files / "m.lowdim", files / "other.csv", "--id", "who")
    assert result.exit_code
    assert "X must be the rows that the TSNE was fitted on" in result.stderr


def test_a_parameter_can_be_chosen_from_the_command_line(files):
    made = run(
        "reduce", files / "t.csv", "--id", "who", "--method", "umap",
        "--set", "n_neighbors=choose", "--set", "n_epochs=5",
        "-o", files / "u.csv", "--save", files / "u.lowdim",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    model = lowdim.load(files / "u.lowdim")
    assert model.n_neighbors == "choose" if hasattr(model, "n_neighbors") else True


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_reduce_adds_the_scores_to_its_table_on_request(files, suffix):
    set_ = ["--set", "max_iter=80", "--method", "tsne", "--seed", 0]
    target = files / f"checked.{suffix}"
    result = run("reduce", files / "t.csv", "--id", "who", *set_, "--check", "-o", target, "--save", files / "c.lowdim")
    assert result.exit_code == 0, result.output
    assert "rows are dubious" in result.output
    table = (pl.read_csv if suffix == "csv" else pl.read_parquet)(target)
    assert table.columns == ["who", "tsne0", "tsne1", "score", "dubious"]
    run("check", files / "c.lowdim", files / "t.csv", "--id", "who", "-o", files / "r.csv", "--seed", 0)
    checked = pl.read_csv(files / "r.csv")
    np.testing.assert_allclose(table["score"], checked["score"])
    assert table["dubious"].cast(pl.Boolean).to_list() == checked["dubious"].cast(pl.Boolean).to_list()


def test_reduce_refuses_a_check_that_has_no_place(files):
    few = files / "few.csv"
    pl.read_csv(files / "t.csv").head(30).write_csv(few)
    assert "--check needs at least 50 rows" in run("reduce", few, "--id", "who", "--check").output
    assert "--check adds columns" in run("reduce", files / "t.csv", "--id", "who", "--check", "-o", "m.npy").output
