"""``lowdim reduce`` and ``transform``: what is written equals what the library computes."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import lowdim
from lowdim import data
from lowdim.cli import main
from lowdim.methods import registry

HEADER = ["name", "species", "a", "b", "c"]


def run(*args: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)


def done(*args: object, stdin: str | None = None) -> Result:
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def cells(text: str) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(text.encode()))


@pytest.fixture
def frame() -> pl.DataFrame:
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 5.0, 2.0]
    names = [f"r{i}" for i in range(30)]
    return pl.DataFrame(
        {"name": names, "species": ["cat", "dog", "owl"] * 10, **dict(zip("abc", X.T, strict=True))}
    ).select(HEADER)


@pytest.fixture
def table(tmp_path: Path, frame: pl.DataFrame) -> Path:
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_csv_on_stdout_has_id_label_and_components(table, frame):
    result = done("reduce", table, "--label", "species", "--id", "name", "--prepare", "none")
    got = cells(result.stdout)
    assert got.columns == ["name", "species", "pca0", "pca1"]
    assert got["name"].to_list() == frame["name"].to_list()
    assert got["species"].to_list() == frame["species"].to_list()
    want = lowdim.PCA(2).fit_transform(frame.select("a", "b", "c").to_numpy())
    np.testing.assert_allclose(got.select("pca0", "pca1").to_numpy(), want, rtol=1e-12)
    assert result.stderr == ""


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "npz"])
def test_files_hold_the_same_table(tmp_path, table, ending):
    target = tmp_path / f"map.{ending}"
    result = done("reduce", table, "--label", "species", "--id", "name", "--prepare", "none", "-o", target)
    assert result.stdout == ""
    assert result.stderr == f"lowdim: wrote {target} (30 rows, 2 components).\n"
    label, id = ("y", "ids") if ending == "npz" else ("species", "name")
    back = data.read(target, label=label, id=id)
    assert back.names == ["pca0", "pca1"]
    assert back.labels[:3].tolist() == ["cat", "dog", "owl"]
    assert back.ids[1] == "r1"


def test_npy_holds_the_components_alone(tmp_path, table):
    result = done("reduce", table, "--label", "species", "--id", "name", "-o", tmp_path / "map.npy")
    assert np.load(tmp_path / "map.npy").shape == (30, 2)
    assert "keep name, species as well" in result.stderr


def test_save_then_transform_equals_the_library(tmp_path, table, frame):
    model = tmp_path / "map.lowdim"
    done("reduce", table, "--label", "species", "--id", "name", "-k", "2", "--scale", "--save", model, "-q")
    got = cells(done("transform", model, table, "--label", "species", "--id", "name").stdout)
    X = frame.select("a", "b", "c").to_numpy(order="c")
    want = lowdim.PCA(2, standardize=True).fit_transform(X)
    np.testing.assert_array_equal(got.select("pca0", "pca1").to_numpy(), want)  # csv keeps every digit
    loaded = lowdim.load(model)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    assert loaded.verbose == 0


def test_transform_matches_columns_by_name(tmp_path, table, frame):
    model = tmp_path / "map.lowdim"
    done("reduce", table, "--drop", "name,species", "--save", model)
    want = done("transform", model, table, "--drop", "name,species").stdout
    frame.select("c", "a", "b").with_columns(extra=pl.lit(7)).write_csv(tmp_path / "shuffled.csv")
    result = done("transform", model, tmp_path / "shuffled.csv")
    assert result.stdout == want
    assert result.stderr == "lowdim: left out 'extra', which the model was not fitted with.\n"
    assert done("transform", model, tmp_path / "shuffled.csv", "-q").stderr == ""
    # text in columns that the model does not use is no obstacle, from a pipe neither
    assert done("transform", model, "-", stdin=table.read_text()).stdout == want


def test_gaps_in_columns_the_model_ignores_cost_no_rows(tmp_path, table, frame):
    model = tmp_path / "map.lowdim"
    done("reduce", table, "--drop", "name,species", "--save", model)
    gappy = frame.select("c", "a", "b").with_columns(extra=pl.Series([None] * 20 + [1.0] * 10))
    result = done("transform", model, "-", "--missing", "drop", stdin=gappy.write_csv())
    assert cells(result.stdout).height == 30


def test_transform_names_the_columns_that_are_not_there(tmp_path, table, frame):
    model = tmp_path / "map.lowdim"
    done("reduce", table, "--drop", "name,species", "--save", model)
    frame.select("a").with_columns(z=pl.lit(1.0)).write_csv(tmp_path / "short.csv")
    result = run("transform", model, tmp_path / "short.csv")
    assert result.exit_code == 2
    assert "lacks 'b', 'c'" in result.stderr
    assert result.stderr.count("\n") == 1


def test_models_of_unnamed_columns_count_them(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 4))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "wide.npy", np.column_stack([X, X]))
    done("reduce", tmp_path / "X.npy", "--save", tmp_path / "m.lowdim")
    assert not hasattr(lowdim.load(tmp_path / "m.lowdim"), "feature_names_in_")
    assert cells(done("transform", tmp_path / "m.lowdim", tmp_path / "X.npy").stdout).height == 20
    result = run("transform", tmp_path / "m.lowdim", tmp_path / "wide.npy")
    assert result.exit_code == 2
    assert "8 features" in result.stderr


def test_memory_maps_stay_memory_maps(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", np.eye(5, dtype=np.float32))
    seen = []
    fit = lowdim.PCA.fit
    monkeypatch.setattr(lowdim.PCA, "fit", lambda self, X, y=None: seen.append(type(X)) or fit(self, X, y))
    done("reduce", tmp_path / "X.npy")
    assert seen == [np.memmap]


def test_pipes_carry_one_command_to_the_next(table):
    first = done("reduce", "-", "--label", "species", "--drop", "name", "-k", "3", stdin=table.read_text()).stdout
    second = done("reduce", "-", "--label", "species", "-k", "1", stdin=first).stdout
    assert cells(second).columns == ["species", "pca0"]


@pytest.mark.parametrize(("k", "count"), [("3", 3), ("0.9", 21), ("elbow", 12), ("all", 64)])
def test_k_is_a_count_a_proportion_or_a_word(k, count):
    assert cells(done("reduce", "digits", "-k", k).stdout).width == 1 + count


def test_set_reaches_the_method(tmp_path):
    model = tmp_path / "m.lowdim"
    done("reduce", "iris", "--set", "svd_solver=svd", "--set", "whiten=true", "--seed", 3, "--jobs", 1, "--save", model)
    loaded = lowdim.load(model)
    assert (loaded.svd_solver, loaded.whiten, loaded.random_state, loaded.n_jobs) == ("svd", True, 3, 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_plot_is_drawn_for_any_number_of_components(tmp_path, k):
    result = done("reduce", "iris", "-k", k, "--plot", tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert result.stdout == ""
    assert ("first two of 4" in result.stderr) == (k == 4)


@pytest.mark.parametrize("method", [method.name for method in registry.METHODS])
def test_every_method_runs_from_its_name_alone(method):
    if registry.find(method).needs_torch:
        pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'lowdim[torch]'")
    few = ["--set", "max_epochs=20"] if method.startswith("parametric") else []
    assert cells(done("reduce", "iris", "-m", method, *few).stdout).height == 150


def test_layers_can_be_given(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'lowdim[torch]'")
    model = tmp_path / "m.lowdim"
    done("reduce", "iris", "-m", "autoencoder", "--set", "hidden=(8, 4)", "--set", "max_epochs=2", "--save", model)
    assert lowdim.load(model).hidden == (8, 4)
    result = run("reduce", "iris", "-m", "autoencoder", "--set", "hidden=8")
    assert result.exit_code == 2
    assert "hidden must be a tuple of integers" in result.stderr


def test_a_supervised_method_asks_for_labels(table, monkeypatch):
    guided = registry.Method("guided", "PCA", "lowdim.methods.pca", "", "", "", supervised=True)
    monkeypatch.setattr(registry, "METHODS", (*registry.METHODS, guided))
    result = run("reduce", table, "-m", "guided", "--drop", "name,species")
    assert result.exit_code == 2
    assert "Pass --label" in result.stderr
    done("reduce", table, "-m", "guided", "--drop", "name", "--label", "species")


def test_sparse_data_and_images_go_through(tmp_path):
    from PIL import Image
    from scipy import sparse

    sparse.save_npz(tmp_path / "S.npz", sparse.random(30, 8, 0.3, format="csr", random_state=0))
    assert cells(done("reduce", tmp_path / "S.npz").stdout).width == 2
    (tmp_path / "pictures").mkdir()
    for i in range(4):
        Image.fromarray(np.full((3, 3), 20 * i, dtype=np.uint8)).save(tmp_path / "pictures" / f"{i}.png")
    got = cells(done("reduce", tmp_path / "pictures", "-k", 1).stdout)
    assert got["file"].to_list() == ["0.png", "1.png", "2.png", "3.png"]


def test_gaps_are_left_to_a_method_that_takes_them(tmp_path, table, frame):
    X = frame.select("a", "b", "c").to_numpy().copy()
    X[::4, 1] = np.nan
    path = tmp_path / "gaps.csv"
    pl.DataFrame(X, schema=list("abc")).with_columns(pl.col("b").fill_nan(None)).write_csv(path)
    model = tmp_path / "m.lowdim"
    result = done("reduce", path, "--set", "missing=em", "--prepare", "none", "--save", model, "-o", "-")
    want = lowdim.PCA(2, missing="em").fit(X)
    np.testing.assert_allclose(cells(result.stdout).select("pca0", "pca1").to_numpy(), want.transform(X), rtol=1e-9)
    again = cells(done("transform", model, path, "-o", "-").stdout)
    np.testing.assert_allclose(again.select("pca0", "pca1").to_numpy(), want.transform(X), rtol=1e-9)
    refused = run("reduce", path, "--set", "missing=em")
    assert refused.exit_code != 0
    assert "Pass --prepare none" in refused.stderr
