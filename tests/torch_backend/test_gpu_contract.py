"""The laws of every estimator that has a version for tensors, where those are."""

import pickle
import warnings
from contextlib import nullcontext
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: pip install torch triton", allow_module_level=True)

import torch

import lowdim
from lowdim.backends import TORCH
from lowdim.backends.torch import ESTIMATORS, compilation, new_points
from lowdim.backends.torch import geodesics as device_geodesics
from lowdim.work import memory

SMALL = {
    "TSNE": {"perplexity": 3, "max_iter": 3, "early_exaggeration_iter": 1, "method": "exact", "random_state": 0},
    "SNE": {"perplexity": 3, "max_iter": 3, "early_exaggeration_iter": 1, "method": "exact", "random_state": 0},
    "UMAP": {"n_neighbors": 4, "n_epochs": 2, "random_state": 0},
    "PaCMAP": {"n_neighbors": 3, "max_iter": 2, "random_state": 0},
    "Isomap": {"n_neighbors": 4},
    "KernelPCA": {"random_state": 0},
    "FastICA": {"n_components": 2, "fun": "cube", "random_state": 0, "tol": 1e-6, "max_iter": 1000},
    "NMF": {"random_state": 0},
    "NCA": {"n_components": 2, "max_iter": 100},
    "GaussianRandomProjection": {"random_state": 0},
    "SparseRandomProjection": {"random_state": 0},
    "ParametricTSNE": {"perplexity": 3, "hidden": (4,), "max_epochs": 3, "random_state": 0},
    "ParametricUMAP": {"n_neighbors": 4, "hidden": (4,), "max_epochs": 3, "random_state": 0},
    "Autoencoder": {"hidden": (4,), "max_epochs": 2, "random_state": 0, "n_components": 2},
}
ALL = sorted(ESTIMATORS if torch.cuda.is_available() else ESTIMATORS - {"SNE"})  # slow where kernels are interpreted


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """As few steps as can be."""
    monkeypatch.setattr(device_geodesics, "_LOOK", 1)
    monkeypatch.setattr(new_points, "PLACING_STEPS", 1)
    for cls, like in ((lowdim.ParametricTSNE, "TSNE"), (lowdim.ParametricUMAP, "UMAP")):
        monkeypatch.setattr(cls, "_map", lambda self, whole=cls._map, few=SMALL[like]: whole(self).set_params(**few))


@pytest.fixture
def rows(rng, request):
    X = (rng.normal(size=(14, 4)) * [3, 2, 1, 0.5]).astype(np.float32)
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    return np.abs(X) if params.get("name") == "NMF" else X  # parts have no negative values


def made(name):
    return getattr(lowdim, name)(**SMALL.get(name, {}))


def target(name, X):
    """What a method takes beside the rows."""
    if name in ("CCA", "PLSCanonical", "PLSRegression"):
        return X[:, :2] + 0.0
    return None if name not in ("LDA", "KLExpansion", "NCA", "RankFeatures") else np.arange(len(X)) % 2


def array(A):
    return A.numpy(force=True) if isinstance(A, torch.Tensor) else A


