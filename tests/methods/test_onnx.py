import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.methods import registry
from lowdim.methods.network_reducer import NetworkReducer
from lowdim.persist.onnx_file import Graph
from lowdim.solve import network

ort = pytest.importorskip("onnxruntime", reason="onnxruntime, of the group of test dependencies, runs the files")
ALL = [*registry.METHODS, *registry.PREPARATIONS]
CAN = [one for one in ALL if one.load()._no_onnx is None]
CANNOT = [one for one in ALL if one.load()._no_onnx is not None]
DTYPES = ("float32", "float64")
two = pytest.mark.parametrize("dtype", DTYPES)


def run(path, rows, dtype):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    (given,), (made,) = session.get_inputs(), session.get_outputs()
    out = session.run([made.name], {given.name: np.ascontiguousarray(rows, dtype)})[0]
    assert out.dtype == np.dtype(dtype)
    assert given.shape == ["n_samples", np.shape(rows)[1]]
    assert made.shape == ["n_samples", out.shape[1]]
    facts = session.get_modelmeta().custom_metadata_map
    assert len(json.loads(facts["features_in"])) == np.shape(rows)[1]
    assert len(json.loads(facts["features_out"])) == out.shape[1]
    return out, facts


def agrees(model, tmp_path, rows, dtype, method="transform", wanted=None):
    """What the file computes is what the model does, to 1e-5 of the size of the results."""
    path = tmp_path / "model.onnx"
    model.to_onnx(path, method, dtype=dtype)
    if find_spec("onnx"):
        import onnx

        onnx.checker.check_model(onnx.load(path), full_check=True)
    rows = np.asarray(rows, dtype)
    wanted = getattr(model, method)(rows) if wanted is None else wanted(rows)
    wanted = np.asarray(wanted).reshape(len(rows), -1)
    found, facts = run(path, rows, dtype)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * max(1.0, float(np.abs(wanted).max())))
    one, _ = run(path, rows[:1], dtype)  # any number of rows
    np.testing.assert_allclose(one, found[:1], rtol=1e-4, atol=1e-5 * max(1.0, float(np.abs(wanted).max())))
    assert list(tmp_path.iterdir()) == [path]
    assert facts["lowdim"] == lowdim.__version__
    return facts


@pytest.fixture(scope="module")
def data():
    X, y = lowdim.data.load("iris")
    return X + np.random.default_rng(0).normal(scale=0.01, size=X.shape), y


def fitted(entry, X, y):
    cls = entry.load()
    if issubclass(cls, NetworkReducer) and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: pip install 'lowdim[torch]'")
    size = "n_components" if "n_components" in cls._get_param_names() else "n_features_to_select"
    few = {size: 1 if cls._two_views else 2, "random_state": 0, "max_epochs": 5, "density": 0.7, "decoder": True}
    model = entry.build({name: value for name, value in few.items() if name in cls._get_param_names()})
    return model.fit(X) if entry.name == "prepare" else model.fit(X, y)


@two
@pytest.mark.parametrize("entry", CAN, ids=lambda one: one.name)
def test_files_compute_what_transform_does(entry, dtype, data, tmp_path):
    X, y = data
    model = fitted(entry, X, y)
    facts = agrees(model, tmp_path, X[:50] + 0.03, dtype)
    assert facts["model"] == entry.class_name
    if hasattr(model, "inverse_transform") and entry.name != "kernel_pca":
        agrees(model, tmp_path, model.transform(X[:40]), dtype, "inverse_transform")


@pytest.mark.parametrize("entry", CANNOT, ids=lambda one: one.name)
def test_what_is_no_formula_is_refused_before_a_file_is_made(entry, tmp_path):
    with pytest.raises(TypeError, match=f"{entry.class_name}: an ONNX file holds a fixed formula; .* It can hold PCA"):
        entry.load()().to_onnx(tmp_path / "no.onnx")
    assert not list(tmp_path.iterdir())


@two
@pytest.mark.filterwarnings("ignore:KernelPCA. the kernel is indefinite")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine"])
def test_every_kernel_has_its_formula(kernel, dtype, data, tmp_path):
    X = data[0]
    model = lowdim.KernelPCA(3, kernel=kernel, gamma=0.1, degree=5, coef0=0.5).fit(X)
    rows = np.vstack([X[:30] * 1.1, np.zeros((1, 4))])  # a row without a direction
    agrees(model, tmp_path, rows, dtype)


