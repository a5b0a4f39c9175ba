"""``lowdim export``: a saved model as an ONNX file."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import lowdim
from lowdim.cli import main


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def saved(tmp_path, rng):
    frame = pl.DataFrame(rng.normal(size=(60, 8)), schema=[f"column {j}" for j in range(8)])
    frame.write_csv(tmp_path / "t.csv")
    made = run(
        "reduce", tmp_path / "t.csv", "-m", "pca", "-q", "--save", tmp_path / "m.lowdim", "-o", tmp_path / "e.csv"
    )
    assert made.exit_code == 0, made.output
    return tmp_path


@pytest.mark.parametrize("double", [False, True])
def test_the_file_maps_the_columns_of_the_table(saved, double):
    ort = pytest.importorskip("onnxruntime")
    result = run("export", saved / "m.lowdim", "-o", saved / "m.onnx", *["--float64"] * double)
    assert result.exit_code == 0, result.output
    assert "2 columns of 8, column 0, column 1, column 2, column 3, column 4, column 5 and 2 more" in result.stderr
    session = ort.InferenceSession(saved / "m.onnx")
    names = json.loads(session.get_modelmeta().custom_metadata_map["features_in"])
    rows = pl.read_csv(saved / "t.csv").select(names).to_numpy().astype(np.float64 if double else np.float32)
    expected = pl.read_csv(saved / "e.csv").to_numpy()
    np.testing.assert_allclose(session.run(None, {"X": rows})[0], expected, atol=1e-9 if double else 1e-5)


def test_the_way_back(saved):
    ort = pytest.importorskip("onnxruntime")
    lowdim.PCA(2).fit(lowdim.data.load("iris")[0]).save(saved / "iris.lowdim")
    result = run("export", saved / "iris.lowdim", "-o", saved / "back.onnx", "--inverse", "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert ort.InferenceSession(saved / "back.onnx").get_inputs()[0].shape == ["n_samples", 2]


def test_wrong_requests_leave_no_file(saved):
    lowdim.TSNE(max_iter=20, random_state=0).fit(lowdim.data.load("iris")[0]).save(saved / "map.lowdim")
    for model, target, words in (
        ("map.lowdim", "m.onnx", "TSNE: an ONNX file holds a fixed formula; new rows are placed by a search"),
        ("m.lowdim", "m.pb", "-o needs a file name that ends in .onnx; got"),
        ("none.lowdim", "m.onnx", "A model file is needed; found nothing"),
    ):
        result = run("export", saved / model, "-o", saved / target)
        assert result.exit_code != 0
        assert words in result.stderr
        assert not (saved / target).exists()
