"""SNE and t-SNE: maps against scikit-learn's, degenerate data, new points, determinism, control."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import lowdim
from lowdim import SNE, TSNE
from lowdim.relate import affinities as relations
from lowdim.relate.affinities import affinities, likelihoods
from lowdim.relate.neighbors import nearest

both = pytest.mark.parametrize("cls", [SNE, TSNE])


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


@pytest.fixture(scope="module")
def fitted(digits):
    return TSNE(random_state=0).fit(digits[0])


def by_hand(X, Y, perplexity):
    """KL of a map with P over all pairs from scikit-learn's search of the perplexity."""
    from sklearn.manifold._t_sne import _joint_probabilities

    P = squareform(_joint_probabilities(squareform(pdist(X, "sqeuclidean")).astype(np.float32), perplexity, 0))
    Q = 1 / (1 + squareform(pdist(Y, "sqeuclidean")))
    np.fill_diagonal(Q, 0)
    some = P > 1e-12
    return (P[some] * np.log(P[some] * Q.sum() / Q[some])).sum()


def test_maps_are_as_good_as_those_of_scikit_learn(digits, fitted):
    from sklearn import manifold

    X, y = digits
    few = TSNE(random_state=0).fit(X[:300])
    Y = manifold.TSNE(perplexity=30, random_state=0, max_iter=750).fit_transform(X[:300])
    exact = by_hand(X[:300], few.embedding_, 30)
    assert exact < by_hand(X[:300], Y, 30) + 0.02
    assert abs(few.kl_divergence_ - exact) < 0.1  # P of 90 neighbours and of all
    assert KNeighborsClassifier(1).fit(fitted.embedding_[::2], y[::2]).score(fitted.embedding_[1::2], y[1::2]) > 0.93


@pytest.mark.parametrize("how", ["exact", "barnes_hut", "fft"])
@both
def test_all_repulsions_reach_the_same_divergence(cls, how, digits):
    model = cls(method=how, max_iter=400, random_state=0).fit(digits[0][:400])
    assert model.method_ == how
    exact = cls(method="exact", max_iter=400, random_state=0).fit(digits[0][:400])
    np.testing.assert_allclose(model.kl_divergence_, exact.kl_divergence_, atol=0.03)


def test_the_grid_reaches_the_divergence_of_exact_sums():
    X = load_digits().data
    grid, exact = (TSNE(method=how, random_state=0).fit(X) for how in ("fft", "exact"))
    assert grid.kl_divergence_ < 1.005 * exact.kl_divergence_


@both
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_maps_of_several_dimensions(cls, k, digits):
    model = cls(k, max_iter=300, random_state=0).fit(digits[0][:300])
    assert model.embedding_.shape == (300, k)
    assert model.kl_divergence_ < model.loss_curve_[0]


@both
def test_any_number_of_threads_gives_the_same_bits(cls, digits):
    X = np.tile(digits[0], (3, 1)) + np.random.default_rng(0).normal(scale=0.1, size=(2100, 64))
    one, two = (cls(max_iter=60, early_exaggeration_iter=30, n_jobs=n, random_state=0).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.kl_divergence_ == two.kl_divergence_
    new = X[:40] + 0.5
    np.testing.assert_array_equal(one.transform(new), two.transform(new))


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
def test_every_layout_has_the_same_bits_for_any_threads(init, digits):
    one, two = (TSNE(max_iter=30, init=init, n_jobs=n, random_state=3).fit_transform(digits[0]) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@both
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 12])
def test_few_rows_have_a_map(cls, n, rng):
    model = cls(random_state=0).fit(rng.normal(size=(n, 3)))
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.kl_divergence_)
    assert model.perplexity_ == max(1, (n - 1) / 3)
    assert np.isfinite(model.transform(rng.normal(size=(2, 3)))).all()