@two
def test_kernel_pca_of_given_values_of_landmarks_and_back(dtype, data, tmp_path):
    X = data[0]
    K = X @ X.T
    agrees(lowdim.KernelPCA(2, kernel="precomputed").fit(K), tmp_path, K[:20], dtype)
    agrees(lowdim.KernelPCA(2, approximation="nystroem", rank=40, random_state=0).fit(X), tmp_path, X, dtype)
    model = lowdim.KernelPCA(3, kernel="cosine", fit_inverse_transform=True).fit(X)
    agrees(model, tmp_path, model.transform(X), dtype, "inverse_transform")
    with pytest.raises(ValueError, match="fitted with fit_inverse_transform=True"):
        lowdim.KernelPCA(2).fit(X).to_onnx(tmp_path / "no.onnx", "inverse_transform")
    with pytest.raises(TypeError, match="a kernel that is a Python function"):
        lowdim.KernelPCA(2, kernel=lambda A, B: A @ B.T).fit(X).to_onnx(tmp_path / "no.onnx")


def test_kernels_of_pixels_and_of_sparse_rows(tmp_path):
    X = lowdim.data.load("digits")[0][:200]
    agrees(lowdim.KernelPCA(5).fit(X.astype(np.uint8)), tmp_path, X[:50], "float32")
    import scipy.sparse as sp

    agrees(lowdim.KernelPCA(5).fit(sp.csr_array(X)), tmp_path, X[:50], "float64")


@two
@pytest.mark.parametrize("cls", [lowdim.CCA, lowdim.PLSCanonical, lowdim.PLSRegression, lowdim.KernelCCA])
def test_second_views_and_predictions(cls, dtype, data, tmp_path):
    X, Y = data[0][:, :2], data[0][:, 2:]
    model = cls(2).fit(X, Y)
    wanted = lambda rows: model.transform(np.zeros((len(rows), 2), rows.dtype), rows)[1]  # noqa: E731
    agrees(model, tmp_path, Y, dtype, "second_view", wanted)
    if cls is lowdim.PLSRegression:
        agrees(model, tmp_path, X, dtype, "predict")
        agrees(cls(1).fit(X, Y[:, 0]), tmp_path, X, dtype, "predict")
    else:
        with pytest.raises(TypeError, match="method must be one of 'transform'.*got 'predict'"):
            model.to_onnx(tmp_path / "no.onnx", "predict")


@two
@pytest.mark.parametrize("activation", network.ACTIVATIONS)
def test_every_activation(activation, dtype, rng, tmp_path):
    layers = [network.Layer(W, b + 0.1) for W, b in network.initial([6, 8, 5, 2], seed=1)]
    X = rng.normal(size=(40, 6)).astype(dtype)
    from lowdim.methods.onnx_export import dense_layers

    graph = Graph("layers", dtype, "X", 6)
    made = dense_layers(graph, layers, graph.input, activation, less=np.ones(6))
    path = tmp_path / "layers.onnx"
    facts = {"features_in": json.dumps(list("abcdef")), "features_out": json.dumps(["u", "v"])}
    graph.write(path, made, "Y", 2, facts)
    np.testing.assert_allclose(run(path, X, dtype)[0], network.apply(layers, X, activation, np.ones(6)), atol=1e-5)


def test_networks_of_shares_and_of_distributions(data, rng, tmp_path):
    from lowdim.methods.onnx_export import dense_layers

    layers = network.initial([4, 6, 5, 2], seed=2)
    graph = Graph("shares", np.float64, "X", 4)
    with pytest.raises(ValueError, match="activations with a formula are needed; got 'sine'"):
        dense_layers(graph, layers, graph.input, "sine")
    made = dense_layers(graph, layers, graph.input, ["tanh", "softmax"])
    path, X = tmp_path / "model.onnx", rng.normal(size=(20, 4))
    graph.write(path, made, "Y", 2, {"features_in": '["a", "b", "c", "d"]', "features_out": '["u", "v"]'})
    np.testing.assert_allclose(run(path, X, "float64")[0], network.apply(layers, X, ["tanh", "softmax"]), atol=1e-12)
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'lowdim[torch]'")
    model = lowdim.Autoencoder(2, variational=True, max_epochs=3, random_state=0).fit(data[0])
    agrees(model, tmp_path, data[0], "float32")  # the means of the codes
    agrees(model, tmp_path, model.transform(data[0]), "float64", "inverse_transform")


@two
def test_chains_with_prepared_numbers(dtype, rng, tmp_path):
    frame = pd.DataFrame(np.exp(rng.normal(size=(80, 4))), columns=list("abcd"))
    frame["still"], frame["won"] = 3.0, rng.integers(2, size=80)
    frame.loc[::9, "b"] = np.nan
    plan = {"a": {"numbers": "log1p"}, "c": {"missing": "median", "weight": 3.0}}
    prepare = lowdim.Prepare(missing="mean", indicators=True, plan=plan)
    model = lowdim.chain(prepare, lowdim.PCA(4), lowdim.LDA(1)).fit(frame, frame["won"])
    used = frame.drop(columns="still")
    path = tmp_path / "chain.onnx"
    model.to_onnx(path, dtype=dtype)
    rows = used.astype(dtype)
    rows.loc[3, "c"] = np.nan
    wanted = model.transform(frame.assign(c=rows["c"]))
    found, facts = run(path, rows, dtype)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 if dtype == "float32" else 1e-9)
    assert json.loads(facts["features_in"]) == ["a", "b", "c", "d", "won"]
    assert facts["model"] == "Prepare → PCA → LDA"


