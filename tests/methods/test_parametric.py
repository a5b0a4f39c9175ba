"""Parametric maps: their losses and gradients, what the network learns, and what can go wrong."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

import lowdim
from lowdim import TSNE, UMAP, ParametricTSNE, ParametricUMAP
from lowdim.compose.map_guide import guide, landmark_count
from lowdim.solve import map_training, network, training
from lowdim.solve.batch_losses import BatchCrossEntropy, BatchDivergence
from lowdim.solve.cross_entropy import CrossEntropy
from lowdim.solve.network import Layer, initial

if find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: pip install 'lowdim[torch]'", allow_module_level=True)

import torch

BOTH = pytest.mark.parametrize("cls", [ParametricUMAP, ParametricTSNE])
FEW = {"hidden": (16,), "max_epochs": 4, "random_state": 0}


@pytest.fixture(scope="module")
def digits():
    return lowdim.data.load("digits")


@pytest.fixture(scope="module")
def groups():
    """Three groups in ten dimensions."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    return (rng.normal(size=(300, 10)) + 6 * np.eye(3, 10)[y]).astype(np.float32), y


# The guide


@pytest.mark.parametrize("n", [2, 3, 9, 64, 1000])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_guide_describes_every_position(n, k, rng):
    Y = rng.normal(size=(n, k)).astype(np.float32)
    found = guide(Y)
    assert sorted(found.order) == list(range(n))
    assert found.landmarks.shape == (min(landmark_count(n), max(2, n)), k)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1, rtol=1e-5)
    places = (found.shares[:, :, None] * found.landmarks[found.near]).sum(axis=1)
    if n == 1000 and k <= 2:
        assert np.square(places - Y).sum() < 0.01 * np.square(Y - Y.mean(axis=0)).sum()


def test_neighbours_in_the_order_are_neighbours_in_the_map(rng):
    Y = rng.random((4096, 2)).astype(np.float32)
    cells = Y[guide(Y).order].reshape(-1, 8, 2)
    assert np.median(np.ptp(cells, axis=1).max(axis=1)) < 4 * np.sqrt(8 / 4096)


def test_equal_positions_have_a_guide():
    found = guide(np.ones((50, 2), np.float32))
    np.testing.assert_allclose((found.shares[:, :, None] * found.landmarks[found.near]).sum(axis=1), 1.0, rtol=1e-2)


# Losses


def made(loss, n, cell, k=2, batch=None, decoder=False):
    """A trainer of a map of n rows, whose outputs are the positions."""
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    graph = sp.csr_array(dense + dense.T)
    relations = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float32))
    rows = training.TrainingRows(rng.normal(size=(n, 4)).astype(np.float32), np.zeros(4), np.ones(4), "cpu")
    Y = rng.normal(size=(n, k)).astype(np.float32)
    near = np.zeros((n, 1), np.int32)
    pattern = map_training.Pattern(np.arange(n), near, np.ones((n, 1), np.float32), Y)
    plan = map_training.MapPlan(1, 1, batch or n, 1e-3, 0.0, 0.5, 0)
    layers = [*initial([4, 6, 5], 0), Layer(rng.normal(size=(k, 5)).astype(np.float32), np.zeros(k, np.float32))]
    back = initial([k, 6, 4], 0, 3) if decoder else []
    trainer = map_training._MapTrainer(
        layers, ["tanh", "softmax"], back, rows, pattern, relations, loss, 1.0, 4.0, plan
    )
    trainer.cell = cell
    return trainer, relations, Y


def test_the_loss_of_umap_by_batches_is_the_loss_in_the_mean():
    n, a, b, c = 24, 1.577, 0.895, 5.0
    trainer, graph, Y = made(BatchCrossEntropy(a, b, c * (n - 1) / n, 1.0), n, 4, batch=8)
    expected = CrossEntropy(a, b, c).at(graph, Y).value / graph[2].sum()
    rng = np.random.default_rng(1)
    values = []
    with torch.no_grad():
        for _ in range(1500):
            for heads in trainer._cells(rng, 2):
                tails = trainer.tails.draw(heads, rng)
                ends = torch.from_numpy(trainer.tails.relative[heads])
                values.append(trainer._batch(torch.from_numpy(np.concatenate([Y[heads], Y[tails]])), ends)[0])
    error = 4 * np.std(values) / np.sqrt(len(values))
    assert np.mean(values) == pytest.approx(expected, abs=error)
    assert error < 0.02 * abs(expected)


