"""Filters: their scores against scikit-learn and closed forms, order, p-values, and what they refuse."""

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import false_discovery_control
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim import RankFeatures, show
from lowdim.methods.rank_features import BY
from lowdim.relate import column_scores
from lowdim.solve.ranking import corrected, greedy_order


@pytest.fixture
def untied(rng):
    """Rows of which no column has a value twice, and three classes."""
    X, y = load_wine(return_X_y=True)
    return X / X.std(axis=0) + rng.normal(scale=1e-3, size=X.shape), y


# Scores


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.asfortranarray])
def test_anova_is_that_of_scikit_learn(form, untied):
    X, y = untied
    found = RankFeatures("anova", correction="none").fit(form(X), y)
    F, p = f_classif(X, y)
    np.testing.assert_allclose(found.scores_, F, rtol=1e-10)
    np.testing.assert_allclose(found.pvalues_, p, rtol=1e-8)


def test_f_of_numbers_is_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    found = RankFeatures("anova").fit(X, y)
    F, p = f_regression(X, y)
    np.testing.assert_allclose(found.scores_, F, rtol=1e-9)
    np.testing.assert_allclose(found.pvalues_, p, rtol=1e-8)


@pytest.mark.parametrize("k", [1, 3, 20])
def test_information_with_labels_is_that_of_scikit_learn_without_ties(untied, k):
    X, y = untied
    found = RankFeatures("mutual_info", n_neighbors=k).fit(X, y)
    theirs = mutual_info_classif(X, y, n_neighbors=k, random_state=0)
    np.testing.assert_allclose(found.scores_, theirs, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_information_with_numbers_is_that_of_scikit_learn_without_ties(rng, k):
    X = rng.normal(size=(300, 6))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=300)
    found = RankFeatures("mutual_info", n_neighbors=k).fit(X, y)
    theirs = mutual_info_regression(X, y, n_neighbors=k, random_state=0)
    np.testing.assert_allclose(found.scores_, theirs, rtol=1e-7, atol=1e-9)


def test_information_of_discrete_features_is_exact(rng):
    X, y = rng.integers(0, 4, (500, 5)), rng.integers(0, 3, 500)
    X[:, 1] = np.where(rng.random(500) < 0.7, y, X[:, 1])
    found = RankFeatures("mutual_info").fit(X, y)
    expected = [mutual_info_score(x, y) for x in X.T]
    np.testing.assert_allclose(found.scores_, expected, atol=1e-12)
    target = y + 0.1 * rng.normal(size=500)
    found = RankFeatures("mutual_info").fit(X, target)
    theirs = mutual_info_regression(X, target, discrete_features=True, random_state=0)
    np.testing.assert_allclose(found.scores_, theirs, rtol=1e-7, atol=1e-9)


def test_information_of_normal_columns_is_the_closed_form(rng):
    n = 20_000
    for r in (0.0, 0.5, 0.9):
        x = rng.normal(size=n)
        y = r * x + np.sqrt(1 - r**2) * rng.normal(size=n)
        (found,) = RankFeatures("mutual_info", n_neighbors=5).fit(x[:, None], y).scores_
        np.testing.assert_allclose(found, -0.5 * np.log(1 - r**2), atol=0.03)


def test_equal_values_are_counted_not_broken_by_noise(rng):
    y = rng.integers(0, 3, 2000)
    x = np.where(rng.random(2000) < 0.8, y, rng.integers(0, 3, 2000)).astype(float)
    exact = mutual_info_score(x, y)
    forced = RankFeatures("mutual_info", discrete_features=[]).fit(x[:, None], y)
    np.testing.assert_allclose(forced.scores_, exact, atol=0.01)
    shuffled = RankFeatures("mutual_info", discrete_features=[]).fit(x[::-1, None], y[::-1])
    np.testing.assert_array_equal(forced.scores_, shuffled.scores_)


def test_relief_sees_features_that_matter_together(rng):
    X = rng.random((400, 12))
    y = (X[:, 3] > 0.5) ^ (X[:, 8] > 0.5)  # neither matters alone
    found = RankFeatures("relief", n_features_to_select=2).fit(X, y)
    assert set(found.get_support(indices=True)) == {3, 8}
    alone = RankFeatures("anova", n_features_to_select=2).fit(X, y)
    assert set(alone.get_support(indices=True)) != {3, 8}
    target = np.where(y, 5.0, -5.0) + 0.1 * rng.normal(size=400)
    assert set(RankFeatures("relief", n_features_to_select=2).fit(X, target).get_support(indices=True)) == {3, 8}


