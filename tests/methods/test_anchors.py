"""Maps that grow, stay and compare: anchors of all methods that have them, and extend."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import MDS, PCA, SNE, TSNE, UMAP, PaCMAP

QUICK = {
    TSNE: {"max_iter": 60, "perplexity": 10},
    SNE: {"max_iter": 60, "perplexity": 10},
    UMAP: {"n_epochs": 40, "n_neighbors": 10},
    PaCMAP: {"max_iter": 60, "n_neighbors": 6},
    MDS: {"max_iter": 40},
}
every = pytest.mark.parametrize("cls", QUICK)
maps = pytest.mark.parametrize("cls", [TSNE, SNE, UMAP, PaCMAP])


def make(cls, **more):
    return cls(**QUICK[cls], random_state=0, **more)


@pytest.fixture(scope="module")
def X():  # noqa: N802  # the name of rows everywhere
    rng = np.random.default_rng(0)
    return (rng.normal(size=(90, 5)) + 4 * rng.integers(3, size=(90, 1))).astype(np.float32)


@pytest.fixture(scope="module")
def old(X):
    return {cls: make(cls).fit(X[:60]) for cls in QUICK}


@every
def test_no_weight_gives_the_bits_of_no_anchors(cls, X, old):
    for anchors in (old[cls], "pca"):
        found = make(cls, anchors=anchors, anchor_weight=0).fit_transform(X)
        np.testing.assert_array_equal(found, make(cls).fit_transform(X))


@every
def test_full_weight_pins(cls, X, old):
    found = make(cls, anchors=old[cls], anchor_weight=1.0).fit(X)
    np.testing.assert_array_equal(found.embedding_[:60], old[cls].embedding_)
    assert np.abs(found.embedding_[60:] - found.embedding_[60:].mean(axis=0)).max() > 0.1
    pinned = make(cls, anchors="pca", anchor_weight=1.0).fit_transform(X)
    expected = PCA(2).fit_transform(X)
    np.testing.assert_allclose(np.abs(pinned), np.abs(expected), rtol=1e-3, atol=1e-3)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_extended_map_keeps_the_bits_of_the_old_rows(cls, dtype, n_jobs, X, tmp_path):
    X = X.astype(dtype)
    first = make(cls, n_jobs=n_jobs).fit(X[:60])
    more = first.extend(np.asfortranarray(X[60:]))
    np.testing.assert_array_equal(more.embedding_[:60], first.embedding_)
    assert more.embedding_.shape == (90, 2)
    assert more.embedding_.dtype == dtype
    np.testing.assert_array_equal(more.transform(X), more.embedding_)
    np.testing.assert_array_equal(more.embedding_, make(cls).fit(X[:60]).extend(X[60:]).embedding_)
    more.save(tmp_path / "more.lowdim")
    again = lowdim.load(tmp_path / "more.lowdim")
    np.testing.assert_array_equal(again.embedding_, more.embedding_)
    third = again.extend(X[:5])  # rows that are there already
    np.testing.assert_array_equal(third.embedding_[90:], more.embedding_[:5])


@every
def test_sparse_rows_and_data_frames_extend(cls, X):
    expected = make(cls).fit(X[:60]).extend(X[60:]).embedding_
    rows = sp.csr_array(X)
    np.testing.assert_allclose(make(cls).fit(rows[:60]).extend(rows[60:]).embedding_[:60], expected[:60], atol=20)
    frame = pd.DataFrame(X, columns=list("abcde"))
    more = make(cls).fit(frame[:60]).extend(frame[60:])
    np.testing.assert_array_equal(more.embedding_, expected)
    assert list(more.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        more.extend(frame[["b", "a", "c", "d", "e"]])


@every
def test_a_map_from_a_layout_of_ones_own_extends(cls, X):
    first = make(cls, init=X[:60, :2].copy()).fit(X[:60])
    more = first.extend(X[60:])
    np.testing.assert_array_equal(more.embedding_[:60], first.embedding_)
    np.testing.assert_array_equal(more.init, X[:60, :2])


@maps
def test_more_weight_leaves_rows_nearer_to_their_anchors(cls, X, old):
    apart = []
    for weight in (0.05, 0.5, 0.95):
        found = make(cls, anchors=old[cls], anchor_weight=weight).fit(X).embedding_[:60]
        apart.append(np.linalg.norm(found - old[cls].embedding_, axis=1).mean())
    assert apart[0] > 1.2 * apart[1] > 1.4 * apart[2]


@maps
def test_a_weight_for_each_row(cls, X, old):
    weights = np.zeros(90)
    weights[:10] = 1
    found = make(cls, anchors=old[cls], anchor_weight=weights).fit(X)
    np.testing.assert_array_equal(found.embedding_[:10], old[cls].embedding_[:10])
    assert (found.embedding_[10:60] != old[cls].embedding_[10:]).all()


def test_rows_are_shared_by_number_pairs_labels_or_values(X, old):
    Y = old[TSNE].embedding_
    order = np.random.default_rng(1).permutation(90)
    rows = X[order]
    where = np.where(order < 60, order, -1)
    expected = make(TSNE, anchors=Y).fit(rows, shared=where).embedding_
    pair = (np.flatnonzero(where >= 0), where[where >= 0])
    np.testing.assert_array_equal(make(TSNE, anchors=Y).fit(rows, shared=pair).embedding_, expected)
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(90)])
    for labels in (frame.index[:60], frame[:60]):
        found = make(TSNE, anchors=Y).fit(frame.iloc[order], shared=labels)
        np.testing.assert_array_equal(found.embedding_, expected)
    np.testing.assert_array_equal(make(TSNE, anchors=old[TSNE]).fit(rows).embedding_, expected)
    np.testing.assert_array_equal(make(TSNE, anchors=old[TSNE]).fit_transform(rows, shared=where), expected)


def test_scaled_anchors_bring_the_map_nearer_to_the_components():
    X, _ = lowdim.data.load("digits")
    X = X[:500]
    score = {}
    for weight in (0.0, 0.5):
        Y = TSNE(anchors="pca", anchor_weight=weight, max_iter=200, random_state=0).fit_transform(X)
        score[weight] = lowdim.quality.shepard_correlation(X, Y)
    assert float(score[0.5]) > float(score[0.0]) + 0.01
    Y = TSNE(anchors="mds", anchor_weight=0.999, max_iter=200, random_state=0, init="random").fit_transform(X)
    M = MDS(random_state=0, tol=1e-5).fit_transform(X)
    assert lowdim.procrustes(Y, like=M).residual < 0.05


@maps
def test_metric_scaling_draws_sparse_rows_as_it_draws_dense_ones(cls, X):
    D = np.linalg.norm(X[:, None].astype(float) - X[None], axis=2)
    expected = make(cls, anchors="mds", anchor_weight=1.0).fit_transform(X)
    for rows, given in ((sp.csr_array(X), {}), (D, {"metric": "precomputed", "init": "spectral"})):
        found = make(cls, anchors="mds", anchor_weight=1.0, **given).fit_transform(rows)
        np.testing.assert_allclose(found, expected, atol=1e-3)
    near = lowdim.parts.nearest(X, 60)
    graph = sp.csr_array((near.distances.ravel(), near.indices.ravel(), 60 * np.arange(91)), shape=(90, 90))
    with pytest.raises(ValueError, match="got a sparse graph, which holds some distances"):
        make(cls, anchors="mds", metric="precomputed", init="spectral").fit(graph)


@every
def test_a_model_given_as_anchors_survives(cls, X, old, tmp_path):
    model = make(cls, anchors=old[cls], anchor_weight=0.7)
    expected = model.fit_transform(X)
    for copy in (clone(model), clone(make_pipeline(model))[0], pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.anchors.embedding_, old[cls].embedding_)
        np.testing.assert_array_equal(copy.fit_transform(X), expected)
    model.save(tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(loaded.transform(X), expected)
    np.testing.assert_array_equal(clone(loaded).fit_transform(X), expected)
    assert model.get_params()["anchors"] is old[cls]


def test_anchors_work_in_a_grid_search(X, old):
    search = GridSearchCV(
        make(UMAP, anchors=old[UMAP]),
        {"anchor_weight": [0.1, 0.9]},
        scoring=lambda model, rows: -float(np.square(model.transform(X[:60]) - old[UMAP].embedding_).sum()),
        cv=2,
    ).fit(X)
    assert search.best_params_ == {"anchor_weight": 0.9}
    assert search.best_estimator_.anchors is old[UMAP]


def test_distances_can_be_extended(X):
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    first = TSNE(metric="precomputed", init="spectral", max_iter=60, perplexity=10, random_state=0).fit(D[:60, :60])
    more = first.extend(D[60:])
    np.testing.assert_array_equal(more.embedding_[:60], first.embedding_)
    with pytest.raises(ValueError, match="90 columns; got 60"):
        first.extend(D[60:, :60])


def test_what_was_chosen_stays(X):
    first = UMAP(n_neighbors="choose", n_epochs=20, random_state=0).fit(X[:60])
    assert first.extend(X[60:]).n_neighbors_ == first.n_neighbors_


def test_warm_starts_and_callbacks_see_the_pinned_rows(X, old):
    Y, seen = old[TSNE].embedding_, []
    model = make(TSNE, anchors=Y, anchor_weight=1.0, warm_start=True, callback_every=5)
    model.set_params(callback=lambda *told: seen.append(told[2]))
    pairs = (np.arange(60), np.arange(60))
    before = model.fit(X, shared=pairs).embedding_
    after = model.fit(X, shared=pairs).embedding_
    assert len(seen) >= 4
    for one in (*seen, before, after):
        np.testing.assert_array_equal(one[:60], Y)
    assert (before[60:] != after[60:]).all()


def test_equal_rows_share_the_place_of_a_pinned_one(X):
    rows = np.concatenate([X[:40], X[:3]])
    places = np.random.default_rng(0).normal(size=(2, 2))
    model = make(TSNE, anchors=places, anchor_weight=1.0).fit(rows, shared=([40, 2], [0, 1]))
    np.testing.assert_array_equal(model.embedding_[[0, 40]], np.float32(places[[0, 0]]))
    np.testing.assert_array_equal(model.embedding_[[2, 42]], np.float32(places[[1, 1]]))


Y = np.zeros((90, 2)) + np.arange(90)[:, None]
BAD = [
    ({"anchors": Y[:, :1]}, {}, "must have n_components=2 columns; got 1"),
    ({"anchors": Y[:50]}, {}, "anchors of 50 rows and 90 rows of X: pass shared="),
    ({"anchors": np.where(Y > 3, np.nan, Y)}, {}, "NaN or infinity"),
    ({"anchors": Y.ravel()}, {}, r"an array of shape \(180,\)"),
    ({"anchors": [["a", "b"]]}, {}, "anchors must be numbers"),
    ({"anchors": "tsne"}, {}, "anchors must be"),
    ({"anchors": TSNE()}, {}, "Fit it first"),
    ({"anchors": Y, "anchor_weight": -0.1}, {}, "anchor_weight must be"),
    ({"anchors": Y, "anchor_weight": 1.5}, {}, "anchor_weight must be"),
    ({"anchors": Y, "anchor_weight": np.full(90, np.nan)}, {}, r"must lie in \[0, 1\]; got nan"),
    ({"anchors": Y, "anchor_weight": np.ones(3)}, {}, "one for each of the 90 rows"),
    ({"anchors": "pca", "anchor_weight": np.arange(90) / 89}, {}, "cannot be pinned"),
    ({"anchors": Y[:5]}, {"shared": np.full(90, -1)}, "must share rows; got none"),
    ({"anchors": Y[:5]}, {"shared": np.zeros(90, int)}, "rows of the anchors once; 0 is there twice"),
    ({"anchors": Y[:5]}, {"shared": ([1, 1], [0, 2])}, "rows of X once; 1 is there twice"),
    ({"anchors": Y[:5]}, {"shared": ([1], [7])}, "got 7"),
    ({"anchors": Y[:5]}, {"shared": ([1, 2], [3])}, "two arrays of one length"),
    ({"anchors": Y[:5]}, {"shared": np.arange(3)}, "one entry for each of the 90 rows"),
    ({"anchors": Y[:5]}, {"shared": np.zeros(90)}, "must be row numbers"),
    ({"anchors": Y[:5]}, {"shared": pd.RangeIndex(5)}, "must be a data frame with an index"),
    ({"anchors": "pca"}, {"shared": np.arange(90)}, "has all rows"),
    ({}, {"shared": np.arange(90)}, "got anchors=None"),
]


@pytest.mark.parametrize("cls", [TSNE, MDS])
@pytest.mark.parametrize(("params", "given", "words"), BAD)
def test_bad_anchors_are_refused_before_work(cls, params, given, words, X, monkeypatch):
    monkeypatch.setattr("lowdim.methods.neighbor_embedding.nearest", None)
    monkeypatch.setattr("lowdim.methods.mds.pairwise", None)
    with pytest.raises(ValueError, match=words) as error:
        make(cls, **params).fit(X, **given)
    assert str(error.value).startswith(cls.__name__)


def test_repeated_labels_and_foreign_rows_are_refused(X, old):
    frame = pd.DataFrame(X[:60], index=[0, 0, *range(58)])
    with pytest.raises(ValueError, match="labels of rows must be unique; X has 0 twice"):
        make(TSNE, anchors=Y[:60]).fit(frame, shared=pd.RangeIndex(60))
    with pytest.raises(ValueError, match="no row of X equals one of the anchors"):
        make(TSNE, anchors=old[TSNE]).fit(X + 1)


def test_what_cannot_be_extended_says_why(X):
    with pytest.raises(ValueError, match="kind='metric'"):
        MDS(kind="classical").fit(X).extend(X)
    with pytest.raises(ValueError, match="anchors need kind='metric'"):
        MDS(kind="nonmetric", anchors=Y).fit(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.raises(ValueError, match="keeps no rows"):
        MDS(metric="precomputed").fit(D).extend(D)
    P = lowdim.parts.affinities(lowdim.parts.nearest(X, 9).indices, np.full((90, 9), 1 / 9, np.float32))
    with pytest.raises(ValueError, match="extend compares rows with those of fit, which had none"):
        TSNE(max_iter=20).fit(affinities=P).extend(X)
    labelled = UMAP(target_weight=0.5, n_epochs=10).fit(X, np.arange(90) % 2)
    with pytest.raises(ValueError, match="targets of new rows"):
        labelled.extend(X)
    with pytest.raises(ValueError, match="5 features"):
        make(UMAP).fit(X).extend(X[:, :3])
    with pytest.raises(ValueError, match="'choose' fits copies"):
        UMAP(n_neighbors="choose", anchors=Y).fit(X, shared=np.arange(90))


@pytest.mark.parametrize("weights", [False, True])
def test_majorisation_with_anchors_never_raises_the_sum(weights, X, old):
    W = np.random.default_rng(0).random((90, 90))
    given = {"weights": W + W.T} if weights else {}
    for anchors in (old[MDS], "pca"):
        model = make(MDS, anchors=anchors, anchor_weight=0.6, init="random", tol=0.0).fit(X, **given)
        assert (np.diff(model.loss_curve_) <= 0).all()
        assert model.n_iter_ > 5


def test_new_rows_of_mds_have_the_least_stress_beside_the_old_ones(X):
    first = MDS(random_state=0).fit(X[:60])
    more = first.extend(X[60:])
    D = np.linalg.norm(X[:, None].astype(float) - X[None], axis=2)

    def stress(Z):
        return np.square(D - np.linalg.norm(Z[:, None] - Z[None], axis=2)).sum()

    best = stress(more.embedding_)
    for i, d in ((60, 0), (75, 1), (89, 0)):
        for step in (-0.05, 0.05):
            moved = more.embedding_.astype(float).copy()
            moved[i, d] += step
            assert stress(moved) > best