def test_the_weights_of_pairs_give_the_mean_over_all_pairs():
    n, cell = 24, 4
    trainer, _, _ = made(BatchDivergence(1.0, 1.0, n), n, cell, batch=12)
    rng = np.random.default_rng(2)
    f = rng.random((n, n))
    found = []
    for _ in range(4000):
        for heads in trainer._cells(rng, 3):
            found.append(float((trainer._pair_weights(12).numpy() * f[np.ix_(heads, heads)]).sum()))
    np.testing.assert_allclose(trainer._pair_weights(12).sum(), 1, rtol=1e-5)
    mean = f[~np.eye(n, dtype=bool)].mean()
    assert np.mean(found) == pytest.approx(mean, abs=4 * np.std(found) / np.sqrt(len(found)))


@pytest.mark.parametrize("name", ["umap", "tsne", "tsne of heavier tails"])
def test_the_divergence_and_its_slopes_are_those_of_autograd(name):
    n = 12
    loss = {
        "umap": BatchCrossEntropy(1.577, 0.895, 5.0, 0.7),
        "tsne": BatchDivergence(1.0, 1.0, n),
        "tsne of heavier tails": BatchDivergence(0.5, 2.0, n),
    }[name]
    trainer, _, Y = made(loss, n, 3)
    at = torch.tensor(np.vstack([Y, Y[::-1] + 0.5]), requires_grad=True)
    ends = torch.from_numpy(trainer.tails.relative)
    heads, tails = at[:n], at[n:]
    lengths = (heads - tails).square().sum(1)
    squares = (heads[:, None] - heads).square().sum(-1)
    value = (ends * loss.attraction(torch, lengths)[0]).mean()
    W = trainer._pair_weights(n)
    if name == "umap":
        value = value + loss.repulsion(torch, squares, ends, W)[0]
    else:  # its slopes are divided by the mean, which is that of this batch in the first
        value = value + ((W * (1 + squares / loss.dof) ** (-(loss.dof + 1) / 2)).sum() * n * (n - 1)).log()
    value.backward()
    with torch.no_grad():
        found, G = trainer._batch(at.detach(), ends)
    assert found == pytest.approx(value.item(), rel=1e-5)
    torch.testing.assert_close(G, at.grad, rtol=1e-4, atol=1e-5)


def test_the_divergence_of_all_pairs_is_that_of_tsne():
    n = 40
    trainer, graph, Y = made(BatchDivergence(1.0, 1.0, n), n, 1)
    p = sp.csr_array((graph[2] / graph[2].sum(), graph[1], graph[0])).toarray()
    D = np.square(Y[:, None] - Y).sum(axis=-1)
    q = 1 / (1 + D)
    np.fill_diagonal(q, 0)
    expected = (p * np.log1p(D)).sum() + np.log(q.sum())
    ends = torch.from_numpy(trainer.tails.relative)
    repulsion = trainer.loss.repulsion(torch, torch.from_numpy(D), ends, trainer._pair_weights(n))[0]
    assert float(repulsion) + (p * np.log1p(D)).sum() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("activation", network.ACTIVATIONS)