def test_relief_is_its_definition_on_few_rows(rng):
    X, y = rng.random((30, 4)), rng.integers(0, 3, 30)
    Z, expected, k = (X - X.min(axis=0)) / np.ptp(X, axis=0), np.zeros(4), 3
    shares = np.bincount(y) / 30
    D = np.abs(Z[:, None] - Z).sum(axis=2)
    for i in range(30):
        for c in range(3):
            others = np.flatnonzero((y == c) & (np.arange(30) != i))
            near = others[np.argsort(D[i, others])[:k]]
            weight = -1.0 if c == y[i] else shares[c] / (1 - shares[y[i]])
            expected += weight * np.abs(Z[i] - Z[near]).mean(axis=0) / 30
    np.testing.assert_allclose(RankFeatures("relief", n_neighbors=k).fit(X, y).scores_, expected, atol=1e-12)


def test_mrmr_passes_over_a_copy_of_the_best(rng):
    y = rng.integers(0, 2, 500)
    best, other = y + 0.3 * rng.normal(size=500), y + 0.8 * rng.normal(size=500)
    X = np.stack([best, best + 0.01 * rng.normal(size=500), rng.normal(size=500), other], axis=1)
    assert set(RankFeatures("mutual_info", n_features_to_select=2).fit(X, y).get_support(indices=True)) == {0, 1}
    assert 3 in RankFeatures("mrmr", n_features_to_select=2).fit(X, y).get_support(indices=True)


def test_the_greedy_order_is_the_best_at_each_step(rng):
    relevance, R = rng.random(8), rng.random((8, 8))
    order, scores = greedy_order(relevance, lambda j: R[j], 8)
    assert sorted(order) == list(range(8))
    for step in range(1, 8):
        gain = relevance - R[order[:step]].mean(axis=0)
        assert gain[order[step]] == pytest.approx(max(gain[order[step:]]))
        assert scores[order[step]] == pytest.approx(gain[order[step]])


def test_variance_needs_no_target(untied):
    X = untied[0] * np.arange(1, 14)
    np.testing.assert_allclose(RankFeatures("variance").fit(X).scores_, X.var(axis=0), rtol=1e-10)


# p-values


@pytest.mark.parametrize("by", ["anova", "mutual_info", "mrmr", "relief"])
def test_permutations_find_what_matters_and_little_else(by, rng):
    X, y = rng.normal(size=(150, 20)), rng.integers(0, 2, 150)
    X[:, :3] += 2 * y[:, None]
    found = RankFeatures(by, n_permutations=200, random_state=0).fit(X, y)
    assert found.support_[:3].all()
    assert found.support_[3:].sum() <= 2
    assert found.pvalues_.min() >= 1 / 201
    again = RankFeatures(by, n_permutations=200, random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(found.pvalues_, again.pvalues_)


def test_permutations_of_anova_agree_with_the_f_distribution(rng):
    X, y = rng.normal(size=(200, 10)), rng.integers(0, 3, 200)
    for target in (y, rng.normal(size=200)):
        exact = RankFeatures("anova", n_features_to_select=3).fit(X, target)
        drawn = RankFeatures("anova", n_features_to_select=3, n_permutations=2000).fit(X, target)
        np.testing.assert_allclose(drawn.pvalues_, exact.pvalues_, atol=0.05)


def test_corrections_are_those_of_their_definition(rng):
    p = rng.random(30) ** 3
    np.testing.assert_allclose(corrected(p, "bh"), false_discovery_control(p))
    np.testing.assert_allclose(corrected(p, "bonferroni"), np.minimum(30 * p, 1))
    holm, order = corrected(p, "holm"), np.argsort(p)
    for place, j in enumerate(order):
        assert holm[j] == pytest.approx(min(1.0, max((30 - i) * p[order[i]] for i in range(place + 1))))
    assert corrected(p, "none") is p


# The contract


@pytest.mark.parametrize("by", BY)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore:RankFeatures. .* are constant")
def test_scikit_learn_accepts_each(by):
    check_estimator(RankFeatures(by, n_features_to_select=1), on_skip=None)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_support_transform_names_and_files(by, dtype, untied, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = untied[0].astype(dtype), untied[1]
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(13)])
    found = RankFeatures(by, n_features_to_select=4, random_state=0).fit(table, y)
    assert found.n_features_to_select_ == found.support_.sum() == 4
    assert sorted(found.ranking_) == list(range(1, 14))
    assert set(found.get_support(indices=True)) == set(np.flatnonzero(found.ranking_ <= 4))
    out = found.set_output(transform="pandas").transform(table)
    assert (
        list(out.columns) == list(found.get_feature_names_out()) == [f"c{j}" for j in found.get_support(indices=True)]
    )
    np.testing.assert_array_equal(out.to_numpy(), X[:, found.support_])
    assert out.to_numpy().dtype == dtype
    found.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.ranking_, found.ranking_)
    np.testing.assert_array_equal(again.transform(table), out)
    if by != "relief":
        sparse = RankFeatures(by, n_features_to_select=4).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(sparse.scores_, found.scores_, rtol=1e-4)


