"""UMAP supervised by numbers: the graph is intersected with that of the targets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsRegressor

import lowdim
from lowdim import UMAP
from lowdim.relate.fuzzy import fuzzy_union, intersected, memberships
from lowdim.relate.neighbors import nearest


@pytest.fixture(scope="module")
def data():
    """Rows of which most columns do not tell the target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    return X.astype(np.float32), 3 * X[:, 0] + 0.1 * rng.normal(size=400)


def related(A, k):
    near = nearest(A, k)
    return fuzzy_union(near.indices, memberships(near.distances).values)


def dense(graph):
    n = len(graph.indptr) - 1
    V = np.zeros((n, n))
    V[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.values
    return V


def by_hand(V, U, weight):
    """The formula of umap-learn's intersection and its reset of the local connectivity, pair by pair."""
    v = np.where(V > 0, V, max(V[V > 0].min() / 2, 1e-8))
    u = np.where(U > 0, U, min(max(U[U > 0].min() / 2, 1e-8), 1e-4))
    W = v * u ** (weight / (1 - weight)) if weight < 0.5 else v ** ((1 - weight) / weight) * u
    W = np.where((V > 0) | (U > 0), W, 0)
    W /= W.max(axis=1, keepdims=True)
    return W + W.T - W * W.T


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.9, 1.0])
def test_the_intersection_is_that_of_the_formula(weight, data):
    X, y = data
    graph, targets = related(X[:60], 7), related(y[:60, None], 9)
    found = intersected(graph, targets, weight)
    np.testing.assert_allclose(dense(found), by_hand(dense(graph), dense(targets), weight), rtol=1e-5, atol=1e-9)
    assert (np.diff(found.indices)[np.diff(np.repeat(np.arange(60), np.diff(found.indptr))) == 0] > 0).all()


def test_equal_graphs_of_certain_edges_stay_as_they_are():
    graph = related(np.arange(8.0)[:, None], 1)
    certain = graph._replace(values=np.ones_like(graph.values))
    np.testing.assert_allclose(dense(intersected(certain, certain, 0.3)), dense(certain))


def test_the_map_follows_the_target(data):
    X, y = data

    def told(**how):
        Y = UMAP(random_state=0, n_epochs=200, **how).fit(X, y if how else None).embedding_
        return KNeighborsRegressor(10).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2])

    plain = told()
    half, most = (told(target_weight=w, target_metric="euclidean", target_n_neighbors=60) for w in (0.5, 0.9))
    assert half > plain + 0.1
    assert most > 0.95


def test_several_columns_frames_and_files(data, tmp_path):
    X, y = data
    both = np.column_stack([y, X[:, 1]])
    how = {"target_weight": 0.5, "target_metric": "manhattan", "random_state": 0, "n_epochs": 50}
    model = UMAP(**how).fit(X, both)
    frame = UMAP(**how).fit(X, pd.DataFrame(both, columns=["a", "b"]))
    np.testing.assert_array_equal(model.embedding_, frame.embedding_)
    np.testing.assert_array_equal(UMAP(**how).fit(X, y).embedding_, UMAP(**how).fit(X, y[:, None]).embedding_)
    np.testing.assert_array_equal(UMAP(**how, n_jobs=1).fit(X, both).embedding_, model.embedding_)
    model.save(tmp_path / "map.lowdim")
    new = X[:5] + np.float32(0.1)
    np.testing.assert_array_equal(lowdim.load(tmp_path / "map.lowdim").transform(new), model.transform(new))
    assert UMAP(**how, densmap=True).fit(X, both).rad_orig_.shape == (400,)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs targets; got y=None"),
        (np.r_[np.nan, np.zeros(39)], "1 NaN or infinity"),
        (np.r_[np.inf, np.zeros(39)], "1 NaN or infinity"),
        (np.array(["a", "b"] * 20), "needs targets that are numbers"),
        (np.zeros(39), "39"),
        (np.zeros((40, 2, 2)), "needs targets that are numbers|2d|shape"),
    ],
)
def test_bad_targets_are_named_before_work(y, message, data, monkeypatch):
    monkeypatch.setattr("lowdim.methods.neighbor_embedding.nearest", lambda *_, **__: pytest.fail("work began"))
    with pytest.raises(ValueError, match=message):
        UMAP(target_weight=0.5, target_metric="euclidean").fit(data[0][:40], y)


def test_wrong_options_are_named(data):
    X, y = data
    with pytest.raises(ValueError, match="target_n_neighbors must be at most n_samples"):
        UMAP(target_weight=0.5, target_metric="euclidean", target_n_neighbors=500).fit(X, y)
    with pytest.raises(ValueError, match="target_metric"):
        UMAP(target_weight=0.5, target_metric="l7").fit(X, y)
    with pytest.raises(ValueError, match="extend has no targets"):
        UMAP(target_weight=0.5, target_metric="euclidean", n_epochs=5).fit(X, y).extend(X[:3])
