import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import lowdim
from lowdim.cli import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_path_is_shown_as_a_table():
    result = run("select", "iris", "--target", "y", "--estimator", "lda", "--features", 2)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["step", "action", "column", "columns", "score", "spread", "seconds"]
    assert "petal width" in lines[2]
    assert lines[-1].startswith("2 of 4 columns selected for LinearDiscriminantAnalysis")


def test_columns_and_selection_are_written(tmp_path):
    few, model = tmp_path / "few.csv", tmp_path / "few.lowdim"
    result = run(
        "select", "iris", "-e", "knn", "--set", "n_neighbors=3", "--features", 2, "--direction", "backward",
        "--keep", "sepal length (cm)", "-o", few, "--save", model,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "warning" not in result.stderr
    names = pl.read_csv(few).columns
    assert names[:2] == ["y", "sepal length (cm)"]
    assert len(names) == 3
    assert lowdim.load(model).estimator.n_neighbors == 3
    again = run("transform", model, "iris")
    assert again.stdout.splitlines()[0] == ",".join(names)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--features", "20"], "at most the 4 features"),
        (["--features", "some"], "auto or best is needed"),
        (["--set", "n_neighbors=3"], "Pass --estimator"),
        (["-e", "knn", "--set", "neighbors=3"], "n_neighbors"),
        (["--keep", "width"], "there is no 'width'"),
        (["--direction", "sideways"], "sideways"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words, message):
    result = run("select", "iris", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_data_without_a_target_say_so(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,3\n3,5\n")
    result = run("select", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert "Pass --target" in result.stderr


def test_a_constant_column_is_told_in_plain_words(tmp_path):
    X, y = lowdim.data.load("iris")
    table = pl.DataFrame({"a": X[:, 0], "flat": [7.0] * len(X), "b": X[:, 2], "y": y})
    table.write_csv(tmp_path / "t.csv")
    result = run(
        "select", tmp_path / "t.csv", "--target", "y", "--estimator", "lda", "--features", 2, "--prepare", "none"
    )
    assert result.exit_code == 0
    assert "IndexError" not in result.stderr
    assert "feature 1 could not be scored and was skipped (it is constant in" in result.stderr.replace("\n", " ")


@pytest.mark.parametrize("by", ["anova", "mutual_info", "mrmr", "relief", "variance"])
def test_filters_print_a_ranking_and_select_what_the_library_does(by, tmp_path):
    X, y = lowdim.data.load("iris")
    pl.DataFrame(X, schema=list("abcd")).with_columns(pl.Series("kind", y)).write_csv(tmp_path / "iris.csv")
    path, model = tmp_path / "few.csv", tmp_path / "few.lowdim"
    arguments = ["--target", "kind", "--by", by, "--features", 2, "--prepare", "none", "-o", path, "--save", model]
    result = run("select", tmp_path / "iris.csv", *arguments)
    assert result.exit_code == 0, result.output
    found = lowdim.RankFeatures(by, n_features_to_select=2).fit(X, y)
    chosen = [name for name, flag in zip("abcd", found.support_, strict=True) if flag]
    assert f"2 of 4 columns selected by {by}: {', '.join(chosen)}" in result.stdout
    assert [name for name in pl.read_csv(path).columns if name in "abcd"] == chosen
    np.testing.assert_array_equal(lowdim.load(model).ranking_, found.ranking_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--estimator", "knn"], "got --estimator too"),
        (["--cv", "3"], "got --cv too"),
        (["--features", "best"], "Pass a number"),
        (["--set", "by=anova"], "Use the option"),
        (["--set", "colour=1"], "colour"),
    ],
)
def test_filters_refuse_options_of_the_search(given, words):
    result = run("select", "iris", "--target", "y", "--by", "mrmr", *given)
    assert result.exit_code != 0
    assert words in result.stderr