def test_gradients_through_shares_and_dropped_values_are_those_of_autograd(activation, rng):
    layers = [Layer(*(torch.tensor(part, requires_grad=True) for part in layer)) for layer in initial([5, 4, 6, 3], 0)]
    X = torch.tensor(rng.normal(size=(7, 5)), dtype=torch.float32)
    G = torch.tensor(rng.normal(size=(7, 3)), dtype=torch.float32)
    masks = [torch.tensor((rng.random((7, 4)) < 0.7) / 0.7, dtype=torch.float32)]
    between = [activation, "softmax"]
    outputs = network.push(torch, layers, X, between, masks)
    torch.testing.assert_close(outputs[2].sum(1), torch.ones(7))
    outputs[-1].backward(G)
    expected = [part.grad.clone() for layer in layers for part in layer]
    with torch.no_grad():
        outputs = network.push(torch, layers, X, between, masks)
        network.pull(torch, layers, outputs, G.clone(), between, masks)
    for part, grad in zip((part for layer in layers for part in layer), expected, strict=True):
        torch.testing.assert_close(part.grad, grad)


# What is learnt


@BOTH
def test_new_digits_are_placed_among_their_like(cls, digits):
    X, y = digits
    train, test = X[:1200], X[1200:]
    model = cls(hidden=(64,), max_epochs=40, random_state=0).fit(train)
    nearest = KNeighborsClassifier(5).fit(model.embedding_, y[:1200])
    assert nearest.score(model.transform(test), y[1200:]) > 0.8
    np.testing.assert_array_equal(model.transform(train), model.embedding_)
    plain = (UMAP if cls is ParametricUMAP else TSNE)(random_state=0).fit(train)
    name = "loss_" if cls is ParametricUMAP else "kl_divergence_"
    assert getattr(model, name) < (2 if cls is ParametricUMAP else 3) * getattr(plain, name)
    assert lowdim.quality.trustworthiness(train, model.embedding_) > 0.9


@BOTH
def test_lowering_the_loss_goes_beyond_imitation(cls, digits):
    options = {"hidden": (32,), "dropout": 0.0, "random_state": 0}
    model = cls(max_epochs=30, **options).fit(digits[0][:800])
    assert model.loss_curve_.shape == (9,)
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    assert model.n_epochs_ == 30


def test_labels_part_classes(groups):
    X, _ = groups
    y = (X[:, 5] > 0).astype(int)  # of which the groups say nothing
    model = ParametricUMAP(target_weight=0.9, hidden=(64,), max_epochs=150, random_state=0).fit(X, y)
    plain = ParametricUMAP(hidden=(64,), max_epochs=150, random_state=0).fit(X)
    found = [KNeighborsClassifier(5).fit(one.embedding_, y).score(one.embedding_, y) for one in (model, plain)]
    assert found[0] > found[1] + 0.05
    with pytest.raises(ValueError, match="target_weight needs labels"):
        ParametricUMAP(target_weight=0.5, **FEW).fit(X)


@BOTH
def test_a_decoder_gives_rows_back_and_leaves_the_map(cls, groups):
    X, _ = groups
    options = {"hidden": (32,), "max_epochs": 200, "dropout": 0.0, "random_state": 0}
    plain, model = cls(**options).fit(X), cls(decoder=True, **options).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    lost = np.square(model.inverse_transform(model.embedding_) - X).sum() / np.square(X - X.mean(axis=0)).sum()
    assert lost < 0.6
    assert model.reconstruction_loss_ == pytest.approx(lost, abs=0.1)
    drawn = cls(decoder=True, reconstruction_weight=5.0, **options).fit(X)
    assert not np.array_equal(drawn.embedding_, plain.embedding_)
    with pytest.raises(ValueError, match=r"inverse_transform needs a model fitted with decoder=True"):
        plain.inverse_transform(plain.embedding_)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_and_columns_order_give_the_map_of_dense_ones(cls, dtype, rng):
    X = (rng.random((120, 30)) * (rng.random((120, 30)) < 0.2)).astype(dtype)
    dense = cls(**FEW).fit(X)
    assert dense.embedding_.dtype == dtype
    np.testing.assert_allclose(cls(**FEW).fit(np.asfortranarray(X)).embedding_, dense.embedding_, rtol=1e-5, atol=1e-5)
    other = cls(**FEW).fit(sp.csr_array(X))
    np.testing.assert_allclose(other.transform(X), other.transform(sp.csr_array(X)), rtol=1e-5, atol=1e-5)
    assert other.embedding_.shape == (120, 2)


