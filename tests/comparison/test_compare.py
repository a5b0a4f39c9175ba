"""Comparison: the embeddings are those of the methods, the measures those of quality, and failures are told."""

import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import lowdim
from lowdim import quality
from lowdim.comparison import measures
from lowdim.comparison.candidates import Ground, unsuited
from lowdim.comparison.cost import Cost
from lowdim.comparison.measures import BY_NAME, KINDS
from lowdim.methods import registry

X, Y = lowdim.data.load("iris")


@pytest.fixture(scope="module")
def compared():
    return lowdim.compare(X, Y, ["pca", "lda", "kl"])


def test_embeddings_are_those_of_the_methods(compared):
    np.testing.assert_allclose(compared.embeddings["pca"], lowdim.PCA(2).fit_transform(X))
    np.testing.assert_allclose(compared.embeddings["lda"], lowdim.LDA().fit_transform(X, Y)[:, :2])
    assert type(compared.models["pca"]).__name__ == "PCA"


def test_measures_are_those_of_quality(compared):
    found = quality.report(X, compared.embeddings["pca"], Y)  # 150 rows have fewer pairs than are looked at
    row = compared.table.row(by_predicate=pl.col("method") == "pca", named=True)
    for kind in KINDS:
        assert row[kind.name] == pytest.approx(float(found[kind.name])), kind.name
    assert set(found) <= {kind.name for kind in KINDS}  # nothing measured goes untold
    assert row["seconds"] > 0


def test_the_best_is_first_by_the_measure_asked_for(compared):
    area = compared.table["rnx_auc"].to_list()
    assert area == sorted(area, reverse=True)
    assert compared.best == compared.table["method"][0] == next(iter(compared.embeddings))
    by_stress = lowdim.compare(X, Y, ["lda", "pca"], by="stress_normalised")
    assert by_stress.table["stress_normalised"].is_sorted()


def test_every_registered_method_that_suits_takes_part_by_default():
    made = lowdim.compare(X[::3], Y[::3])
    fits = {m.name for m in registry.METHODS if not unsuited(m, Ground(50, 4, False, 3))}
    if find_spec("torch") is None:
        fits -= {"autoencoder"}
    assert set(made.embeddings) | set(made.failed) == fits
    assert made.failed == {}
    assert {"pca", "kl", "lda", "kernel_pca", "kernel_lda"} <= fits
    assert set(made.left_out) == {m.name for m in registry.METHODS} - fits


def test_labels_that_name_no_classes_only_colour():
    for y in (
        None,
        np.linspace(0, 1, 150),
        ["a"] * 150,
        [*Y[:-1].astype(float), np.nan],
        [f"r{i}" for i in range(150)],
    ):
        made = lowdim.compare(X, y, ["pca"])
        assert made.facts.classes == 0
        assert "knn_accuracy" not in made.table.columns
        assert unsuited(registry.find("lda"), Ground(150, 4, False, 0))


@pytest.mark.parametrize("parameters", [5, {"pca": 5}, ["pca"]])
def test_parameters_that_are_no_mappings_are_refused(parameters):
    with pytest.raises(TypeError, match=r"parameters must map names of methods to their parameters; got .*Pass for"):
        lowdim.compare(X, Y, ["pca"], parameters=parameters)


def test_few_rows_and_rare_classes_are_compared():
    made = lowdim.compare(X[::13], np.arange(12) % 6, ["pca", "lda"])  # two rows of each class
    assert made.failed == {}
    assert "knn_accuracy" not in made.table.columns
    rare = np.where(np.arange(150) < 149, Y, 9)  # one row of the last class
    assert lowdim.compare(X, rare, ["pca", "lda"]).failed == {}
    assert lowdim.compare(X[:4], None, ["pca"]).failed == {}


@pytest.mark.parametrize("form", ["frame", "polars", "sparse", "float32", "fortran", "integers"])
def test_data_of_every_form_give_the_same(form, compared):
    forms = {
        "frame": pd.DataFrame(X, columns=list("abcd")),
        "polars": pl.DataFrame(X, schema=list("abcd")),
        "sparse": sp.csr_array(X),
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "integers": (10 * X).astype(np.int16),
    }
    made = lowdim.compare(forms[form], pd.Series(Y.astype(str), name="species"), ["pca"])
    scale = 10 if form == "integers" else 1
    np.testing.assert_allclose(made.embeddings["pca"] / scale, compared.embeddings["pca"], atol=2e-2)
    assert made.labels.title == "species"
    named = form in ("frame", "polars")
    assert made.prepared.names == (list("abcd") if named else ["x0", "x1", "x2", "x3"])
    assert hasattr(made.models["pca"], "feature_names_in_") == named


