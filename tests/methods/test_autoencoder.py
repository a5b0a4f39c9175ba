"""Autoencoder: PCA by one linear layer each way, less error than PCA by more, and what can go wrong."""

import subprocess
import sys
import tracemalloc
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import lowdim
from lowdim import PCA, Autoencoder
from lowdim.solve import network, training

if find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: pip install 'lowdim[torch]'", allow_module_level=True)

import torch

FEW = {"hidden": (8,), "max_epochs": 3, "batch_size": 32, "random_state": 0}


@pytest.fixture(scope="module")
def digits():
    return lowdim.data.load("digits")[0]


def share_lost(model, X, scale):
    """Squared error of the reconstruction as a share of the variance, features divided by ``scale``."""
    errors = (X - model.inverse_transform(model.transform(X))) / scale
    return np.square(errors).sum() / np.square((X - X.mean(axis=0)) / scale).sum()


# Identities


@pytest.mark.parametrize("standardize", [True, False])
def test_one_linear_layer_each_way_is_pca(standardize, rng):
    k = 3
    turn, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    X = (rng.normal(size=(200, 12)) * 0.75 ** np.arange(12) @ turn + 5) * np.linspace(0.5, 2, 12)
    pca = PCA(k, standardize=standardize).fit(X)
    model = Autoencoder(k, hidden=(), activation="linear", standardize=standardize, random_state=0).fit(X)
    angles = subspace_angles(model.weights_[1], pca.components_.T)
    assert np.degrees(angles.max()) < 1
    scale = pca.scale_
    assert share_lost(model, X, scale) == pytest.approx(share_lost(pca, X, scale), rel=1e-3)
    # The encoder sees the same subspace: it is the inverse of the decoder there.
    np.testing.assert_allclose(model.weights_[0] @ model.weights_[1], np.eye(k), atol=0.02)


@pytest.mark.parametrize(
    ("k", "standardize", "options", "angle"),
    [
        (2, True, {}, 0.1),
        (10, True, {}, 0.1),
        (10, False, {}, 0.1),
        (2, True, {"batch_size": 128, "learning_rate": 3e-3, "max_epochs": 120}, 10),  # noise turns the subspace
    ],
)
def test_one_linear_layer_each_way_is_pca_on_digits(k, standardize, options, angle, digits):
    pca = PCA(k, standardize=standardize).fit(digits)
    model = Autoencoder(
        k, hidden=(), activation="linear", standardize=standardize, random_state=0, **options
    ).fit(digits)  # fmt: skip
    assert share_lost(model, digits, pca.scale_) == pytest.approx(share_lost(pca, digits, pca.scale_), rel=1e-3)
    assert np.degrees(subspace_angles(model.weights_[1], pca.components_.T).max()) < angle


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_stacked_layers_lose_less_than_pca(activation, digits):
    pca = PCA(5, standardize=True).fit(digits)
    model = Autoencoder(5, hidden=(64,), activation=activation, max_epochs=40, random_state=0).fit(digits)
    assert share_lost(model, digits, pca.scale_) < 0.85 * share_lost(pca, digits, pca.scale_)


def test_rows_not_seen_lose_less_than_by_pca_too(digits):
    train, test = digits[:1200], digits[1200:]
    pca = PCA(5, standardize=True).fit(train)
    model = Autoencoder(5, hidden=(64,), max_epochs=40, validation_fraction=0.1, random_state=0).fit(train)
    assert share_lost(model, test, pca.scale_) < 0.85 * share_lost(pca, test, pca.scale_)


@pytest.mark.parametrize("activation", network.ACTIVATIONS)
def test_gradients_are_those_of_autograd(activation, rng):
    layers = [
        network.Layer(*(torch.tensor(part, requires_grad=True) for part in layer))
        for layer in network.initial([5, 4, 6, 3], 0)
    ]
    X = torch.tensor(rng.normal(size=(7, 5)), dtype=torch.float32)
    G = torch.tensor(rng.normal(size=(7, 3)), dtype=torch.float32)
    network.push(torch, layers, X, activation)[-1].backward(G)
    expected = [part.grad.clone() for layer in layers for part in layer]
    with torch.no_grad():
        network.pull(torch, layers, network.push(torch, layers, X, activation), G.clone(), activation)
    for part, grad in zip((part for layer in layers for part in layer), expected, strict=True):
        torch.testing.assert_close(part.grad, grad)


