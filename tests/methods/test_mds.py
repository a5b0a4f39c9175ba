"""MDS: exact maps, falling stress, agreement with scikit-learn and PCA, ranks, weights, unknown distances, new rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn import manifold

import lowdim
from lowdim import MDS, PCA
from lowdim.solve import smacof


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(120, 6)) * [4, 3, 2, 1, 1, 1]


def aligned(Y, X):
    """Y turned, flipped and moved onto X."""
    Y, mean = Y - Y.mean(axis=0), X.mean(axis=0)
    U, _, V = np.linalg.svd(Y.T @ (X - mean))
    return Y @ U @ V + mean


@pytest.mark.parametrize("kind", ["metric", "classical"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_plane_comes_back(kind, dtype):
    X = np.random.default_rng(0).uniform(size=(80, 2)).astype(dtype) * 1000
    model = MDS(2, kind=kind, random_state=0).fit(X)
    np.testing.assert_allclose(aligned(model.embedding_, X), X, atol=1e-2)
    assert model.stress_ < 1e-5
    assert model.embedding_.dtype == dtype


def test_classical_scaling_is_pca(cloud):
    model = MDS(3, kind="classical", random_state=0).fit(cloud)
    pca = PCA(3).fit(cloud)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(pca.transform(cloud)), atol=1e-3)
    np.testing.assert_allclose(model.eigenvalues_, pca.explained_variance_ * (len(cloud) - 1), rtol=1e-4)
    new = cloud[:5] + 0.3
    np.testing.assert_allclose(np.abs(model.transform(new)), np.abs(pca.transform(new)), atol=1e-3)


def test_stress_is_that_of_the_formula_and_falls_at_every_step(cloud):
    model = MDS(2, random_state=0, normalized=False, tol=0, max_iter=60).fit(cloud)
    gaps = pdist(cloud) - pdist(model.embedding_)
    assert model.stress_ == pytest.approx(np.square(gaps).sum(), rel=1e-5)
    share = np.square(gaps).sum() / np.square(pdist(cloud)).sum()
    assert model.normalized_stress_ == pytest.approx(np.sqrt(share), rel=1e-5)
    assert (np.diff(model.loss_curve_) <= 0).all()
    assert len(model.loss_curve_) == model.n_iter_ + 1
    assert model.loss_curve_[-1] == model.stress_
    start = MDS(2, kind="classical", normalized=False).fit(cloud)
    assert model.loss_curve_[0] == pytest.approx(start.stress_, rel=1e-5)


def test_a_step_is_guttmans_transform(cloud):
    D = squareform(pdist(cloud)).astype(np.float32)
    Y = cloud[:, :2] - cloud[:, :2].mean(axis=0)
    found = smacof.majorise(D, Y, weights=None, max_iter=1, tol=0.0)
    d = squareform(pdist(Y)) + np.eye(len(Y))
    B = -D / d
    np.fill_diagonal(B, 0)
    np.fill_diagonal(B, -B.sum(axis=1))
    np.testing.assert_allclose(found.positions, B @ Y / len(Y), atol=1e-4)


@pytest.mark.parametrize("kind", ["metric", "nonmetric"])
def test_stress_is_no_higher_than_scikit_learns(kind, cloud):
    D = squareform(pdist(cloud))
    ours = MDS(2, kind=kind, metric="precomputed", random_state=0, tol=1e-7).fit(D)
    rising = kind == "nonmetric"
    _, theirs = manifold.smacof(
        D, metric=not rising, n_components=2, n_init=4, max_iter=300, random_state=0, normalized_stress=rising
    )
    if not rising:  # scikit-learn 1.6 does not normalise it
        theirs = np.sqrt(theirs / (D**2 / 2).sum())
    assert ours.stress_ <= 1.02 * theirs


def test_nonmetric_maps_depend_on_the_order_of_distances_alone(cloud):
    D = squareform(pdist(cloud[:60]))
    one, two = (MDS(2, kind="nonmetric", metric="precomputed", init=cloud[:60, :2]).fit(A) for A in (D, D**3))
    np.testing.assert_allclose(one.embedding_ / one.embedding_.std(), two.embedding_ / two.embedding_.std(), atol=2e-3)
    assert one.stress_ == pytest.approx(two.stress_, rel=1e-3)
    assert one.stress_ < MDS(2, metric="precomputed").fit(D).stress_
    assert spearmanr(pdist(one.embedding_), pdist(cloud[:60]))[0] > 0.9


def test_tied_distances_may_be_torn_apart():
    # All distances of three corners are equal, and the rising function may take any values for them.
    D = np.ones((3, 3)) - np.eye(3)
    model = MDS(1, kind="nonmetric", metric="precomputed", init=[[0.0], [1.0], [3.0]]).fit(D)
    assert model.stress_ < 1e-6


def test_weights_of_one_change_nothing_and_weights_decide_what_is_kept(cloud):
    D = squareform(pdist(cloud[:40]))
    plain = MDS(2, metric="precomputed", random_state=0, max_iter=50, tol=0).fit(D)
    ones = MDS(2, metric="precomputed", random_state=0, max_iter=50, tol=0).fit(D, weights=np.full((40, 40), 7.0))
    np.testing.assert_allclose(ones.embedding_, plain.embedding_, atol=1e-3)
    W = np.where(np.median(D) > D, 1.0, 0.01)
    near = MDS(2, metric="precomputed", random_state=0).fit(D, weights=W)
    close = squareform(W, checks=False) == 1
    gaps = [np.square(pdist(m.embedding_) - squareform(D))[close].sum() for m in (near, plain)]
    assert gaps[0] < gaps[1]
    assert (np.diff(near.loss_curve_) <= 0).all()


def test_unknown_distances_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    D = squareform(pdist(X))
    unknown = np.triu(rng.uniform(size=D.shape) < 0.4, 1)
    given = np.where(unknown | unknown.T, np.nan, D)
    model = MDS(2, metric="precomputed", random_state=0, tol=1e-10, max_iter=3000).fit(given)
    np.testing.assert_allclose(squareform(pdist(model.embedding_)), D, atol=1e-2)
    new = rng.uniform(size=(4, 2))
    apart = np.linalg.norm(new[:, None] - X[None], axis=2)
    apart[:, ::3] = np.nan
    assert np.abs(np.linalg.norm(model.transform(apart)[:, None] - model.embedding_[None], axis=2) - apart)[
        :, 1::3
    ].max() == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "mahalanobis"])
def test_new_rows_have_a_lower_stress_than_anywhere_near(metric, cloud):
    model = MDS(2, metric=metric, random_state=0).fit(cloud[20:])
    Y = model.transform(cloud[:20])
    if metric == "euclidean":
        D = np.linalg.norm(cloud[:20, None] - cloud[None, 20:], axis=2)

        def stress(P):
            return np.square(D - np.linalg.norm(P[:, None] - model.embedding_[None], axis=2)).sum(axis=1)

        rng = np.random.default_rng(0)
        for size in (0.1, 1.0, 5.0):
            assert (stress(Y) <= stress(Y + size * rng.normal(size=Y.shape)) * (1 + 1e-6)).all()
    apart = np.vstack([model.transform(cloud[i : i + 1]) for i in range(5)])
    np.testing.assert_array_equal(apart, Y[:5])
    np.testing.assert_array_equal(model.transform(cloud[20:]), model.embedding_)


def test_new_rows_of_a_plane_go_to_their_places():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    for kind in ("metric", "nonmetric"):
        model = MDS(2, kind=kind, init=X[10:], random_state=0).fit(X[10:])
        whole = np.vstack([model.transform(X[:10]), model.embedding_])
        whole = whole / whole.std() * X.std()
        np.testing.assert_allclose(aligned(whole, X), X, atol=5e-3 if kind == "metric" else 0.05)


def test_several_starts_keep_the_best_and_a_line_finds_the_second_dimension(cloud):
    one = MDS(2, init="random", random_state=3).fit(cloud[:50])
    best = MDS(2, init="random", n_init=4, random_state=3).fit(cloud[:50])
    assert best.stress_ <= one.stress_
    steps = np.abs(np.subtract.outer(np.arange(10), np.arange(10)))  # a ring: no line keeps its distances
    ring = MDS(2, metric="precomputed", random_state=0).fit(np.minimum(steps, 10 - steps))
    assert ring.stress_ < 0.2
    assert ring.embedding_.std(axis=0).min() > 1


def test_sparse_rows_equal_rows_files_and_threads(cloud, tmp_path):
    X = np.abs(cloud[:60])
    model = MDS(2, random_state=0, n_jobs=1).fit(X)
    np.testing.assert_allclose(MDS(2, random_state=0).fit(sp.csr_array(X)).embedding_, model.embedding_, atol=1e-3)
    np.testing.assert_array_equal(MDS(2, random_state=0, n_jobs=2).fit(X).embedding_, model.embedding_)
    twice = MDS(2, random_state=0).fit_transform(np.vstack([X, X[:10]]))
    np.testing.assert_array_equal(twice[60:], twice[:10])
    np.testing.assert_array_equal(MDS(2).fit_transform(np.ones((5, 3))), 0)
    for kind in ("classical", "nonmetric"):
        kept = MDS(2, kind=kind, random_state=0).fit(X[:40])
        kept.save(tmp_path / "m.lowdim")
        np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(X[40:]), kept.transform(X[40:]))


@pytest.mark.parametrize(
    ("change", "params", "weights", "words"),
    [
        ((0, 1, -1.0), {}, None, "0 or more; got -1"),
        ((0, 1, 9.0), {}, None, "symmetric; got 9"),
        ((0, 1, np.inf), {}, None, "distances must be finite; got inf at row 0, column 1. Pass NaN"),
        ((0, 1, np.nan), {}, None, "in both directions or in neither; got only one of those between rows 0 and 1"),
        ((0, 1, np.nan), {"kind": "classical"}, None, "all distances are needed here; got NaN at row 0, column 1"),
        (None, {}, np.zeros((8, 8)), "must connect all rows; those that are known and have a positive weight leave 8 "),
        (None, {}, -np.ones((8, 8)), r"weights must be .* 0 or more; got shape \(8, 8\) with values from -1 to -1"),
        (None, {}, np.ones((3, 3)), r"weights must be .* of shape \(8, 8\).*got shape \(3, 3\)"),
        (None, {"kind": "classical"}, np.ones((8, 8)), "kind='classical' has no weights"),
        (None, {"init": np.zeros((3, 2))}, None, r"init must be finite, of shape .* = \(8, 2\); got shape \(3, 2\)"),
        (None, {"tol": -1.0}, None, "tol must be"),
        (None, {"n_components": 8}, None, "n_components must be at most n_samples - 1 = 7"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(change, params, weights, words):
    D = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    if change is not None:
        D[change[0], change[1]] = change[2]
    with pytest.raises(ValueError, match=words):
        MDS(**{"metric": "precomputed"} | params).fit(D, weights=weights)
