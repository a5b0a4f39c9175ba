"""PaCMAP: the loss it tells, degenerate data, PCA first, new points, determinism, control."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from lowdim import PaCMAP, quality


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


@pytest.fixture(scope="module")
def fitted(digits):
    return PaCMAP(random_state=0).fit(digits[0])


@pytest.fixture(scope="module")
def wide():
    """Rows of 150 columns, which are reduced to 100 by PCA first."""
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(5, 150))
    label = rng.integers(5, size=260)
    return centres[label] + rng.normal(size=(260, 150)), label


def test_maps_keep_neighbours_and_the_large_shape(digits, fitted):
    X, y = digits
    Y = fitted.embedding_
    assert KNeighborsClassifier(1).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2]) > 0.93
    assert quality.trustworthiness(X, Y, n_neighbors=15) > 0.94
    assert quality.shepard_correlation(X, Y) > 0.4
    assert fitted.loss_curve_[-1] == fitted.loss_ < fitted.loss_curve_[0]
    assert set(fitted.timings_) == {"neighbors", "pairs", "start", "descent", "loss"}
    assert fitted.n_iter_ == 450
    assert fitted.n_neighbors_ == 10
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-3)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_maps_of_several_dimensions(k, digits):
    X, y = digits
    Y = PaCMAP(k, max_iter=200, random_state=0).fit_transform(X)
    assert Y.shape == (700, k)
    assert KNeighborsClassifier(1).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2]) > (0.5 if k == 1 else 0.9)


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
def test_any_number_of_threads_gives_the_same_bits(init, digits):
    X = np.tile(digits[0], (4, 1)) + np.random.default_rng(0).normal(scale=0.1, size=(2800, 64))
    one, two = (PaCMAP(max_iter=30, init=init, n_jobs=n, random_state=0).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.loss_ == two.loss_
    new = X[:40] + 0.5
    np.testing.assert_array_equal(one.transform(new), two.transform(new))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 12])
def test_few_rows_have_a_map(n, rng):
    model = PaCMAP(random_state=0).fit(rng.normal(size=(n, 3)))
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.loss_)
    assert model.n_neighbors_ == max(1, min(10, (n - 1) // 2))
    assert np.isfinite(model.transform(rng.normal(size=(2, 3)))).all()
    assert np.abs(model.embedding_).max() < 1000


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
@pytest.mark.parametrize(
    "X",
    [np.ones((30, 3)), np.repeat(np.eye(5), 40, axis=0), np.outer(np.arange(60.0), [1, 1, 1]), np.eye(20)],
    ids=["constant", "duplicates", "a line", "equidistant"],
)
def test_degenerate_data_have_a_map(init, X):
    model = PaCMAP(max_iter=90, init=init, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.loss_)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 49}, r"n_neighbors must be below n_samples - 1, or no row .* \(49\); got 49. Lower it"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"MN_ratio": -1.0}, "MN_ratio must be"),
        ({"FP_ratio": -1.0}, "FP_ratio must be"),
        ({"n_components": 65}, "at most 64"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"init": np.zeros((3, 2))}, r"shape \(n_samples, n_components\) = \(50, 2\)"),
        ({"metric": "precomputed"}, "square matrix"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(params, words, rng, monkeypatch):
    monkeypatch.setattr("lowdim.methods.neighbor_embedding.nearest", None)
    with pytest.raises(ValueError, match=words):
        PaCMAP(**params).fit(rng.normal(size=(50, 4)))


def test_memory_is_asked_for_before_it_is_taken(monkeypatch, rng):
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    with pytest.raises(MemoryError, match="pairs of 2,000 rows.*Lower n_neighbors"):
        PaCMAP().fit(rng.normal(size=(2000, 4)))


def test_wide_rows_go_through_pca_and_new_ones_by_the_same_axes(wide):
    X, label = wide
    model = PaCMAP(random_state=0).fit(X[:200])
    np.testing.assert_array_equal(model.transform(X[:200]), model.embedding_)
    new = model.transform(X[200:])
    assert KNeighborsClassifier(5).fit(model.embedding_, label[:200]).score(new, label[200:]) == 1
    np.testing.assert_array_equal(new[:7], np.vstack([model.transform(row[None]) for row in X[200:207]]))
    sparse = PaCMAP(random_state=0).fit(sp.csr_array(X[:200]))
    np.testing.assert_allclose(sparse.loss_, model.loss_, rtol=0.1)
    np.testing.assert_array_equal(sparse.transform(X[:5]), sparse.embedding_[:5])


def test_new_points_do_not_see_each_other_and_land_among_their_kind(digits, fitted):
    X, y = load_digits(return_X_y=True)
    new = X[700:1000]
    together = fitted.transform(new)
    np.testing.assert_array_equal(together[:20], np.vstack([fitted.transform(row[None]) for row in new[:20]]))
    np.testing.assert_array_equal(fitted.transform(new[::-1])[::-1], together)
    assert KNeighborsClassifier(5).fit(fitted.embedding_, y[:700]).score(together, y[700:1000]) > 0.85
    assert np.isfinite(fitted.transform(digits[0][:3] + 1e6)).all()
    np.testing.assert_array_equal(fitted.transform(digits[0][5:9]), fitted.embedding_[5:9])


def test_equal_rows_have_one_place(digits):
    X = np.vstack([digits[0][:200], digits[0][:50], digits[0][:50]])
    model = PaCMAP(max_iter=90, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_[:50], model.embedding_[200:250])
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


@pytest.mark.parametrize("init", ["spectral", "random"])
def test_a_sparse_graph_that_stores_all_distances_gives_the_map_of_the_array(init, rng):
    D = squareform(pdist(rng.normal(size=(90, 4))))
    rest = {"metric": "precomputed", "init": init, "max_iter": 45, "random_state": 0}
    given, full = PaCMAP(**rest).fit(sp.csr_array(D)), PaCMAP(**rest).fit(D)
    np.testing.assert_array_equal(given.embedding_, full.embedding_)


def test_a_sparse_graph_of_neighbours_is_enough_and_too_few_are_refused(rng):
    X = np.repeat(6 * np.eye(3), 70, axis=0) + rng.normal(size=(210, 3))
    D = squareform(pdist(X))
    near = np.argsort(D, axis=1)
    few, some, many = (sp.csr_array(np.where(near.argsort(axis=1) <= k, D, 0)) for k in (11, 20, 60))
    given = {"metric": "precomputed", "init": "spectral", "max_iter": 90, "random_state": 0}
    with pytest.raises(ValueError, match="at least 12 neighbours stored for each row besides itself; got 11"):
        PaCMAP(n_neighbors=12, **given).fit(few)
    with pytest.warns(UserWarning, match="need 60 neighbours a row; the graph holds 20. Those are used"):
        fewer = PaCMAP(**given).fit(some)
    for model in (fewer, PaCMAP(**given).fit(many)):
        assert quality.trustworthiness(X, model.embedding_, n_neighbors=15) > 0.85


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "mahalanobis", "precomputed"])
def test_other_metrics_give_maps(metric, digits):
    X = digits[0][:150] + 1
    init = "spectral" if metric == "precomputed" else "pca"
    X = squareform(pdist(X)) if metric == "precomputed" else X
    model = PaCMAP(metric=metric, init=init, max_iter=45, random_state=0).fit(X)
    assert np.isfinite(model.loss_)
    np.testing.assert_array_equal(model.transform(X[:4]), model.embedding_[:4])


def test_a_callback_sees_the_map_and_can_stop(digits):
    seen = []

    def callback(iteration, loss, embedding):
        seen.append((iteration, loss, embedding.copy()))
        return iteration == 60

    model = PaCMAP(callback=callback, callback_every=20, random_state=0).fit(digits[0][:200])
    assert [entry[0] for entry in seen] == [20, 40, 60]
    assert model.n_iter_ == 60
    np.testing.assert_array_equal(model.embedding_, seen[-1][2])
    np.testing.assert_allclose(seen[-1][1], model.loss_, rtol=1e-4)


def test_a_warm_start_goes_on_in_the_last_phase(digits):
    X = digits[0][:300]
    model = PaCMAP(max_iter=90, warm_start=True, random_state=0).fit(X)
    before, loss = model.embedding_, model.loss_
    model.set_params(max_iter=100).fit(X)
    assert model.n_iter_ == 190
    assert model.loss_ < loss
    assert np.corrcoef(pdist(before), pdist(model.embedding_))[0, 1] > 0.9