@both
@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
@pytest.mark.parametrize(
    "X",
    [np.ones((30, 3)), np.repeat(np.eye(5), 40, axis=0), np.outer(np.arange(60.0), [1, 1, 1]), np.eye(20)],
    ids=["constant", "duplicates", "a line", "equidistant"],
)
def test_degenerate_data_have_a_map(cls, init, X):
    model = cls(max_iter=150, init=init, random_state=0).fit(X)
    Y, n = model.embedding_, len(X)
    _, group = np.unique(X, axis=0, return_inverse=True)
    positions = np.stack([Y[np.argmax(group == g)] for g in range(group.max() + 1)])
    np.testing.assert_array_equal(Y, positions[group])  # equal rows have one place
    assert len(np.unique(positions, axis=0)) == len(positions)  # and others have others
    if len(np.unique(pdist(X).round(9))) == 1:  # all rows alike or equally far apart: P is uniform
        q = (1 / (1 + pdist(Y, "sqeuclidean"))) if cls is TSNE else np.exp(-pdist(Y, "sqeuclidean"))
        expected = -np.log(q / q.sum() * n * (n - 1) / 2).mean()
        np.testing.assert_allclose(model.kl_divergence_, expected, rtol=1e-4, atol=1e-6)
    elif len(positions) == n:  # a line
        assert lowdim.quality.trustworthiness(X, Y, 5) > 0.9


@both
@pytest.mark.parametrize("n", [20, 60, 200])
def test_few_rows_do_not_collapse_under_exaggeration(cls, n, digits):
    model = cls(random_state=0).fit(digits[0][:n])
    assert model.kl_divergence_ < 0.7
    assert np.std(model.embedding_) > 0.3


@both
@pytest.mark.parametrize("n", [3, 4, 5, 8, 30])
def test_few_rows_are_not_thrown_apart(cls, n):
    for seed in range(8):
        model = cls(random_state=0).fit(np.random.default_rng(seed).normal(size=(n, 4)))
        assert -1e-6 < model.kl_divergence_ < 1.5
        assert np.abs(model.embedding_).max() < 1000


@pytest.mark.parametrize("n", [3, 4])
def test_a_handful_of_rows_reaches_the_least_divergence(n):
    """Three or four distances can be had in the plane as P asks for them, so that nothing but 0 is left at the end."""
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(n, 5))
        assert SNE(random_state=0).fit(X).kl_divergence_ < 2e-3, seed


def test_rows_without_groups_keep_both_directions(rng):
    from sklearn import manifold

    X = rng.normal(size=(80, 20))
    Y = manifold.TSNE(perplexity=79 / 3, random_state=0).fit_transform(X)
    assert by_hand(X, TSNE(random_state=0).fit_transform(X), 79 / 3) < by_hand(X, Y, 79 / 3) + 0.03


