"""float16 rows: results as for float32, rows kept as they are, and no copy as floats where a search allows it."""

import tracemalloc

import numpy as np
import pytest

import lowdim
from lowdim import PCA, TSNE, UMAP, KernelPCA, PaCMAP

MAPS = {
    "umap": lambda: UMAP(metric="cosine", n_epochs=10, random_state=0),
    "umap, euclidean": lambda: UMAP(n_epochs=10, random_state=0, init="pca"),
    "tsne": lambda: TSNE(metric="cosine", max_iter=20, random_state=0),
    "pacmap": lambda: PaCMAP(max_iter=10, random_state=0),
}
LINEAR = {
    "pca": lambda: PCA(3, random_state=0),
    "kernel_pca": lambda: KernelPCA(3, approximation="rpcholesky", rank=40, random_state=0),
}


def rows(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + 3 * rng.standard_normal((6, d))[rng.integers(6, size=n)]
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float16)


@pytest.mark.parametrize("name", [*MAPS, *LINEAR])
def test_half_precision_gives_what_its_values_in_single_precision_give(name, tmp_path):
    X, Q = np.split(rows(330, 20), [300])
    X[7] = X[3]
    make = (MAPS | LINEAR)[name]
    half, single = make().fit(X), make().fit(X.astype(np.float32))
    if "cosine" in str(make().get_params().get("metric")):  # the start is from means of rows in half precision
        np.testing.assert_allclose(half.loss_curve_[-1], single.loss_curve_[-1], rtol=0.05)
    else:
        np.testing.assert_allclose(half.transform(Q), single.transform(Q.astype(np.float32)), rtol=1e-3, atol=1e-3)
    half.save(tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(Q), half.transform(Q))
    if name in MAPS:
        assert half._rows.dtype == np.float16
        np.testing.assert_array_equal(half.embedding_[7], half.embedding_[3])
        np.testing.assert_array_equal(half.transform(X[:5]), half.embedding_[:5])
        assert half.extend(Q).embedding_.shape == (330, 2)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_map_makes_no_copy_of_the_rows_as_floats(mapped, tmp_path):
    X = rows(16_000, 900)
    np.save(tmp_path / "rows.npy", X)
    if mapped:
        X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = UMAP(metric="cosine", n_epochs=1, neighbor_search="approximate", init="random", random_state=0)
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * X.size  # the model's own copy in half precision among it
