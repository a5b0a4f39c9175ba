"""The variational autoencoder: probabilistic PCA by linear layers, closed forms of its bound, and new rows."""

from importlib.util import find_spec

import numpy as np
import pytest

import lowdim
from lowdim import PCA, Autoencoder
from lowdim.solve import training, variational
from lowdim.solve.network import Layer, initial

if find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: pip install 'lowdim[torch]'", allow_module_level=True)

import torch

FEW = {"hidden": (8,), "max_epochs": 3, "batch_size": 32, "random_state": 0, "variational": True}
K = 2


@pytest.fixture(scope="module")
def gaussian():
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    return rng.normal(size=(600, 6)) * [3, 2, 0.6, 0.6, 0.6, 0.6] @ turn + 5


@pytest.fixture(scope="module")
def linear(gaussian):
    options = {"hidden": (), "standardize": False, "max_epochs": 1500, "learning_rate": 0.02, "random_state": 0}
    return Autoencoder(K, variational=True, **options).fit(gaussian)


@pytest.fixture(scope="module")
def digits():
    return lowdim.data.load("digits")[0]


def likelihood(X, noise):
    """Mean log likelihood of rows by probabilistic PCA (Tipping and Bishop 1999)."""
    X = X - X.mean(axis=0)
    values, U = np.linalg.eigh(X.T @ X / len(X))
    values, U = values[::-1], U[:, ::-1]
    W = U[:, :K] * np.sqrt(values[:K] - noise)
    C = W @ W.T + noise * np.eye(X.shape[1])
    _, log = np.linalg.slogdet(C)
    return -0.5 * (X.shape[1] * np.log(2 * np.pi) + log + np.trace(np.linalg.solve(C, X.T @ X / len(X)))), W


def test_a_linear_one_is_probabilistic_pca(linear, gaussian):
    Z = (gaussian - linear.mean_) / linear.scale_
    values = np.linalg.eigvalsh(np.cov(Z.T, bias=True))[::-1]
    noise = values[K:].mean()  # the maximum of the likelihood
    best, W = likelihood(Z, noise)
    assert linear.noise_variance_ == pytest.approx(noise, rel=0.03)
    assert linear.elbo_curve_[-1] == pytest.approx(best, abs=0.05)
    decoder = linear.weights_[1]
    np.testing.assert_allclose(decoder @ decoder.T, W @ W.T, atol=0.05 * values[0])
    # The bound is tight only where the codes are independent: the axes are those of PCA, which no plain one finds.
    G = decoder.T @ decoder
    assert abs(G[0, 1]) < 0.05 * np.sqrt(G[0, 0] * G[1, 1])


def test_means_of_codes_are_those_of_probabilistic_pca(linear, gaussian):
    W, v = linear.weights_[1].astype(float), linear.noise_variance_
    Z = (gaussian - linear.mean_) / linear.scale_
    means = Z @ W @ np.linalg.inv(W.T @ W + v * np.eye(K))
    np.testing.assert_allclose(linear.transform(gaussian), means, atol=0.1)


def test_the_reconstruction_shrinks_towards_the_mean(linear, gaussian):
    pca = PCA(K).fit(gaussian)
    one, two = (model.inverse_transform(model.transform(gaussian)) for model in (linear, pca))
    centre = gaussian.mean(axis=0)
    assert np.square(one - centre).sum() < np.square(two - centre).sum()
    assert np.square(one - gaussian).sum() < 1.1 * np.square(two - gaussian).sum()


def test_rows_drawn_have_the_covariance_of_the_model(linear, gaussian):
    W = linear.weights_[1] * linear.scale_[:, None]
    X = linear.sample(40_000, random_state=0)
    largest = np.cov(gaussian.T).max()
    np.testing.assert_allclose(np.cov(X.T), W @ W.T, atol=0.03 * largest)
    np.testing.assert_allclose(X.mean(axis=0), gaussian.mean(axis=0), atol=0.2)
    noisy = linear.sample(40_000, noise=True, random_state=0)
    np.testing.assert_allclose(np.cov(noisy.T), np.cov(gaussian.T), atol=0.06 * largest)
    np.testing.assert_array_equal(linear.sample(3, random_state=1), linear.sample(3, random_state=1))
    assert linear.sample().shape == (1, 6)


def trainer(rng, beta=1.0):
    rows = training.TrainingRows(rng.normal(size=(7, 5)).astype(np.float32), np.zeros(5), np.ones(5), "cpu")
    plan = training.Plan(1, 7, 1e-3, 0.0, 0.0, 1, 0.0, 0, beta=beta, noise_variance=0.7)
    layers = initial([5, 4, 6], 0) + initial([3, 4, 5], 0, 2)
    found = variational.VariationalTrainer(layers, rows, plan, "tanh", 5.0)
    found._begin(0)
    return found, rows.take(np.arange(7))


