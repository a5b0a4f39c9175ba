"""Reliability: each score by its definition, dubious rows where a map is torn, and few of them where it is not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn import decomposition

import lowdim
from lowdim.quality import reliability
from lowdim.quality.fitted_map import FittedMap
from lowdim.quality.reliability import _telling, reliability_of_maps
from lowdim.relate.neighbor_places import common_share, region_overlap, spreads


def blobs(rng, n=600, d=10, classes=4, apart=10):
    y = rng.integers(classes, size=n)
    return rng.normal(size=(n, d)) + apart * rng.normal(size=(classes, d))[y], y


def nearest_of(A, k=15):
    D = cdist(A, A)
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


def quick(**given):
    return lowdim.TSNE(max_iter=260, random_state=0, **given)


@pytest.fixture(scope="module")
def fitted():
    X, y = blobs(np.random.default_rng(0))
    return X, y, quick().fit(X)


def test_each_score_is_its_definition(fitted):
    X, _, model = fitted
    found, Y = reliability(model, X), model.embedding_.astype(float)
    near, there = nearest_of(X), nearest_of(Y)
    width = np.sqrt(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean())
    centre = np.median(Y[near], axis=1, keepdims=True)
    np.testing.assert_allclose(found.spread, np.linalg.norm(Y[near] - centre, axis=2).mean(axis=1) / width)
    five = Y[near[:, :5]]
    apart = np.linalg.norm(five - np.median(five, axis=1, keepdims=True), axis=2).mean(axis=1)
    np.testing.assert_allclose(found.near_spread, apart / width)
    shares = [[np.isin(near[i], near[j]).mean() for j in there[i, :5]] for i in range(len(X))]
    np.testing.assert_allclose(found.shared, np.mean(shares, axis=1))
    np.testing.assert_allclose(found.recall, [np.isin(a, b).mean() for a, b in zip(near, there, strict=True)])
    W = np.zeros((len(X), len(X)))
    W[np.arange(len(X))[:, None], near] = 1
    ours, theirs = W[near].mean(axis=1), W[there].mean(axis=1)
    exact = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    assert np.abs(found.overlap - exact).max() < 0.4  # a projection onto 128 directions
    assert np.corrcoef(found.overlap, exact)[0, 1] > 0.9
    assert sorted(found.score) == pytest.approx((np.arange(len(X)) + 0.5) / len(X), abs=0.01)


def test_region_overlap_is_the_cosine_with_all_directions(rng):
    near, there = nearest_of(rng.normal(size=(40, 3)), 4), nearest_of(rng.normal(size=(40, 2)), 6)
    W = np.zeros((40, 40))
    W[np.arange(40)[:, None], near] = 0.25
    ours, theirs = W[near].mean(axis=1), W[there].mean(axis=1)
    exact = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    np.testing.assert_allclose(region_overlap(near, there, np.eye(40, dtype=np.float32)), exact, atol=1e-6)


def test_absent_places_are_left_out_of_spreads(rng):
    Y, near = rng.normal(size=(30, 2)), rng.integers(30, size=(20, 6))
    Y[:5] = np.nan
    for row, value in zip(near, spreads(Y, near), strict=True):
        P = Y[row[row >= 5]]
        expected = np.linalg.norm(P - np.median(P, axis=0), axis=1).mean() if len(P) else np.nan
        assert value == pytest.approx(expected, nan_ok=True)
    assert np.isnan(spreads(Y, np.array([[0, 1]])))[0]
    np.testing.assert_allclose(common_share(near, near), 1)


def test_rows_that_the_map_takes_from_their_neighbours_are_the_dubious_ones(fitted):
    X, y, model = fitted

    class Map:
        """A map with some rows moved into another island."""

        def __init__(self, Y):
            self.embedding_ = Y

    Y = model.embedding_.copy()
    moved = np.flatnonzero(y == 0)[:12]
    Y[moved] = Y[np.flatnonzero(y == 1)[:12]] + 1e-3
    found = reliability(Map(Y), X)
    assert found.score[moved].min() > 0.8
    assert np.isin(found.dubious[:6], [*moved, *np.flatnonzero((nearest_of(X)[:, :, None] == moved).any((1, 2)))]).all()


@pytest.mark.parametrize("make", [lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP, lowdim.PCA])
def test_few_rows_are_dubious_where_blobs_are_well_apart(make):
    shares = []
    for seed in range(3):
        X, _ = blobs(np.random.default_rng(seed), n=700, d=12)
        model = lowdim.PCA(2) if make is lowdim.PCA else make(random_state=seed)
        shares.append(len(reliability(model.fit(X), X).dubious) / len(X))
    assert np.mean(shares) <= 0.05, shares


def test_refits_give_stability_and_the_same_bits_for_any_threads(fitted):
    X, _, model = fitted
    found, again = (reliability(model, X, refits=2, n_jobs=jobs) for jobs in (1, 2))
    assert found.refits == 2
    assert np.nanmin(found.stability) >= 0
    assert np.nanmax(found.stability) <= 1
    assert np.nanmean(found.stability) > 0.2
    assert set(found.table.columns) >= {"score", "dubious", "stability", "error", "refit_spread"}
    np.testing.assert_array_equal(found.table.to_numpy(), again.table.to_numpy())
    assert reliability(model, X, refits=1).error is not None
    assert reliability(model, X, seconds=1e-9).refits == 1  # one is always made
    assert "2 refits" in repr(found)


def test_refit_spread_is_that_of_map_neighbours_in_the_refits(fitted):
    X, _, model = fitted
    case = FittedMap("test", model, X, None, 0, jump=False)
    logs, there = [], nearest_of(model.embedding_.astype(float))
    for rows, _, Z in case._refits(2):
        width = np.sqrt(((Z[rows] - Z[rows].mean(axis=0)) ** 2).sum(axis=1).mean())
        logs.append(np.log(spreads(Z, there) / width + 1e-4))
    np.testing.assert_allclose(reliability(model, X, refits=2).refit_spread, np.exp(np.mean(logs, axis=0)))


def test_spreads_count_less_where_they_differ_much_from_row_to_row():
    rng = np.random.default_rng(0)
    weights = [_telling(np.exp(sd * rng.normal(size=20_000))) for sd in (0.3, 0.775, 1.2)]
    np.testing.assert_allclose(weights, [1, 0.5, 0], atol=0.05)


def test_maps_of_the_same_rows_share_the_search_and_change_nothing(fitted):
    X, _, model = fitted
    found = reliability_of_maps(X, {"t-SNE": model.embedding_, "PCA": X[:, :2]}, 0)
    assert list(found) == ["t-SNE", "PCA"]
    np.testing.assert_array_equal(found["t-SNE"].table.to_numpy(), reliability(model, X).table.to_numpy())


def test_rows_on_a_plane_are_a_faithful_map_of_themselves(rng):
    places, _ = blobs(rng, d=2)
    for d in (2, 3, 10, 50):
        X = places @ np.linalg.qr(rng.normal(size=(d, d)))[0][:2]
        assert len(reliability_of_maps(X, {"plane": places}, 0)["plane"].dubious) <= 0.05 * len(X)


def test_a_jump_is_the_move_of_a_perturbed_row():
    X, _ = blobs(np.random.default_rng(1), n=80, d=4)
    model = quick().fit(X)
    found, Y = reliability(model, X, jump=True), model.embedding_.astype(float)
    axes = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    reach = np.sort(cdist(X, X), axis=1)[:, 5, None]
    moves = [np.linalg.norm(model.transform(X + s * reach * axis) - Y, axis=1) for axis in axes for s in (1, -1)]
    width = np.sqrt(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(found.jump, np.max(moves, axis=0) / width, atol=1e-4)


def test_loadings_have_bootstrap_intervals_that_cover(rng):
    """An eigenvalue of Gaussian rows has the standard error λ√(2/n); its interval is about four of them wide."""
    X = rng.normal(size=(800, 4)) * [4, 2, 1, 0.5]
    found = reliability(lowdim.PCA(2).fit(X), X, refits=60)
    value, low, high = found.intervals["explained_variance_"]
    assert (low < value).all()
    assert (value < high).all()
    np.testing.assert_allclose(high - low, 4 * value * np.sqrt(2 / 800), rtol=0.4)
    loadings = found.intervals["components_"]
    assert (loadings.low <= loadings.high).all()
    assert loadings.high[0, 0] - loadings.low[0, 0] < 0.1


@pytest.mark.parametrize("form", ["float32", "fortran", "sparse", "frame", "chain", "precomputed", "theirs"])
def test_every_form_of_rows_and_models(form, fitted):
    pd = pytest.importorskip("pandas")
    X = fitted[0][:150]
    rows = {
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "sparse": sp.csr_array(X),
        "frame": pd.DataFrame(X, columns=[f"c{i}" for i in range(10)]),
        "precomputed": cdist(X, X),
    }.get(form, X)
    model = {
        "chain": lowdim.chain(lowdim.PCA(5), quick()),
        "precomputed": quick(metric="precomputed", init="random"),
        "theirs": decomposition.PCA(2),
    }.get(form, quick())
    found = reliability(model.fit(rows), rows, refits=1)
    assert found.score.shape == (150,)
    assert np.isfinite(found.score).all()


def test_equal_rows_and_a_map_of_one_point():
    X = np.repeat(np.arange(10.0), 12)[:, None] * np.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = reliability(quick().fit(X), X)
        alike = reliability(lowdim.PCA(2).fit(np.ones((60, 3))), np.ones((60, 3)))
    assert np.isfinite(found.score).all()
    assert len(alike.dubious) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"refits": 0}, "refits must be None, or an integer ≥ 1; got 0"),
        ({"seconds": 0}, "seconds must be None, or a number in"),
        ({"rate": 1.0}, "rate must be a number in"),
        ({"y": [1, 2]}, "y must have one label for each of the 600 rows; got 2"),
    ],
)
def test_arguments_without_sense_are_refused(change, message, fitted):
    X, _, model = fitted
    with pytest.raises(ValueError, match=message):
        reliability(model, X, **change)


def test_models_and_rows_that_do_not_belong_together_are_refused(fitted):
    X, _, model = fitted
    with pytest.raises(ValueError, match="X must be the rows that the TSNE was fitted on, in their order"):
        reliability(model, X[::-1])
    with pytest.raises(ValueError, match="must have one row for each of the 600 rows"):
        reliability(model, X[:100])
    with pytest.raises(ValueError, match="this TSNE is not. Call fit"):
        reliability(lowdim.TSNE(), X)
    with pytest.raises(TypeError, match="a fitted model with embedding_ or transform is needed; got a ndarray"):
        reliability(X, X)
    with pytest.raises(ValueError, match="at least 50 samples"):
        reliability(lowdim.PCA(2).fit(X[:40]), X[:40])
    D = cdist(X[:60], X[:60])
    given = quick(metric="precomputed", init="random").fit(D)
    with pytest.raises(ValueError, match="jump=True needs rows of features"):
        reliability(given, D, jump=True)


def test_memory_is_asked_first(fitted, monkeypatch):
    X, _, model = fitted
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    with pytest.raises(MemoryError, match="reliability: 600 rows needs"):
        reliability(model, X)
