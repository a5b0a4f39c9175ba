"""UMAP: the loss it tells, degenerate data, parts, labels, new points, determinism, control."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import lowdim
from lowdim import UMAP
from lowdim.compose import arrangement, layout


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


@pytest.fixture(scope="module")
def fitted(digits):
    return UMAP(random_state=0).fit(digits[0])


def test_maps_separate_the_digits_and_tell_their_loss(digits, fitted):
    X, y = digits
    Y = fitted.embedding_
    assert KNeighborsClassifier(1).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2]) > 0.93
    assert lowdim.quality.trustworthiness(X, Y, n_neighbors=15) > 0.95
    assert isinstance(fitted.graph_, sp.csr_matrix)
    V = fitted.graph_.toarray().astype(float)
    w = 1 / (1 + fitted.a_ * (squareform(pdist(Y, "sqeuclidean")) + 1e-3) ** fitted.b_)
    degrees, other = V.sum(axis=1), ~np.eye(700, dtype=bool)
    push = 5 / (2 * 700) * (degrees[:, None] + degrees)
    exact = -(V * np.log(w))[other].sum() - (push * np.log(1 - w))[other].sum()
    np.testing.assert_allclose(fitted.loss_, exact, rtol=1e-4)
    assert fitted.loss_error_ == 0
    assert fitted.loss_curve_[-1] == fitted.loss_ < fitted.loss_curve_[0]
    assert set(fitted.timings_) == {"neighbors", "graph", "start", "descent", "loss"}
    assert fitted.n_epochs_ == 500
    assert fitted.n_neighbors_ == 15
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-3)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_maps_of_several_dimensions(k, digits):
    X, y = digits
    Y = UMAP(k, n_epochs=100, random_state=0).fit_transform(X)
    assert Y.shape == (700, k)
    assert KNeighborsClassifier(1).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2]) > (0.7 if k == 1 else 0.9)


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
def test_any_number_of_threads_gives_the_same_bits(init, digits):
    X = np.tile(digits[0], (4, 1)) + np.random.default_rng(0).normal(scale=0.1, size=(2800, 64))
    one, two = (UMAP(n_epochs=30, init=init, n_jobs=n, random_state=0).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.loss_ == two.loss_
    new = X[:40] + 0.5
    np.testing.assert_array_equal(one.transform(new), two.transform(new))


def test_another_seed_gives_another_map(digits):
    one, two = (UMAP(n_epochs=20, random_state=seed).fit_transform(digits[0][:100]) for seed in (0, 1))
    assert np.abs(one - two).max() > 0.1


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 12])
def test_few_rows_have_a_map(n, rng):
    model = UMAP(random_state=0).fit(rng.normal(size=(n, 3)))
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.loss_)
    assert model.n_neighbors_ == max(2, min(15, n - 1))
    assert np.isfinite(model.transform(rng.normal(size=(2, 3)))).all()
    assert np.abs(model.embedding_).max() < 100


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
@pytest.mark.parametrize(
    "X",
    [np.ones((30, 3)), np.repeat(np.eye(5), 40, axis=0), np.outer(np.arange(60.0), [1, 1, 1]), np.eye(20)],
    ids=["constant", "duplicates", "a line", "equidistant"],
)
def test_degenerate_data_have_a_map(init, X):
    model = UMAP(n_epochs=100, init=init, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.loss_)


def test_equal_rows_have_one_place(digits):
    X = np.vstack([digits[0][:200], digits[0][:50], digits[0][:50]])
    model = UMAP(n_epochs=50, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_[:50], model.embedding_[200:250])
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_parts_of_the_graph_are_laid_out_apart(rng):
    sizes = [60, 30, 20, 16]
    X = np.vstack([rng.normal(size=(size, 4)) + 1000 * i for i, size in enumerate(sizes)])
    part = np.repeat(np.arange(4), sizes)
    for k in (1, 2, 3):
        Y = UMAP(k, n_neighbors=10, n_epochs=100, random_state=0).fit_transform(X)
        right = KNeighborsClassifier(1).fit(Y[::2], part[::2]).score(Y[1::2], part[1::2])
        assert right == 1 if k > 1 else right > 0.9  # on a line points cannot go round each other


def test_parts_are_arranged_by_the_distances_of_their_means(rng):
    sizes, at = [60, 20, 40, 30, 50], np.array([0.0, 100.0, 210.0, 330.0, 460.0])
    part = np.repeat(np.arange(5), sizes)
    X = rng.normal(size=(200, 4))
    X[:, 0] += at[part]
    for given in (X, sp.csr_matrix(X)):
        Y = UMAP(n_neighbors=10, n_epochs=1, random_state=0).fit_transform(given)  # later they drift
        means = np.array([Y[part == c].mean(axis=0) for c in range(5)])
        along = np.linalg.svd(means - means.mean(axis=0))[0][:, 0]
        assert abs(spearmanr(along, at).statistic) > 0.99


def test_a_sheet_begins_as_long_as_it_is_and_not_bent(rng):
    s, depth = 3 * np.pi * rng.uniform(-0.5, 0.5, 700), rng.uniform(0, 2, 700)
    S = np.column_stack([np.sin(s), depth, np.sign(s) * (np.cos(s) - 1)])
    Y = UMAP(random_state=0).fit_transform(S)
    assert spearmanr(pdist(S), pdist(Y)).statistic > 0.82  # 0.74 to 0.78 with coordinates of equal extent
    assert spearmanr(pdist(np.column_stack([s, depth])), pdist(Y)).statistic > 0.93


def test_extents_are_those_of_harmonics_and_of_clusters_not_less():
    curve = np.square(np.arange(1, 5)) * 1e-3
    np.testing.assert_allclose(layout.extents(curve), 1 / np.arange(1, 5) ** 2)
    np.testing.assert_allclose(layout.extents(np.array([1e-3, 1.1e-3])), [1, 1 / 1.1])
    np.testing.assert_allclose(layout.extents(np.array([[1e-9, 1e-2], [0.0, 0.0]])), [[1, 0.25], [1, 1]])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("count", [2, 12, 340])
def test_centres_of_parts_keep_them_apart(k, count, rng):
    sizes = np.concatenate([[500, 500], rng.integers(5, 60, count - 2)])
    means = rng.normal(size=(count, 6)) * 1e6
    means[-1] = 1e12  # far from all others, which must not end up on one spot
    for known in (means, None, np.zeros((count, 6))):
        Y, share = arrangement.centres(sizes, k, 0, known), sizes / sizes.sum()
        assert np.isfinite(Y).all()
        assert np.ptp(Y, axis=0).max() < 10
        large = np.argsort(-sizes)[:12]  # others may share a spot with their neighbours
        radius = np.sqrt(share[large]) if k > 1 else share[large]
        assert (pdist(Y[large]) > 0.85 * pdist(radius[:, None], lambda a, b: (a + b).sum())).all()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 50}, r"n_neighbors must be below n_samples \(50\); got 50. Lower it"),
        ({"n_neighbors": 1}, "n_neighbors must be"),
        ({"min_dist": 1.5}, r"min_dist must be at most spread \(1\); got 1.5. Lower it, or raise"),
        ({"min_dist": -0.1}, "min_dist must be"),
        ({"spread": 0.0}, "spread must be"),
        ({"n_components": 65}, "at most 64"),
        ({"learning_rate": 1e30}, "learning_rate must be"),
        ({"repulsion_strength": -1.0}, "repulsion_strength must be"),
        ({"negative_sample_rate": -1}, "negative_sample_rate must be"),
        ({"set_op_mix_ratio": 2.0}, "set_op_mix_ratio must be"),
        ({"local_connectivity": -1.0}, "local_connectivity must be"),
        ({"target_weight": 1.1}, "target_weight must be"),
        ({"target_weight": 0.5}, "target_weight needs labels; got y=None"),
        ({"n_epochs": 0}, "n_epochs must be"),
        ({"init": np.zeros((3, 2))}, r"shape \(n_samples, n_components\) = \(50, 2\)"),
        ({"init": "tsne"}, "init must be"),
        ({"metric": "precomputed"}, "square matrix"),
        ({"callback": 3}, "callback"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(params, words, rng, monkeypatch):
    monkeypatch.setattr("lowdim.methods.neighbor_embedding.nearest", None)
    with pytest.raises(ValueError, match=words):
        UMAP(**params).fit(rng.normal(size=(50, 4)))


def test_memory_is_asked_for_before_it_is_taken(monkeypatch, rng):
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    with pytest.raises(MemoryError, match="graph of 2,000 rows.*Lower n_neighbors"):
        UMAP().fit(rng.normal(size=(2000, 4)))


def test_the_largest_learning_rate_stays_finite(digits):
    Y = UMAP(learning_rate=1000, n_epochs=50, random_state=0).fit_transform(digits[0][:200])
    assert np.isfinite(Y).all()


def test_labels_pull_classes_apart_and_may_be_unknown(digits):
    X, y = digits[0][:400], digits[1][:400]
    plain = UMAP(n_epochs=200, random_state=0).fit_transform(X)
    told = UMAP(n_epochs=200, target_weight=0.5, random_state=0).fit_transform(X, y)

    def spread(Y):
        """Scatter within classes over the whole."""
        means = np.array([Y[y == c].mean(axis=0) for c in range(10)])
        return np.square(Y - means[y]).sum() / np.square(Y - Y.mean(axis=0)).sum()

    assert spread(told) < 0.5 * spread(plain)
    half = np.where(np.arange(400) % 2, y, -1)
    objects = np.array([None if label < 0 else f"class {label}" for label in half], dtype=object)
    a, b = (UMAP(n_epochs=50, target_weight=0.5, random_state=0).fit_transform(X, labels) for labels in (half, objects))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(  # nobody knows anything: memberships change by one factor, and back
        UMAP(n_epochs=20, target_weight=0.3, random_state=0).fit(X, np.full(400, -1)).graph_.indices.shape,
        UMAP(n_epochs=20, random_state=0).fit(X).graph_.indices.shape,
    )


def test_labels_that_do_not_fit_are_refused(digits):
    model = UMAP(target_weight=0.5)
    with pytest.raises(ValueError, match="one label for each of the 700 rows of X; got 3"):
        model.fit(digits[0], [1, 2, 3])
    with pytest.raises(ValueError, match="-1 marks an unknown label; got no label but -1 and 1"):
        model.fit(digits[0], np.where(digits[1] > 4, 1, -1))


def test_new_points_do_not_see_each_other_and_land_among_their_kind(digits, fitted):
    X, y = load_digits(return_X_y=True)
    new = X[700:1000]
    together = fitted.transform(new)
    np.testing.assert_array_equal(together[:20], np.vstack([fitted.transform(row[None]) for row in new[:20]]))
    np.testing.assert_array_equal(fitted.transform(new[::-1])[::-1], together)
    right = KNeighborsClassifier(5).fit(fitted.embedding_, y[:700]).score(together, y[700:1000])
    assert right > 0.85
    assert np.isfinite(fitted.transform(digits[0][:3] + 1e6)).all()
    np.testing.assert_array_equal(fitted.transform(digits[0][5:9]), fitted.embedding_[5:9])


def test_sparse_rows_and_given_distances_give_the_map_of_dense_rows(digits):
    X = digits[0][:200]
    dense = UMAP(n_epochs=100, random_state=0).fit(X)
    sparse = UMAP(n_epochs=100, random_state=0).fit(sp.csr_matrix(X))
    D = squareform(pdist(X))
    given = UMAP(n_epochs=100, metric="precomputed", random_state=0).fit(D)
    for other in (sparse, given):
        np.testing.assert_allclose(other.graph_.sum(), dense.graph_.sum(), rtol=1e-4)
        np.testing.assert_allclose(other.loss_, dense.loss_, rtol=0.05)
    np.testing.assert_array_equal(sparse.transform(X[:5]), sparse.embedding_[:5])
    np.testing.assert_array_equal(given.transform(D[:4]), given.embedding_[:4])
    assert np.isfinite(given.transform(D[:4] + 1.0)).all()


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "mahalanobis"])
def test_other_metrics_give_maps(metric, digits):
    assert np.isfinite(UMAP(metric=metric, n_epochs=30, random_state=0).fit(digits[0][:150] + 1).loss_)


def test_approximate_neighbours_tell_their_recall(digits):
    model = UMAP(neighbor_search="approximate", n_epochs=20, random_state=0).fit(digits[0])
    assert model.neighbor_search_ == "approximate"
    assert 0.5 < model.neighbor_recall_ <= 1


def test_a_callback_sees_the_map_and_can_stop(digits):
    seen = []

    def callback(epoch, loss, embedding):
        seen.append((epoch, loss, embedding.copy()))
        return epoch == 60

    model = UMAP(callback=callback, callback_every=20, random_state=0).fit(digits[0][:200])
    assert [entry[0] for entry in seen] == [20, 40, 60]
    assert model.n_epochs_ == 60
    np.testing.assert_array_equal(model.embedding_, seen[-1][2])
    np.testing.assert_allclose(seen[-1][1], model.loss_, rtol=0.1)  # an estimate, and the exact sum
    assert model.loss_iterations_.tolist() == [20, 40, 60]


def test_what_a_callback_raises_reaches_the_caller(digits):
    def callback(*_):
        raise RuntimeError("enough")

    model = UMAP(callback=callback, callback_every=5)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(digits[0][:100])
    assert not hasattr(model, "embedding_")


def test_a_warm_start_goes_on(digits):
    X = digits[0][:300]
    model = UMAP(n_epochs=30, warm_start=True, random_state=0).fit(X)
    before, loss = model.embedding_, model.loss_
    model.set_params(n_epochs=100).fit(X)
    assert model.n_epochs_ == 130
    assert model.loss_ < loss
    assert np.corrcoef(pdist(before), pdist(model.embedding_))[0, 1] > 0.5
    with pytest.raises(ValueError, match="warm_start needs data of the shape of the previous fit"):
        model.fit(X[:100])


def test_a_smaller_min_dist_packs_tighter_and_fewer_neighbours_break_up(digits):
    X = digits[0][:400]
    near = [
        np.median(np.sort(squareform(pdist(UMAP(min_dist=gap, random_state=0).fit_transform(X))), axis=1)[:, 1])
        for gap in (0.01, 0.3, 0.99)
    ]
    assert near[0] < near[1] < near[2]


def test_spread_is_the_unit_of_the_map(digits):
    X, seen = digits[0][:200], []

    def callback(epoch, loss, embedding):
        seen.append(embedding)

    given = {"n_epochs": 60, "callback": callback, "random_state": 0}
    one = UMAP(min_dist=0.125, **given).fit(X)
    for spread in (2.0**-10, 64.0):  # divisions by which are exact
        model = UMAP(min_dist=0.125 * spread, spread=spread, **given).fit(X)
        np.testing.assert_array_equal(model.embedding_ / spread, one.embedding_)
        np.testing.assert_array_equal(seen[-1] / spread, seen[0])
        assert model.loss_ == one.loss_
        np.testing.assert_allclose(model.a_ * spread ** (2 * model.b_), one.a_)
        np.testing.assert_array_equal(model.transform(X[:5] + 0.5) / spread, one.transform(X[:5] + 0.5))


def test_rows_without_any_edge_have_a_place(rng):
    Y = UMAP(n_neighbors=3, set_op_mix_ratio=0.0, n_epochs=30, random_state=0).fit_transform(rng.normal(size=(300, 5)))
    assert np.isfinite(Y).all()


def test_a_large_min_dist_does_not_throw_the_map_apart(digits):
    X = digits[0]
    for gap in (0.5, 0.99):
        model = UMAP(min_dist=gap, random_state=0).fit(X)
        assert np.std(model.embedding_) < 15
        assert model.loss_ < 6 * len(X)  # several times that once, when points overshot


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals here")
def test_ctrl_c_stops_the_descent_at_once(rng):
    X = rng.normal(size=(3000, 3)).astype(np.float32)
    stopped = []

    def press():
        time.sleep(1.0)
        stopped.append(True)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    model = UMAP(n_epochs=10**6, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert stopped  # by the signal, not by the end of a million epochs
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_values_beyond_float32_are_refused_and_not_mapped_to_nonsense(scale, rng):
    with pytest.raises(ValueError, match=r"differ by 1e-37 to 1e\+37, for distances in float32; got .* Scale the data"):
        UMAP().fit(scale * rng.normal(size=(40, 4)))


def test_a_graph_given_is_the_one_that_a_fit_computes(digits, fitted, tmp_path):
    X = digits[0]
    settings = {"init": X[:, [20, 21]], "n_epochs": 50, "random_state": 0}
    computed = UMAP(**settings).fit(X)
    alone, both = UMAP(**settings).fit(graph=computed.graph_), UMAP(**settings).fit(X, graph=computed.graph_)
    np.testing.assert_array_equal(alone.embedding_, computed.embedding_.astype(np.float32))
    np.testing.assert_array_equal(both.transform(X[:9] + 0.1), computed.transform(X[:9] + 0.1))
    assert (alone.graph_ != computed.graph_).nnz == 0
    alone.save(tmp_path / "map.lowdim")
    back = lowdim.load(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(back.graph_.toarray(), computed.graph_.toarray())
    with pytest.raises(ValueError, match="transform compares rows with those of fit, which had none"):
        back.transform(X[:3])
    with pytest.raises(ValueError, match="graph must be from 0 to 1; got values from .* to 2"):
        UMAP().fit(graph=2 * computed.graph_ / computed.graph_.max())


def test_labels_weaken_the_edges_of_a_graph_given(digits, fitted):
    y = digits[1]
    model = UMAP(n_epochs=5, target_weight=1.0, random_state=0).fit(y=y, graph=fitted.graph_)
    edges = model.graph_.tocoo()
    assert (edges.data[y[edges.row] != y[edges.col]] == 0).all()


def test_labels_without_a_weight_are_noted_once(digits):
    with pytest.warns(UserWarning, match="target_weight must be above 0 for labels to be used") as told:
        UMAP(n_epochs=2, random_state=0).fit(digits[0][:60], digits[1][:60])
    assert len(told) == 1
