"""``inspect``, ``methods`` and the help: what a person asks before starting."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import lowdim
from lowdim.cli import COMMANDS, main
from lowdim.methods.registry import METHODS


def output(*args: object, stdin: str | None = None) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def line(text: str, start: str) -> str:
    return next(row for row in text.splitlines() if row.startswith(start))


def test_data_are_described():
    text = output("inspect", "digits", "--costs")
    assert METHODS[-1].cost not in output("inspect", "digits")
    assert "1,797 rows × 64 columns" in line(text, "shape")
    assert "10 distinct" in line(text, "label")
    assert "none" in line(text, "missing")
    assert "3 columns: 'pixel_0_0', 'pixel_4_0', 'pixel_4_7'" in line(text, "constant")
    assert "14.9 %" in line(text, "pca0")
    assert line(text, "-k for 90 %").endswith(f" {lowdim.PCA(0.9).fit(lowdim.data.load('digits')[0]).n_components_}")
    assert line(text, "-k at the elbow").endswith(" 12")
    two, twenty = (line(text, f"intrinsic dimension, {words} neighbours") for words in ("two", "20"))
    assert 5 < float(two.split()[-3]) < 14
    assert 5 < float(twenty.split()[-3]) < 14
    assert all(method.cost in text for method in METHODS)
    assert "GB free)" in text or "MB free)" in text
    assert "kB" in text
    assert "scale" not in [row.split(" ")[0] for row in text.splitlines()]  # pixels share a unit


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rows_of_length_1_suggest_the_cosine(tmp_path, dtype):
    X = np.random.default_rng(0).standard_normal((60, 40))
    unit = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    np.save(tmp_path / "unit.npy", unit)
    assert line(output("inspect", tmp_path / "unit.npy"), "rows ").endswith("consider --set metric=cosine")
    np.save(tmp_path / "other.npy", np.concatenate([unit[:-1], 1.1 * unit[-1:]]))
    assert "metric=cosine" not in output("inspect", tmp_path / "other.npy")


def test_missing_values_are_counted_by_column_even_from_a_pipe():
    text = output("inspect", "-", "--label", "who", stdin="who,a,b\nx,1,2\ny,,4\nx,3,\ny,,1\n")
    assert line(text, "missing").endswith("'a' has 2 missing, 'b' has 1 missing")
    assert "4 rows × 2 columns" in text
    assert "intrinsic dimension, 3 neighbours" in text  # as many as there are
    assert "1 rows × 2 columns" in output(
        "inspect", "-", "--missing", "drop", "--label", "who", stdin="who,a,b\nx,1,2\ny,,4\nx,3,\ny,,1\n"
    )


def test_columns_far_apart_in_scale_are_pointed_out(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1000.0, 2.0]
    np.save(tmp_path / "X.npy", X)
    assert "consider --scale" in line(output("inspect", tmp_path / "X.npy"), "scale")
    scaled = output("inspect", tmp_path / "X.npy", "--scale")
    assert "consider" not in scaled
    assert float(line(scaled, "pca0").split()[-2]) < 60


@pytest.mark.parametrize("X", [np.ones((3, 2)), np.array([[1.0, 2.0]]), np.array([[1.0, np.inf], [2.0, 3.0]])])
def test_data_that_no_method_takes_are_still_described(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    text = output("inspect", tmp_path / "X.npy")
    assert f"{len(X)} rows × 2 columns" in text
    assert line(text, "components:")


def test_model_files_are_described(tmp_path):
    X, _ = lowdim.data.load("iris")
    lowdim.PCA(2, whiten=True).fit(X).save(tmp_path / "m.lowdim")
    text = output("inspect", tmp_path / "m.lowdim")
    assert line(text, "model").endswith("PCA")
    assert line(text, "written by").endswith(f"lowdim {lowdim.__version__}, format 3")
    assert line(text, "  whiten").endswith("True")
    assert line(text, "columns").endswith("4")
    assert line(text, "  components_").endswith("2 × 4 float64")


def test_methods_are_listed_from_the_registry():
    text = output("methods")
    for method in METHODS:
        assert all(words in line(text, method.name) for words in (method.summary, method.when, method.cost))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples(command):
    assert "Examples:" in output(*command.split(), "--help")


def test_version_and_bare_call():
    assert output("--version") == f"lowdim {lowdim.__version__}\n"
    assert output().startswith("Usage: lowdim")


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom lowdim.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'sklearn', 'polars', 'matplotlib', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_an_empty_column_is_told_and_left_out(tmp_path):
    (tmp_path / "gap.csv").write_text("a,b,c\n1,,2\n2,,3\n4,,4.5\n")
    text = output("inspect", str(tmp_path / "gap.csv"))
    assert line(text, "missing").endswith("'b' has 3 missing")
    assert "3 rows × 2 columns" in text
