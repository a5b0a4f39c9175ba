"""``lowdim compare`` and ``completion``: tables, pages and scripts from the command line."""

import io
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import lowdim
from lowdim.cli import COMMANDS, main


def run(*args, stdin=None):
    return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)


def done(*args, stdin=None):
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def table(tmp_path):
    X, y = lowdim.data.load("iris")
    frame = pl.DataFrame(X[::2], schema=["a", "b", "c", "d"])
    frame = frame.with_columns(
        kind=pl.Series(["p", "q", "r"]).gather(y[::2]), who=pl.Series([f"i{i}" for i in range(75)])
    )
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def page_data(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1])


def test_the_table_and_the_verdict_go_to_stdout_and_progress_to_stderr(table):
    as_is = ["--prepare", "none"]
    result = done("compare", table, "--label", "kind", "--id", "who", "--methods", "pca,lda", *as_is)
    made = lowdim.compare(*_arrays(table), ["pca", "lda"])
    assert result.stdout.split()[:3] == ["method", *made.embeddings]
    assert f"{made.table['rnx_auc'][0]:.3f}*" in result.stdout
    assert made.verdict in result.stdout
    assert [line.split(":")[1].strip() for line in result.stderr.splitlines()] == ["pca", "lda"]
    assert done("compare", table, "--label", "kind", "--id", "who", "--methods", "pca", "-q", *as_is).stderr == ""


def _arrays(table):
    frame = pl.read_csv(table)
    return frame.select("a", "b", "c", "d").to_numpy(), frame["kind"]


def test_the_page_carries_labels_ids_and_the_commands_that_make_it_again(table, tmp_path):
    out = tmp_path / "r.html"
    given = ["compare", table, "--label", "kind", "--id", "who", "--scale", "--set", "pca.whiten=true", "-k", "2"]
    result = done(*given, "--methods", "pca,lda", "-o", out)
    assert result.stderr.splitlines()[-1] == f"lowdim: wrote {out}."
    data = page_data(out)
    assert data["labels"]["names"] == ["p", "q", "r"]
    assert data["labels"]["title"] == "kind"
    assert data["ids"][:2] == ["i0", "i1"]
    text = out.read_text(encoding="utf-8").replace("&#x27;", "'")
    commands = [line for line in re.search(r"<pre><code>(lowdim.*?)</code>", text, re.S)[1].splitlines() if line]
    assert len(commands) == 3
    again = done(*shlex.split(commands[0])[1:])
    assert again.stdout.split("seconds")[0] == result.stdout.split("seconds")[0]
    single = shlex.split(commands[1])
    assert single[:3] == ["lowdim", "reduce", str(table)]
    picture = tmp_path / "m.png"
    done(*single[1:-1], picture)
    assert picture.stat().st_size > 1000


def test_the_table_alone_goes_to_a_file(table, tmp_path):
    given = ["compare", table, "--label", "kind", "--drop", "who", "--methods", "pca", "--prepare", "none"]
    done(*given, "-o", tmp_path / "m.csv")
    made = lowdim.compare(*_arrays(table), ["pca"])
    got = pl.read_csv(tmp_path / "m.csv")
    assert got.columns == made.table.columns
    assert got["rnx_auc"][0] == pytest.approx(made.table["rnx_auc"][0])


def test_rows_can_be_called_pictures(tmp_path):
    X, y = lowdim.data.load("digits")
    np.savez(tmp_path / "few.npz", X=X[:60], y=y[:60])
    result = run("compare", tmp_path / "few.npz", "--methods", "pca", "--image-shape", "8x8", "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '"height":8,"width":8' in text
    assert "--image-shape 8x8" in text


def test_missing_values_are_told_on_the_page(table, tmp_path):
    frame = pl.read_csv(table).with_columns(a=pl.Series([None, *pl.read_csv(table)["a"][1:]]))
    frame.write_csv(tmp_path / "gaps.csv")
    given = ["compare", tmp_path / "gaps.csv", "--label", "kind", "--drop", "who", "--methods", "pca"]
    result = run(*given)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "--missing drop" in result.stderr
    for how, words in (("drop", "1 row with missing values left out"), ("mean", "1 missing value filled by the mean")):
        done(*given, "--missing", how, "-o", tmp_path / "r.html")
        assert words in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_pipe_and_pictures_can_be_compared(table, tmp_path):
    text = table.read_text()
    done("compare", "-", "--label", "kind", "--drop", "who", "--methods", "pca", "-o", tmp_path / "r.html", stdin=text)
    assert page_data(tmp_path / "r.html")["pictures"] is None
    done("compare", "digits", "--methods", "pca", "-q", "-o", tmp_path / "d.html")
    assert page_data(tmp_path / "d.html")["pictures"]["width"] == 8
    assert (tmp_path / "d.html").stat().st_size < 500_000


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("compare iris --methods pca,nope", "'nope'"),
        ("compare iris --methods pca -o r.pdf", ".html"),
        ("compare iris --methods pca --set whiten=true", "METHOD.NAME=VALUE"),
        ("compare iris --methods pca --set pca.whitn=true", "PCA takes"),
        ("compare iris --methods pca --set lda.tol=1", "Add them to methods"),
        ("compare iris --methods pca --by beauty", "lowdim: by must be one of rnx_auc"),
        ("compare iris --methods pca -k 0", "-k"),
        ("compare iris --methods pca --image-shape 4", "needs HEIGHTxWIDTH, such as 28x28; got '4'"),
        ("compare iris --methods pca --image-shape 3x3", "4 pixels in all"),
        ("compare swissroll --methods lda", "learns from labels"),
        ("completion tcsh", "tcsh"),
        ("reduce iris -m lda --scale --prepare none", "--prepare none leaves the data as they are; got --scale too"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(args, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*args.split())
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_scale_standardises_for_methods_that_do_not_scale_themselves():
    got = pl.read_csv(io.StringIO(done("reduce", "iris", "-m", "kernel_pca", "--scale").stdout))
    X, _ = lowdim.data.load("iris")
    want = lowdim.KernelPCA(2).fit_transform((X - X.mean(axis=0)) / X.std(axis=0))
    np.testing.assert_allclose(got.select(pl.selectors.starts_with("kernelpca")).to_numpy(), want, atol=1e-9)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_helps_with_examples(command):
    text = done(command, "--help").stdout
    assert "Examples:" in text
    for line in re.findall(r"^ +lowdim (.*)$", text.split("Examples:")[1], re.M):
        assert line.split()[0] in COMMANDS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell, monkeypatch):
    assert "_LOWDIM_COMPLETE" in done("completion", shell).stdout
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert done("completion").stdout == done("completion", shell).stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("lowdim re", ["plain,reduce"]),
        ("lowdim reduce dig", ["plain,digits", "plain,digest.csv", "plain,digs/"]),
        ("lowdim reduce map", ["file,map"]),
        ("lowdim reduce digits --method kernel_p", ["plain,kernel_pca"]),
        ("lowdim compare digits --methods pca,ld", ["plain,pca,lda"]),
        ("lowdim reduce digits --see", ["plain,--seed"]),
        ("lowdim reduce digits -o ma", ["file,ma"]),
        ("lowdim reduce digits --missing d", ["plain,drop"]),
    ],
)
def test_a_shell_is_offered_what_fits(typed, offered, tmp_path):
    (tmp_path / "digest.csv").touch()
    (tmp_path / "digs").mkdir()
    words = typed.split()
    asked = {"_LOWDIM_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, "-m", "lowdim"]
    result = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert result.stdout.split() == offered