def test_equal_rows_have_one_place(digits):
    X = np.vstack([digits[0][:200], digits[0][:50], digits[0][:50]])
    for init in ("pca", "random"):
        model = TSNE(max_iter=200, init=init, random_state=0).fit(X)
        np.testing.assert_array_equal(model.embedding_[:50], model.embedding_[200:250])
        np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_a_line_does_not_stay_on_a_line():
    Y = TSNE(max_iter=400, random_state=0).fit_transform(np.outer(np.arange(80.0), [1, 2]))
    assert min(np.std(Y, axis=0)) > 0.05  # from 1e-6


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"perplexity": 60}, r"between 1 and n_samples - 1 = 49; got 60.*'auto'"),
        ({"perplexity": [5, 60]}, "between 1 and"),
        ({"perplexity": 0.5}, "between 1 and"),
        ({"perplexity": []}, "perplexity must be"),
        ({"n_components": 65}, "at most 64"),
        ({"n_components": 3, "method": "fft"}, "at most 2; got 3.*auto"),
        ({"n_components": 4, "method": "barnes_hut"}, "at most 3"),
        ({"init": np.zeros((3, 2))}, r"shape \(n_samples, n_components\) = \(50, 2\)"),
        ({"init": [["a", "b"]] * 50}, "array of numbers"),
        ({"init": np.full((50, 2), np.nan)}, "NaN"),
        ({"init": "umap"}, "init must be"),
        ({"method": "interpolation"}, "method must be"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"early_exaggeration": 0.5}, "exaggeration"),
        ({"exaggeration": 0.0}, "exaggeration must be"),
        ({"metric": "precomputed"}, "square matrix"),
        ({"callback": 3}, "callback"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(params, words, rng):
    with pytest.raises(ValueError, match=words):
        TSNE(**params).fit(rng.normal(size=(50, 4)))


def test_memory_is_asked_for_before_it_is_taken(monkeypatch, rng):
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    with pytest.raises(MemoryError, match="affinities of 2,000 rows.*Lower perplexity"):
        TSNE().fit(rng.normal(size=(2000, 4)))


def test_new_points_do_not_see_each_other(digits, fitted):
    new = load_digits(return_X_y=True)[0][700:730]
    together = fitted.transform(new)
    one_by_one = np.vstack([fitted.transform(row[None]) for row in new])
    np.testing.assert_array_equal(together, one_by_one)
    np.testing.assert_array_equal(fitted.transform(new[::-1])[::-1], together)


@both
def test_new_points_land_among_their_kind(cls, digits):
    X, y = load_digits(return_X_y=True)
    model = cls(random_state=0).fit(X[:900])
    right = KNeighborsClassifier(5).fit(model.embedding_, y[:900]).score(model.transform(X[900:1400]), y[900:1400])
    assert right > (0.9 if cls is TSNE else 0.75)


def test_training_rows_get_their_places(digits, fitted):
    np.testing.assert_array_equal(fitted.transform(digits[0][5:9]), fitted.embedding_[5:9])


def test_far_points_are_placed_too(digits, fitted):
    Y = fitted.transform(digits[0][:3] + 1e6)
    # Equally far from all, they stand among the rows that are nearest by a hair.
    near = nearest(digits[0], 90, queries=digits[0][:3] + 1e6).indices
    low, high = (bound(fitted.embedding_[near], axis=1) for bound in (np.min, np.max))
    assert np.all((low <= Y) & (high >= Y))


@both
def test_rows_between_clusters_are_placed_within_the_map(cls, rng):
    centres = 30 * np.eye(6)
    X = np.concatenate([c + rng.normal(size=(60, 6)) for c in centres])
    model = cls(max_iter=400, random_state=0).fit(X)
    between = centres[rng.integers(0, 6, 200)] / 2 + centres[rng.integers(0, 6, 200)] / 2 + rng.normal(size=(200, 6))
    Y, low, high = model.transform(between), model.embedding_.min(axis=0), model.embedding_.max(axis=0)
    assert np.all((low <= Y) & (high >= Y))
    np.testing.assert_array_equal(model.transform(between[7:9]), Y[7:9])


def test_sparse_rows_give_the_map_of_dense_ones(digits):
    X = digits[0][:200]
    dense, sparse = (TSNE(max_iter=100, random_state=0).fit(form) for form in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(dense.kl_divergence_, sparse.kl_divergence_, rtol=0.05)
    np.testing.assert_array_equal(sparse.transform(X[:5]), sparse.embedding_[:5])
    assert np.isfinite(sparse.transform(sp.csr_matrix(X[:5] + 1))).all()


def test_sparse_rows_with_entries_in_parts_are_left_as_they_are(digits):
    whole = sp.csr_array(digits[0][:60])
    parts = (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2)
    X = sp.csr_array(parts, shape=whole.shape)
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    Y = TSNE(max_iter=50, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(Y, TSNE(max_iter=50, random_state=0).fit_transform(whole))
    for part, kept in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, kept)


def test_distances_may_be_given(digits):
    X = digits[0][:150]
    D = squareform(pdist(X))
    given = TSNE(metric="precomputed", init="random", max_iter=200, random_state=0).fit(D)
    found = TSNE(init="random", max_iter=200, random_state=0).fit(X)
    np.testing.assert_allclose(given.kl_divergence_, found.kl_divergence_, atol=0.05)
    np.testing.assert_array_equal(given.transform(D[:4]), given.embedding_[:4])
    assert np.isfinite(given.transform(D[:4] + 1.0)).all()


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "mahalanobis"])
def test_other_metrics_give_maps(metric, digits):
    X = digits[0][:150] + 1
    inverse = {"VI": np.linalg.pinv(np.cov(X.T))} if metric == "mahalanobis" else {}
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric), **inverse)
    given, found = (
        TSNE(metric=how, init="random", max_iter=200, random_state=0).fit(data)
        for how, data in (("precomputed", D), (metric, X))
    )
    np.testing.assert_allclose(found.kl_divergence_, given.kl_divergence_, atol=0.05)


