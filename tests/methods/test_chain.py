"""Chains: one model of several steps, in one file."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim.persist import ModelFileError

FILES = Path(__file__).parents[1] / "persist" / "files"
VERSION_1 = FILES / "pca_format_1.lowdim"


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5], columns=list("abcde"))


def test_a_file_of_format_1_still_loads(frame):
    with zipfile.ZipFile(VERSION_1) as archive:
        assert json.loads(archive.read("manifest.json"))["version"] == 1
    model = lowdim.load(VERSION_1)
    assert (type(model), model.standardize) == (lowdim.PCA, True)
    new = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["length", "width", "height"])
    np.testing.assert_allclose(model.transform(new), [[3.20501981, 4.09304624]])
    rest = 12 / 11 * 3 - model.explained_variance_.sum()  # of three standardised columns
    np.testing.assert_allclose(model.noise_variance_, rest, rtol=1e-6)


@pytest.mark.parametrize("path", sorted((FILES / "format_1").glob("*.lowdim")), ids=lambda path: path.stem)
def test_files_of_format_1_of_every_method_still_load(path, rng):
    """Each was fitted to the rows below, whose three classes are 0, 1, 2 in turn."""
    model = lowdim.load(path)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)), columns=list("abcd"))
    if path.stem == "autoencoder":
        pytest.importorskip("torch")
    assert model.feature_names_in_.tolist() == list("abcd")
    Y = model.transform(X)
    assert len(Y) == 30
    assert np.isfinite(np.asarray(Y)).all()
    if hasattr(model, "embedding_"):
        np.testing.assert_allclose(Y, model.embedding_, atol=1e-6)


@pytest.mark.parametrize("path", sorted((FILES / "format_2").glob("*.lowdim")), ids=lambda path: path.stem)
def test_files_of_format_2_still_load_and_give_their_results(path):
    """Written by 0.2.0; ``expected.npz`` holds what each gave for the rows it was fitted to."""
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("manifest.json"))["version"] == 2
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)), columns=list("abcd"))
    with np.load(FILES / "format_2" / "expected.npz") as expected:
        np.testing.assert_allclose(lowdim.load(path).transform(X), expected[path.stem], rtol=1e-5, atol=1e-6)


def test_a_chain_is_its_steps_one_after_the_other(frame):
    model = lowdim.chain(lowdim.PCA(3), lowdim.KernelPCA(2))
    Y = model.fit_transform(frame)
    np.testing.assert_array_equal(Y, lowdim.KernelPCA(2).fit_transform(lowdim.PCA(3).fit_transform(frame)))
    assert isinstance(model, Pipeline)
    assert list(clone(model).named_steps) == ["pca", "kernelpca"]


def test_steps_of_one_class_and_chains_inside_get_names_of_their_own():
    inner = lowdim.chain(lowdim.PCA(4), lowdim.PCA(3))
    model = lowdim.chain(inner, lowdim.LDA())
    assert list(model.named_steps) == ["pca-1", "pca-2", "lda"]


@pytest.mark.parametrize("make", [lowdim.chain, make_pipeline])
def test_a_saved_chain_is_identical_whoever_made_it(make, frame, tmp_path):
    model = make(lowdim.PCA(4), lowdim.TSNE(max_iter=60, random_state=0)).fit(frame)
    lowdim.save(model, tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert [name for name, _ in again.steps] == [name for name, _ in model.steps]
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(again.feature_names_in_, list("abcde"))
    assert again.get_feature_names_out().tolist() == ["tsne0", "tsne1"]
    again.save(tmp_path / "again.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "again.lowdim").transform(frame), model.transform(frame))


def test_a_chain_of_methods_with_an_inverse_has_one(frame, tmp_path):
    model = lowdim.chain(lowdim.PCA(5), lowdim.PCA(5)).fit(frame)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_allclose(again.inverse_transform(again.transform(frame)), frame)
    assert not hasattr(lowdim.chain(lowdim.PCA(5), lowdim.LDA()), "inverse_transform")


def test_frames_go_through(frame, tmp_path):
    model = lowdim.chain(lowdim.PCA(3), lowdim.PCA(2)).set_output(transform="polars").fit(pl.DataFrame(frame))
    model.save(tmp_path / "m.lowdim")
    Y = lowdim.load(tmp_path / "m.lowdim").transform(pl.DataFrame(frame))
    assert isinstance(Y, pl.DataFrame)
    assert Y.columns == ["pca0", "pca1"]


def test_a_chain_that_fails_is_left_as_it_was(frame):
    model = lowdim.chain(lowdim.PCA(3), lowdim.LDA()).fit(frame, np.arange(60) % 3)
    before = [dict(vars(step)) for _, step in model.steps]
    with pytest.raises(ValueError, match="LDA"):
        model.fit(frame.iloc[:20], None)
    for (_, step), state in zip(model.steps, before, strict=True):
        assert vars(step).keys() == state.keys()
        assert all(vars(step)[key] is state[key] for key in state)


@pytest.mark.parametrize("step", [StandardScaler(), lowdim.PCA, "pca"])
def test_what_cannot_be_saved_is_no_step(step, tmp_path):
    with pytest.raises(TypeError, match="steps must be estimators of lowdim.*got"):
        lowdim.chain(step, lowdim.PCA(2))
    with pytest.raises(TypeError, match="save: .*needed|save: steps must be"):
        lowdim.save(step if not isinstance(step, StandardScaler) else make_pipeline(step, lowdim.PCA()), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_an_empty_chain_is_refused():
    with pytest.raises(ValueError, match="at least one step"):
        lowdim.chain()


def test_a_chain_that_is_not_fitted_comes_back(tmp_path):
    lowdim.chain(lowdim.PCA(3), lowdim.TSNE(perplexity=5)).save(tmp_path / "m")
    again = lowdim.load(tmp_path / "m")
    assert again.named_steps["tsne"].perplexity == 5


def change_steps(path, change):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    items = dict(manifest["state"]["$dict"])
    steps = [dict(step["$dict"]) for step in items["steps"]]
    steps = change(steps)
    items["steps"] = [{"$dict": list(step.items())} if isinstance(step, dict) else step for step in steps]
    manifest["state"]["$dict"] = list(items.items())
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda steps: [], "without unique names"),
        (lambda steps: [7], "a step without a state"),
        (lambda steps: [steps[0] | {"name": "a__b"}, steps[1]], "without unique names"),
        (lambda steps: [steps[0], steps[0]], "without unique names"),
        (lambda steps: [steps[0], steps[1] | {"class": "Chain"}], "class 'Chain'"),
        (lambda steps: [steps[0], steps[1] | {"class": "os.system"}], "class 'os.system'"),
        (lambda steps: [steps[1], steps[0]], r"an invalid chain \(PCA returns 2 columns, PCA takes 5\)"),
        (lambda steps: [steps[0] | {"fitted": {"$dict": []}}, steps[1]], "only some steps are fitted"),
        (lambda steps: [steps[0] | {"params": {"$dict": [["evil", 1]]}}, steps[1]], "'evil', which PCA does not"),
    ],
)
def test_hostile_chains_are_refused(change, words, frame, tmp_path):
    path = tmp_path / "m.lowdim"
    lowdim.chain(lowdim.PCA(3), lowdim.PCA(2)).fit(frame).save(path)
    change_steps(path, change)
    with pytest.raises(ModelFileError, match=words):
        lowdim.load(path)


@pytest.mark.parametrize("y", ["labels", 7, [[1, 2], [3]], np.arange(3)])
def test_wrong_labels_are_refused_in_words_where_rows_are_dropped(y):
    table = pd.DataFrame({"a": [0.0, 1.0, np.nan, 3.0, 4.0, 5.0], "b": [1.0, 0.0, 2.0, 1.0, 4.0, 2.0]})
    with pytest.raises(ValueError, match=r"^LDA: .*y"):
        lowdim.chain(lowdim.Prepare(missing="drop"), lowdim.LDA()).fit(table, y)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_labels_of_dropped_rows_are_dropped_with_them(kind):
    table = pd.DataFrame({"a": [0.0, 1.0, np.nan, 3.0, 4.0, 5.0], "b": [1.0, 0.0, 2.0, 1.0, 4.0, 2.0]})
    y, kept = np.array(list("aabbab")), [0, 1, 3, 4, 5]
    model = lowdim.chain(lowdim.Prepare(missing="drop"), lowdim.LDA()).fit(table, kind(y))
    whole = lowdim.chain(lowdim.Prepare(), lowdim.LDA()).fit(table.iloc[kept], y[kept])
    np.testing.assert_allclose(model.transform(table.iloc[kept]), whole.transform(table.iloc[kept]))


def test_a_pca_before_the_last_step_keeps_what_components_there_are(rng):
    """The chain of the README on a table of few columns: PCA(50) has nothing to shorten."""
    X = rng.normal(size=(60, 5))
    for solver in ("auto", "svd", "randomized", "gram"):
        model = lowdim.chain(lowdim.PCA(50, svd_solver=solver), lowdim.PCA(2)).fit(X)
        assert model[0].n_components_ == 5
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(lowdim.PCA(2).fit_transform(X)), atol=1e-9)
    with pytest.raises(ValueError, match="n_components must be at most"):
        lowdim.chain(lowdim.PCA(3), lowdim.PCA(50)).fit(X)
    with pytest.raises(ValueError, match="n_components must be at most"):
        model[0].fit(X)
