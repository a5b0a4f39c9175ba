"""``lowdim transform --extend`` and ``lowdim aligned``: what is written equals what the library computes."""

import numpy as np
import polars as pl
import pytest
from test_cli_reduce import done, run

import lowdim


@pytest.fixture
def files(tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 4)) + 3 * (np.arange(120) % 3)[:, None]
    frame = pl.DataFrame({"name": [f"r{i}" for i in range(120)], **dict(zip("abcd", X.T, strict=True))})
    parts = {"monday": frame[:80], "tuesday": frame[20:100], "wednesday": frame[50:120]}
    for name, part in parts.items():
        part.write_csv(tmp_path / f"{name}.csv")
    frame[80:].write_csv(tmp_path / "new.csv")
    return tmp_path


@pytest.mark.parametrize("prepare", ["auto", "none"])
def test_a_saved_map_is_extended_by_new_rows(files, prepare):
    model, larger = files / "map.lowdim", files / "larger.lowdim"
    quick = ("--method", "umap", "--set", "n_epochs=20", "--seed", 0, "--id", "name", "--prepare", prepare)
    done("reduce", files / "monday.csv", *quick, "--save", model)
    told = done("transform", model, files / "new.csv", "--id", "name", "--extend", larger, "-o", files / "new_map.csv")
    assert "saved" in told.stderr
    assert "120 rows" in told.stderr
    old, new = (lowdim.load(file) for file in (model, larger))
    if prepare == "auto":
        old, new = old[-1], new[-1]
    np.testing.assert_array_equal(new.embedding_[:80], old.embedding_)
    table = pl.read_csv(files / "new_map.csv")
    assert table["name"].to_list() == [f"r{i}" for i in range(80, 120)]
    np.testing.assert_allclose(table.select("umap0", "umap1").to_numpy(), new.embedding_[80:], rtol=1e-6)
    again = done("transform", larger, files / "new.csv", "--id", "name")
    np.testing.assert_allclose(
        pl.read_csv(again.stdout.encode()).select("umap0", "umap1").to_numpy(), new.embedding_[80:], rtol=1e-5
    )


def test_what_cannot_be_extended_is_refused(files):
    done("reduce", files / "monday.csv", "--id", "name", "--save", files / "pca.lowdim")
    result = run("transform", files / "pca.lowdim", files / "new.csv", "--extend", files / "larger.lowdim")
    assert result.exit_code
    assert "needs a map of tsne, sne, umap, pacmap or mds; got PCA" in result.stderr


@pytest.mark.parametrize("prepare", ["auto", "none"])
def test_tables_are_aligned_by_their_ids(files, prepare):
    sources = [files / f"{day}.csv" for day in ("monday", "tuesday", "wednesday")]
    told = done(
        "aligned", *sources, "--id", "name", "-o", files / "days", "--set", "n_epochs=20", "--method", "umap",
        "--plot", files / "maps.png", "--prepare", prepare,
    )  # fmt: skip
    assert "of the width from map to map" in told.stderr
    assert (files / "maps.png").stat().st_size > 10_000
    maps = [pl.read_csv(files / "days" / f"{file.stem}.csv") for file in sources]
    assert [len(one) for one in maps] == [80, 80, 70]
    if prepare == "none":
        rows = [pl.read_csv(file).drop("name").to_numpy() for file in sources]
        pairs = [(np.arange(60), np.arange(20, 80)), (np.arange(50), np.arange(30, 80))]
        expected = lowdim.aligned(rows, pairs, n_epochs=20)
        for one, Y in zip(maps, expected, strict=True):
            np.testing.assert_allclose(one.select("umap0", "umap1").to_numpy(), Y, rtol=1e-5, atol=1e-6)
    model = lowdim.load(files / "days" / "tuesday.lowdim")
    assert (model[-1] if prepare == "auto" else model).embedding_.shape == (80, 2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["monday.csv"], "two tables or more"),
        (["monday.csv", "wednesday.csv"], "needs --id COLUMN"),
        (["monday.csv", "tuesday.csv", "--id", "name", "--method", "pca"], "a method with anchors is needed"),
        (["monday.csv", "monday.csv", "--id", "name"], "two are 'monday'"),
    ],
)
def test_tables_that_cannot_be_aligned_are_refused(files, given, words):
    drop = [] if "--id" in given else ["--drop", "name"]
    args = [files / one if one.endswith(".csv") else one for one in given]
    result = run(
        "aligned", *args, *drop, "-o", files / "days", *(["--method", "umap"] if "--method" not in given else [])
    )
    assert result.exit_code
    assert words in result.stderr