def test_a_failing_method_is_told_and_the_others_go_on():
    class Broken:
        def fit_transform(self, X, y=None):
            raise RuntimeError("out of\nink")

        def get_params(self, deep=False):
            return {}

    class Endless(Broken):
        def fit_transform(self, X, y=None):
            return np.full((len(X), 2), np.inf)

    seen = []
    made = lowdim.compare(
        X,
        Y,
        {"bad": Broken(), "mine": decomposition.PCA(2), "far": Endless()},
        on_result=lambda *pair: seen.append(pair),
    )
    assert made.failed["bad"] == "out of ink"
    assert "must be finite" in made.failed["far"]
    assert list(made.embeddings) == ["mine"]
    assert "bad and far failed" in made.verdict
    assert [name for name, _ in seen] == ["bad", "mine", "far"]
    assert seen[0][1] == "out of ink"
    with pytest.raises(ValueError, match="at least one method must succeed; none did. bad: out of ink"):
        lowdim.compare(X, Y, {"bad": Broken()})


def test_what_a_method_warns_of_is_kept_and_told(tmp_path):
    class Anxious(decomposition.PCA):
        def fit_transform(self, X, y=None):
            warnings.warn("the data\nlook odd", stacklevel=1)
            return super().fit_transform(X)

    made = lowdim.compare(X, Y, {"anxious": Anxious(2), "calm": decomposition.PCA(2)})
    assert made.warnings == {"anxious": "the data look odd"}
    assert made.failed == {}
    made.report(tmp_path / "r.html")
    assert "the data look odd" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_ctrl_c_is_no_failure_of_a_method():
    class Stopped:
        def fit_transform(self, X, y=None):
            raise KeyboardInterrupt

        def get_params(self, deep=False):
            return {}

    with pytest.raises(KeyboardInterrupt):
        lowdim.compare(X, Y, {"stopped": Stopped()})


def test_estimators_of_the_caller_are_left_unfitted():
    given = lowdim.PCA(2)
    lowdim.compare(X, Y, {"mine": given})
    assert not hasattr(given, "components_")


def test_estimators_of_others_are_given_the_labels():
    made = lowdim.compare(X, Y, {"theirs": LinearDiscriminantAnalysis(), "ours": lowdim.LDA()})
    assert made.failed == {}
    assert made.table["knn_accuracy"].min() > 0.9


def test_parameters_and_scale_reach_the_methods():
    made = lowdim.compare(X, Y, ["pca"], scale=True)
    np.testing.assert_allclose(made.embeddings["pca"], lowdim.PCA(2).fit_transform(X / X.std(axis=0)), atol=1e-8)
    made = lowdim.compare(X, Y, ["pca"], parameters={"PCA": {"whiten": True}})
    np.testing.assert_allclose(made.embeddings["pca"], lowdim.PCA(2, whiten=True).fit_transform(X))


def test_the_same_seed_gives_the_same_table():
    first, second = (lowdim.compare(X, Y, ["pca", "kernel_pca"], random_state=3).table for _ in range(2))
    assert first.drop("seconds", "megabytes").equals(second.drop("seconds", "megabytes"))


def test_the_verdict_names_who_is_best_at_what(compared):
    for name in ("trustworthiness", "shepard_correlation", "knn_accuracy"):
        leader = compared.leader(BY_NAME[name])
        assert compared.values(BY_NAME[name])[leader] == compared.table[name].max()
    assert compared.verdict.startswith("pca preserves neighbourhoods best (R_NX area 0.69")
    assert "1 component explains 90 % of the variance." in compared.verdict
    assert " best" not in lowdim.compare(X, None, ["pca"]).verdict


