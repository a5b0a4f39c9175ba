"""LLE: identities, agreement with scikit-learn, closed classes, new rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import manifold

from lowdim import LLE, PCA, KernelPCA, data
from lowdim.solve import smallest_eigenpairs
from lowdim.work import memory


@pytest.fixture(scope="module")
def roll():
    return data.load("swissroll", n_samples=600, noise=0.0)


@pytest.fixture(scope="module")
def two_parts():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2)) * [4, 1]
    X[80:] += [8, 0]
    return X


def alike(A, B):
    return min(abs(np.corrcoef(A[:, j], B[:, j])[0, 1]) for j in range(A.shape[1]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [300, 600])
def test_agrees_with_scikit_learn_and_its_objective_is_no_higher(roll, dtype, n):
    X = roll[0][:n].astype(dtype)
    ours = LLE(2, n_neighbors=12, random_state=0).fit(X)
    theirs = manifold.LocallyLinearEmbedding(n_components=2, n_neighbors=12, eigen_solver="dense").fit(
        X.astype("float64")
    )
    assert alike(ours.embedding_, theirs.embedding_) > 0.9999
    assert ours.reconstruction_error_ <= theirs.reconstruction_error_ * (1 + (1e-3 if dtype == "float32" else 1e-6))
    assert ours.residual_ < 1e-8
    new = X[:40] + np.asarray(0.01, dtype)
    scale = np.sqrt(n - 1)  # theirs has orthonormal columns
    flip = np.sign(np.einsum("ij,ij->j", theirs.embedding_, ours.embedding_))
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new) * scale * flip, atol=0.02)


def test_unrolls_a_swiss_roll_and_a_spiral():
    X, t = data.load("swissroll", n_samples=1500)
    assert abs(np.corrcoef(LLE(2, n_neighbors=12).fit_transform(X)[:, 0], t)[0, 1]) > 0.98
    X, s = data.load("spiral", n_samples=1000, noise=0.0)
    order = np.argsort(LLE(1, n_neighbors=12, reg=1e-4).fit_transform(X)[:, 0])
    assert abs(np.corrcoef(np.argsort(order), np.argsort(np.argsort(s)))[0, 1]) > 0.9999


def test_embedding_has_mean_zero_and_unit_covariance(roll):
    Y = LLE(3).fit_transform(roll[0])
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(Y.T @ Y / (len(Y) - 1), np.eye(3), atol=1e-9)


def test_weights_do_not_change_under_rotation_translation_and_scaling(roll):
    X = roll[0]
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    W = LLE().fit(X).weights_
    moved = LLE().fit(7 * X @ turn + [1, 2, 3]).weights_
    np.testing.assert_allclose(moved.toarray(), W.toarray(), atol=1e-6)
    np.testing.assert_allclose(W.sum(axis=1), 1)
    assert (np.diff(W.indptr) == 10).all()


def test_m_annihilates_constants_and_the_error_is_its_trace(roll):
    model = LLE(2).fit(roll[0])
    B = np.eye(len(roll[0])) - model.weights_.toarray()
    M = B.T @ B
    np.testing.assert_allclose(M.sum(axis=1), 0, atol=1e-12)
    V = model.embedding_ / np.sqrt(len(M) - 1)
    assert np.trace(V.T @ M @ V) == pytest.approx(model.reconstruction_error_, rel=1e-6)


def test_is_kernel_pca_on_the_kernel_that_m_stands_for(roll):
    X = roll[0][:250] + np.random.default_rng(0).normal(size=(250, 3))  # eigenvalues well apart
    model = LLE(2, n_neighbors=8).fit(X)
    B = np.eye(len(X)) - model.weights_.toarray()
    M = B.T @ B
    K = np.linalg.eigvalsh(M)[-1] * np.eye(len(X)) - M  # centring drops its constant eigenvector
    kpca = KernelPCA(2, kernel="precomputed").fit((K + K.T) / 2)
    assert alike(kpca.eigenvectors_, model.embedding_) > 0.9999


def test_closed_classes_are_bridged_refused_or_cut(two_parts):
    with pytest.raises(ValueError, match=r"one closed class; it has 2 closed classes of 80, 40 rows"):
        LLE(2, n_neighbors=5, disconnected="error").fit(two_parts)
    with pytest.warns(UserWarning, match="A bridge was added between closest rows"):
        model = LLE(2, n_neighbors=5).fit(two_parts)
    i, j = model.bridges_[0]
    assert model.weights_[[i]].toarray()[0, j] != 0
    assert model.weights_[[j]].toarray()[0, i] != 0
    assert model.eigenvalues_[0] > 0
    assert model.n_connected_components_ == 2
    with pytest.warns(UserWarning, match="The largest is fitted; the other 40 rows are placed"):
        cut = LLE(2, n_neighbors=5, disconnected="largest").fit(two_parts)
    alone = LLE(2, n_neighbors=5).fit(two_parts[:80])
    np.testing.assert_allclose(cut.embedding_[:80], alone.embedding_, atol=1e-8)
    np.testing.assert_allclose(cut.embedding_[80:], alone.transform(two_parts[80:]), atol=1e-6)
    np.testing.assert_array_equal(cut.transform(two_parts), cut.embedding_)


def test_classes_that_symmetric_edges_would_hide_are_found():
    # Two dense clumps and a few rows between them, whose neighbours lie in the clumps but not the reverse.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(62, 2))
    X[30:60] += [40, 0]
    X[60:] = [[17, 0], [23, 0]]
    with pytest.warns(UserWarning, match="has 2 closed classes of .* rows, with 8 rows in none"):
        model = LLE(1, n_neighbors=4).fit(X)
    assert model.n_connected_components_ == 2
    side = model.embedding_[:, 0] > np.median(model.embedding_)
    assert len(set(side[:30])) == 1
    assert side[0] != side[30]


def test_bridges_follow_a_curve_whose_rows_clump():
    X, s = data.load("spiral", n_samples=400, noise=0.0)
    with pytest.warns(UserWarning, match="bridges were added between closest rows"):
        model = LLE(1, n_neighbors=6, reg=1e-4).fit(X)
    assert model.bridge_lengths_.max() < 3  # turns lie 6.28 apart
    order = np.argsort(np.argsort(model.embedding_[:, 0]))
    assert abs(np.corrcoef(order, np.argsort(np.argsort(s)))[0, 1]) > 0.99


def test_duplicated_rows_do_not_break_it(roll):
    X = np.vstack([roll[0][:200], roll[0][:200:4]])
    Y = LLE(2, n_neighbors=12).fit_transform(X)
    assert np.isfinite(Y).all()
    np.testing.assert_array_equal(Y[200:], Y[:200:4])
    np.testing.assert_allclose(Y[:200], LLE(2, n_neighbors=12).fit_transform(X[:200]), atol=1e-6)
    with pytest.warns(UserWarning, match=r"below the number of distinct rows \(3\); got 8. 2 are used"):
        Y = LLE(1, n_neighbors=8).fit_transform(np.repeat([[0.0], [1.0], [2.0]], 5, axis=0))
    np.testing.assert_allclose(Y[::5, 0] * np.sign(Y[-1]), [-1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(np.abs(LLE(1).fit_transform(np.array([[0.0], [1.0]]))), np.sqrt(0.5))


def test_equal_rows_alone_give_one_point(tmp_path):
    with pytest.warns(UserWarning, match="rows must differ; got 6 equal ones. The map is one point"):
        model = LLE(1).fit(np.ones((6, 2)))
    np.testing.assert_array_equal(model.embedding_, 0)
    np.testing.assert_array_equal(model.transform(np.array([[1.0, 1.0], [2.0, 2.0]])), 0)


def test_a_ridge_without_measure_gives_equal_weights(roll):
    model = LLE(1, reg=1e308).fit(roll[0][:50])
    np.testing.assert_allclose(model.weights_.data, 0.1, rtol=1e-9)


def test_bridges_carry_weight_in_the_map(two_parts):
    # As one more neighbour that the weights are solved for, the end of a long bridge may count next to nothing.
    with pytest.warns(UserWarning, match="A bridge"):
        model = LLE(2, n_neighbors=5).fit(two_parts)
    i, j = model.bridges_[0]
    assert min(abs(model.weights_[i, j]), abs(model.weights_[j, i])) > 0.1
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)


def test_the_largest_part_is_connected_not_closed():
    # Two clumps, and a few rows between them that lead into both; the third lies apart.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(n, 2)) * 0.01 + [at, 0] for n, at in ((30, 0), (25, 3), (20, 50))])
    X = np.vstack([X, [[1.2, 0], [1.4, 0], [1.6, 0], [1.8, 0]]])
    with pytest.warns(UserWarning, match="The largest is fitted; the other 20 rows are placed"):
        model = LLE(1, n_neighbors=5, disconnected="largest").fit(X)
    assert model.n_connected_components_ == 3
    far = np.repeat([False, True, False], [55, 20, 4])
    assert not np.diff(model.weights_.indptr)[far].any()
    assert (np.diff(model.weights_.indptr)[~far] >= 5).all()
    assert len(model.bridges_) >= 1


def test_a_map_that_few_rows_make_is_told():
    X = np.random.default_rng(0).standard_t(1, size=(300, 3))  # some rows lie far from all others
    with pytest.warns(UserWarning, match="coordinate 0 .* % of the rows lie within 0.2 .* a few rows dominate the map"):
        LLE(1).fit(X)


def test_sparse_rows_are_the_same_rows(roll):
    X = np.abs(roll[0][:250])
    dense, sparse = LLE(2, random_state=0).fit(X), LLE(2, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.weights_.toarray(), dense.weights_.toarray(), atol=1e-6)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X[:5] + 0.1)), dense.transform(X[:5] + 0.1), atol=1e-2)
    np.testing.assert_array_equal(sparse.transform(X[:5]), sparse.embedding_[:5])


def test_new_rows_lie_between_their_neighbours():
    X, _ = data.load("swissroll", n_samples=1500)
    model = LLE(2, n_neighbors=12).fit(X[50:])
    whole = LLE(2, n_neighbors=12).fit(X)
    assert alike(model.transform(X[:50]), whole.embedding_[:50]) > 0.98
    assert alike(PCA(2).fit_transform(X), whole.embedding_) < 0.9


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 60}, r"n_neighbors must be below n_samples \(60\); got 60"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"reg": -1.0}, "reg must be"),
        ({"n_components": 60}, "n_components must be at most n_samples - 1 = 59; got 60"),
        ({"disconnected": "no"}, "disconnected must be one of"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(params, words, roll):
    with pytest.raises(ValueError, match=words):
        LLE(**params).fit(roll[0][:60])


@pytest.mark.parametrize("solver", ["lu", "chebyshev"])
def test_threads_do_not_change_the_bits(solver, monkeypatch):
    monkeypatch.setattr(smallest_eigenpairs, "_order", lambda *_: [solver])
    X = np.random.default_rng(0).normal(size=(1200, 12))
    one, two = (LLE(2, n_neighbors=10, n_jobs=jobs, random_state=0).fit(X) for jobs in (1, 2))
    assert one.solver_ == solver
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_values_whose_squares_overflow_are_told(kind, roll):
    """Elimination on infinities never came to an end, and distances that are no numbers have no order."""
    X = roll[0][:60]
    with pytest.raises(ValueError, match=r"for their squares to be finite; got .*e\+20\d. Scale the data"):
        LLE(2).fit(kind(X * 1e200))
    with pytest.raises(ValueError, match="Scale the data"):
        LLE(2).fit(kind(X)).transform(kind(np.full((1, 3), 1e200)))


def test_memory_is_asked_for_first(monkeypatch, roll):
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(
        MemoryError, match=r"LLE: 10 neighbours of .* in 90 components.*Lower n_neighbors or n_components"
    ):
        LLE(90).fit(roll[0])