@pytest.mark.parametrize("activation", network.ACTIVATIONS)
def test_numpy_and_torch_apply_the_same_network(activation, digits):
    model = Autoencoder(3, activation=activation, **FEW).fit(digits)
    Y = model.transform(digits)
    T = model.transform(torch.from_numpy(digits))
    assert isinstance(T, torch.Tensor)
    np.testing.assert_allclose(T.numpy(), Y, rtol=1e-9, atol=1e-9)
    back = model.inverse_transform(T)
    np.testing.assert_allclose(back.numpy(), model.inverse_transform(Y), rtol=1e-9, atol=1e-9)


# Training


def test_loss_is_a_share_of_the_variance_and_falls(digits):
    model = Autoencoder(5, hidden=(32,), max_epochs=30, random_state=0).fit(digits)
    assert model.loss_curve_.shape == (30,)
    assert model.n_epochs_ == 30
    scale = np.where(model.scale_ > 0, model.scale_, 1)
    # The trace is the mean over an epoch; steps at its end are so short that this is the loss after it.
    assert model.loss_curve_[-1] == pytest.approx(share_lost(model, digits, scale), rel=0.01)
    assert model.loss_curve_[-1] < 0.5 * model.loss_curve_[0]


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_bits_for_any_number_of_threads(n_jobs, digits):
    options = {"hidden": (64,), "max_epochs": 3, "random_state": 3}
    one, more = (Autoencoder(4, n_jobs=n, **options).fit(digits) for n in (1, n_jobs))
    for a, b in zip(one.weights_, more.weights_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.loss_curve_, more.loss_curve_)