def test_perplexities_and_widths(digits):
    X = digits[0][:300]
    assert TSNE(perplexity=[5, 40], max_iter=50).fit(X).perplexity_ == [5.0, 40.0]
    assert TSNE(max_iter=50).fit(X[:31]).perplexity_ == 10
    narrow, wide = (TSNE(sigma=sigma, max_iter=50).fit(X).perplexity_ for sigma in (3.0, 20.0))
    assert 1 <= narrow < wide <= 90


def test_a_callback_sees_the_map_and_can_stop(digits):
    seen = []

    def callback(iteration, loss, embedding):
        seen.append((iteration, loss, embedding.shape))
        return np.bool_(iteration == 80)

    model = TSNE(callback=callback, callback_every=20, random_state=0).fit(digits[0][:200])
    assert [entry[0] for entry in seen] == [20, 40, 60, 80]
    assert model.n_iter_ == 80
    np.testing.assert_allclose(model.loss_curve_[:3], [entry[1] for entry in seen[:3]])
    assert model.loss_iterations_.tolist() == [20, 40, 60, 80]
    assert seen[0][2] == (200, 2)


def test_a_warm_start_goes_on(digits):
    X = digits[0][:300]
    model = TSNE(max_iter=300, warm_start=True, random_state=0).fit(X)
    first, trace = model.kl_divergence_, len(model.loss_curve_)
    model.set_params(max_iter=200).fit(X)
    assert model.kl_divergence_ < first
    assert model.n_iter_ <= 500
    assert len(model.loss_curve_) > trace
    with pytest.raises(ValueError, match="warm_start needs data of the shape of the previous fit"):
        model.fit(X[:100])


def test_descent_stops_where_progress_does(rng):
    model = TSNE(max_iter=100_000, random_state=0).fit(rng.normal(size=(20, 3)))
    assert model.n_iter_ < 20_000


def test_what_is_learnt_is_told(digits, fitted):
    assert set(fitted.timings_) == {"neighbors", "affinities", "start", "descent", "divergence"}
    assert fitted.kl_divergence_error_ == 0
    assert fitted.force_error_ is None
    np.testing.assert_allclose(fitted.point_losses_.sum(), fitted.kl_divergence_)
    assert fitted.loss_curve_[-1] == fitted.kl_divergence_
    np.testing.assert_allclose(fitted.embedding_.mean(axis=0), 0, atol=1e-3)


def test_a_wrong_layout_is_refused_before_neighbours_are_sought(digits, monkeypatch):
    monkeypatch.setattr("lowdim.methods.neighbor_embedding.nearest", None)
    with pytest.raises(ValueError, match=r"init must be finite, of shape .* got an array of shape \(3, 2\)"):
        TSNE(init=np.ones((3, 2))).fit(digits[0])


def test_a_given_layout_is_kept_as_it_lies(digits):
    X = digits[0][:200]
    given = np.random.default_rng(0).normal(size=(200, 2)) * 1e3
    a, b = (TSNE(init=start, max_iter=20).fit_transform(X) for start in (given, given * 7 + 3))
    np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-6)


