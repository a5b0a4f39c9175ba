"""Odd parameters, metrics and callbacks are taken, or refused in words, by all methods alike."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import lowdim
from lowdim import quality


@pytest.fixture(name="X")
def rows(rng):
    return rng.normal(size=(40, 4))


def test_columns_chosen_keep_their_missing_values(rng, X):
    y = np.tile([0, 1], 20)
    X = np.column_stack([np.where(rng.random(40) < 0.2, np.nan, y + rng.normal(size=40) / 9), X])
    estimator = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2)
    chosen = lowdim.SequentialFeatureSelector(estimator, n_features_to_select=1, cv=2).fit(X, y)
    assert chosen.support_.tolist() == [True, False, False, False, False]
    assert np.array_equal(chosen.transform(X), X[:, :1], equal_nan=True)


@pytest.mark.parametrize("relative", [False, True])
def test_a_reconstruction_error_that_overflows_is_refused(X, relative):
    with pytest.raises(ValueError, match="reconstruction_error: .* must be finite"):
        quality.reconstruction_error(X * 1e200, -X * 1e200, relative=relative)


@pytest.mark.parametrize(
    "method", [lowdim.TSNE(max_iter=2, perplexity=5), lowdim.UMAP(n_epochs=2), lowdim.MDS(), lowdim.PaCMAP(max_iter=2)]
)
def test_a_complex_start_is_refused(method, X):
    with pytest.raises(ValueError, match="init must be an array of numbers; got .*complex"):
        method.set_params(init=X[:, :2] + 1j).fit(X)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (lambda a, b: str(abs(a - b).sum()), "must be a function that gives a number; got '"),
        (lambda a, b: None, "must be a function that gives a number; got None"),
        (lambda a, b: abs(a - b).sum() * (1 + (a[0] > b[0])), "must be a function that is symmetric; got"),
    ],
)
@pytest.mark.parametrize("method", [lowdim.UMAP(n_epochs=2), lowdim.Isomap(), lowdim.MDS()])
def test_a_metric_that_gives_no_distances_is_refused(metric, words, method, X):
    with pytest.raises(ValueError, match=words):
        method.set_params(metric=metric).fit(X)


def test_numbers_of_any_type_are_parameters(X, tmp_path):
    for method, same in [
        (lowdim.PCA(Fraction(1, 2)), lowdim.PCA(0.5)),
        (lowdim.LaplacianEigenmaps(radius=Fraction(9, 2)), lowdim.LaplacianEigenmaps(radius=4.5)),
        (lowdim.Isomap(radius=Fraction(9, 2)), lowdim.Isomap(radius=4.5)),
        (
            lowdim.TSNE(perplexity=[Fraction(5), 3], max_iter=2, random_state=0),
            lowdim.TSNE(perplexity=[5, 3], max_iter=2, random_state=0),
        ),
    ]:
        method.fit(X).save(tmp_path / "model.lowdim")
        assert np.array_equal(lowdim.load(tmp_path / "model.lowdim").transform(X), same.fit(X).transform(X))
    with pytest.raises(ValueError, match="radius must reach a neighbour of every row; got 0.001"):
        lowdim.Isomap(radius=Fraction(1, 1000)).fit(X)


@pytest.mark.parametrize("call", ["fit", "fit_transform"])
def test_a_callback_cannot_fit_the_object_again(X, call):
    model = lowdim.UMAP(n_epochs=5, callback_every=2)
    model.set_params(callback=lambda done, loss, Y: getattr(model, call)(X))
    with pytest.raises(RuntimeError, match="cannot be fitted again; got a fit from its own callback"):
        model.fit(X)
    assert not hasattr(model, "embedding_")
    other = []
    model.set_params(callback=lambda done, loss, Y: other.append(lowdim.PCA(2).fit(X))).fit(X)
    assert len(other) == 2
    assert model.set_params(callback=None).fit(X).embedding_.shape == (40, 2)


def test_neither_neighbours_nor_auto_is_needed_beside_a_radius(X):
    one = lowdim.LaplacianEigenmaps(n_neighbors=None, radius=4.5, random_state=0).fit(X)
    assert np.array_equal(one.embedding_, lowdim.LaplacianEigenmaps(radius=4.5, random_state=0).fit(X).embedding_)
    with pytest.raises(ValueError, match="n_neighbors or radius is needed, not both"):
        lowdim.LaplacianEigenmaps(n_neighbors=5, radius=4.5).fit(X)
