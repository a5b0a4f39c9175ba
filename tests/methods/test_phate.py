"""PHATE: its formulas written out densely, and what its maps must keep."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import lowdim
from lowdim.compose.potential_map import entropies, knee, landmarks, potentials, walk_of
from lowdim.relate.alpha_decay import LEAST, decaying, decaying_from


@pytest.fixture(scope="module")
def tree():
    return lowdim.data.load("tree", n_samples=500, noise=1.0)


def dense_similarities(X, k, decay):
    D = cdist(X, X)
    widths = np.sort(D, axis=1)[:, k]
    S = np.exp(-((D / widths[:, None]) ** decay))
    S[S < LEAST] = 0
    return (S + S.T) / 2, widths


@pytest.mark.parametrize("decay", [40.0, 2.0, 0.7])
@pytest.mark.parametrize("k", [1, 5])
def test_similarities_are_those_of_all_pairs(rng, k, decay):
    """A small decay reaches far beyond the neighbours that are searched for at first."""
    X = rng.normal(size=(80, 4))
    V, widths = decaying(X, k, decay, "euclidean")
    expected, own = dense_similarities(X, k, decay)
    np.testing.assert_allclose(widths, own, rtol=1e-5)
    np.testing.assert_allclose(V.toarray(), expected, atol=2e-4)  # float32 distances to the power of 40


def test_similarities_of_new_rows_are_those_of_a_fitted_row(rng):
    X = rng.normal(size=(60, 3))
    _, widths = decaying(X, 4, 10.0, "euclidean")
    Q = rng.normal(size=(9, 3))
    S = decaying_from(X, widths, Q, 4, 10.0, "euclidean").toarray()
    D = cdist(Q, X)
    own = np.sort(D, axis=1)[:, 3]
    near = np.exp(-((D / own[:, None]) ** 10)) >= LEAST
    expected = np.where(near, (np.exp(-((D / own[:, None]) ** 10)) + np.exp(-((D / widths) ** 10))) / 2, 0)
    np.testing.assert_allclose(S, expected, atol=1e-3)
    assert (S.sum(axis=1) > 0.18).all()


def test_potentials_are_those_of_the_power_of_the_walk(rng):
    V, _ = decaying(rng.normal(size=(50, 3)), 5, 5.0, "euclidean")
    P = V.toarray() / V.toarray().sum(axis=1, keepdims=True)
    walk = walk_of(V, None)
    for t in (1, 2, 7):
        power = np.linalg.matrix_power(P, t)
        np.testing.assert_allclose(potentials(walk, t, 1.0), -np.log(power + 1e-7), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(potentials(walk, t, -1.0), power, rtol=1e-5, atol=1e-12)
        np.testing.assert_allclose(potentials(walk, t, 0.0), 2 * np.sqrt(power), rtol=1e-5, atol=1e-7)
    values = np.linalg.svd(P, compute_uv=False) ** 3
    share = values / values.sum()
    assert entropies(walk, 3)[2] == pytest.approx(-(share * np.log(share)).sum())


def test_groups_of_one_row_are_the_rows_themselves(rng):
    """From a group to its rows and on to groups: two steps of the rows' walk."""
    V, _ = decaying(rng.normal(size=(40, 3)), 5, 5.0, "euclidean")
    walk = walk_of(V, np.arange(40))
    P = V.toarray() / V.toarray().sum(axis=1, keepdims=True)
    np.testing.assert_allclose(walk.towards.toarray(), P, atol=1e-12)
    np.testing.assert_allclose(potentials(walk, 3, -1.0), np.linalg.matrix_power(P, 6), rtol=1e-5, atol=1e-12)


def test_landmarks_are_groups_of_rows_that_are_near(tree):
    X, _ = tree
    V, _ = decaying(X, 5, 40.0, "euclidean")
    groups = landmarks(V, 60, 0)
    sizes = np.bincount(groups)
    assert 40 <= len(sizes) <= 60
    assert sizes.min() > 0
    within = np.mean(
        [np.linalg.norm(X[groups == g] - X[groups == g].mean(axis=0), axis=1).mean() for g in range(len(sizes))]
    )
    assert within < 0.5 * np.linalg.norm(X - X.mean(axis=0), axis=1).mean()