def test_scales_that_differ_are_told_unless_they_were_divided_out():
    wild = X * [1, 1, 1, 1000]
    assert "fold in scale" in lowdim.compare(wild, None, ["pca"]).verdict
    assert "fold in scale" not in lowdim.compare(wild, None, ["pca"], scale=True).verdict
    assert "fold in scale" not in lowdim.compare(wild, None, ["pca"], image_shape=(2, 2)).verdict


def test_methods_are_left_out_for_what_they_need(monkeypatch):
    kernel = registry.find("kernel_pca")
    assert "takes long beyond" in unsuited(kernel, Ground(10**6, 4, False, 0))
    assert "no map" in unsuited(registry.find("select"), Ground(100, 4, False, 3))
    assert "labels" in unsuited(registry.find("lda"), Ground(100, 4, False, 1))
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    assert "1 MB is available" in unsuited(kernel, Ground(5000, 4, False, 0))


def test_a_method_whose_package_is_not_installed_is_left_out_unless_named(monkeypatch):
    def lack(self, X, y=None):
        raise ImportError("ink is needed")

    monkeypatch.setattr(lowdim.KLExpansion, "fit_transform", lack)
    made = lowdim.compare(X[::3], Y[::3])
    assert made.left_out["kl"] == "ink is needed"
    assert made.failed == {}
    assert lowdim.compare(X[::3], Y[::3], ["kl", "pca"]).failed == {"kl": "ink is needed"}


def test_of_many_rows_some_are_measured_and_told(monkeypatch, tmp_path):
    monkeypatch.setattr(measures, "_MANY", 100)
    monkeypatch.setattr(measures, "_SOME", 60)
    monkeypatch.setattr(measures, "_PAIRS", 2000)
    made = lowdim.compare(X, Y, ["pca", "lda"])
    found = made.outcomes[0].found
    assert (found.sampled, found.pairs, len(found.distortion)) == (60, 2000, 60)
    whole = quality.trustworthiness(X, made.embeddings["pca"])
    assert abs(found.values["trustworthiness"] - whole) < 5 * found.errors["trustworthiness"]
    made.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Measured on 60 of the 150 rows, distances on 2,000 pairs of rows, a random sample" in text


def test_cost_sees_memory_that_is_held_for_a_while():
    import time

    with Cost() as cost:
        block = np.ones(300 * 2**20 // 8)  # far more than the system may take back from the process meanwhile
        time.sleep(0.05)
    assert cost.memory > 30 * 2**20
    assert cost.seconds >= 0.05
    assert block.size


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lowdim.compare(X, Y, ["pcaa"]), "Did you mean 'pca'?"),
        (lambda: lowdim.compare(X, Y, []), "at least one method is needed; got none. Name some"),
        (lambda: lowdim.compare(X, None, ["lda"]), "LDA learns from labels that name classes; got none. Pass y"),
        (lambda: lowdim.compare(X, Y, ["pca"], by="beauty"), "by must be one of rnx_auc.*got 'beauty'. Choose"),
        (lambda: lowdim.compare(X, Y, ["pca"], n_components=0), "integer ≥ 1; got 0. Pass 2"),
        (lambda: lowdim.compare(X, Y, ["pca"], parameters={"lda": {}}), r"of the comparison \(pca\).*for lda. Add"),
        (lambda: lowdim.compare(X, Y, ["pca"], parameters={"pca": {"x": 1}}), "PCA takes .*got x. Check"),
        (lambda: lowdim.compare(X, Y, ["pca"], image_shape=(3, 2)), r"4 pixels in all.*got \(3, 2\)\. Pass"),
        (lambda: lowdim.compare(X, Y[:9], ["pca"]), r"compare: y must hold one label for each of the 150 rows.*\(9,\)"),
        (lambda: lowdim.compare(X[:3], Y[:3], ["pca"]), "at least 4 samples.*got 3"),
        (lambda: lowdim.compare([[np.nan] * 3] * 9), "compare: X must be finite"),
        (lambda: lowdim.compare(X, "species"), "y='species' names a column, which only a DataFrame has"),
        (lambda: lowdim.compare(pd.DataFrame(X, columns=list("abcd")), "e"), "y must name a column.*got 'e'"),
    ],
)
def test_wrong_arguments_are_refused_before_any_work(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match="mapping of names to estimators; got .*PCA"):
        lowdim.compare(X, Y, {"pca": lowdim.PCA})