def test_fewer_degrees_of_freedom_spread_more(digits):
    X = digits[0][:200]
    sizes = [np.std(TSNE(dof=dof, max_iter=400, random_state=0).fit_transform(X)) for dof in (0.5, 1.0, 10.0)]
    assert sizes[0] > sizes[1] > sizes[2]


@both
def test_a_map_does_not_end_exaggerated(cls, digits):
    X = digits[0][:300]
    short, whole = (cls(max_iter=limit, random_state=0).fit(X) for limit in (250, 750))  # 250 may be exaggerated
    assert short.n_iter_ <= 250
    assert short.kl_divergence_ < whole.kl_divergence_ + 0.1
    assert cls(max_iter=1, random_state=0).fit(X).n_iter_ == 1


def test_exaggeration_waits_for_surfaces_and_ends_early_for_clusters(rng, digits):
    s, depth = 3 * np.pi * rng.uniform(-0.5, 0.5, 2000), rng.uniform(0, 2, 2000)
    S = np.column_stack([np.sin(s), depth, np.sign(s) * (np.cos(s) - 1)])
    S = S[np.square(S - [0, 1, 0]).sum(axis=1) > 0.3][:1000]  # a sheet with a hole, which unfolds slowly
    surface, clusters = (TSNE(random_state=0).fit(X).n_iter_ - 500 for X in (S, digits[0]))
    assert clusters <= 76 + 13
    assert 76 + 13 < surface <= 1.1 * (500 + 76) - 500
    fixed = TSNE(early_exaggeration_iter=75, max_iter=surface + 500, random_state=0).fit(S)
    assert TSNE(random_state=0).fit(S).kl_divergence_ < fixed.kl_divergence_


@pytest.mark.parametrize(("cls", "gain"), [(TSNE, 0.15), (lowdim.UMAP, 0.05), (lowdim.PaCMAP, 0.0)])
def test_new_rows_keep_their_nearest_neighbours(cls, gain, digits, monkeypatch):
    X, new = digits[0][:500], digits[0][500:]
    model = cls(random_state=0).fit(X)
    near = [NearestNeighbors(n_neighbors=15).fit(X).kneighbors(new)[1]]
    for share in (relations.SHARE, 0.0):
        monkeypatch.setattr(relations, "SHARE", share)
        near.append(NearestNeighbors(n_neighbors=15).fit(model.embedding_).kneighbors(model.transform(new))[1])
    kept = {
        k: [np.mean([np.isin(a[:k], b[:k]).mean() for a, b in zip(near[0], some, strict=True)]) for some in near[1:]]
        for k in (1, 3, 15)
    }
    assert kept[1][0] > kept[1][1] + gain
    assert kept[3][0] > kept[3][1] - 0.01
    assert kept[15][0] > kept[15][1] - 0.04


def test_exaggeration_draws_neighbours_together(digits):
    X = digits[0][:400]
    plain, late = (TSNE(exaggeration=factor, random_state=0).fit(X) for factor in (1.0, 4.0))
    assert np.std(late.embedding_) < 0.8 * np.std(plain.embedding_)
    assert late.kl_divergence_ > plain.kl_divergence_  # that of the factor 1, which is not what was lowered
    new = load_digits(return_X_y=True)[0][700:740]
    apart = np.linalg.norm(late.transform(new)[:, None] - late.embedding_, axis=2).min(axis=1)
    assert np.median(apart) < 0.1 * np.std(late.embedding_)  # among their kind, not outside of it


def test_exaggeration_leaves_a_gradient_of_zero(digits):
    """At the end attraction times the factor balances repulsion: the map is a minimum of what was lowered."""
    from lowdim.solve.divergence import Falloff, gradient

    X, factor = digits[0][:150], 3.0
    model = TSNE(exaggeration=factor, max_iter=3000, random_state=0).fit(X)
    Y = model.embedding_.astype(np.float64)
    P = model._relations(X, nearest(X, model._near_each(150)), None, 0)
    exaggerated = P._replace(values=P.values * np.float32(factor))
    both = [np.linalg.norm(gradient(rows, Y, Falloff("student"))[1]) for rows in (exaggerated, P)]
    assert both[0] < 0.05 * both[1]