def test_the_knee_is_where_two_lines_meet():
    x = np.arange(30.0)
    assert knee(np.where(x < 12, 40 - 3 * x, 4 - 0.01 * (x - 12))) == 12
    assert knee(np.ones(2)) == 0


def test_branches_of_a_tree_stay_together_and_in_order(tree):
    """Neighbours on the map are of the same branch, and with landmarks the map is nearly that of all rows."""
    X, y = tree
    model = lowdim.PHATE(random_state=0).fit(X)
    assert lowdim.quality.knn_accuracy(model.embedding_, y) > 0.9
    few = lowdim.PHATE(landmarks=250, t=model.t_, random_state=0).fit(X)
    assert few.n_landmarks_ <= 250
    assert lowdim.procrustes(few.embedding_, like=model.embedding_).residual < 0.35


def test_new_rows_are_means_of_landmarks_by_their_similarities(tree):
    X, _ = tree
    model = lowdim.PHATE(landmarks=100, random_state=0).fit(X)
    Q = X[:20] + 0.01
    S = decaying_from(X, model._widths, Q, 5, 40.0, "euclidean")
    by_group = np.zeros((20, model.n_landmarks_))
    np.add.at(by_group.T, model._groups, S.toarray().T)
    expected = (by_group / by_group.sum(axis=1, keepdims=True)) @ model.landmark_positions_
    np.testing.assert_allclose(model.transform(Q), expected, rtol=1e-6, atol=1e-8)
    width = np.ptp(model.embedding_, axis=0).max()
    assert np.abs(model.transform(Q) - model.embedding_[:20]).max() < 0.05 * width


def test_distances_sparse_rows_and_equal_rows_give_the_same_map(tree):
    X = tree[0][:150].copy()
    X[np.abs(X) < 1] = 0
    model = lowdim.PHATE(random_state=0).fit(X)
    sparse = lowdim.PHATE(random_state=0).fit(sp.csr_array(X))
    given = lowdim.PHATE(metric="precomputed", random_state=0).fit(cdist(X, X))
    for other in (sparse, given):
        assert lowdim.procrustes(other.embedding_, like=model.embedding_).residual < 0.02
    twice = lowdim.PHATE(random_state=0).fit(np.vstack([X, X[:30]]))
    np.testing.assert_array_equal(twice.embedding_[150:], twice.embedding_[:30])
    np.testing.assert_allclose(twice.embedding_[:150], model.embedding_, atol=1e-8)


@pytest.mark.parametrize(
    ("options", "X", "text"),
    [
        ({"n_neighbors": 20}, np.eye(20), r"n_neighbors must be below n_samples \(20\); got 20"),
        ({"n_components": 5, "landmarks": 5}, np.eye(20), "n_components must be at most"),
        ({"t": 0}, np.eye(20), "t must be"),
        ({"gamma": 2.0}, np.eye(20), "gamma must be"),
        ({"decay": -1.0}, np.eye(20), "decay must be"),
        ({"landmarks": 1}, np.eye(20), "landmarks must be"),
    ],
)
def test_what_cannot_be_is_refused(options, X, text):
    with pytest.raises(ValueError, match=text):
        lowdim.PHATE(**options).fit(X)


def test_a_sparse_graph_of_distances_is_refused():
    with pytest.raises(TypeError, match="all pairs of rows are needed"):
        lowdim.PHATE(metric="precomputed").fit(sp.csr_array(np.ones((9, 9)) - np.eye(9)))


def test_equal_rows_alone_are_a_point():
    with pytest.warns(UserWarning, match="rows must differ"):
        model = lowdim.PHATE().fit(np.ones((12, 3)))
    assert np.ptp(model.embedding_) == 0
    assert model.transform(np.zeros((2, 3))).shape == (2, 2)