def test_large_networks_use_threads_and_repeat_their_bits(digits, monkeypatch):
    monkeypatch.setattr(training, "_SERIAL", 0)
    used = []
    monkeypatch.setattr(training.Trainer, "_set_step_length", lambda self, step: used.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    one, two = (Autoencoder(4, n_jobs=2, **FEW).fit(digits) for _ in range(2))
    assert set(used) == {2}
    assert torch.get_num_threads() == before
    np.testing.assert_array_equal(one.loss_curve_, two.loss_curve_)


def test_memory_maps_give_the_bits_of_arrays_and_are_read_in_windows(digits, tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", digits.astype(np.uint8))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    monkeypatch.setattr(training, "WINDOW_BYTES", 2**14)  # 64 rows
    monkeypatch.setattr(training, "_RUN_BYTES", 2**10)
    taken = []
    take = training.TrainingRows.take
    monkeypatch.setattr(training.TrainingRows, "take", lambda self, ids: (taken.append(ids.copy()), take(self, ids))[1])
    options = FEW | {"validation_fraction": 0.1}
    one = Autoencoder(2, **options).fit(X)
    ids = np.concatenate(taken[: -(-1617 // 64)])
    assert max(map(len, taken)) == 64
    assert len(ids) == len(np.unique(ids)) == 1797 - 180  # each row once an epoch, but those held out
    assert np.mean(np.abs(np.diff(ids)) == 1) < 0.1  # mixed
    two = Autoencoder(2, **options).fit(digits.astype(np.uint8))
    np.testing.assert_array_equal(one.transform(X), two.transform(X))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_rows_in_columns_order_are_taken_without_copying_all(dtype, rng):
    X = np.asfortranarray(rng.integers(0, 9, (20_000, 50)).astype(dtype))
    rows = training.TrainingRows(X, np.full(50, 2.0), np.full(50, 0.5), torch.device("cpu"))
    ids = rng.permutation(len(X))[:100]
    tracemalloc.start()
    try:
        Z = rows.take(ids)
        assert tracemalloc.get_traced_memory()[1] < X.nbytes / 10
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(Z.numpy(), (X[ids] - 2.0) / 0.5)


def test_early_stopping_keeps_the_best_epoch_and_waits(rng):
    X = rng.normal(size=(60, 30))  # nothing to learn
    model = Autoencoder(5, hidden=(64,), validation_fraction=0.3, patience=4, max_epochs=400, random_state=0).fit(X)
    trace = model.validation_curve_
    assert 4 < model.n_epochs_ < 400
    assert len(trace) == len(model.loss_curve_) == model.n_epochs_
    assert trace.argmin() < len(trace) - 1
    held = np.sort(lowdim.work.random.stream(0, "validation").permutation(60)[:18])
    E = (model.inverse_transform(model.transform(X[held])) - X[held]) / model.scale_
    assert np.square(E).sum() / (18 * 30) == pytest.approx(trace.min(), rel=1e-4)


def test_warm_start_goes_on_where_the_fit_before_ended(digits):
    model = Autoencoder(4, hidden=(32,), max_epochs=10, warm_start=True, random_state=0).fit(digits)
    first, mean = model.loss_curve_.copy(), model.mean_
    model.set_params(max_epochs=5, learning_rate=1e-3).fit(digits)
    assert model.n_epochs_ == 15
    np.testing.assert_array_equal(model.loss_curve_[:10], first)
    assert model.loss_curve_[10] < 1.1 * first[-1]
    assert model.mean_ is mean
    with pytest.raises(
        ValueError, match=r"warm_start=True needs the layers .*got \[64, 16, 4, 16, 64\].*warm_start=False"
    ):
        model.set_params(hidden=(16,)).fit(digits)
    with pytest.raises(ValueError, match="with 'relu'; got .* with 'tanh'"):
        model.set_params(hidden=(32,), activation="tanh").fit(digits)


def test_a_saved_model_goes_on_too(digits, tmp_path):
    options = FEW | {"warm_start": True}
    model = Autoencoder(2, **options).fit(digits)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert again.hidden == (8,)
    np.testing.assert_array_equal(again.fit(digits).loss_curve_, model.fit(digits).loss_curve_)


def test_a_model_is_what_was_fitted_whatever_its_parameters_are_set_to(digits, tmp_path):
    model = Autoencoder(2, **FEW).fit(digits)
    Y = model.transform(digits)
    model.set_params(n_components=3, hidden=(9, 5), activation="tanh").save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(digits), Y)


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: model.biases_.pop(),
        lambda model: model.weights_.reverse(),
        lambda model: setattr(model, "scale_", model.scale_[1:]),
        lambda model: setattr(model, "_activation", "step"),
    ],
)
def test_files_of_layers_that_do_not_fit_together_are_refused(damage, digits, tmp_path):
    model = Autoencoder(2, **FEW).fit(digits)
    damage(model)
    model.save(tmp_path / "m.lowdim")
    with pytest.raises(ValueError, match=r"an invalid model \((scale_|weights_|_activation)"):
        lowdim.load(tmp_path / "m.lowdim")


def test_weight_decay_shrinks_weights(digits):
    plain, decayed = (Autoencoder(2, weight_decay=w, **FEW).fit(digits) for w in (0.0, 10.0))
    assert sum(np.square(W).sum() for W in decayed.weights_) < 0.9 * sum(np.square(W).sum() for W in plain.weights_)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float16"])
def test_types_of_data_train_alike(dtype, digits):
    expected = Autoencoder(2, **FEW).fit(digits).loss_curve_
    np.testing.assert_allclose(Autoencoder(2, **FEW).fit(digits.astype(dtype)).loss_curve_, expected, rtol=1e-4)


def test_a_large_mean_costs_nothing(digits):
    expected = Autoencoder(2, **FEW).fit(digits).loss_curve_
    np.testing.assert_allclose(Autoencoder(2, **FEW).fit(digits + 1e6).loss_curve_, expected, rtol=1e-4)


def test_constant_features_come_back(digits):
    X = np.c_[np.full(len(digits), 7.0), digits[:, :10]]
    model = Autoencoder(2, **FEW).fit(X)
    assert np.isfinite(model.transform(X)).all()
    back = model.inverse_transform(model.transform(X))
    assert np.abs(back[:, 0] - 7).mean() < 0.5
    constant = Autoencoder(1, **FEW).fit(np.ones((5, 3)))
    np.testing.assert_allclose(constant.inverse_transform(constant.transform(np.ones((5, 3)))), 1, atol=1e-6)


# Tensors and devices


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
def test_tensors_train_as_arrays_do(dtype, digits):
    T = torch.from_numpy(digits).to(dtype)
    model, expected = (Autoencoder(2, **FEW).fit(X) for X in (T, T.numpy()))
    np.testing.assert_allclose(model.loss_curve_, expected.loss_curve_, rtol=1e-5)
    np.testing.assert_allclose(model.mean_, expected.mean_, rtol=1e-12)
    assert model.transform(T).dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert model.n_features_in_ == 64


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda T: T[0], "dense 2D tensor.*rows are samples"),
        (lambda T: T.to(torch.complex64), "real numbers"),
        (lambda T: T.to_sparse(), "dense"),
        (lambda T: T[:1], "at least 2 samples"),
        (
            lambda T: torch.where(torch.arange(T.numel()).reshape(T.shape) == 130, torch.nan, T),
            "NaN at row 2, column 2",
        ),
    ],
)
def test_bad_tensors_are_refused(damage, words, digits):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        Autoencoder(2, **FEW).fit(damage(torch.from_numpy(digits)))


