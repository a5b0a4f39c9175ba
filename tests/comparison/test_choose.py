"""The value chosen is among the best by its own table, and the fit is the one that was tried."""

import numpy as np
import pytest

import lowdim


def blobs(rng, n=150):
    return rng.normal(size=(n, 6)) + 8 * rng.normal(size=(5, 6))[rng.integers(5, size=n)]


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("tsne", {"max_iter": 80}), ("umap", {"n_epochs": 30}), ("pacmap", {"max_iter": 40}), ("isomap", {}), ("lle", {})],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_value_chosen_is_within_one_percent_of_the_best(method, parameters, rng):
    X = blobs(rng)
    found = lowdim.choose(X, method, parameters=parameters | ({"disconnected": "bridge"} if "l" in method else {}))
    table = found.table
    best = table["rnx_auc"].max()
    row = table.row(table[found.parameter].to_list().index(found.value), named=True)
    good = table.filter(table["rnx_auc"] >= best - 0.01 * abs(best))
    assert row["rnx_auc"] >= best - 0.01 * abs(best)
    assert row["stability"] == good["stability"].max()
    assert found.fits == len(table) <= 6
    assert str(found.value) in found.reason
    assert ("residual_variance" in table.columns) == (method == "isomap")
    expected = lowdim.quality.rnx_auc(X, found.model.embedding_)
    assert row["rnx_auc"] == pytest.approx(float(expected))


def test_a_fit_can_choose_by_itself_and_is_saved(tmp_path, rng):
    X = blobs(rng)
    model = lowdim.TSNE(perplexity="choose", max_iter=60, random_state=0).fit(X)
    direct = lowdim.TSNE(perplexity=model.perplexity_, max_iter=60, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_, direct.embedding_)
    np.testing.assert_array_equal(model.transform(X + 0.1), direct.transform(X + 0.1))
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert again.perplexity == "choose"
    assert again.perplexity_ == model.perplexity_
    umap = lowdim.UMAP(n_neighbors="choose", n_epochs=10, random_state=0)
    assert umap.fit_transform(X).shape == (150, 2)
    assert isinstance(umap.n_neighbors_, int)
    with pytest.raises(ValueError, match="n_neighbors='choose' needs rows X; got graph"):
        umap.fit(graph=np.eye(150))


def test_noise_is_called_noise_and_structure_is_not(rng):
    quick = {"max_iter": 30}
    doubts = [
        "no value is right for noise"
        in lowdim.choose(np.random.default_rng(i).normal(size=(80, 5)), parameters=quick).reason
        for i in range(5)
    ]
    assert sum(doubts) >= 4
    assert "noise" not in lowdim.choose(blobs(rng, 80), parameters=quick).reason


def test_components_by_parallel_analysis(rng):
    X = np.repeat(rng.normal(size=(300, 3)), 4, axis=1) + 0.3 * rng.normal(size=(300, 12))  # three blocks of columns
    found = lowdim.choose(X, "pca")
    assert found.value == 3
    assert found.model.n_components == 3
    assert "explain 90 % of the variance" in found.reason
    assert found.table["variance"].to_list() == pytest.approx(lowdim.PCA().fit(X).explained_variance_.tolist())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: lowdim.choose(X[:30]), "at least 50 samples"),
        (lambda X: lowdim.choose(X, "lda"), "a method with perplexity or n_neighbors is needed, or pca; got lda"),
        (lambda X: lowdim.choose(X, parameters={"perplexity": 5}), "perplexity is what is chosen; got 5"),
        (lambda X: lowdim.choose(X, parameters={"wrong": 5}), "TSNE takes"),
        (lambda X: lowdim.TSNE(perplexity="choose").fit(X[:30]), "perplexity='choose' needs at least 50 rows; got 30"),
        (
            lambda X: lowdim.TSNE(perplexity="choose", metric="precomputed", init="random").fit(np.zeros((60, 60))),
            "needs rows of features; got metric='precomputed'",
        ),
    ],
)
def test_arguments_without_sense_are_refused(call, message, rng):
    with pytest.raises(ValueError, match=message):
        call(rng.normal(size=(60, 4)))
