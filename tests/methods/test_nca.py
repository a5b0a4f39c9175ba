from importlib.util import find_spec

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from lowdim import LDA, NCA
from lowdim.solve import neighborhood_components
from lowdim.solve.neighborhood_components import pulls


@pytest.fixture(name="wine", scope="module")
def standardised_wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def by_definition(Y, y):
    D = np.square(Y[:, None] - Y).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    P = np.exp(-D)
    P /= P.sum(axis=1, keepdims=True)
    return P[y[:, None] == y].sum()


@pytest.mark.parametrize("block", [2**21, 100])
def test_the_objective_and_its_gradient_are_those_of_the_definition(rng, monkeypatch, block):
    monkeypatch.setattr(neighborhood_components, "BLOCK", block)
    Y, y = rng.normal(size=(40, 2)), rng.integers(3, size=40).astype(np.int32)
    assert pulls(Y, y)[0] == pytest.approx(by_definition(Y, y))
    error = check_grad(
        lambda v: pulls(v.reshape(40, 2), y)[0], lambda v: pulls(v.reshape(40, 2), y)[1].ravel(), Y.ravel()
    )
    assert error < 1e-4


def test_expected_accuracy_is_that_of_the_map(wine):
    X, y = wine
    nca = NCA(2).fit(X, y)
    assert nca.expected_accuracy_ == pytest.approx(by_definition(nca.transform(X), y) / len(y), abs=1e-6)
    assert (np.diff(nca.loss_curve_) <= 1e-9).all()


def test_it_reaches_what_scikit_learn_reaches(wine):
    X, y = wine
    peer = NeighborhoodComponentsAnalysis(2, init="pca", random_state=0, max_iter=100).fit(X, y)
    reached = by_definition(X @ peer.components_.T, y) / len(y)
    assert NCA(2).fit(X, y).expected_accuracy_ > reached - 0.005


def test_it_separates_classes_of_several_clusters_which_lda_cannot(rng):
    """Two classes at the corners of a square, along two of eight features: their means are equal."""
    corner = rng.integers(4, size=400)
    y = np.array([0, 1, 1, 0])[corner]
    X = np.column_stack([6.0 * (corner % 2), 6.0 * (corner // 2), 3 * rng.normal(size=(400, 6))]) + 0.5 * rng.normal(
        size=(400, 8)
    )
    model = NCA(2, init="identity").fit(X[:300], y[:300])
    scores = [
        KNeighborsClassifier(3).fit(m.transform(X[:300]), y[:300]).score(m.transform(X[300:]), y[300:])
        for m in (model, LDA().fit(X[:300], y[:300]))
    ]
    assert scores[0] > 0.95 > 0.75 > scores[1]


@pytest.mark.filterwarnings("ignore:.*Raise max_iter")
@pytest.mark.parametrize("init", ["pca", "identity", "random"])
def test_every_start_raises_the_accuracy_of_neighbours(init):
    X, y = load_digits(return_X_y=True)
    X, y = X[:500] / 16, y[:500]
    nca = NCA(5, init=init, random_state=0, max_iter=30).fit(X, y)
    assert nca.loss_curve_[-1] < 0.5 * nca.loss_curve_[0] + 0.02


@pytest.mark.filterwarnings("ignore:.*Raise max_iter")
def test_any_number_of_threads_gives_the_same_bits():
    X, y = load_digits(return_X_y=True)
    one, two = (NCA(3, max_iter=5, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_ranks_that_do_not_exist_are_refused(wine):
    with pytest.raises(ValueError, match="n_components must be at most n_features = 13; got 14"):
        NCA(14).fit(*wine)
    with pytest.raises(ValueError, match="NCA: .*two classes|NCA: .*classes"):
        NCA(2).fit(wine[0], np.zeros(len(wine[0])))


@pytest.mark.filterwarnings("ignore:.*Raise max_iter")
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_tensors_give_what_arrays_give(wine):
    import torch

    X, y = wine
    here, there = NCA(2, max_iter=5).fit(X, y), NCA(2, max_iter=5).fit(torch.tensor(X), y)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-6)
    Y = there.transform(torch.tensor(X))
    assert isinstance(Y, torch.Tensor)
    np.testing.assert_allclose(Y.numpy(), here.transform(X), atol=1e-5)