@pytest.mark.parametrize(
    "beyond",
    [
        {"learning_rate": 1e38},
        {"early_exaggeration": 1e39},
        {"exaggeration": 1e39},
        {"dof": 1e39},
        {"dof": 1e-39},
        {"sigma": 1e38},
        {"sigma": 1e-38},
    ],
)
def test_parameters_beyond_float32_are_refused(beyond, rng):
    (name,) = beyond
    with pytest.raises(ValueError, match=f"TSNE: {name} must be .* number in"):
        TSNE(**beyond).fit(rng.normal(size=(30, 3)))


@pytest.mark.parametrize(
    "extreme",
    [
        {"learning_rate": 9e11},
        {"early_exaggeration": 9e5, "learning_rate": 9e11},
        {"exaggeration": 1e6},
        {"exaggeration": 1e-6},
        {"dof": 0.01},
        {"dof": 1e6},
        {"sigma": 2e-37},
        {"sigma": 9e36},
    ],
)
def test_maps_at_the_ends_of_the_rules_are_numbers(extreme, rng):
    X = rng.normal(size=(1100, 3))
    model = TSNE(method="fft", max_iter=40, early_exaggeration_iter=20, random_state=0, **extreme).fit(X)
    assert np.isfinite(model.embedding_).all()


def test_callbacks_do_not_go_into_files(digits, tmp_path):
    model = TSNE(max_iter=20, callback=lambda *_: False).fit(digits[0][:60])
    model.save(tmp_path / "map.lowdim")
    assert lowdim.load(tmp_path / "map.lowdim").callback is None


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals here")
def test_ctrl_c_stops_the_descent_at_once(rng):
    X = rng.normal(size=(6000, 3)).astype(np.float32)

    def press():
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    model = TSNE(max_iter=10**7, method="exact", random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)  # which would go on for days
    assert not hasattr(model, "embedding_")


@both
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_values_beyond_float32_are_refused_and_not_mapped_to_nonsense(cls, scale, rng):
    X = rng.normal(size=(40, 4))
    with pytest.raises(ValueError, match=r"differ by 1e-37 to 1e\+37, for distances in float32; got .* Scale the data"):
        cls().fit(scale * X)
    if scale > 1:
        with pytest.raises(ValueError, match="distances must be finite in float32; got inf. Scale the data"):
            cls(max_iter=20, early_exaggeration_iter=5).fit(X).transform(np.full((1, 4), scale))


