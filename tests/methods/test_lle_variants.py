"""LLE's variants: the sheet itself, scikit-learn's maps, neighbours that do not suffice, parts, new rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import manifold

import lowdim
from lowdim import LLE
from lowdim.relate.alignment import KINDS, alignment
from lowdim.relate.graph import Neighborhoods
from lowdim.relate.neighbors import nearest

every_variant = pytest.mark.parametrize("variant", KINDS)


def roll_with_a_hole(n, seed=0):
    """Rows of a rolled up rectangle without its middle, and their places in the rectangle, arc length by height."""
    random = np.random.default_rng(seed)
    t, h = 1.5 * np.pi * (1 + 2 * random.uniform(size=n)), 21 * random.uniform(size=n)
    keep = ~((np.abs(t - 9) < 2) & (np.abs(h - 10) < 4))
    t, h = t[keep], h[keep]
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)]), np.column_stack([length, h])


def left(Y, sheet):
    """Share of the sheet's variance that no linear map of Y explains."""
    Y, T = Y - Y.mean(axis=0), (sheet - sheet.mean(axis=0)) / sheet.std(axis=0)
    return float(np.square(T - Y @ np.linalg.lstsq(Y, T, rcond=None)[0]).sum() / np.square(T).sum())


@pytest.fixture(scope="module")
def hole():
    return roll_with_a_hole(900)


@every_variant
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_roll_with_a_hole_becomes_its_rectangle(variant, dtype, hole):
    X, sheet = hole
    model = LLE(2, n_neighbors=12, method=variant, random_state=0).fit(X.astype(dtype))
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=12, method=variant, eigen_solver="dense").fit(X)
    assert model.embedding_.dtype == dtype
    assert left(model.embedding_, sheet) < min(2e-3, 1.1 * left(theirs.embedding_, sheet))
    assert left(LLE(2, n_neighbors=12).fit_transform(X), sheet) > left(model.embedding_, sheet)
    assert model.residual_ < 1e-8
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / (len(X) - 1), np.eye(2), atol=1e-5)


@every_variant
def test_linear_functions_of_a_plane_cost_nothing(variant):
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(150, 2))
    X = flat @ rng.normal(size=(2, 5)) + 3.0
    near = Neighborhoods(np.arange(151) * 9, nearest(X, 9).indices.ravel())
    M = alignment(X, near, 2, variant, 1e-3)
    assert abs(M - M.T).max() == 0
    scale = abs(M).max()
    tolerance = 1e-3 if variant == "modified" else 1e-10  # the ridge moves its best weights a little
    np.testing.assert_allclose(M @ np.column_stack([np.ones(150), flat]), 0, atol=tolerance * scale)
    np.testing.assert_allclose(M @ np.ones(150), 0, atol=1e-10 * scale)
    assert np.linalg.eigvalsh(M.toarray())[0] > -1e-10 * scale
    assert (flat[:, 0] ** 2) @ M @ flat[:, 0] ** 2 > 1e-8


def test_tangent_forms_are_projections():
    X = np.random.default_rng(0).normal(size=(40, 6))
    ends = nearest(X, 7).indices
    M = alignment(X, Neighborhoods(np.arange(41) * 7, ends.ravel()), 2, "ltsa", 0.0)
    expected = np.zeros((40, 40))
    for i in range(40):
        some = np.concatenate([[i], ends[i]])
        Z = X[some] - X[some].mean(axis=0)
        U = np.linalg.svd(Z)[0][:, :2]
        expected[np.ix_(some, some)] += np.eye(8) - 1 / 8 - U @ U.T
    np.testing.assert_allclose(M.toarray(), expected, atol=1e-10)


@every_variant
def test_graphs_of_high_dimension_have_a_map_with_its_residual(variant):
    # Rows that are nobody's neighbour make scikit-learn's matrices singular.
    X = np.random.default_rng(0).normal(size=(700, 20))
    assert (np.bincount(nearest(X, 12).indices.ravel(), minlength=700) == 0).any()
    with pytest.warns(UserWarning, match="a few rows dominate the map"):
        model = LLE(2, n_neighbors=12, method=variant, random_state=0).fit(X)
    assert model.residual_ < 1e-8
    assert model.eigenvalues_[0] > 0
    assert model.weights_ is None


@pytest.mark.parametrize(
    ("variant", "k", "near"),
    [("standard", 2, 10), ("hessian", 2, 7), ("hessian", 4, 16), ("ltsa", 12, 13), ("modified", 2, 10)],
)
def test_auto_takes_the_neighbours_that_the_variant_needs(variant, k, near, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise has no sheet
        model = LLE(k, method=variant, random_state=0).fit(rng.normal(size=(90, 15)))
    assert model.n_neighbors_ == near


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "hessian", "n_neighbors": 5}, r"above n_components \(n_components \+ 3\) / 2 = 5; got 5. Raise"),
        ({"method": "hessian", "n_components": 4, "n_neighbors": 10}, "= 14; got 10"),
        ({"method": "ltsa", "n_neighbors": 2}, "method='ltsa' needs n_neighbors above n_components = 2; got 2"),
        ({"method": "modified", "n_neighbors": 1}, "above n_components = 2; got 1"),
        ({"method": "dense"}, "method must be one of"),
    ],
)
def test_too_few_neighbours_are_refused_with_the_number_needed(params, words, hole):
    with pytest.raises(ValueError, match=words):
        LLE(**params).fit(hole[0][:100])


@every_variant
def test_parts_are_bridged_refused_or_cut(variant):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 2)) * [4, 1]
    X[100:] += [8, 0]
    params = {"n_neighbors": 8, "method": variant, "random_state": 0}
    with pytest.raises(ValueError, match=r"connected; it has 2 components of 100, 50 rows"):
        LLE(1, disconnected="error", **params).fit(X)
    with pytest.warns(UserWarning, match="A bridge"):
        model = LLE(2, **params).fit(X)
    assert len(model.bridges_) == 1
    assert left(model.embedding_, X) < 0.05  # linear functions of the plane, across the gap
    with pytest.warns(UserWarning, match="the other 50 rows are placed"):
        cut = LLE(2, disconnected="largest", **params).fit(X)
    alone = LLE(2, **params).fit(X[:100])
    np.testing.assert_allclose(np.abs(cut.embedding_[:100]), np.abs(alone.embedding_), atol=1e-6)


@every_variant
def test_new_and_sparse_and_equal_rows_and_files(variant, hole, tmp_path):
    X, sheet = hole
    model = LLE(2, n_neighbors=12, method=variant, random_state=0).fit(X[40:])
    both = np.vstack([model.embedding_, model.transform(X[:40])])
    assert left(both, np.vstack([sheet[40:], sheet[:40]])) < 2e-2
    model.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(X[:40]), model.transform(X[:40]))
    some = np.abs(X[:200])
    dense, sparse = (LLE(2, n_neighbors=12, method=variant, random_state=0).fit(A) for A in (some, sp.csr_array(some)))
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-2)
    twice = LLE(2, n_neighbors=12, method=variant, random_state=0).fit_transform(np.vstack([some, some[:20]]))
    np.testing.assert_array_equal(twice[200:], twice[:20])
    np.testing.assert_allclose(twice[:200], dense.embedding_, atol=1e-6)


@every_variant
def test_threads_do_not_change_the_bits(variant, hole):
    one, two = (LLE(2, n_neighbors=12, method=variant, random_state=0, n_jobs=n).fit(hole[0]) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