@BOTH
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_bits_for_any_number_of_threads(cls, n_jobs, digits):
    one, more = (cls(n_jobs=n, decoder=True, **FEW).fit(digits[0][:600]) for n in (1, n_jobs))
    np.testing.assert_array_equal(one.embedding_, more.embedding_)
    for a, b in zip(one.weights_ + one.decoder_weights_, more.weights_ + more.decoder_weights_, strict=True):
        np.testing.assert_array_equal(a, b)


@BOTH
def test_models_keep_no_rows_and_survive_files(cls, digits, tmp_path):
    X = digits[0]
    model = cls(decoder=True, **FEW).fit(X)
    model.save(tmp_path / "m.lowdim")
    assert (tmp_path / "m.lowdim").stat().st_size < X.nbytes / 10
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.inverse_transform(model.embedding_), model.inverse_transform(model.embedding_))


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: model.biases_.pop(),
        lambda model: model.weights_.reverse(),
        lambda model: model.decoder_weights_.pop(),
        lambda model: setattr(model, "scale_", model.scale_[1:]),
        lambda model: setattr(model, "_activation", "step"),
    ],
)
def test_files_of_layers_that_do_not_fit_together_are_refused(damage, groups, tmp_path):
    model = ParametricUMAP(decoder=True, **FEW).fit(groups[0])
    damage(model)
    model.save(tmp_path / "m.lowdim")
    with pytest.raises(ValueError, match="an invalid model"):
        lowdim.load(tmp_path / "m.lowdim")


@BOTH
def test_any_number_of_components_and_few_rows(cls, rng):
    X = rng.normal(size=(60, 5))
    for k in (1, 3):
        assert cls(k, **FEW).fit(X).transform(X[:4]).shape == (4, k)
    for n in (3, 5, 9):
        small = cls(**FEW).fit(X[:n])
        assert np.isfinite(small.transform(X)).all()
    assert np.isfinite(cls(**FEW).fit(np.ones((20, 3))).embedding_).all()


# What is refused


@BOTH
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"metric": "precomputed"}, r"a network needs rows of features; got metric='precomputed'"),
        ({"reconstruction_weight": 1.0}, r"reconstruction_weight needs a decoder; got 1 with decoder=False"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"activation": "softmax"}, "activation must be"),
        ({"hidden": 8}, "hidden must be a tuple"),
        ({"decoder": 1}, "decoder must be True or False"),
        ({"n_components": 65}, "n_components must be at most 64"),
        ({"learning_rate": 1e30}, r"the loss must stay finite; in epoch \d+ .*Lower it, for example to 0.002"),
    ],
)
def test_what_cannot_be_is_refused(cls, params, words, groups):
    with pytest.raises(ValueError, match=f"(?s){cls.__name__}: {words}"):
        cls(**FEW | params).fit(groups[0])


def test_a_fit_that_fails_leaves_the_model_as_it_was(groups):
    model = ParametricUMAP(**FEW).fit(groups[0])
    before = model.embedding_
    with pytest.raises(ValueError, match="stay finite"):
        model.set_params(learning_rate=1e30).fit(groups[0])
    assert model.embedding_ is before


@BOTH
def test_without_torch_all_but_fitting_works(cls, groups, tmp_path):
    path, X = tmp_path / "m.lowdim", groups[0]
    model = cls(**FEW).fit(X)
    model.save(path)
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import numpy as np, lowdim\n"
        f"X = np.load({str(tmp_path / 'X.npy')!r})\n"
        f"np.save({str(tmp_path / 'Y.npy')!r}, lowdim.load({str(path)!r}).transform(X))\n"
        f"try: lowdim.{cls.__name__}().fit(X)\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "PyTorch is needed to train a network" in done.stdout
    assert "pip install 'lowdim[torch]'" in done.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "Y.npy"), model.transform(X))
