"""Maps of AnnData beside those of scanpy, on its own objects and files."""

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim.scanpy

sc = pytest.importorskip("scanpy")
ad = pytest.importorskip("anndata")
pytestmark = pytest.mark.filterwarnings("ignore")  # of scanpy and its dependencies


@pytest.fixture(scope="module")
def cells():
    """Normalised counts of three types of cells, with components and a graph by scanpy."""
    rng = np.random.default_rng(0)
    types = np.repeat([0, 1, 2], 120)
    rates = rng.gamma(0.5, 1.0, (3, 200))
    counts = sp.csr_matrix(rng.poisson(rates[types] * rng.uniform(0.5, 1.5, (360, 1))).astype(np.float32))
    adata = ad.AnnData(counts)
    adata.var_names = [f"gene{j}" for j in range(200)]
    adata.obs["type"] = np.array(["B", "NK", "T"])[types]
    adata.obs["type"] = adata.obs["type"].astype("category")
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    sc.pp.pca(adata, n_comps=20)
    sc.pp.neighbors(adata, n_neighbors=15)
    return adata


def test_components_are_those_of_scanpy(cells):
    ours, theirs = cells.copy(), cells.copy()
    for one in (ours, theirs):
        del one.obsm["X_pca"], one.varm["PCs"], one.uns["pca"]
    sc.pp.pca(theirs, n_comps=10)
    lowdim.scanpy.pca(ours, n_comps=10)
    assert set(theirs.uns["pca"]) <= set(ours.uns["pca"])
    np.testing.assert_allclose(ours.uns["pca"]["variance_ratio"], theirs.uns["pca"]["variance_ratio"], rtol=1e-3)
    np.testing.assert_allclose(np.abs(ours.varm["PCs"][:, :3]), np.abs(theirs.varm["PCs"][:, :3]), atol=1e-3)
    np.testing.assert_allclose(np.abs(ours.obsm["X_pca"][:, :3]), np.abs(theirs.obsm["X_pca"][:, :3]), atol=1e-2)


def test_chosen_genes_alone_are_used(cells):
    adata = cells.copy()
    adata.var["highly_variable"] = np.arange(200) < 50
    lowdim.scanpy.pca(adata, n_comps=5)
    assert not adata.varm["PCs"][50:].any()
    assert adata.uns["pca"]["params"]["use_highly_variable"]


@pytest.mark.parametrize("name", ["tsne", "umap"])
def test_places_and_parameters_are_under_the_keys_of_scanpy(cells, name):
    ours, theirs = cells.copy(), cells.copy()
    getattr(sc.tl, name)(theirs)
    model = getattr(lowdim.scanpy, name)(ours)
    assert ours.obsm[f"X_{name}"].shape == theirs.obsm[f"X_{name}"].shape
    np.testing.assert_array_equal(ours.obsm[f"X_{name}"], model.embedding_)
    assert set(theirs.uns[name]["params"]) - {"use_rep"} <= set(ours.uns[name]["params"]) | {"n_jobs"}
    for key in ("X_umap", "X_tsne"):
        if key in ours.obsm:
            near = lowdim.quality.neighborhood_recall(np.asarray(ours.obsm["X_pca"]), ours.obsm[key], n_neighbors=15)
            peer = lowdim.quality.neighborhood_recall(np.asarray(ours.obsm["X_pca"]), theirs.obsm[key], n_neighbors=15)
            assert near > peer - 0.05


def test_umap_is_of_the_stored_graph(cells):
    adata = cells.copy()
    model = lowdim.scanpy.umap(adata)
    difference = abs(model.graph_ - adata.obsp["connectivities"]).max()
    assert difference < 1e-6
    assert model.n_neighbors_ == 15


def test_the_plots_and_groups_of_scanpy_read_the_results(cells):
    import matplotlib

    matplotlib.use("Agg")
    adata = cells.copy()
    lowdim.scanpy.umap(adata)
    sc.tl.leiden(adata, flavor="igraph", n_iterations=2)
    assert adata.obs["leiden"].nunique() >= 3
    sc.pl.umap(adata, color="leiden", show=False)
    lowdim.scanpy.pacmap(adata, key_added="wide")
    sc.pl.embedding(adata, basis="wide", show=False)


def test_new_cells_are_placed_also_after_a_file(cells, tmp_path):
    rng = np.random.default_rng(1)
    kept = rng.permutation(360)
    old, new = cells[kept[:300]].copy(), cells[kept[300:]].copy()
    lowdim.scanpy.pca(old, n_comps=20)
    sc.pp.neighbors(old)
    for name in ("umap", "tsne", "pacmap"):
        getattr(lowdim.scanpy, name)(old)
    old.write_h5ad(tmp_path / "reference.h5ad")
    again = ad.read_h5ad(tmp_path / "reference.h5ad")
    truth = new.obs.pop("type")
    shuffled = new[:, rng.permutation(200)].copy()
    lowdim.scanpy.ingest(shuffled, again, obs="type", embedding_method=["umap", "tsne", "pacmap"])
    assert (shuffled.obs["type"].to_numpy() == truth.to_numpy()).mean() > 0.95
    assert shuffled.obsm["X_umap"].shape == (60, 2)
    assert shuffled.obs["umap_trust"].between(0, 1).all()
    for key in ("X_umap", "X_tsne"):
        middles = {t: np.median(old.obsm[key][(old.obs["type"] == t).to_numpy()], axis=0) for t in ("B", "NK", "T")}
        nearest = [min(middles, key=lambda t: np.linalg.norm(middles[t] - place)) for place in shuffled.obsm[key]]
        assert (np.array(nearest) == truth.to_numpy()).mean() > 0.95


def test_copies_leave_the_object_as_it_was(cells):
    adata = cells.copy()
    changed = lowdim.scanpy.tsne(adata, copy=True)
    assert "X_tsne" in changed.obsm
    assert "X_tsne" not in adata.obsm


def test_what_is_missing_is_said(cells):
    adata = cells.copy()
    with pytest.raises(TypeError, match="an AnnData object is needed"):
        lowdim.scanpy.umap(np.eye(3))
    with pytest.raises(ValueError, match="'X' or a key of obsm"):
        lowdim.scanpy.tsne(adata, use_rep="X_scvi")
    with pytest.raises(ValueError, match="n_pcs must be at most 20"):
        lowdim.scanpy.tsne(adata, n_pcs=40)
    with pytest.raises(ValueError, match="made by lowdim.scanpy"):
        lowdim.scanpy.ingest(adata, adata)
    lowdim.scanpy.umap(adata)
    with pytest.raises(ValueError, match="are missing, such as"):
        lowdim.scanpy.ingest(adata[:, :100].copy(), adata)
    with pytest.raises(ValueError, match="columns of the reference"):
        lowdim.scanpy.ingest(adata, adata, obs="kind")