def test_estimators_get_the_parameters_given_for_their_names():
    own = lowdim.PCA(2)
    made = lowdim.compare(X, methods={"mine": own, "pca": lowdim.PCA(2)}, parameters={"mine": {"standardize": True}})
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(made.embeddings["mine"], lowdim.PCA(2).fit_transform(Z), atol=1e-12)
    np.testing.assert_allclose(made.embeddings["pca"], lowdim.PCA(2).fit_transform(X))
    assert own.standardize is False


def test_parameters_that_an_estimator_lacks_are_refused():
    with pytest.raises(ValueError, match="PCA takes .*; got perplexity"):
        lowdim.compare(X, methods={"pca": lowdim.PCA(2)}, parameters={"pca": {"perplexity": 5}})
    with pytest.raises(ValueError, match="of the comparison .*; got some for other"):
        lowdim.compare(X, methods={"mine": lowdim.PCA(2)}, parameters={"other": {"whiten": True}})


def test_labels_of_a_comparison_are_no_wish_to_supervise_maps():
    X, y = lowdim.data.load("iris")
    found = lowdim.compare(X, y, methods=["umap", "lda"], parameters={"umap": {"n_epochs": 5}})
    assert not found.warnings


def test_random_labels_are_not_separated_and_noise_is_called_noise():
    """A method that learns from labels separates any labels of the rows that it learnt."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        made = lowdim.compare(rng.normal(size=(200, 100)), rng.integers(2, size=200), ["pca", "lda", "kernel_lda"])
        assert made.table["knn_accuracy"].max() < 0.65
        assert "No map separates classes better than chance" in made.verdict
        assert "no more neighbourhood structure than with their columns shuffled" in made.verdict
    assert "noise" not in lowdim.compare(X, Y, ["pca"]).verdict


def test_labels_learnt_from_are_scored_on_held_out_rows():
    made = lowdim.compare(X, Y, {"lda": lowdim.LDA(), "pca": lowdim.PCA(2), "theirs": LinearDiscriminantAnalysis()})
    held_out = {one.name: one.found.held_out for one in made.outcomes}
    assert held_out == {"lda": True, "pca": False, "theirs": True}
    from sklearn.model_selection import StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = []
    for train, test in folds.split(X, Y):
        model = make_pipeline(lowdim.LDA(2), KNeighborsClassifier(5)).fit(X[train], Y[train])
        expected.append(model.score(X[test], Y[test]))
    row = made.table.row(by_predicate=pl.col("method") == "lda", named=True)
    assert row["knn_accuracy"] == pytest.approx(np.mean(expected), abs=0.01)
    assert made.chance == {"knn_accuracy": 1 / 3, "neighbor_hit": pytest.approx(1 / 3), "silhouette": 0}
    assert "on held-out rows, chance is 0.33" in made.verdict or "chance is 0.33" in made.verdict


def test_the_verdict_agrees_with_the_ranking():
    for by in ("rnx_auc", "trustworthiness"):
        made = lowdim.compare(X, Y, ["pca", "lda", "kl", "kernel_pca"], by=by)
        assert made.verdict.startswith(f"{made.best} preserves neighbourhoods best ({BY_NAME[by].title} ")
    same = lowdim.compare(X, None, {f"pca {i}": lowdim.PCA(2) for i in range(6)})
    assert "pca 1, pca 2 and 3 others equally well" in same.verdict


def test_gaps_are_refused_with_what_fills_them(rng):
    low = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 8))
    X = np.where(rng.random(low.shape) < 0.2, np.nan, low)
    with pytest.raises(
        ValueError, match="Measures need complete rows: pass missing='drop', 'mean' or 'median', or fill"
    ):
        lowdim.compare(X, methods=["pca"])
    filled = lowdim.PCA(2, missing="em").fit(X).impute(X)  # what the message says
    by_pca = lowdim.compare(filled, methods=["pca"]).embeddings["pca"]
    by_median = lowdim.compare(X, methods=["pca"], missing="median").embeddings["pca"]
    truth = lowdim.PCA(2).fit_transform(low)

    def alike(Y):  # correlation of the worse component
        return np.abs(np.diag(np.corrcoef(Y.T, truth.T)[:2, 2:])).min()

    assert alike(by_pca) > alike(by_median)
