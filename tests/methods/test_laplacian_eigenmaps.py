"""Laplacian eigenmaps: closed forms, agreement with scikit-learn, similarities, parts, new rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold import SpectralEmbedding

from lowdim import LaplacianEigenmaps, data
from lowdim.relate.graph import neighbor_graph
from lowdim.relate.neighbors import whitened, whitening
from lowdim.relate.pairwise import pairwise


@pytest.fixture(scope="module")
def roll():
    return data.load("swissroll", n_samples=600, noise=0.0)


@pytest.fixture(scope="module")
def two_parts():
    X = np.random.default_rng(0).uniform(size=(120, 2)) * [4, 1]
    X[80:] += [8, 0]
    return X


def circle(n):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def alike(A, B):
    return min(abs(np.corrcoef(A[:, j], B[:, j])[0, 1]) for j in range(A.shape[1]))


@pytest.mark.parametrize("n", [60, 500])
def test_circle_has_the_spectrum_of_a_ring(n):
    model = LaplacianEigenmaps(4, n_neighbors=2, random_state=0).fit(circle(n))
    steps = np.array([1, 1, 2, 2])
    np.testing.assert_allclose(model.eigenvalues_, 1 - np.cos(2 * np.pi * steps / n), rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_[:, :2], axis=1), np.sqrt(2), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_agrees_with_scikit_learn_on_the_same_similarities(roll, dtype):
    X = roll[0].astype(dtype)
    model = LaplacianEigenmaps(3, n_neighbors=10, weights="binary", random_state=0).fit(X)
    graph = neighbor_graph(X, 10, None, "euclidean")
    V = sp.csr_matrix((np.ones(len(graph.ends)), graph.ends, graph.starts), shape=(len(X), len(X)))
    theirs = SpectralEmbedding(3, affinity="precomputed", random_state=0).fit_transform(V)
    assert alike(model.embedding_, theirs) > 1 - 1e-6
    assert model.residual_ < 1e-12


def test_embedding_has_weighted_mean_zero_and_weighted_covariance_one(roll):
    model = LaplacianEigenmaps(3, n_neighbors=8, weights="binary").fit(roll[0])
    graph = neighbor_graph(roll[0], 8, None, "euclidean")
    degrees, Y = np.diff(graph.starts), model.embedding_
    np.testing.assert_allclose(degrees @ Y, 0, atol=1e-8)
    np.testing.assert_allclose((Y.T * degrees) @ Y / degrees.sum(), np.eye(3), atol=1e-9)


@pytest.mark.parametrize("params", [{}, {"gamma": "self_tuning"}, {"n_neighbors": "auto", "radius": 3.6}])
def test_first_coordinate_runs_along_the_roll(params, roll):
    params = {"n_neighbors": 8} | params
    X, t = roll
    Y = LaplacianEigenmaps(1, random_state=0, **params).fit_transform(X)[:, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(Y)), np.argsort(np.argsort(t)))[0, 1]) > 0.98


def test_full_kernel_is_the_dense_eigenproblem():
    X = np.random.default_rng(0).normal(size=(80, 3))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    for gamma in ("median", 0.3, "self_tuning"):
        model = LaplacianEigenmaps(2, n_neighbors=None, gamma=gamma, random_state=0).fit(X)
        s = np.sort(D, axis=1)[:, 39] if gamma == "self_tuning" else np.full(80, np.sqrt(0.5 / model.gamma_))
        assert model.gamma_ == {0.3: 0.3, "self_tuning": None}.get(gamma, model.gamma_)
        if gamma == "median":
            assert s[0] == pytest.approx(np.median(D[np.tril_indices(80, -1)]))
        V = np.exp(-(D**2) / (2 * np.outer(s, s)))
        np.fill_diagonal(V, 0)
        d = V.sum(axis=1)
        values = np.linalg.eigvalsh(np.eye(80) - V / np.sqrt(np.outer(d, d)))
        np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-8)


def test_full_kernel_too_narrow_is_told():
    with pytest.raises(ValueError, match="every row needs a similar row; 20 rows.*smaller gamma"):
        LaplacianEigenmaps(1, n_neighbors=None, gamma=5e5).fit(np.arange(20.0)[:, None])


@pytest.mark.parametrize(
    "params", [{"n_neighbors": 8}, {"n_neighbors": 8, "gamma": "self_tuning"}, {"n_neighbors": None, "gamma": 0.125}]
)
def test_new_rows_go_where_they_would_have_gone(params, roll):
    X = roll[0]
    model = LaplacianEigenmaps(2, random_state=0, **params).fit(X[60:])
    whole = LaplacianEigenmaps(2, random_state=0, **params).fit(X)
    assert alike(model.transform(X[:60]), whole.embedding_[:60]) > 0.98
    np.testing.assert_array_equal(model.transform(X[60:]), model.embedding_)
    apart = np.vstack([model.transform(X[i : i + 1]) for i in range(10)])
    np.testing.assert_allclose(apart, model.transform(X[:10]), atol=1e-9)


def test_parts_are_bridged_refused_or_cut(two_parts):
    with pytest.raises(ValueError, match=r"connected; it has 2 components of 80, 40 rows"):
        LaplacianEigenmaps(2, n_neighbors=5, disconnected="error").fit(two_parts)
    with pytest.warns(UserWarning, match="A bridge was added between closest rows"):
        model = LaplacianEigenmaps(1, n_neighbors=5).fit(two_parts)
    assert model.eigenvalues_[0] > 1e-5
    side = model.embedding_[:, 0] > 0
    assert set(side[:80]) != set(side[80:])
    with pytest.warns(UserWarning, match="the other 40 rows are placed"):
        cut = LaplacianEigenmaps(2, n_neighbors=5, disconnected="largest").fit(two_parts)
    alone = LaplacianEigenmaps(2, n_neighbors=5).fit(two_parts[:80])
    np.testing.assert_allclose(cut.embedding_[:80], alone.embedding_, atol=1e-8)
    np.testing.assert_allclose(cut.embedding_[80:], alone.transform(two_parts[80:]), atol=1e-8)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_other_metrics_are_the_same_distances_given(metric, roll):
    X = roll[0][:200] + 30.0
    D = pairwise(X, metric)
    D = (D + D.T) / 2
    named = LaplacianEigenmaps(2, metric=metric, random_state=0, disconnected="largest").fit(X[:180])
    given = LaplacianEigenmaps(2, metric="precomputed", random_state=0, disconnected="largest").fit(D[:180, :180])
    np.testing.assert_allclose(given.embedding_, named.embedding_, atol=1e-4)
    np.testing.assert_allclose(given.transform(D[180:, :180]), named.transform(X[180:]), atol=1e-3)


def test_mahalanobis_distance_is_euclids_after_whitening(roll):
    X = roll[0][:180]
    named = LaplacianEigenmaps(2, metric="mahalanobis", random_state=0).fit(X)
    flat = LaplacianEigenmaps(2, random_state=0).fit(whitened(X, *whitening(X)))
    np.testing.assert_allclose(named.embedding_, flat.embedding_, atol=1e-8)


def test_equal_rows_share_a_place_and_rows_that_are_all_equal_give_one_point(roll):
    X = np.vstack([roll[0][:200], roll[0][:200:4]])
    model = LaplacianEigenmaps(2, n_neighbors=8, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_[200:], model.embedding_[:200:4])
    with pytest.warns(UserWarning, match="The map is one point"):
        point = LaplacianEigenmaps(1).fit(np.ones((6, 2)))
    np.testing.assert_array_equal(point.transform(np.array([[1.0, 1.0], [5.0, 1.0]])), 0)


def test_sparse_rows_are_the_same_rows(roll):
    X = np.abs(roll[0][:250])
    dense, sparse = (LaplacianEigenmaps(2, random_state=0).fit(A) for A in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-4)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 60}, r"n_neighbors must be below n_samples \(60\); got 60"),
        ({"n_neighbors": 5, "radius": 1.0}, "n_neighbors or radius is needed, not both"),
        ({"gamma": 0.0}, "gamma must be"),
        ({"gamma": "scale"}, "gamma must be.*'median', 'self_tuning'"),
        (
            {"weights": "binary", "gamma": 2.0},
            r"weights='binary' .* takes no gamma; got .*gamma=2\.0. Use weights='heat'",
        ),
        ({"weights": "binary", "n_neighbors": None}, "weights='binary' needs n_neighbors or a radius"),
        ({"weights": "cosine"}, "weights must be one of"),
        ({"n_components": 60}, "n_components must be at most n_samples - 1 = 59; got 60"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(params, words, roll):
    with pytest.raises(ValueError, match=words):
        LaplacianEigenmaps(**params).fit(roll[0][:60])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"weights": "binary"},
        {"gamma": "self_tuning"},
        {"n_neighbors": None, "gamma": 0.1},
        {"metric": "mahalanobis"},
    ],
)
def test_the_affinity_matrix_is_that_of_the_map(params, roll):
    X = np.vstack([roll[0][:150], roll[0][:10]])  # equal rows are in it once
    model = LaplacianEigenmaps(2, random_state=0, **params).fit(X)
    V = model.affinity_matrix_
    assert V.shape == (160, 160)
    assert sp.issparse(V) == ("n_neighbors" not in params)
    V = V.toarray() if sp.issparse(V) else V
    np.testing.assert_array_equal(V, V.T)
    assert not V[150:].any()
    theirs = SpectralEmbedding(2, affinity="precomputed", random_state=0).fit(sp.csr_matrix(V[:150, :150]))
    assert alike(model.embedding_[:150], theirs.embedding_) > 1 - 1e-6


@pytest.mark.parametrize("disconnected", ["bridge", "largest"])
def test_the_affinity_matrix_has_bridges_or_the_largest_component(disconnected, two_parts):
    with pytest.warns(UserWarning, match="connected"):
        model = LaplacianEigenmaps(1, n_neighbors=5, disconnected=disconnected, random_state=0).fit(two_parts)
    V = model.affinity_matrix_.toarray()
    here = V.sum(axis=1) > 0
    assert here.sum() == (120 if disconnected == "bridge" else 80)
    for i, j in model.bridges_:
        assert V[i, j] == V[j, i] == pytest.approx(np.exp(-0.5))
    V = V[np.ix_(here, here)]
    d = V.sum(axis=1)
    values = np.linalg.eigvalsh(np.eye(len(V)) - V / np.sqrt(np.outer(d, d)))
    np.testing.assert_allclose(model.eigenvalues_, values[1:2], rtol=1e-7)


def test_no_affinity_matrix_without_rows(roll):
    model = LaplacianEigenmaps(1, metric="precomputed", random_state=0).fit(pairwise(roll[0][:50], "euclidean"))
    with pytest.raises(AttributeError, match="metric='precomputed' keeps none"):
        _ = model.affinity_matrix_
