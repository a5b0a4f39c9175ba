"""Failures: one line that says what to do, the promised exit code, no traceback, nothing half-written."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import lowdim
from lowdim.cli import main


def run(*args: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)


def refused(*args: object, stdin: str | None = None) -> str:
    """Message of a command that must be refused in one line."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("lowdim: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("name,a,b\np,1,2\nq,,5\nr,3,1\n")
    (tmp_path / "broken.lowdim").write_bytes(b"PK nonsense")
    np.save(tmp_path / "inf.npy", [[1.0, 2.0], [np.inf, 1.0], [2.0, 2.0]])
    return tmp_path


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("redce digits", "Did you mean 'reduce'?"),
        ("reduce", "Missing argument 'DATA'"),
        ("reduce digits --foo", "--foo"),
        ("reduce digits --seed -1", "--seed"),
        ("reduce digits --missing some", "--missing"),
        ("reduce digits --set whiten", "name=value"),
        ("reduce digits --drop ,", "at least one name"),
        ("reduce nope.csv", "nope.csv"),
        ("reduce digits -m pka", "Did you mean 'pca'?"),
        ("reduce digits --set svd_solvr=svd", "Did you mean 'svd_solver'? It has device, max_iter"),
        ("reduce digits --set svd_solver=svt", "Did you mean 'svd'?"),
        ("reduce digits -k 100", "at most min(n_samples, n_features) = 64"),
        ("reduce digits -k 1.0", "Pass -k 1 for a count"),
        ("reduce digits -k elbw", "Did you mean 'elbow'?"),
        ("reduce digits --label nope", "nope"),
        ("reduce digits -o map.xlsx", ".parquet"),
        ("reduce digits -o nowhere/map.csv", "'nowhere'"),
        ("reduce digits --plot map.txt", ".png"),
        ("reduce digits --save map.pkl", ".lowdim"),
        ("reduce digits -o a.csv --plot .", "--plot"),
        ("reduce t.csv -o t.csv", "the input"),
        ("reduce t.csv", "NaN at row 1 (counted from 0), column 'a' (1 missing there). Pass --missing median"),
        (
            "reduce t.csv --prepare none",
            "Pass --label COLUMN, --id COLUMN or --drop COLUMN,COLUMN for it, or pass --prep",
        ),
        ("reduce t.csv --drop name", "or --missing drop to drop such rows"),
        ("reduce inf.npy", "infinity"),
        ("transform broken.lowdim digits", "broken.lowdim"),
        ("transform none.lowdim digits", "none.lowdim"),
        ("transform t.csv digits", "t.csv"),
        ("inspect none.lowdim", "none.lowdim"),
        ("inspect t.csv --drop name --missing error", "drop', 'mean"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(folder, args, words):
    assert words in refused(*args.split())


def test_empty_input_is_one_line():
    assert "standard input is empty" in refused("reduce", "-", stdin="")


def test_bad_targets_are_refused_before_any_work(folder, monkeypatch):
    monkeypatch.setattr(lowdim.data, "read", lambda *_, **__: pytest.fail("data were read"))
    for args in ("-o map.xlsx", "-o nowhere/map.csv", "--plot map.doc", "--save map", "--set x=1", "-k 0"):
        refused("reduce", "digits", *args.split())


def test_lack_of_memory_is_said_before_it_is_taken(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "1K")
    assert "1 kB is available" in refused("reduce", "digits")


def test_read_only_targets_are_refused(folder, monkeypatch):
    (folder / "map.csv").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("map.csv"))  # permissions bind no root
    assert "may be written" in refused("reduce", "digits", "-o", "map.csv")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyError("x"), 1, "internal error in lowdim, KeyError: 'x'"),
        (RuntimeError("two\nlines"), 1, "two lines"),
        (ImportError("h5py is needed"), 2, "h5py is needed"),
        (MemoryError(), 2, "out of memory"),
        (OSError(28, "No space left on device", "map.csv"), 2, "No space left on device: 'map.csv'"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_each_failure_has_its_exit_code(folder, monkeypatch, error, code, words):
    def fail(*_, **__):
        raise error

    (folder / "map.csv").write_text("before")
    monkeypatch.setattr(lowdim.PCA, "fit", fail)
    result = run("reduce", "digits", "-o", "map.csv", "--plot", "map.png", "--save", "map.lowdim")
    assert result.exit_code == code
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert (folder / "map.csv").read_text() == "before"
    assert sorted(path.name for path in folder.iterdir()) == ["broken.lowdim", "inf.npy", "map.csv", "t.csv"]
    assert ("LOWDIM_DEBUG=1" in result.stderr) == (code == 1)


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("LOWDIM_DEBUG", "1")
    result = run("reduce", "nope.csv")
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


def test_a_failing_plot_leaves_no_file(folder, monkeypatch):
    from matplotlib.figure import Figure

    def fail(self, file, **_):
        file.write(b"half")
        raise ValueError("no ink")

    monkeypatch.setattr(Figure, "savefig", fail)
    assert "no ink" in refused("reduce", "digits", "--plot", "map.png", "-q")
    assert not list(folder.glob("*.png")) + list(folder.glob(".*"))


def test_warnings_are_one_line_each(monkeypatch):
    import warnings

    fit = lowdim.PCA.fit

    def warn(self, X, y=None):
        warnings.warn("the data\nlook odd", stacklevel=1)
        return fit(self, X, y)

    monkeypatch.setattr(lowdim.PCA, "fit", warn)
    result = run("reduce", "iris")
    assert result.exit_code == 0
    assert result.stderr == "lowdim: warning: the data look odd\n"


def test_a_real_process_leaves_quietly_when_the_reader_goes():
    command = [sys.executable, "-m", "lowdim", "reduce", "digits", "-k", "40"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"y,pca0")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_real_process_reads_a_pipe_and_refuses_in_one_line():
    command = [sys.executable, "-m", "lowdim", "reduce", "-"]
    result = subprocess.run(command, input=b"a,b\n1,x\n", capture_output=True, check=False)
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.startswith(b"lowdim: at least 2 samples (rows) are needed; got 1 sample")
    assert result.stderr.count(b"\n") == 1
