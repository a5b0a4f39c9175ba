"""Diffusion maps: closed forms on a circle, density, time, new rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import DiffusionMap, LaplacianEigenmaps


def on_circle(angle):
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("n_neighbors", [None, 10])
def test_eigenvalues_of_an_even_circle_are_those_of_a_circulant_and_come_in_pairs(n_neighbors):
    n = 90
    angle = 2 * np.pi * np.arange(n) / n
    model = DiffusionMap(6, n_neighbors=n_neighbors, gamma=12.5, random_state=0).fit(on_circle(angle))
    d = 2 * np.abs(np.sin(angle / 2))
    row = np.exp(-(d**2) / (2 * 0.2**2))
    if n_neighbors:
        row[(np.minimum(np.arange(n), n - np.arange(n)) > n_neighbors // 2)] = 0
    expected = np.sort(np.fft.fft(row / row.sum()).real)[::-1][1:7]
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-7)
    np.testing.assert_allclose(model.eigenvalues_[::2], model.eigenvalues_[1::2], atol=1e-7)
    np.testing.assert_allclose(np.hypot(*model.embedding_[:, :2].T), np.sqrt(2) * expected[0], rtol=1e-5)


def test_alpha_one_finds_the_circle_under_an_uneven_density_and_alpha_zero_does_not():
    # The Laplace-Beltrami operator of the circle has the eigenvalues 1, 1, 4, 4: 1 − λ is in proportion.
    rng = np.random.default_rng(0)
    u = np.sort(rng.uniform(size=1500))
    angle = 2 * np.pi * u + 0.7 * np.sin(2 * np.pi * u)  # density 1/(1 + 0.7 cos)
    ratios = {}
    for alpha in (0.0, 1.0):
        model = DiffusionMap(4, n_neighbors=None, gamma=50.0, alpha=alpha, random_state=0).fit(on_circle(angle))
        gaps = 1 - model.eigenvalues_
        ratios[alpha] = gaps / gaps[:2].mean()
    np.testing.assert_allclose(ratios[1.0], [1, 1, 4, 4], rtol=0.05)
    assert np.abs(ratios[0.0] - [1, 1, 4, 4]).max() > 0.4


def test_time_shrinks_each_coordinate_by_its_eigenvalue():
    X = np.random.default_rng(0).normal(size=(150, 3))
    at = {t: DiffusionMap(3, t=t, random_state=0).fit(X) for t in (0, 1, 2.5)}
    for t, model in at.items():
        np.testing.assert_allclose(model.embedding_, at[0].embedding_ * model.eigenvalues_**t, atol=1e-9)


def test_distances_in_the_map_are_those_between_walks():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = DiffusionMap(39, n_neighbors=None, t=2, alpha=0.5, random_state=0).fit(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    K = np.exp(-model.gamma_ * D**2)
    q = K.sum(axis=1) ** 0.5
    K /= np.outer(q, q)
    d = K.sum(axis=1)
    P = np.linalg.matrix_power(K / d[:, None], 2)
    walks = np.sqrt((((P[:, None] - P[None]) ** 2) / (d / d.sum())).sum(axis=2))
    found = np.linalg.norm(model.embedding_[:, None] - model.embedding_[None], axis=2)
    np.testing.assert_allclose(found, walks, atol=1e-6)


def test_alpha_zero_is_the_laplacian_map_with_loops():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = DiffusionMap(2, alpha=0.0, t=0, random_state=0).fit(X)
    other = LaplacianEigenmaps(2, random_state=0).fit(X)
    assert model.gamma_ == other.gamma_
    assert abs(np.corrcoef(model.embedding_[:, 0], other.embedding_[:, 0])[0, 1]) > 0.95


@pytest.mark.parametrize("n_neighbors", [None, 8])
def test_new_rows_go_where_they_would_have_gone(n_neighbors):
    step = 2 * np.pi / 200
    X, between = on_circle(step * np.arange(200)), on_circle(step * (np.arange(200) + 0.5))
    model = DiffusionMap(2, n_neighbors=n_neighbors, gamma=200.0, random_state=0).fit(X)
    turn = np.linalg.lstsq(model.embedding_, X, rcond=None)[0]  # the map is a circle too, up to a rotation
    np.testing.assert_allclose(model.embedding_ @ turn, X, atol=1e-6)
    np.testing.assert_allclose(model.transform(between) @ turn, between, atol=1e-3)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_rows_far_from_all_have_a_place():
    X = on_circle(np.linspace(0, 6, 50))
    for n_neighbors in (None, 5):
        model = DiffusionMap(2, n_neighbors=n_neighbors, gamma=12.5, random_state=0).fit(X)
        assert np.isfinite(model.transform(np.array([[1e6, 0.0]]))).all()


def test_sparse_rows_and_given_distances_are_the_same_rows():
    X = np.abs(np.random.default_rng(0).normal(size=(120, 4)))
    model = DiffusionMap(2, random_state=0).fit(X)
    np.testing.assert_allclose(
        DiffusionMap(2, random_state=0).fit(sp.csr_array(X)).embedding_, model.embedding_, atol=1e-4
    )
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    given = DiffusionMap(2, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(given.embedding_, model.embedding_, atol=1e-4)
    new = np.abs(X[:5] + 0.05)
    apart = np.linalg.norm(new[:, None] - X[None], axis=2)
    np.testing.assert_allclose(given.transform(apart), model.transform(new), atol=1e-4)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"t": -1}, r"t must be a number in \[0, inf\)"),
        ({"alpha": 1.5}, r"alpha must be a number in \[0, 1\]"),
        ({"alpha": -0.1}, r"alpha must be"),
        ({"gamma": -1.0}, "gamma must be"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(params, words):
    with pytest.raises(ValueError, match=words):
        DiffusionMap(**params).fit(np.eye(5))


@pytest.mark.parametrize(
    ("change", "words"),
    [((0, 1, -1.0), "0 or more; got -1"), ((0, 1, 9.0), "symmetric; got 9"), ((0, 0, 1.0), "0 from each to itself")],
)
def test_what_are_no_distances_is_refused(change, words):
    D = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    D[change[0], change[1]] = change[2]
    with pytest.raises(ValueError, match=words):
        DiffusionMap(1, metric="precomputed").fit(D)


@pytest.mark.parametrize("n_neighbors", [None, 8])
def test_self_tuning_gives_each_row_a_width_of_its_own(n_neighbors):
    X = np.random.default_rng(0).normal(size=(70, 3)) * np.linspace(0.2, 3, 70)[:, None]
    model = DiffusionMap(2, n_neighbors=n_neighbors, gamma="self_tuning", alpha=0.0, random_state=0).fit(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    if n_neighbors is None:
        near, s = np.ones_like(D, dtype=bool), np.sort(D, axis=1)[:, 34]
    else:
        near = np.sort(D, axis=1)[:, n_neighbors, None] >= D
        near |= near.T
        np.fill_diagonal(near, False)
        s = np.array([np.sort(d[at])[(at.sum() - 1) // 2] for d, at in zip(D, near, strict=True)])
    K = np.where(near, np.maximum(np.exp(-(D**2) / (2 * np.outer(s, s))), 1e-4 if n_neighbors else 0), 0)
    np.fill_diagonal(K, 1.0)
    d = K.sum(axis=1)
    values = np.linalg.eigvalsh(K / np.sqrt(np.outer(d, d)))[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-6)
    assert model.gamma_ is None
