"""Derivatives of positions: closed forms, differences of what ``transform`` gives, shuffled columns."""

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.methods.neighbor_jacobian import near_others

MAPS = [
    lowdim.TSNE(perplexity=8, max_iter=300, random_state=0),
    lowdim.TSNE(perplexity=[5, 12], max_iter=300, random_state=0),
    lowdim.TSNE(sigma=1.5, max_iter=300, metric="cosine", random_state=0),
    lowdim.TSNE(n_components=3, perplexity=8, max_iter=300, dof=2.0, random_state=0),
    lowdim.SNE(perplexity=8, max_iter=300, random_state=0),
    lowdim.TSNE(perplexity=8, max_iter=300, metric="correlation", random_state=0),
    lowdim.UMAP(n_neighbors=10, n_epochs=100, random_state=0),
    lowdim.UMAP(n_neighbors=10, n_epochs=100, spread=2.0, local_connectivity=1.5, random_state=0),
    lowdim.MDS(random_state=0),
    lowdim.MDS(3, metric="manhattan", random_state=0),
    lowdim.MDS(metric="mahalanobis", random_state=0),
    lowdim.MDS(kind="nonmetric", random_state=0),
]
SMOOTH = [
    lowdim.KernelPCA(2, gamma=0.05),
    lowdim.LaplacianEigenmaps(2, n_neighbors=12),
    lowdim.DiffusionMap(2, n_neighbors=12),
    lowdim.Isomap(n_neighbors=12),
    lowdim.LLE(n_neighbors=12),
    lowdim.MDS(kind="classical"),
]


def named(model):
    return str(model).replace("random_state=0", "").replace(" ", "")[:40]


@pytest.fixture(scope="module")
def rows():
    """Rows along a curved sheet with noise in all columns."""
    rng = np.random.default_rng(3)
    t = rng.uniform(0, 3, (160, 2))
    return np.column_stack([np.cos(t[:, 0]), np.sin(t[:, 0]), t[:, 1], 0.5 * t.sum(1)]) + rng.normal(0, 0.1, (160, 4))


@pytest.mark.parametrize("model", MAPS, ids=named)
def test_implicit_derivatives_are_differences_of_the_minimum(model, rows):
    """The minimum for rows a little apart is found again from its own weights, in float64, by the same descent."""
    fitted, new = model.fit(rows), rows[:6] + 0.05
    found = fitted.explain(new)
    assert found.resolved.sum() >= 4
    way = np.random.default_rng(0).normal(size=rows.shape[1])
    h = 1e-7 if str(model).find("nonmetric") > 0 else 1e-5  # its distances move along a line of many pieces
    ends = [fitted.explain(new + sign * h * way) for sign in (1, -1)]
    seen = found.resolved & ends[0].resolved & ends[1].resolved
    slope = (ends[0].positions - ends[1].positions)[seen] / (2 * h)
    expected = (found.jacobian @ way)[seen]
    np.testing.assert_allclose(slope, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("model", MAPS, ids=named)
def test_positions_that_derivatives_belong_to_are_those_of_transform(model, rows):
    fitted, new = model.fit(rows), rows[:20] + 0.05
    found = fitted.explain(new)
    there = fitted.transform(new)
    width = np.ptp(fitted.embedding_, axis=0).max()
    apart = np.linalg.norm(found.positions - there, axis=1)[found.resolved]
    assert np.median(apart) < 0.02 * width  # the grid of t-SNE and steps of transform end near the minimum


@pytest.mark.parametrize("model", SMOOTH, ids=named)
def test_derivatives_of_other_methods_are_those_of_transform(model, rows):
    fitted, new = model.fit(rows), rows[:5] + 0.05
    found, h = fitted.explain(new), 1e-4
    way = np.random.default_rng(0).normal(size=rows.shape[1])
    slope = (fitted.transform(new + h * way) - fitted.transform(new - h * way)) / (2 * h)
    gaps = np.abs(found.jacobian @ way - slope) / np.abs(slope).max()
    assert np.median(gaps) < 1e-3  # a path of Isomap may change within a step
    assert gaps.max() < 1e-2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_methods_give_their_axes(rows, dtype):
    X = rows.astype(dtype)
    pca = (
        lowdim.PCA(2, whiten=True, standardize=True).fit(X)
        if hasattr(lowdim.PCA(), "standardize")
        else lowdim.PCA(2).fit(X)
    )
    found = pca.explain(X[:3])
    moved = X[:3].astype(np.float64).copy()
    moved[:, 1] += 1
    np.testing.assert_allclose(
        found.jacobian[:, :, 1], pca.transform(moved) - pca.transform(X[:3].astype(np.float64)), rtol=1e-4, atol=1e-6
    )
    assert found.table.columns == ["column", "sensitivity", "share", "toward_0", "toward_1"]


def test_a_chain_gives_the_product_of_its_steps(rows):
    model = lowdim.chain(lowdim.PCA(3), lowdim.KernelPCA(2, gamma=0.05)).fit(rows)
    found, h = model.explain(rows[:4]), 1e-6
    for j in range(rows.shape[1]):
        step = h * np.eye(rows.shape[1])[j]
        slope = (model.transform(rows[:4] + step) - model.transform(rows[:4] - step)) / (2 * h)
        np.testing.assert_allclose(found.jacobian[:, :, j], slope, rtol=1e-3, atol=1e-6)


def test_a_prepared_table_names_the_columns_it_makes():
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"width": rng.normal(size=60), "kind": rng.choice(["a", "b"], 60)})
    found = lowdim.chain(lowdim.Prepare(), lowdim.PCA(2)).fit(table).explain(table[:3])
    assert any("width" in name for name in found.columns)
    assert "of" in str(found)