@pytest.mark.parametrize("beta", [0.0, 1.0, 3.0])
def test_gradients_are_those_of_autograd(beta, rng):
    made, Z = trainer(rng, beta)
    layers = [Layer(*(torch.tensor(part.numpy(), requires_grad=True) for part in layer)) for layer in made.layers]
    log_noise = torch.tensor([np.log(np.float32(0.7))], requires_grad=True)
    noise = torch.from_numpy(lowdim.work.random.stream(0, "codes", 0).standard_normal((7, 3), "float32"))
    (A, a), (B, b), (C, c), (D, d) = layers
    mean, log = ((Z @ A.T + a).tanh() @ B.T + b).split(3, 1)
    decoded = ((mean + (log / 2).exp() * noise) @ C.T + c).tanh() @ D.T + d
    model = torch.distributions.Normal(decoded, (log_noise / 2).exp())
    codes = torch.distributions.Normal(mean, (log / 2).exp())
    divergence = torch.distributions.kl_divergence(codes, torch.distributions.Normal(0.0, 1.0)).sum()
    loss = (beta * divergence - model.log_prob(Z).sum()) / 7
    loss.backward()
    with torch.no_grad():
        made.optimizer.step = lambda: None
        total = made._step(Z)
    assert float(total) / 7 == pytest.approx(loss.item(), rel=1e-5)
    found = [part.grad for layer in made.layers for part in layer]
    for one, other in zip(found, (part.grad for layer in layers for part in layer), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(made.log_noise.grad, log_noise.grad, rtol=1e-4, atol=1e-5)


def test_the_bound_rises_and_new_digits_look_like_digits(digits):
    model = Autoencoder(5, hidden=(64,), standardize=False, variational=True, max_epochs=60, random_state=0).fit(digits)
    np.testing.assert_array_equal(model.elbo_curve_, -model.loss_curve_)
    assert model.elbo_curve_[-1] > model.elbo_curve_[0] + 5
    Y = model.transform(digits)
    assert np.abs(Y.mean(axis=0)).max() < 0.3  # means of codes are spread as N(0, I) is, or less
    assert Y.std(axis=0).max() < 1.2
    drawn = model.sample(300, random_state=0)
    near = np.array([np.square(digits - row).sum(axis=1).min() for row in drawn])
    rng = np.random.default_rng(0)
    shuffled = np.stack([rng.permuted(digits, axis=0)[i] for i in range(100)])
    chance = np.array([np.square(digits - row).sum(axis=1).min() for row in shuffled])
    assert np.median(near) < 0.6 * np.median(chance)


def test_a_larger_beta_gives_simpler_codes(digits):
    options = {"hidden": (32,), "max_epochs": 20, "random_state": 0, "variational": True}
    one, four = (Autoencoder(4, beta=beta, **options).fit(digits) for beta in (1.0, 30.0))
    assert four.transform(digits).var() < 0.7 * one.transform(digits).var()
    assert four.noise_variance_ > one.noise_variance_


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_bits_for_any_number_of_threads(n_jobs, digits):
    one, more = (Autoencoder(2, n_jobs=n, **FEW).fit(digits) for n in (1, n_jobs))
    for a, b in zip(one.weights_, more.weights_, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.noise_variance_ == more.noise_variance_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_keep_the_model_and_draw_the_same_rows(dtype, digits, tmp_path):
    model = Autoencoder(2, **FEW).fit(digits.astype(dtype))
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    Y = model.transform(digits.astype(dtype))
    assert (Y.dtype, Y.shape) == (dtype, (1797, 2))
    np.testing.assert_array_equal(again.transform(digits.astype(dtype)), Y)
    np.testing.assert_array_equal(again.sample(4, random_state=0), model.sample(4, random_state=0))
    np.testing.assert_array_equal(again.elbo_curve_, model.elbo_curve_)


def test_warm_start_goes_on_with_the_noise_of_the_fit_before(digits):
    model = Autoencoder(2, warm_start=True, **FEW | {"max_epochs": 15}).fit(digits)
    before = model.noise_variance_
    model.set_params(max_epochs=1, learning_rate=1e-5).fit(digits)
    assert model.noise_variance_ == pytest.approx(before, rel=1e-2)
    assert len(model.loss_curve_) == 16
    with pytest.raises(ValueError, match=r"layers of the previous fit, \[64, 8, 4, 2, 8, 64\].*\[64, 8, 2, 8, 64\]"):
        model.set_params(variational=False).fit(digits)


def test_rows_held_out_stop_it(rng):
    X = rng.normal(size=(60, 30))  # nothing to learn
    options = {"validation_fraction": 0.3, "patience": 4, "max_epochs": 400, "random_state": 0}
    model = Autoencoder(5, hidden=(64,), variational=True, **options).fit(X)
    trace = model.validation_curve_
    assert 4 < model.n_epochs_ < 400
    assert trace.argmin() < len(trace) - 1


def test_constant_rows_have_the_least_noise():
    model = Autoencoder(1, **FEW).fit(np.ones((40, 3)))
    assert model.noise_variance_ >= 1e-6
    np.testing.assert_allclose(model.inverse_transform(model.transform(np.ones((2, 3)))), 1.0, atol=2.0)


def test_what_cannot_be_is_refused(digits):
    with pytest.raises(ValueError, match="beta is the weight of a term that only variational=True has; got 4 without"):
        Autoencoder(2, beta=4.0).fit(digits)
    with pytest.raises(ValueError, match="beta must be"):
        Autoencoder(2, **FEW, beta=-1.0).fit(digits)
    plain = Autoencoder(2, **FEW | {"variational": False}).fit(digits)
    with pytest.raises(ValueError, match="sample needs a model fitted with variational=True"):
        plain.sample(3)
    with pytest.raises(AttributeError, match="elbo_curve_ needs"):
        _ = plain.elbo_curve_
    model = Autoencoder(2, **FEW).fit(digits)
    with pytest.raises(ValueError, match="n_samples must be an integer"):
        model.sample(0)
    with pytest.raises(Exception, match="not fitted"):
        Autoencoder(2).sample(3)
