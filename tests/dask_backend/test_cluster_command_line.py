"""Parquet files in parts, in and out, on a cluster."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("distributed", reason="Dask is not installed: pip install lowdim[dask]")

import lowdim
from lowdim.cli import main


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(300, 4)) * [4, 3, 2, 1], columns=list("abcd"))
    frame.insert(0, "cell", [f"c{i}" for i in range(300)])
    frame["kind"] = np.where(frame["a"] > 0, "x", "y")
    for i, (start, stop) in enumerate([(0, 100), (100, 150), (150, 300)]):
        frame[start:stop].to_parquet(folder / f"part-{i}.parquet", index=False)
    return folder, frame


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], standalone_mode=False, catch_exceptions=False)


def refused(*words):
    """What is told of a command that ends with the code of wrong usage."""
    ended = CliRunner().invoke(main, [str(word) for word in words])
    assert ended.exit_code == 2
    return ended.stderr


def read(folder):
    return pd.concat([pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))], ignore_index=True)


def test_reduce_and_transform_in_parts(client, parts, tmp_path):
    folder, frame = parts
    where = ["--cluster", client.scheduler.address, "--id", "cell", "--label", "kind"]
    run("reduce", f"{folder}/part-*.parquet", "-k", 2, *where, "-o", tmp_path / "out", "--save", tmp_path / "m.lowdim")
    found = read(tmp_path / "out")
    assert found.columns.tolist() == ["cell", "kind", "pca0", "pca1"]
    assert found["cell"].tolist() == frame["cell"].tolist()
    assert found["kind"].tolist() == frame["kind"].tolist()
    expected = lowdim.PCA(2).fit(frame[list("abcd")])
    np.testing.assert_allclose(found[["pca0", "pca1"]], expected.transform(frame[list("abcd")]), atol=1e-9)
    assert len(list((tmp_path / "out").iterdir())) == 3
    run("transform", tmp_path / "m.lowdim", folder, *where, "-o", tmp_path / "again")
    pd.testing.assert_frame_equal(read(tmp_path / "again"), found)
    assert "needs a folder without parquet files" in refused("reduce", folder, *where, "-o", tmp_path / "out")


def test_labels_are_read_in_the_partitions_of_the_rows(client, parts, tmp_path):
    folder, frame = parts
    where = ["--cluster", client.scheduler.address, "--method", "lda", "--label", "kind", "--drop", "cell"]
    run("reduce", folder, *where, "-o", tmp_path / "out")
    model = lowdim.LDA().fit(frame[list("abcd")], frame["kind"])
    np.testing.assert_allclose(read(tmp_path / "out")["lda0"], model.transform(frame[list("abcd")])[:, 0], atol=1e-9)


def test_methods_that_need_rows_in_one_memory_are_fitted_on_some(client, parts, tmp_path):
    folder, frame = parts
    where = ["--cluster", client.scheduler.address, "--drop", "cell,kind", "--seed", 3]
    fast = ["--method", "tsne", "--set", "max_iter=60", "--set", "perplexity=10"]
    told = run("reduce", folder, *fast, *where, "--sample", 120, "-o", tmp_path / "map")
    assert "fitted on 120 rows" in told.stderr
    model = lowdim.TSNE(max_iter=60, perplexity=10, random_state=3)
    model.fit(lowdim.data.sample(frame[list("abcd")], 120, random_state=3))
    blocks = [frame[list("abcd")][start:stop] for start, stop in ((0, 100), (100, 150), (150, 300))]
    np.testing.assert_allclose(read(tmp_path / "map"), np.concatenate([model.transform(b) for b in blocks]), atol=1e-6)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["nowhere/*.parquet", "-o", "out"], "names none"),
        (["{parts}"], "needs -o FOLDER"),
        (["{parts}", "-o", "out", "--scale"], "Leave out --plot and the options that prepare"),
        (["{parts}", "-o", "out", "--label", "nothing"], "column 'nothing' is needed"),
        (["{parts}", "-o", "out"], "every feature must be a number.*'cell', 'kind'"),
    ],
)
def test_what_cannot_be_is_told(client, parts, tmp_path, monkeypatch, words, error):
    monkeypatch.chdir(tmp_path)
    words = [word.format(parts=parts[0]) for word in words]
    assert re.search(error, refused("reduce", *words, "--cluster", client.scheduler.address))


def test_an_address_where_nobody_answers_is_told(parts, tmp_path, monkeypatch):
    monkeypatch.setattr("lowdim.cli.partitioned._CONNECT", 0.5)
    words = ["--drop", "cell,kind", "--cluster", "tcp://127.0.0.1:1", "-o", tmp_path / "out"]
    assert "address of a running Dask scheduler" in refused("reduce", parts[0], *words)


def test_inspect_reads_a_folder_in_one_pass(parts, monkeypatch):
    folder, frame = parts
    monkeypatch.setattr("lowdim.cli.partitioned_facts._HELD", 6 * 40)  # forty rows at a time
    told = run("inspect", folder).stdout
    assert "3," in told.split("files")[1].split("\n")[0]
    assert "300, 300 of them without missing values" in told
    assert "6: 4 of numbers, 2 of other kinds" in told
    assert f"{frame['a'].mean():.4g}" in told
    share = lowdim.PCA().fit(frame[list("abcd")]).explained_variance_ratio_[0]
    assert f"{100 * share:.1f}" in told