@pytest.mark.parametrize("cls", [lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP])
def test_shuffling_the_columns_named_first_moves_rows_further(cls):
    """Two of eight columns carry the structure, the others are noise of the same variance."""
    rng = np.random.default_rng(1)
    X = rng.normal(0, 0.3, (300, 8))
    angle = rng.uniform(0, 2 * np.pi, 300)
    X[:, 2], X[:, 5] = 3 * np.cos(angle), 3 * np.sin(angle)
    model = cls(random_state=0).fit(X)
    some = np.arange(0, 300, 15)
    found = model.explain(X[some], scale=np.ones(8))
    top, last = (
        [found.columns.index(name) for name in part] for part in (found.table["column"][:2], found.table["column"][-2:])
    )
    assert set(top) == {2, 5}
    moved = []
    for columns in (top, last):
        Q = X[some].copy()
        Q[:, columns] = Q[:, columns][rng.permutation(len(some))]
        moved.append(np.linalg.norm(model.transform(Q) - model.transform(X[some]), axis=1).mean())
    assert moved[0] > 3 * moved[1]


def test_a_row_of_the_fit_is_not_its_own_neighbour(rows):
    """Its derivatives are those of a map fitted on the others; only the map itself then differs."""
    model = lowdim.TSNE(perplexity=8, random_state=0).fit(rows)
    near = near_others(model, *model._known(rows[:7]))
    assert (near.indices != np.arange(7)[:, None]).all()
    assert (near.distances > 0).all()
    moves = model.explain(rows[:30])
    width = np.ptp(model.embedding_, axis=0).max()
    assert np.median(np.linalg.norm(moves.positions - model.embedding_[:30], axis=1)) < 0.2 * width


def test_sparse_rows_and_float32_give_what_dense_float64_gives(rows):
    X = np.where(rows > 0.2, rows, 0)
    dense = lowdim.TSNE(perplexity=8, max_iter=200, random_state=0).fit(X).explain(X[:4] + 0.01 * (X[:4] > 0))
    for form in (sp.csr_array, lambda A: A.astype(np.float32), np.asfortranarray):
        there = lowdim.TSNE(perplexity=8, max_iter=200, random_state=0, init=_pca(X)).fit(form(X))
        assert there.explain(form(X[:4] + 0.01 * (X[:4] > 0))).jacobian.shape == dense.jacobian.shape
    assert dense.sensitivity.shape == (4, 4)


def _pca(X):
    return lowdim.PCA(2).fit_transform(X)


def test_what_cannot_be_explained_is_refused(rows):
    D = np.linalg.norm(rows[:, None] - rows, axis=2)
    with pytest.raises(ValueError, match="needs rows of features"):
        lowdim.TSNE(metric="precomputed", init="spectral", random_state=0, max_iter=60).fit(D).explain(D)
    with pytest.raises(ValueError, match="one number of 0 or more for each of the 4 columns"):
        lowdim.PCA(2).fit(rows).explain(rows, scale=[1.0])
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="method with positions"):
        lowdim.Prepare().fit(pl.DataFrame({"a": [1.0, 2.0]})).explain(pl.DataFrame({"a": [1.0]}))
