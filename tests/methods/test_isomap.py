"""Isomap: identities, agreement with scikit-learn, broken graphs, landmarks, supervision, new rows."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn import manifold

import lowdim
from lowdim import PCA, Isomap, data
from lowdim.relate.neighbors import nearest
from lowdim.relate.shortcuts import ShortCircuits
from lowdim.work import memory

pytestmark = pytest.mark.filterwarnings("ignore:Isomap. neighbours should be close")  # noise may join sheets


def alike(A, B):
    """Least correlation of coordinates, up to sign."""
    return min(abs(np.corrcoef(A[:, j], B[:, j])[0, 1]) for j in range(A.shape[1]))


@pytest.fixture(scope="module")
def roll():
    return data.load("swissroll", n_samples=700, noise=0.0)


@pytest.fixture(scope="module")
def two_parts():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2)) * [4, 1]
    X[80:] += [8, 0]
    return X


def test_complete_graph_is_classical_scaling_is_pca(decaying):
    Y = Isomap(3, n_neighbors=len(decaying) - 1).fit_transform(decaying)
    np.testing.assert_allclose(np.abs(Y), np.abs(PCA(3).fit_transform(decaying)), atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_agrees_with_scikit_learn(roll, dtype):
    X = roll[0].astype(dtype)
    ours, theirs = Isomap(2, n_neighbors=8).fit(X), manifold.Isomap(n_components=2, n_neighbors=8).fit(X)
    assert alike(ours.embedding_, theirs.embedding_) > 0.999999
    assert alike(ours.transform(X + 0.05), theirs.transform(X + 0.05)) > 0.9999
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-3)


def test_large_sets_use_products_and_agree_with_scikit_learn():
    X, _ = data.load("s_curve", n_samples=1700)
    ours = Isomap(2, n_neighbors=8, random_state=0).fit(X)
    assert alike(ours.embedding_, manifold.Isomap(n_components=2, n_neighbors=8).fit_transform(X)) > 0.99999
    assert 0 < ours.residual_ <= 1e-5


def test_distances_stored_once_give_the_same_model(tmp_path):
    X = data.load("s_curve", n_samples=2300)[0]  # more sources than one wave has
    fits = [Isomap(2, n_neighbors=8, random_state=0, n_jobs=n).fit(X) for n in (1, 2)]
    np.testing.assert_array_equal(fits[0].embedding_, fits[1].embedding_)
    whole = Isomap(2, n_neighbors=8, random_state=0, landmarks=len(X)).fit(X)  # all distances, both of each pair
    assert alike(fits[0].embedding_, whole.embedding_) > 0.999999
    np.testing.assert_allclose(fits[0].residual_variance_, whole.residual_variance_, rtol=1e-3)
    assert alike(fits[0].transform(X[:300] + 0.01), whole.transform(X[:300] + 0.01)) > 0.99999
    fits[0].save(tmp_path / "once.lowdim")
    again = lowdim.load(tmp_path / "once.lowdim")
    np.testing.assert_array_equal(again.transform(X[:50] + 0.01), fits[0].transform(X[:50] + 0.01))


def test_two_parts_of_many_rows_are_bridged():
    X = data.load("s_curve", n_samples=1100)[0]
    with pytest.warns(UserWarning, match="component"):
        Y = Isomap(2, n_neighbors=8, random_state=0).fit_transform(np.concatenate([X, X + np.array([20, 0, 0])]))
    assert np.isfinite(Y).all()
    assert np.abs(Y[:1100, 0].mean() - Y[1100:, 0].mean()) > 10  # the gap is along the first axis


def test_unrolls_a_swiss_roll_and_a_spiral():
    X, t = data.load("swissroll", n_samples=1500)
    model = Isomap(4, n_neighbors=8).fit(X)
    assert abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.98
    assert model.residual_variance_[1] < 0.01
    assert (np.diff(model.residual_variance_[:2]) < 0).all()
    X, s = data.load("spiral", n_samples=1000, noise=0.0)
    Y = Isomap(1, n_neighbors=12).fit_transform(X)
    assert abs(np.corrcoef(Y[:, 0], s)[0, 1]) > 0.9999
    assert abs(np.corrcoef(PCA(1).fit_transform(X)[:, 0], s)[0, 1]) < 0.9


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_the_dimension_of_a_cube_is_suggested(dimension, rng):
    turn, _ = np.linalg.qr(rng.normal(size=(9, 9)))
    X = rng.random((1000, dimension)) @ turn[:dimension]
    assert Isomap(6, n_neighbors=10).fit(X).suggested_components_ == dimension


def test_a_roll_is_suggested_to_be_a_sheet_though_it_is_long_and_narrow():
    assert Isomap(5, n_neighbors=10).fit(data.load("swissroll", n_samples=1500)[0]).suggested_components_ == 2
    assert Isomap(5, n_neighbors=12).fit(data.load("spiral", noise=0.0)[0]).suggested_components_ == 1


def test_residual_variance_is_one_minus_squared_correlation(roll):
    X = roll[0][:300]
    model = Isomap(2, n_neighbors=10).fit(X)
    D = manifold.Isomap(n_components=2, n_neighbors=10).fit(X).dist_matrix_
    for c in (1, 2):
        R = np.corrcoef(D.ravel(), cdist(model.embedding_[:, :c], model.embedding_[:, :c]).ravel())[0, 1]
        assert model.residual_variance_[c - 1] == pytest.approx(1 - R**2, abs=1e-5)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_other_metrics_match_precomputed_distances(metric):
    X = np.random.default_rng(0).normal(size=(150, 4)) + 3
    D = cdist(X, X, {"cosine": "cosine", "manhattan": "cityblock"}[metric])
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    ours, given = Isomap(2, metric=metric).fit(X), Isomap(2, metric="precomputed").fit(D)
    assert alike(ours.embedding_, given.embedding_) > 0.9999
    new = X[:9] + 0.01
    far = cdist(new, X, {"cosine": "cosine", "manhattan": "cityblock"}[metric])
    assert alike(ours.transform(new), given.transform(far)) > 0.999
    np.testing.assert_array_equal(given.transform(D[:5]), given.embedding_[:5])
    given.set_params(new_points="interpolate")
    assert alike(given.transform(far), given.embedding_[:9]) > 0.99


def test_mahalanobis_distance_is_that_of_whitened_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1, 100, 0.01]
    X = np.column_stack([X, X[:, 0]])  # a dependent feature
    model = Isomap(2, metric="mahalanobis").fit(X)
    white = PCA(3, whiten=True).fit_transform(X)
    assert alike(model.embedding_, Isomap(2).fit_transform(white)) > 0.9999
    assert np.abs(model.transform(X[:20] * 1.0001) - model.embedding_[:20]).max() < 0.1


def test_mahalanobis_of_single_precision_is_not_lost_in_an_offset():
    X = (np.random.default_rng(0).standard_normal((100, 3)) + 1e4).astype("float32")
    single = Isomap(2, n_neighbors=9, metric="mahalanobis").fit(X).embedding_
    double = Isomap(2, n_neighbors=9, metric="mahalanobis").fit(X.astype("float64")).embedding_
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_sparse_rows_are_the_same_rows(roll):
    X = np.abs(roll[0][:200])
    dense, sparse = Isomap(2).fit(X), Isomap(2).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-3)
    for placement in ("geodesic", "interpolate"):
        for model in (dense, sparse):
            model.set_params(new_points=placement)
        new = X[:5] + 0.1
        np.testing.assert_allclose(sparse.transform(sp.csr_array(new)), dense.transform(new), atol=1e-2)
    np.testing.assert_array_equal(sparse.transform(X[:5]), sparse.embedding_[:5])


def test_a_radius_gives_the_graph_of_all_close_pairs(roll):
    X = roll[0][:400]
    ours, theirs = Isomap(2, radius=5.0).fit(X), manifold.Isomap(n_components=2, n_neighbors=None, radius=5.0).fit(X)
    assert alike(ours.embedding_, theirs.embedding_) > 0.99999
    assert np.isfinite(ours.transform(X[:3] + 0.1)).all()
    assert np.isfinite(ours.transform(X[:1] + 100)).all()  # none within the radius: the nearest


def test_all_landmarks_give_the_exact_embedding_and_few_come_near(roll):
    X = roll[0]
    exact = Isomap(2, n_neighbors=8).fit(X)
    every = Isomap(2, n_neighbors=8, landmarks=len(X), random_state=0).fit(X)
    np.testing.assert_allclose(every.embedding_, exact.embedding_, atol=1e-3)
    some = Isomap(2, n_neighbors=8, landmarks=60, random_state=0).fit(X)
    assert len(np.unique(some.landmarks_)) == 60
    assert alike(some.embedding_, exact.embedding_) > 0.99
    new = X[:50] + 0.02
    assert np.abs(some.transform(new) - some.embedding_[:50]).max() < 1.0
    np.testing.assert_array_equal(some.transform(X), some.embedding_)


def test_parts_are_bridged_with_a_warning_that_says_so(two_parts):
    with pytest.warns(
        UserWarning, match=r"2 components of 80, 40 rows.*A bridge .* of length .*disconnected='largest'"
    ):
        model = Isomap(2, n_neighbors=5).fit(two_parts)
    assert model.n_connected_components_ == 2
    D = cdist(two_parts[:80], two_parts[80:])
    i, j = np.unravel_index(D.argmin(), D.shape)
    assert model.bridges_.tolist() == [[i, j + 80]]
    assert model.bridge_lengths_[0] == pytest.approx(D.min(), rel=1e-5)
    assert abs(np.corrcoef(model.embedding_[:, 0], two_parts[:, 0])[0, 1]) > 0.99


def test_broken_graphs_can_be_refused_or_cut(two_parts):
    with pytest.raises(ValueError, match="must be connected; it has 2 components.*Raise n_neighbors"):
        Isomap(2, n_neighbors=5, disconnected="error").fit(two_parts)
    with pytest.warns(UserWarning, match="largest is fitted; the other 40 rows are placed"):
        model = Isomap(2, n_neighbors=5, disconnected="largest").fit(two_parts)
    alone = Isomap(2, n_neighbors=5).fit(two_parts[:80])
    np.testing.assert_allclose(model.embedding_[:80], alone.embedding_, atol=1e-6)
    np.testing.assert_allclose(model.embedding_[80:], alone.transform(two_parts[80:]), atol=1e-4)
    np.testing.assert_array_equal(model.transform(two_parts), model.embedding_)


def test_duplicated_rows_share_a_place(roll):
    X = np.vstack([roll[0][:150], roll[0][:30], roll[0][:1]])
    Y = Isomap(2, n_neighbors=8).fit_transform(X)
    np.testing.assert_allclose(Y[150:180], Y[:30], atol=1e-4)
    with pytest.warns(UserWarning, match="components of"):
        same = Isomap(1, n_neighbors=2).fit(np.repeat([[0.0], [1.0], [2.0]], 5, axis=0))
    np.testing.assert_allclose(np.diff(same.embedding_[::5, 0]), same.embedding_[5, 0] - same.embedding_[0, 0])
    assert not Isomap(2).fit_transform(np.ones((5, 2))).any()


def test_supervision_pulls_classes_apart_by_the_formula(roll):
    X = roll[0][:200]
    y = np.array(["a", "b"])[np.arange(200) % 2]
    plain = Isomap(2, n_neighbors=8).fit(X)
    D = manifold.Isomap(n_components=2, n_neighbors=8).fit(X).dist_matrix_
    own = (y == "a")[:, None] != (y == "a")[None]
    C = np.where(own, D[np.ix_(y == "a", y == "b")].mean(), 0.0)
    expected = Isomap(2, metric="precomputed", n_neighbors=199).fit(0.4 * D + 0.6 * C)
    model = Isomap(2, n_neighbors=8, supervision=0.6).fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.class_distance_[0, 1] == pytest.approx(C.max(), rel=1e-5)
    B = -0.5 * (0.4 * D + 0.6 * C) ** 2
    B -= B.mean(axis=0)
    B -= B.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh((B + B.T) / 2)[::-1][:2], rtol=1e-4)
    # A mixture of two metrics is a metric: no way round is shorter.
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-4)
    given = Isomap(2, n_neighbors=8, supervision=0.6, class_distance=model.class_distance_).fit(X, y)
    np.testing.assert_allclose(given.embedding_, model.embedding_, atol=1e-5)
    some = Isomap(2, n_neighbors=8, supervision=0.6, landmarks=200).fit(X, y)
    np.testing.assert_allclose(some.embedding_, model.embedding_, atol=1e-3)
    assert np.isfinite(model.transform(X[:5] + 0.1)).all()  # unlabelled, by interpolation
    np.testing.assert_array_equal(Isomap(2, n_neighbors=8).fit(X, y).embedding_, plain.embedding_)


def test_threads_do_not_change_the_geodesics(roll):
    one, two = (Isomap(2, n_neighbors=8, n_jobs=jobs).fit(roll[0]) for jobs in (1, 2))
    np.testing.assert_array_equal(one.residual_variance_, two.residual_variance_)
    np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-9)


def test_short_circuits_are_named():
    X, t = data.load("swissroll")
    with pytest.warns(
        UserWarning, match=r"suspected short circuits? .*rows \d+ and \d+, .* apart and .* along other edges"
    ):
        model = Isomap(2, n_neighbors=12).fit(X)
    turns = np.abs(np.diff(t[model.short_circuits_], axis=1)) / (2 * np.pi)
    assert turns.size
    np.testing.assert_allclose(turns, 1, atol=0.1)


@pytest.mark.parametrize("seed", [0, 1])
def test_short_circuits_named_are_the_edges_from_turn_to_turn(seed):
    X, t = data.load("swissroll", random_state=seed)
    with pytest.warns(UserWarning, match="suspected short circuit"):
        model = Isomap(2, n_neighbors=20).fit(X)
    pairs = {tuple(sorted((i, int(j)))) for i, row in enumerate(nearest(X, 20).indices) for j in row}
    crossing = {(i, j) for i, j in pairs if abs(t[i] - t[j]) > np.pi}
    named = {tuple(sorted(map(int, pair))) for pair in model.short_circuits_}
    assert named <= crossing
    assert len(named) >= 0.9 * len(crossing)


@pytest.mark.parametrize("scale", [1e-30, 1e-22, 1e18, 1e25])
def test_the_scale_of_the_data_does_not_matter(scale, roll):
    X, y = roll[0][:300], np.arange(300) % 2
    new = X[:9] + 0.1
    for params in ({}, {"landmarks": 50}, {"supervision": 0.5}):
        plain = Isomap(2, n_neighbors=8, random_state=0, **params).fit(X, y)
        model = Isomap(2, n_neighbors=8, random_state=0, **params).fit(X * scale, y)
        np.testing.assert_allclose(model.embedding_ / scale, plain.embedding_, atol=1e-2)
        np.testing.assert_allclose(model.transform(new * scale) / scale, plain.transform(new), atol=1e-2)
        np.testing.assert_allclose(model.eigenvalues_ / scale / scale, plain.eigenvalues_, rtol=1e-3)
        np.testing.assert_allclose(model.residual_variance_, plain.residual_variance_, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-150, 1e-45, 1e45, 1e150])
def test_distances_beyond_float32_are_refused(scale, roll):
    for metric, X in (("euclidean", roll[0]), ("manhattan", roll[0]), ("precomputed", cdist(roll[0], roll[0]))):
        with pytest.raises(ValueError, match="values must differ by 1e-37 to .* Scale the data"):
            Isomap(metric=metric).fit(scale * X)


def test_a_radius_that_is_too_small_names_one_that_works(roll):
    X = roll[0]
    for seed in range(20):  # a rounded figure would fall short half the time
        some = X[np.random.default_rng(seed).permutation(len(X))[:30]]
        with pytest.raises(ValueError, match="leaves .* rows without") as error:
            Isomap(radius=1e-3).fit(some)
        told = float(re.search(r"Pass (\S+) or more", str(error.value)).group(1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Isomap(radius=told).fit(some)


def test_landmarks_are_rows_of_the_data_where_only_a_part_is_fitted(two_parts):
    X = two_parts[::-1]  # the largest part comes last, from row 40 on
    with pytest.warns(UserWarning, match="has 2 components"):
        model = Isomap(2, n_neighbors=5, landmarks=10, disconnected="largest", random_state=0).fit(X)
    assert model.landmarks_.min() >= 40
    D = model.transform(X + 1e-9) - model.embedding_
    assert np.abs(D).max() < 1e-4 * np.ptp(model.embedding_)


def test_a_class_outside_the_part_fitted_has_no_distance(two_parts):
    y = np.repeat([0, 1, 2], 40)
    with pytest.warns(UserWarning, match="largest is fitted"):
        model = Isomap(2, n_neighbors=5, disconnected="largest", supervision=0.5).fit(two_parts, y)
    np.testing.assert_array_equal(np.isnan(model.class_distance_), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 100}, r"n_neighbors must be below n_samples \(60\); got 100. Lower it"),
        ({"radius": 0.0}, "radius must be .*got 0.0"),
        ({"radius": -1.0}, "radius must be .*got -1.0"),
        ({"radius": 1e-6}, "radius must reach a neighbour of every row; got 1e-06, which leaves 60 rows without"),
        ({"radius": 1.0, "n_neighbors": 5}, "n_neighbors or radius is needed, not both"),
        ({"supervision": 1.0}, r"supervision must be a number in \[0, 1\); got 1.0"),
        ({"supervision": 0.5}, "requires y to be passed, but the target y is None"),
        ({"landmarks": 61}, r"landmarks must be at most n_samples \(60\); got 61"),
        ({"landmarks": 2}, "n_components must be at most landmarks - 1 = 1; got 2"),
        ({"n_components": 60}, "n_components must be at most n_samples - 1 = 59; got 60"),
        ({"metric": "precomputed"}, "square matrix"),
        ({"metric": "euclid"}, "Did you mean 'euclidean'"),
        ({"disconnected": "ignore"}, "disconnected must be one of"),
        ({"class_distance": "far"}, "class_distance must be"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(params, words, roll):
    with pytest.raises(ValueError, match=words):
        Isomap(**params).fit(roll[0][:60])


def test_given_distances_must_be_distances():
    D = cdist(*[np.arange(5.0)[:, None]] * 2)
    for damage, words in ((D - 1, "0 or more; got -1"), (D + 1, "from each to itself"), (np.triu(D), "symmetric")):
        with pytest.raises(ValueError, match=words):
            Isomap(1, metric="precomputed").fit(damage)
    with pytest.raises(ValueError, match="distances to the training rows, 0 or more; got -1 in row 1"):
        Isomap(1, metric="precomputed").fit(D).transform([D[0], D[1] - 1])
    y = [0, 0, 1, 1, 1]
    for C, words in (([[0.0]], "a row for each of the 2 classes; got 1"), ([[0, 1], [2, 0]], "symmetric")):
        with pytest.raises(ValueError, match=words):
            Isomap(1, supervision=0.5, class_distance=C).fit(D, y)


def test_memory_is_asked_for_first(monkeypatch, roll):
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"Isomap: the distances along the data, 700 × 700.*landmarks=1000"):
        Isomap().fit(roll[0])


def test_model_files_carry_no_square_array(roll, tmp_path):
    model = Isomap(2, n_neighbors=8).fit(roll[0])
    model.save(tmp_path / "m.lowdim")
    assert (tmp_path / "m.lowdim").stat().st_size < 4 * 700 * 700 / 4
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(roll[0][:9] + 0.1), model.transform(roll[0][:9] + 0.1))


def test_a_single_short_circuit_is_told_in_the_singular(monkeypatch):
    one = ShortCircuits(np.array([[3, 9]], np.int32), np.ones(1, np.float32), np.full(1, 50.0, np.float32))
    monkeypatch.setattr("lowdim.relate.shortcuts.short_circuits", lambda graph: one)
    told = r"1 pair is a suspected short circuit \(short_circuits_\), such as rows 3 and 9"
    with pytest.warns(UserWarning, match=told):
        Isomap(1).fit(np.arange(30.0)[:, None])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_and_the_error_of_the_map_are_those_of_scikit_learn(roll, dtype):
    X = roll[0][:300].astype(dtype)
    theirs = manifold.Isomap(n_neighbors=8, n_components=2).fit(X)
    ours = Isomap(2, n_neighbors=8).fit(X)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-5)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-5)
    few = Isomap(2, n_neighbors=8, landmarks=60, random_state=0).fit(X)
    np.testing.assert_array_equal(few.dist_matrix_, ours.dist_matrix_)
    assert few.reconstruction_error() > ours.reconstruction_error()  # which is the least of any map


def test_distances_of_rows_that_were_not_fitted_are_infinite(rng):
    X = rng.normal(size=(60, 2))
    X[40:] += 50
    with pytest.warns(UserWarning, match="connected"):
        model = Isomap(1, n_neighbors=5, disconnected="largest").fit(X)
    D = model.dist_matrix_
    alone = Isomap(1, n_neighbors=5).fit(X[:40])
    np.testing.assert_allclose(D[:40, :40], alone.dist_matrix_, rtol=1e-6)
    assert np.isinf(D[:40, 40:]).all()
    np.testing.assert_array_equal(np.diag(D), 0)
    assert model.reconstruction_error() == pytest.approx(alone.reconstruction_error(), rel=1e-6)


def test_the_error_of_a_supervised_map_is_refused_and_so_is_a_matrix_beyond_memory(roll, monkeypatch):
    X, t = roll
    with pytest.raises(ValueError, match="under supervision the map preserves others"):
        Isomap(1, supervision=0.3).fit(X, t > np.median(t)).reconstruction_error()
    model = Isomap(1).fit(X)
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(MemoryError, match="dist_matrix_ of 700 rows"):
        _ = model.dist_matrix_