@pytest.mark.parametrize("cls", [SNE, TSNE])
def test_new_distances_below_zero_are_refused(cls):
    X = np.random.default_rng(0).normal(size=(40, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = cls(metric="precomputed", init="random", max_iter=20, random_state=0).fit(D)
    D[3, 5] = -1.0
    with pytest.raises(ValueError, match=f"{cls.__name__}: metric='precomputed' needs distances .* -1 in row 3"):
        model.transform(D)


@pytest.fixture(scope="module")
def related():
    """200 digits, and the affinities of perplexity 10."""
    X = load_digits().data[:200]
    near = nearest(X, 30)
    return X, affinities(near.indices, likelihoods(near.distances, [10.0])[0])


@pytest.mark.parametrize("kind", [TSNE, SNE])
def test_affinities_given_are_those_that_a_fit_computes(kind, related):
    X, P = related
    settings = {"perplexity": 10, "max_iter": 100, "random_state": 0, "init": X[:, [20, 21]]}
    computed = kind(**settings).fit(X)
    alone, both = kind(**settings).fit(affinities=P), kind(**settings).fit(X, affinities=P)
    np.testing.assert_array_equal(alone.embedding_, computed.embedding_.astype(np.float32))
    np.testing.assert_array_equal(both.embedding_, computed.embedding_)
    np.testing.assert_array_equal(both.transform(X[:9] + 0.1), computed.transform(X[:9] + 0.1))
    np.testing.assert_array_equal(both.trust(X[:9] + 0.1), computed.trust(X[:9] + 0.1))
    assert both.perplexity_ == 10
    assert alone.perplexity_ is None


def test_affinities_of_any_form_and_sum_give_one_map(related):
    P = related[1]
    S = sp.csr_array((P[2], P[1], P[0]), shape=(200, 200), copy=True)
    before = [part.copy() for part in P]
    forms = (P, S, S.toarray(), S.sorted_indices().tocoo())  # sums depend on the order of the entries, by rounding
    a, b, c, d = (TSNE(max_iter=60, random_state=0).fit_transform(affinities=A) for A in forms)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(c, d)
    for part, was in zip(P, before, strict=True):
        np.testing.assert_array_equal(part, was)  # SciPy sorts in place
    doubled = S.tolil()
    doubled.setdiag(1.0)
    found = TSNE(max_iter=60, random_state=0).fit(affinities=(7 * doubled).tocsr())  # no diagonal, a sum of 1
    plain = TSNE(max_iter=60, random_state=0).fit(affinities=S)
    assert found.kl_divergence_ == pytest.approx(plain.kl_divergence_, rel=0.02)


def test_a_map_of_affinities_is_saved_and_places_no_rows(related, tmp_path):
    X, P = related
    model = TSNE(max_iter=60, random_state=0).fit(X)
    model.fit(affinities=P)
    assert not hasattr(model, "n_features_in_")
    model.save(tmp_path / "map.lowdim")
    back = lowdim.load(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(back.embedding_, model.embedding_)
    for call in (back.transform, back.trust):
        with pytest.raises(ValueError, match="compares rows with those of fit, which had none. Fit again with X"):
            call(X)
    assert model.fit(X).transform(X[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda S: S[:, :150], r"affinities must be a square matrix .* got \(200, 150\)"),
        (lambda S: -S, "affinities must be 0 or more, and finite; got values from -"),
        (lambda S: np.where(S > 0, np.inf, 0), "affinities must be 0 or more, and finite"),
        (lambda S: np.triu(S), r"affinities must be symmetric.*Pass \(S \+ S.T\) / 2"),
        (lambda S: S * (np.arange(200) != 3) * (np.arange(200) != 3)[:, None], "row 3 has none above 0"),
        (lambda S: "text", "affinities must be a SciPy matrix, an array, or"),
        (lambda S: S[:150, :150] + 1.0, "of the same rows; got 200 and 150"),
    ],
)
def test_affinities_that_are_none_are_refused_before_any_work(change, words, related, monkeypatch):
    X, P = related
    monkeypatch.setattr("lowdim.methods.neighbor_embedding.descend", None)
    with pytest.raises(ValueError, match=words):
        TSNE().fit(X, affinities=change(sp.csr_array((P[2], P[1], P[0]), shape=(200, 200), copy=True).toarray()))


def test_neither_rows_nor_affinities_are_refused():
    with pytest.raises(ValueError, match="fit needs rows; got X=None. Pass X"):
        TSNE().fit()


@pytest.mark.parametrize("cls", [SNE, TSNE])
def test_the_rate_of_learning_is_told_and_leads_to_the_same_map(cls, digits):
    X = digits[0][:120]
    found = cls(max_iter=60, early_exaggeration_iter=0, random_state=0).fit(X)
    given = cls(max_iter=60, early_exaggeration_iter=0, learning_rate=found.learning_rate_, random_state=0).fit(X)
    assert given.learning_rate_ == found.learning_rate_
    np.testing.assert_array_equal(given.embedding_, found.embedding_)
    assert cls(learning_rate=7.5, max_iter=5).fit(X).learning_rate_ == 7.5
    assert not hasattr(cls(), "learning_rate_")
