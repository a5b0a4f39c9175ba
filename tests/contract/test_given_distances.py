"""Given distances and graphs: equal rows share a position, graphs of other tools are taken or refused in words."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import lowdim
from lowdim import parts

METHODS = [
    lowdim.TSNE(max_iter=30, perplexity=5, init="spectral", metric="precomputed", random_state=0),
    lowdim.UMAP(n_epochs=10, metric="precomputed", random_state=0),
    lowdim.LaplacianEigenmaps(metric="precomputed", random_state=0),
    lowdim.LaplacianEigenmaps(metric="precomputed", n_neighbors=None, random_state=0),
    lowdim.DiffusionMap(metric="precomputed", random_state=0),
    lowdim.PaCMAP(max_iter=10, init="spectral", metric="precomputed", random_state=0),
    lowdim.MDS(metric="precomputed", random_state=0),
    lowdim.MDS(metric="precomputed", kind="nonmetric", random_state=0),
]


@pytest.fixture(name="X")
def rows(rng):
    X = rng.normal(size=(60, 3))
    X[[7, 20, 59]] = X[[3, 3, 40]]
    return X


def graph_of(X, k):
    """Distances of the k nearest as scanpy stores them: without a diagonal."""
    near = parts.nearest(X, k)
    return sp.csr_matrix((near.distances.ravel(), near.indices.ravel(), np.arange(len(X) + 1) * k))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_rows_at_distance_0_share_a_position_in_fit_and_transform(method, X):
    D = cdist(X, X)
    method.fit(D)
    assert np.array_equal(method.embedding_[[7, 20, 59]], method.embedding_[[3, 3, 40]])
    assert np.array_equal(method.transform(D), method.embedding_)
    new = D[:5] + 0.1
    assert np.isfinite(method.transform(new)).all()


def test_a_graph_of_few_neighbours_is_fitted_with_one_note(rng):
    G = graph_of(rng.normal(size=(120, 4)), 14)
    with pytest.warns(UserWarning, match="the graph holds 14. Perplexity 4.67 is used") as said:
        model = lowdim.TSNE(metric="precomputed", max_iter=20, random_state=0).fit(G)
    assert len(said) == 1
    assert model.perplexity_ == pytest.approx(14 / 3, abs=1e-3)
    lowdim.UMAP(metric="precomputed", n_epochs=5, random_state=0).fit(G)


def test_a_zero_joins_rows_whatever_their_other_distances(X):
    D = cdist(X, X)
    D[5, 17] = D[17, 5] = 0
    for method in METHODS:
        if not isinstance(method, lowdim.MDS) or method.kind != "classical":
            method.fit(D)
            assert np.array_equal(method.embedding_[5], method.embedding_[17])
            assert np.array_equal(method.transform(D), method.embedding_)


def test_maps_of_umap_and_pacmap_take_the_neighbours_a_graph_holds(rng, tmp_path):
    X = rng.normal(size=(125, 4))
    G = graph_of(X[:120], 8)
    for cls, note in (
        (lowdim.UMAP, "n_neighbors='auto' need 14"),
        (lowdim.PaCMAP, "candidates of 8 near pairs need 58"),
    ):
        steps = {"n_epochs": 5} if cls is lowdim.UMAP else {"max_iter": 5}
        with pytest.warns(UserWarning, match=f"{note} neighbours a row; the graph holds 8") as said:
            model = cls(metric="precomputed", init="spectral", random_state=0, **steps).fit(G)
        assert len(said) == 1
        assert model.n_neighbors_ == (9 if cls is lowdim.UMAP else 8)
        model.save(tmp_path / "map.lowdim")
        near = parts.nearest(X[:120], 8, X[120:])
        new = sp.csr_matrix((near.distances.ravel(), near.indices.ravel(), np.arange(6) * 8), shape=(5, 120))
        assert np.array_equal(lowdim.load(tmp_path / "map.lowdim").transform(new), model.transform(new))
    with pytest.raises(ValueError, match="needs at least 10 neighbours stored"):
        lowdim.PaCMAP(n_neighbors=10, metric="precomputed", init="spectral").fit(G)


def test_stress_needs_all_distances_and_says_so(rng):
    with pytest.raises(TypeError, match="got a sparse graph, which holds some. Pass an array"):
        lowdim.MDS(metric="precomputed").fit(graph_of(rng.normal(size=(60, 3)), 8))


@pytest.mark.parametrize("method", [lowdim.TSNE, lowdim.UMAP, lowdim.LaplacianEigenmaps, lowdim.Isomap])
def test_similarities_are_not_taken_for_distances(method, rng):
    fuzzy = lowdim.UMAP(n_epochs=2).fit(rng.normal(size=(80, 4))).graph_
    with pytest.raises(ValueError, match="not similarities; got values up to 1 with a 1 in every row"):
        method(metric="precomputed").fit(fuzzy)


def test_an_annotated_object_is_refused_with_the_array_to_pass(X):
    class AnnData:
        shape, obsm, obsp = X.shape, {"X_pca": X}, {}

    for method in (lowdim.TSNE(), lowdim.PCA(), lowdim.Isomap()):
        with pytest.raises(TypeError, match=r'Pass one of them, such as adata.obsm\["X_pca"\]'):
            method.fit(AnnData())