def test_tensors_of_other_widths_are_refused(digits):
    model = Autoencoder(2, **FEW).fit(digits)
    with pytest.raises(ValueError, match=r"3 features, but .* 64 features.*columns that fit saw"):
        model.transform(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"needs 2 columns.*got 3"):
        model.inverse_transform(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"scores must be finite; got NaN at row 1, column 0"):
        model.inverse_transform(torch.tensor([[0.0, 0.0], [torch.nan, 0.0]]))


def test_other_methods_still_say_how_to_bring_tensors_over():
    with pytest.raises(TypeError, match=r"got a torch tensor.*numpy\(force=True\)"):
        lowdim.LLE(1).fit(torch.zeros(4, 3))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_named(digits):
    with pytest.raises(ValueError, match=r"device='cuda' needs a GPU.*sees none.*device='cpu'"):
        Autoencoder(2, device="cuda", **FEW).fit(digits)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
def test_a_gpu_trains_as_a_cpu_does(digits):
    expected = Autoencoder(2, **FEW).fit(digits).loss_curve_
    for X, device in ((digits, "cuda"), (torch.from_numpy(digits).cuda(), None), (torch.from_numpy(digits), "cuda")):
        model = Autoencoder(2, device=device, **FEW).fit(X)
        np.testing.assert_allclose(model.loss_curve_, expected, rtol=1e-3)
    X = torch.from_numpy(digits).cuda()
    Y = model.transform(X)
    assert Y.device == X.device
    np.testing.assert_allclose(Y.cpu().numpy(), model.transform(digits), atol=1e-6)
    assert model.inverse_transform(Y).device == X.device


# What is refused


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_components": 65}, r"n_components must be at most n_features = 64; got 65. Lower it"),
        ({"hidden": (0,)}, r"hidden must be a tuple of integers ≥ 1.*got \(0,\)"),
        ({"hidden": 64}, r"hidden must be a tuple .*\(128,\).*got 64"),
        ({"hidden": (8, -1)}, "hidden must be"),
        ({"activation": "rellu"}, r"activation must be one of .*got 'rellu'. Did you mean 'relu'"),
        ({"max_epochs": 0}, "max_epochs must be"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"learning_rate": 0}, "learning_rate must be"),
        ({"weight_decay": -1}, "weight_decay must be"),
        ({"validation_fraction": 1}, "validation_fraction must be"),
        ({"validation_fraction": 0.9999}, r"validation_fraction must leave rows.*of 1797 rows leaves none. Lower it"),
        ({"patience": 0}, "patience must be"),
        ({"device": "gpu"}, r"device must be .*got 'gpu'"),
    ],
)
def test_parameters_that_cannot_be_are_refused(params, words, digits):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        Autoencoder(**FEW | params).fit(digits)


def test_a_loss_that_diverges_stops_with_the_reason(digits):
    with pytest.raises(
        ValueError, match=r"loss must stay finite; in epoch \d+ .*learning_rate=1e\+06. Lower it, .* 0.003"
    ):
        Autoencoder(2, learning_rate=1e6, **FEW).fit(digits)
    with pytest.raises(ValueError, match="loss must stay finite"):  # seen in the weights alone
        Autoencoder(2, learning_rate=1e300, **FEW | {"max_epochs": 1, "batch_size": 2000}).fit(digits)


def test_other_rows_may_start_with_any_loss(digits):
    model = Autoencoder(2, warm_start=True, **FEW).fit(digits)
    assert model.fit(digits * 1000).n_epochs_ == 6  # a loss of a million at the start is no divergence


def test_variances_that_overflow_are_named(digits):
    with pytest.raises(ValueError, match="variances must fit in float64.*Multiply X"):
        Autoencoder(2, **FEW).fit(digits * 1e200)


def test_networks_that_do_not_fit_are_refused_with_the_figure(digits, monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "1G")
    with pytest.raises(MemoryError, match=r"weights between layers of 64, 1000000, 2, .* needs .* Lower hidden"):
        Autoencoder(2, hidden=(1_000_000,)).fit(digits)


def test_without_torch_all_but_fitting_works(digits, tmp_path):
    path = tmp_path / "m.lowdim"
    model = Autoencoder(2, **FEW).fit(digits)
    model.save(path)
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import numpy as np, lowdim\n"
        "X = lowdim.data.load('digits')[0]\n"
        f"np.save({str(tmp_path / 'Y.npy')!r}, lowdim.load({str(path)!r}).transform(X))\n"
        "model = lowdim.Autoencoder(2)\n"
        "try: model.fit(X)\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "PyTorch is needed" in done.stdout
    assert "pip install 'lowdim[torch]'" in done.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "Y.npy"), model.transform(digits))