@two
@pytest.mark.parametrize("numbers", ["standardize", "pooled", "as_is", "robust", "log1p", "gower"])
def test_every_scaling_of_numbers(numbers, dtype, rng, tmp_path):
    X = np.exp(rng.normal(size=(60, 3)))
    agrees(lowdim.Prepare(numbers).fit(X), tmp_path, X, dtype)


def test_prepared_columns_that_have_no_formula_are_named(rng, tmp_path):
    frame = pd.DataFrame({"x": rng.normal(size=30), "city": ["Rome", "Oslo", "Bern"] * 10})
    model = lowdim.chain(lowdim.Prepare(), lowdim.PCA(2)).fit(frame)
    with pytest.raises(TypeError, match=r"columns of numbers only; got 'city' \(category\).*model\[1:\].to_onnx"):
        model.to_onnx(tmp_path / "no.onnx")
    agrees(model[1:], tmp_path, model[0].transform(frame), "float64")
    with pytest.raises(TypeError, match="'ranks' has no formula"):
        lowdim.Prepare("ranks").fit(frame[["x"]]).to_onnx(tmp_path / "no.onnx")
    with pytest.raises(TypeError, match="leaves out rows"):
        lowdim.Prepare(missing="drop").fit(frame[["x"]]).to_onnx(tmp_path / "no.onnx")


def test_chains_lead_back_and_say_which_step_does_not(data, tmp_path):
    X = data[0]
    agrees(model := lowdim.chain(lowdim.PCA(3), lowdim.PCA(2, whiten=True)).fit(X), tmp_path, X, "float64")
    agrees(model, tmp_path, model.transform(X), "float64", "inverse_transform")
    with pytest.raises(TypeError, match="Chain: TSNE: an ONNX file holds a fixed formula; new rows are placed by"):
        lowdim.chain(lowdim.PCA(3), lowdim.TSNE()).to_onnx(tmp_path / "no.onnx")
    with pytest.raises(TypeError, match="Chain: LDA: method must be one of 'transform'"):
        lowdim.chain(lowdim.PCA(3), lowdim.LDA()).to_onnx(tmp_path / "no.onnx", "inverse_transform")


def test_names_of_columns_are_kept(tmp_path):
    X = lowdim.data.load("iris")[0]
    frame = pd.DataFrame(X, columns=["länge", "b", "c", "d"])
    model = lowdim.PCA(2).fit(frame)
    model.to_onnx(tmp_path / "m.onnx")
    facts = run(tmp_path / "m.onnx", X, "float32")[1]
    assert json.loads(facts["features_in"]) == ["länge", "b", "c", "d"]
    assert json.loads(facts["features_out"]) == ["pca0", "pca1"]


def test_rows_that_are_not_finite_have_no_position(data, tmp_path):
    model = lowdim.KernelPCA(2).fit(data[0])
    model.to_onnx(tmp_path / "m.onnx")
    assert np.isnan(run(tmp_path / "m.onnx", np.full((1, 4), np.nan), "float32")[0]).all()


def test_loaded_models_and_wrong_requests(data, tmp_path):
    X = data[0]
    lowdim.PCA(2).fit(X).save(tmp_path / "m.lowdim")
    lowdim.load(tmp_path / "m.lowdim").to_onnx(tmp_path / "m.onnx")
    before = (tmp_path / "m.onnx").read_bytes()
    with pytest.raises(ValueError, match="method must be one of 'transform'"):
        lowdim.PCA(2).fit(X).to_onnx(tmp_path / "m.onnx", "fit")
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float64'; got 'int8'"):
        lowdim.PCA(2).fit(X).to_onnx(tmp_path / "m.onnx", dtype="int8")
    with pytest.raises(ValueError, match="not fitted"):
        lowdim.PCA(2).to_onnx(tmp_path / "m.onnx")
    with pytest.raises(FileNotFoundError):
        lowdim.PCA(2).fit(X).to_onnx(tmp_path / "none" / "m.onnx")
    with pytest.raises(ValueError, match=r"must fit in float32; the largest is 1e\+40.*dtype='float64'"):
        Graph("big", np.float32, "X", 1).constant(np.array([1e40]))
    assert (tmp_path / "m.onnx").read_bytes() == before


def test_files_above_two_gigabytes_are_refused(tmp_path):
    graph = Graph("big", np.float32, "X", 1)
    graph._constants.append(("c0", np.broadcast_to(np.float32(0), (2**30,))))
    with pytest.raises(ValueError, match=r"holds up to 2 GB; this model has 4.3 GB"):
        graph.write(tmp_path / "no.onnx", "X", "Y", 1, {})
    assert not list(tmp_path.iterdir())
