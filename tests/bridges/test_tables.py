"""DuckDB's relations and other tables that export Arrow data, in; the recipe of datamapplot, out."""

import numpy as np
import pytest

import lowdim

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_relation_of_duckdb_is_a_table(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    base = duckdb.connect()
    pd = pytest.importorskip("pandas")
    base.register("cells", pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=["x", "y"] * 30))
    relation = base.sql("select a, b, c from cells where c > -10")
    model = lowdim.PCA(2).fit(relation)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_allclose(model.transform(base.sql("select a, b, c from cells")), lowdim.PCA(2).fit_transform(X))
    mixed = base.sql("select * from cells")
    assert lowdim.chain(lowdim.Prepare(), lowdim.PCA(2)).fit_transform(mixed).shape == (60, 2)
    assert lowdim.compare(mixed, "kind", ["pca"]).best == "pca"


def test_datamapplot_draws_our_maps_with_our_names():
    datamapplot = pytest.importorskip("datamapplot")
    import matplotlib

    matplotlib.use("Agg")
    X, y = lowdim.data.load("digits")
    Y = lowdim.UMAP(random_state=0).fit_transform(X)
    _, ax = datamapplot.create_plot(Y, y.astype(str), noise_label="", dpi=50)
    assert {text.get_text() for text in ax.texts} >= {"0", "5"}
    labels = np.full(len(Y), "Unlabelled", dtype="U40")
    for island in lowdim.quality.islands(Y, X, levels=1):
        labels[island.rows] = island.name
    _, ax = datamapplot.create_plot(Y, labels, dpi=50)
    assert len(ax.texts) > 3


def test_leiden_groups_become_labels_of_the_explorer():
    pytest.importorskip("leidenalg")
    from sklearn.metrics import adjusted_rand_score

    from lowdim.explorer.clusters import available, group
    from lowdim.explorer.opening import open_session

    X, y = lowdim.data.load("digits")
    session = open_session(X, y)
    assert available(session.n) == ["leiden", "hdbscan"]
    for method, least in (("leiden", 0.6), ("hdbscan", 0.3)):
        labels = group(session, method)
        assert adjusted_rand_score(y[labels.codes >= 0], labels.codes[labels.codes >= 0]) > least
    session.close()


def test_a_step_of_scikit_learn_on_tensors_can_come_before(monkeypatch):
    """scikit-learn's array API dispatch keeps tensors; ours take them, and return tensors."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    sklearn = pytest.importorskip("sklearn")
    import os

    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("SCIPY_ARRAY_API=1 must be set before SciPy is imported; make test-bridges does so")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    X = np.random.default_rng(0).normal(size=(80, 5))
    with sklearn.config_context(array_api_dispatch=True):
        Y = make_pipeline(MinMaxScaler(), lowdim.PCA(2)).fit_transform(torch.asarray(X))
    assert isinstance(Y, torch.Tensor)
    expected = make_pipeline(MinMaxScaler(), lowdim.PCA(2)).fit_transform(X)
    np.testing.assert_allclose(np.abs(Y.numpy()), np.abs(expected), atol=1e-6)
