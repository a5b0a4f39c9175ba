"""Metrics against SciPy and scikit-learn, and given sparse graphs against the rows they come from."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsTransformer

import lowdim
from lowdim.relate.metrics import METRICS, distances_to, kind_of, metric_with
from lowdim.relate.neighbors import nearest, within
from lowdim.relate.pairs import draw_mid
from lowdim.relate.pairwise import pairwise

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(120, 6))).round(1) * rng.integers(2, size=(120, 6))
X[:, 0] = rng.normal(size=120)  # no row is constant, none is 0
V = np.cov(rng.normal(size=(6, 40)))


def canberra(a, b):
    return float(np.abs((a - b) / (1 + np.abs(a) + np.abs(b))).sum())


CASES = {
    "chebyshev": ("chebyshev", None, {}),
    "minkowski": ("minkowski", {"p": 3}, {"p": 3}),
    "minkowski by default": ("minkowski", None, {"p": 2}),
    "correlation": ("correlation", None, {}),
    "hamming": ("hamming", None, {}),
    "jaccard": ("jaccard", None, {}),
    "mahalanobis": ("mahalanobis", {"VI": V}, {"VI": V}),
    "a function": (canberra, None, {}),
}


def expected(A, B, case):
    metric, _, given = CASES[case]
    if metric == "jaccard":
        return pairwise_distances(A != 0, B != 0, metric="jaccard")
    return cdist(A, B, metric, **given)


def given(case):
    metric, params, _ = CASES[case]
    return metric_with(metric, params, "test")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
def test_neighbours_are_those_of_all_distances(case, dtype):
    A, B = X.astype(dtype), X[:7].astype(dtype) + np.float32(0.3)
    D = expected(A, A, case)
    np.fill_diagonal(D, np.inf)
    found = nearest(A, 5, metric=given(case))
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :5], atol=2e-6, rtol=1e-5)
    near = np.take_along_axis(D, found.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(near, found.distances, atol=2e-6, rtol=1e-5)
    new = nearest(A, 3, queries=B, metric=given(case))
    np.testing.assert_allclose(new.distances, np.sort(expected(B, A, case), axis=1)[:, :3], atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_radius_and_all_pairs(case):
    D = expected(X, X, case)
    radius = float(np.median(D)) + 1e-4
    np.fill_diagonal(D, np.inf)
    assert np.diff(within(X, radius, metric=given(case)).indptr).tolist() == (radius >= D).sum(axis=1).tolist()
    np.fill_diagonal(D, 0)
    np.testing.assert_allclose(pairwise(X, given(case)), D, atol=1e-6)


@pytest.mark.parametrize("case", [case for case in CASES if kind_of(given(case)).apart is not None])
def test_pairs_of_rows_have_the_distances_of_all(case):
    metric = given(case)
    apart = kind_of(metric).apart(X[:50], X[50:100], **metric.given)
    np.testing.assert_allclose(apart, np.diag(distances_to(X[:50], X[50:100], metric)), rtol=1e-9)
    assert draw_mid(X, 2, metric, 0).shape == (120, 2)


@pytest.mark.parametrize("case", CASES)
def test_isomap_and_tsne_are_those_of_the_distances(case):
    metric, params, _ = CASES[case]
    rows = np.unique(X, axis=0)
    D = expected(rows, rows, case)
    ours = lowdim.Isomap(2, n_neighbors=30, metric=metric, metric_params=params).fit(rows)
    by_distances = lowdim.Isomap(2, n_neighbors=30, metric="precomputed").fit((D + D.T) / 2)
    np.testing.assert_allclose(ours.eigenvalues_, by_distances.eigenvalues_, rtol=1e-3)
    if case not in ("chebyshev", "hamming", "jaccard"):  # ties are broken by index here, as they come there
        theirs = manifold.Isomap(n_components=2, n_neighbors=30, metric="precomputed").fit(D)
        np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-3)
    assert ours.transform(rows[:4] + 0.01).shape == (4, 2)
    settings = {"init": "spectral", "max_iter": 40, "random_state": 0}
    by_rows = lowdim.TSNE(metric=metric, metric_params=params, **settings).fit(rows)
    by_distances = lowdim.TSNE(metric="precomputed", **settings).fit((D + D.T) / 2)
    np.testing.assert_allclose(by_rows.kl_divergence_, by_distances.kl_divergence_, rtol=0.02)


def test_sparse_rows_by_jaccard():
    by_rows, by_sparse = nearest(X, 4, metric="jaccard"), nearest(sp.csr_array(X), 4, metric="jaccard")
    np.testing.assert_array_equal(by_rows.indices, by_sparse.indices)


def test_a_metric_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="metric_params of metric='cosine' may hold nothing; got p"):
        lowdim.Isomap(metric="cosine", metric_params={"p": 3}).fit(X)
    with pytest.raises(ValueError, match="p of 1 or more; got 0.5"):
        lowdim.TSNE(metric="minkowski", metric_params={"p": 0.5}).fit(X)
    with pytest.raises(ValueError, match="positive semi-definite; its smallest eigenvalue is -1"):
        lowdim.Isomap(metric="mahalanobis", metric_params={"VI": -np.eye(6)}).fit(X)
    with pytest.raises(ValueError, match=r"VI of shape \(6, 6\)"):
        lowdim.Isomap(metric="mahalanobis", metric_params={"VI": np.eye(3)}).fit(X)
    with pytest.raises(ValueError, match="metric='chebyshev' needs dense rows"):
        lowdim.Isomap(metric="chebyshev").fit(sp.csr_array(X))
    with pytest.raises(ValueError, match="a function that gives distances, finite and 0 or more"):
        lowdim.Isomap(metric=lambda a, b: -1.0).fit(X)
    with pytest.raises(ValueError, match="metric must be one of"):
        lowdim.Isomap(metric="nonsense").fit(X)
    assert set(METRICS) >= {"chebyshev", "minkowski", "correlation", "hamming", "jaccard", "mahalanobis"}


@pytest.fixture(scope="module")
def roll():
    return lowdim.data.load("swissroll", n_samples=400, random_state=0)[0]


def graph_of(roll, k=10, rows=None):
    return KNeighborsTransformer(n_neighbors=k).fit(roll).transform(roll if rows is None else rows)


def test_isomap_from_a_sparse_graph_is_that_of_its_rows(roll):
    ours = lowdim.Isomap(2, n_neighbors=8, metric="precomputed").fit(graph_of(roll))
    np.testing.assert_allclose(ours.embedding_, lowdim.Isomap(2, n_neighbors=8).fit(roll).embedding_, atol=1e-4)
    np.testing.assert_array_equal(ours.transform(graph_of(roll)), ours.embedding_)
    new = graph_of(roll, rows=roll[:5] + 0.05)
    by_rows = lowdim.Isomap(2, n_neighbors=8).fit(roll).transform(roll[:5] + 0.05)
    np.testing.assert_allclose(ours.transform(new), by_rows, atol=1e-3)
    reached = lowdim.Isomap(2, radius=5.0, metric="precomputed").fit(graph_of(roll, 40))
    np.testing.assert_allclose(reached.embedding_, lowdim.Isomap(2, radius=5.0).fit(roll).embedding_, atol=1e-4)


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (lowdim.TSNE, {"perplexity": 10, "init": "spectral", "max_iter": 300}),
        (lowdim.SNE, {"perplexity": 10, "init": "spectral", "max_iter": 300}),
        (lowdim.UMAP, {"n_neighbors": 12, "n_epochs": 30}),
        (lowdim.LaplacianEigenmaps, {"n_neighbors": 9}),
    ],
)
def test_maps_from_a_sparse_graph_are_those_of_its_rows(cls, params, roll, tmp_path):
    k = 31
    ours = cls(metric="precomputed", random_state=0, **params).fit(graph_of(roll, k))
    theirs = cls(random_state=0, **params).fit(roll)
    if cls is lowdim.LaplacianEigenmaps:
        np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-3)
    else:
        loss = "kl_divergence_" if hasattr(ours, "kl_divergence_") else "loss_"
        np.testing.assert_allclose(getattr(ours, loss), getattr(theirs, loss), rtol=0.02)
    np.testing.assert_array_equal(ours.transform(graph_of(roll, k)), ours.embedding_)
    assert np.isfinite(ours.transform(graph_of(roll, k, roll[:3] + 0.05))).all()
    ours.save(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "map.lowdim").embedding_, ours.embedding_)


def test_graphs_that_lack_what_is_needed_are_refused(roll):
    with pytest.raises(ValueError, match="at least 20 neighbours stored for each row besides itself; got 10 for row"):
        lowdim.Isomap(2, n_neighbors=20, metric="precomputed").fit(graph_of(roll))
    with pytest.raises(ValueError, match="0 or more; got -"):
        lowdim.TSNE(metric="precomputed", init="random").fit(-graph_of(roll))
    two = sp.block_diag([graph_of(roll)] * 2, format="csr")
    with pytest.raises(ValueError, match="sparse graph of neighbours must be connected.* it has 2"):
        lowdim.Isomap(2, metric="precomputed").fit(two)