@pytest.mark.parametrize("name", ALL)
def test_a_model_of_tensors_keeps_the_contract(name, rows, device, tmp_path):
    X = torch.tensor(rows, device=device)
    model = made(name)
    assert model.fit(X, target(name, X)) is model
    scores = model.transform(X)
    assert scores.device == X.device
    assert scores.dtype == torch.float32
    assert scores.shape[0] == len(X)
    np.testing.assert_array_equal(array(clone(model).fit(X, target(name, X)).transform(X)), array(scores))
    np.testing.assert_allclose(array(model.transform(X[3:4])), array(scores)[3:4], rtol=1e-3, atol=1e-3)
    model.save(tmp_path / "model.lowdim")
    held = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(array(held.transform(X)), array(scores), rtol=1e-4, atol=1e-4)
    loaded = lowdim.load(tmp_path / "model.lowdim")
    for one in (model, loaded):  # a model serves rows of any place
        np.testing.assert_allclose(one.transform(rows), array(scores), rtol=1e-2, atol=1e-2)
        np.testing.assert_allclose(array(one.transform(X)), array(scores), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("name", ALL)
def test_rows_of_other_kinds(name, rows, device):
    X = torch.tensor(rows, device=device)
    expected = array(made(name).fit(X, target(name, X)).transform(X))
    strided = torch.tensor(rows.T.copy(), device=device, requires_grad=True).T
    found = made(name).fit(strided, target(name, X)).transform(strided)
    assert not found.requires_grad
    np.testing.assert_allclose(array(found), expected, rtol=1e-3, atol=1e-3)
    warns = pytest.warns(UserWarning, match=f"{name}: X is in half precision .* taken as float32")
    kept = name == "RankFeatures"  # columns that are chosen are left as they are
    with nullcontext() if kept or name in ("PaCMAP", "SNE", "TSNE", "UMAP") else warns:
        found = made(name).fit(X.half(), target(name, X)).transform(X.half())
    assert found.dtype == (torch.float16 if kept else torch.float32)
    whole = (10 * X).to(torch.int16)
    assert array(made(name).fit(whole, target(name, X)).transform(whole)).dtype == (np.int16 if kept else np.float32)


@pytest.mark.parametrize("name", ALL)
def test_bad_rows_are_refused_and_leave_the_model_as_it_was(name, rows, device):
    X = torch.tensor(rows, device=device)
    model = made(name).fit(X, target(name, X))
    before = array(model.transform(X))
    bad = X.clone()
    bad[2, 1] = torch.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases of PyTorch will not have them
        quantized = torch.quantize_per_tensor(X.float(), 0.1, 0, torch.qint8)
    for wrong, words in (
        (bad, "must be finite; got NaN at row 2, column 1"),
        (X[:, :3], "features"),
        (X[0], "2D"),
        (X.to_sparse(), r"dense 2D.*torch\.sparse_coo\. Pass X\.to_dense\(\)"),
        (quantized, r"dense 2D.*qint8.*Pass X\.dequantize\(\)"),
        (X.to("meta"), "'meta'. Pass one with data"),
    ):
        with pytest.raises(ValueError, match=words):
            model.transform(wrong)
    with pytest.raises(ValueError, match="must be finite"):
        model.fit(bad, target(name, X))
    np.testing.assert_array_equal(array(model.transform(X)), before)


def test_labels_and_layouts_without_values_are_refused(rows):
    X = rows.astype(np.float32)
    empty, sparse = torch.empty(len(X), 2, device="meta"), torch.ones(len(X), 2).to_sparse()
    for wrong, words in ((empty, "'meta', which has none"), (sparse, "layout sparse_coo. Pass it with .to_dense")):
        with pytest.raises(ValueError, match=words):
            made("UMAP").set_params(init=wrong).fit(X)
    with pytest.raises(ValueError, match="'meta', which has none"):
        made("UMAP").set_params(target_weight=0.5).fit(X, empty[:, 0])


@pytest.mark.parametrize("name", ["TSNE", "UMAP", "PaCMAP"])
def test_too_many_rows_for_the_memory_are_refused_with_the_figure(name, rows, device, monkeypatch):
    monkeypatch.setitem(TORCH.implementations, memory.available_for, lambda _: 1000)
    with pytest.raises(MemoryError, match=rf"{name}: .* 14 rows.* needs .* of memory; 1,000 bytes is available. Lower"):
        made(name).fit(torch.tensor(rows, device=device))


@pytest.mark.parametrize(("name", "planned"), [("TSNE", 3), ("UMAP", 2), ("PaCMAP", 2)])
def test_maps_stop_by_the_callback_and_go_on_from_there(name, planned, rows, device):
    X = torch.tensor(rows, device=device)
    model = made(name).set_params(callback=lambda *_: True, callback_every=1).fit(X)
    assert model.n_iter_ == 1
    model.set_params(callback=None, warm_start=True).fit(X)
    assert model.n_iter_ == 1 + planned
    before = model.embedding_

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=stop).fit(X)
    assert model.embedding_ is before


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
@pytest.mark.parametrize("name", ALL)
def test_models_cross_devices(name, rows):
    X = torch.tensor(rows)
    model = made(name).fit(X.cuda(), target(name, X.cuda()))
    assert model.transform(X).device.type == "cpu"
    np.testing.assert_allclose(array(model.transform(X)), array(model.transform(X.cuda())), rtol=1e-2, atol=1e-2)
    moved = made(name).set_params(device="cuda").fit(rows, target(name, rows))
    assert isinstance(moved.transform(rows), np.ndarray)
    kept = [key for key, value in vars(moved).items() if isinstance(value, torch.Tensor)]
    assert not kept


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
@pytest.mark.parametrize("name", ["TSNE", "UMAP", "PaCMAP"])
def test_other_sizes_need_no_other_kernels(name, rng, monkeypatch):
    compiled = []

    def fit(n, d):
        X = torch.tensor(rng.normal(size=(n, d)).astype(np.float32), device="cuda")
        getattr(lowdim, name)(random_state=0).fit(X)

    fit(20_000, 10)
    hooks = compilation.triton.knobs.runtime
    monkeypatch.setattr(hooks, "jit_post_compile_hook", lambda **what: compiled.append(what["repr"]))
    fit(21_013, 13)
    assert compiled == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
def test_the_command_line_maps_on_a_gpu(tmp_path):
    from lowdim.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["reduce", "iris", "--method", "tsne", "--device", "cuda", "-o", str(tmp_path / "map.npy")])
    assert not ended.value.code
    assert np.isfinite(np.load(tmp_path / "map.npy")).all()


def test_the_first_compilation_is_told_once(capsys, monkeypatch):
    clock = iter([0.0, 5.0, 6.0, 9.0])
    monkeypatch.setattr(compilation.time, "perf_counter", lambda: next(clock))
    watch = compilation._Watch()
    called = []
    watch.before = watch.after = lambda **what: called.append(what)
    for _ in range(2):
        watch.begin(fn=1)
        watch.end(fn=1)
    assert capsys.readouterr().err.count("compiling GPU kernels, once on this machine") == 1
    assert len(called) == 4