def test_the_picture_names_the_best_and_what_they_share(untied):
    found = RankFeatures("mrmr", n_features_to_select=3).fit(*untied)
    ax = show.redundancy(found)
    assert ax.images[0].get_array().shape == (13, 13)
    np.testing.assert_allclose(found.redundancy_.diagonal(), 1)
    best = np.argsort(found.ranking_)
    np.testing.assert_allclose(found.redundancy_, np.abs(np.corrcoef(untied[0].T))[np.ix_(best, best)], atol=1e-10)
    assert [label.get_fontweight() for label in ax.get_yticklabels()].count("bold") == 3
    with pytest.raises(ValueError, match="a fitted RankFeatures is needed"):
        show.redundancy(lowdim.PCA())


def test_many_columns_have_the_correlations_of_the_matrix(monkeypatch, untied):
    from lowdim.relate import column_scores

    whole = column_scores.correlations(untied[0])(np.arange(13))
    monkeypatch.setattr(column_scores, "_MATRIX", 3)
    for X in (untied[0], sp.csr_array(untied[0])):
        np.testing.assert_allclose(column_scores.correlations(X)(np.arange(13)), whole, atol=1e-10)


def test_constant_features_are_named_and_come_last(untied):
    X, y = untied
    X[:, 5] = 3.0
    for by in BY:
        with pytest.warns(UserWarning, match=r"1 of 13 features are constant and get the score 0 \(5\)"):
            found = RankFeatures(by, n_features_to_select=3).fit(X, y)
        assert found.scores_[5] == 0 or by == "mrmr"
        assert not found.support_[5]


def test_what_cannot_be_ranked_is_refused_in_words(untied):
    X, y = untied
    with pytest.raises(ValueError, match="p-values need a target"):
        RankFeatures("variance", n_permutations=10).fit(X)
    with pytest.raises(ValueError, match=r"at most n_features = 13; got 20"):
        RankFeatures(n_features_to_select=20).fit(X, y)
    with pytest.raises(ValueError, match="y must vary"):
        RankFeatures(target="numbers").fit(X, np.ones(178))
    with pytest.raises(ValueError, match="at least two classes"):
        RankFeatures().fit(X, np.ones(178, int))
    with pytest.raises(ValueError, match="some class must have two rows"):
        RankFeatures(target="labels").fit(X[:15], np.arange(15))
    with pytest.raises(ValueError, match="discrete_features must be a mask"):
        RankFeatures(discrete_features=[99]).fit(X, y)
    with pytest.raises(ValueError, match="y must be one column of numbers"):
        RankFeatures(target="numbers").fit(X, np.array(["a"] * 178))
    with pytest.warns(UserWarning, match="no feature is significant"):
        found = RankFeatures("anova", alpha=1e-300).fit(*load_breast_cancer(return_X_y=True))
    assert found.n_features_to_select_ == 1


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("by", ["anova", "mutual_info", "mrmr", "relief", "variance"])
def test_tensors_give_what_arrays_give(rng, by, numbers, monkeypatch):
    import torch

    monkeypatch.setattr(column_scores, "_MOVED", 250)  # several blocks
    y = rng.normal(size=120) if numbers else rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 7)) + np.outer(y, np.linspace(1, 0, 7)) + 50
    options = {"n_permutations": 5, "alpha": 0.5} if by in ("anova", "mutual_info") else {}
    here, there = (RankFeatures(by, random_state=0, **options).fit(A, y) for A in (X, torch.tensor(X)))
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-9)
    np.testing.assert_array_equal(there.ranking_, here.ranking_)
    np.testing.assert_allclose(there.redundancy_, here.redundancy_, atol=1e-12)
    if options:
        np.testing.assert_array_equal(there.pvalues_, here.pvalues_)
    chosen = there.transform(torch.tensor(X))
    assert isinstance(chosen, torch.Tensor)
    np.testing.assert_array_equal(chosen.numpy(), here.transform(X))


def test_a_warning_says_how_small_p_values_of_permutations_can_be(rng):
    X, y = rng.normal(size=(60, 9)), rng.integers(0, 2, 60)
    with pytest.warns(UserWarning, match=r"Of 9 permutations no p-value is below 0\.1\. .* or permutations"):
        RankFeatures("anova", n_permutations=9, random_state=0).fit(X, y)
