import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SequentialFeatureSelector as TheirSelector
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC

import lowdim
from lowdim import SequentialFeatureSelector
from lowdim.persist import read_state, write_state
from lowdim.solve.criteria.choose import Completed, criterion_for
from lowdim.solve.criteria.refit import Refit

SETS = {"wine": load_wine, "cancer": load_breast_cancer, "diabetes": load_diabetes, "iris": load_iris}


def data(name):
    """Rows without ties and labels or numbers."""
    X, y = SETS[name](return_X_y=True)
    X = X / X.std(axis=0)
    return X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape), y


CASES = [
    pytest.param(LinearRegression(), "diabetes", None, id="least squares"),
    pytest.param(LinearRegression(fit_intercept=False), "cancer", "neg_mean_absolute_error", id="no intercept"),
    pytest.param(Ridge(alpha=3.0), "diabetes", "neg_mean_squared_error", id="ridge"),
    pytest.param(Ridge(alpha=0.5), "wine", "neg_root_mean_squared_error", id="ridge by rmse"),
    pytest.param(LinearDiscriminantAnalysis(), "wine", None, id="lda"),
    pytest.param(LinearDiscriminantAnalysis(solver="lsqr"), "cancer", "accuracy", id="lda lsqr"),
    pytest.param(KNeighborsClassifier(3), "wine", None, id="knn"),
    pytest.param(KNeighborsClassifier(4, weights="distance"), "iris", None, id="knn by distance"),
    pytest.param(KNeighborsRegressor(5), "diabetes", None, id="knn regression"),
    pytest.param(
        KNeighborsRegressor(3, weights="distance"),
        "diabetes",
        "neg_mean_absolute_error",
        id="knn regression by distance",
    ),
]


@pytest.mark.parametrize("joining", [True, False])
@pytest.mark.parametrize(("estimator", "name", "scoring"), CASES)
def test_scores_without_refits_are_those_of_refits(estimator, name, scoring, joining):
    X, y = data(name)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    quick = criterion_for(estimator, X, y, splits, scoring, check_scoring(estimator, scoring))
    assert isinstance(quick, Completed)
    plain = Refit(estimator, X, y, splits, check_scoring(estimator, scoring))
    for selected in ([2, 0], [3, 2, 0], [1, 3]):
        units = [[f] for f in range(X.shape[1]) if (f in selected) != joining]
        got = quick.quick.around(selected, units, joining).scores
        np.testing.assert_allclose(got, plain.around(selected, units, joining).scores, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(quick.quick.score(selected).scores, plain.score(selected).scores, atol=1e-9)
    base, units = ([2], [[1, 3], [0]]) if joining else ([0, 2, 3, 1], [[2, 0], [3]])
    got = quick.quick.around(base, units, joining).scores
    np.testing.assert_allclose(got, plain.around(base, units, joining).scores, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(("estimator", "name", "scoring"), CASES)
def test_chooses_the_features_that_scikit_learn_does(estimator, name, scoring, direction):
    X, y = data(name)
    X = X[:, :8]
    size = 3 if name == "iris" else 5
    ours = SequentialFeatureSelector(
        estimator, n_features_to_select=size, direction=direction, scoring=scoring, cv=4
    ).fit(X, y)
    theirs = TheirSelector(estimator, n_features_to_select=size, direction=direction, scoring=scoring, cv=4).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    expected = cross_val_score(estimator, X[:, ours.support_], y, cv=4, scoring=scoring).mean()
    assert ours.score_ == pytest.approx(expected, rel=1e-9)


def test_dependent_and_constant_pixels_score_as_refits_do():
    X, y = load_digits(return_X_y=True)
    X, y = X[::3], y[::3]
    splits = list(StratifiedKFold(3).split(X, y))
    lda = LinearDiscriminantAnalysis()
    quick = criterion_for(lda, X, y, splits, None, check_scoring(lda))
    everything = list(range(64))
    units = [[f] for f in (0, 7, 8, 16, 24, 32, 39, 47)]
    plain = Refit(lda, X, y, splits, check_scoring(lda)).around(everything, units, False)
    got = quick.quick.around(everything, units, False)
    assert np.isfinite(got.scores).all()
    np.testing.assert_allclose(got.scores, plain.scores, atol=2.5 / len(X))  # a row on the border may fall either way


def test_nearly_dependent_columns_are_solved_exactly(rng):
    x = 1.0 + 1e-3 * rng.normal(size=(300, 1))
    X = np.hstack([x, x**2, x**3, np.log(x), rng.normal(size=(300, 2))])
    y = X[:, 4] + 5 * (x[:, 0] - 1) / 1e-3 + rng.normal(size=300)
    splits = list(KFold(3).split(X))
    quick = criterion_for(LinearRegression(), X, y, splits, None, check_scoring(LinearRegression()))
    got = quick.quick.around([0, 4], [[1], [2], [5]], True).scores
    for u, f in enumerate((1, 2, 5)):
        for i, (a, b) in enumerate(splits):
            Z = X[:, [0, 4, f]]
            size = Z[a].std(axis=0)
            coef = np.linalg.lstsq((Z[a] - Z[a].mean(0)) / size, y[a] - y[a].mean(), rcond=1e-15)[0]
            r = y[b] - y[a].mean() - (Z[b] - Z[a].mean(0)) / size @ coef
            assert got[u, i] == pytest.approx(1 - (r @ r) / np.square(y[b] - y[b].mean()).sum(), rel=1e-5)


def test_forward_stops_by_epsilon_and_backward_too():
    X, y = data("wine")
    chosen = SequentialFeatureSelector(LinearDiscriminantAnalysis(), tol=0.01).fit(X, y)
    gains = np.diff(chosen.scores_)
    assert (gains > 0.01).all()
    more = SequentialFeatureSelector(
        LinearDiscriminantAnalysis(), n_features_to_select=chosen.n_features_to_select_ + 1
    ).fit(X, y)
    assert more.scores_[-1] - more.scores_[-2] <= 0.01
    back = SequentialFeatureSelector(LinearDiscriminantAnalysis(), direction="backward", tol=-0.01).fit(X, y)
    assert (np.diff(back.scores_) > -0.01).all()
    less = SequentialFeatureSelector(
        LinearDiscriminantAnalysis(), direction="backward", n_features_to_select=back.n_features_to_select_ - 1
    )
    assert np.diff(less.fit(X, y).scores_)[-1] <= -0.01


def test_the_empty_set_is_the_majority_or_the_mean():
    X, y = load_breast_cancer(return_X_y=True)
    start = SequentialFeatureSelector(LinearDiscriminantAnalysis(), n_features_to_select=1).fit(X, y).scores_[0]
    assert start == pytest.approx(np.mean(y == 1), abs=0.01)
    X, y = load_diabetes(return_X_y=True)
    assert SequentialFeatureSelector(LinearRegression(), n_features_to_select=1).fit(X, y).scores_[0] == pytest.approx(
        0, abs=0.05
    )


def test_best_is_the_best_of_the_path():
    X, y = data("wine")
    for direction in ("forward", "backward"):
        best = SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select="best", direction=direction).fit(
            X, y
        )
        assert best.score_ == max(best.scores_)
        assert len(best.scores_) == (14 if direction == "forward" else 13)
        sizes = [n for n, s in zip(best.history_["n_features"], best.scores_, strict=True) if s == best.score_]
        assert best.n_features_to_select_ == min(sizes)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_floating_is_no_worse_and_steps_back(direction):
    X, y = data("cancer")
    stepped_back = False
    for size in (4, 6):
        plain = SequentialFeatureSelector(KNeighborsClassifier(3), direction=direction, n_features_to_select=size).fit(
            X[:, :14], y
        )
        floating = SequentialFeatureSelector(
            KNeighborsClassifier(3), direction=direction, floating=True, n_features_to_select=size
        ).fit(X[:, :14], y)
        assert floating.n_features_to_select_ == size
        assert floating.score_ >= plain.score_ - 1e-12
        stepped_back |= len(set(floating.history_["action"])) == 3
    assert stepped_back


def test_groups_come_together_and_kept_features_stay():
    X, y = data("wine")
    groups = [0, 0, 1, 1, 1, 2, 3, 4, 5, 5, 6, 6, 6]
    chosen = SequentialFeatureSelector(
        LinearDiscriminantAnalysis(), n_features_to_select=3, groups=groups, keep=[5]
    ).fit(X, y)
    taken = {g for g, flag in zip(groups, chosen.support_, strict=True) if flag}
    assert len(taken) == 3
    assert 2 in taken
    assert all(flag == (g in taken) for g, flag in zip(groups, chosen.support_, strict=True))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(13)])
    for direction in ("forward", "backward"):
        named = SequentialFeatureSelector(n_features_to_select=2, keep=["c1"], direction=direction).fit(frame, y)
        assert named.support_[1]
        assert "c1" in named.get_feature_names_out()


def test_any_estimator_scorer_and_splitter_serve():
    X, y = data("wine")
    rows = np.arange(len(X)) // 6
    chosen = SequentialFeatureSelector(
        GaussianNB(), n_features_to_select=2, scoring="balanced_accuracy", cv=GroupKFold(3)
    )
    chosen.fit(X, y, groups=rows)
    theirs = TheirSelector(
        GaussianNB(), n_features_to_select=2, scoring="balanced_accuracy", cv=list(GroupKFold(3).split(X, y, rows))
    ).fit(X, y)
    np.testing.assert_array_equal(chosen.support_, theirs.support_)
    SequentialFeatureSelector(SVC(), n_features_to_select=1, scoring=lambda e, A, b: e.score(A, b), cv=3).fit(
        X[:, :3], y
    )
    several = np.column_stack([X[:, 0], X[:, 1]])
    SequentialFeatureSelector(LinearRegression(), n_features_to_select=1, cv=3).fit(X[:, 2:6], several)


def test_a_failing_candidate_is_skipped_with_a_warning():
    class Touchy(GaussianNB):
        def fit(self, X, y):
            if (X == 7.0).all(axis=0).any():
                raise np.linalg.LinAlgError("a constant column")
            return super().fit(X, y)

    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.full(150, 7.0)])
    with pytest.warns(UserWarning, match=r"feature 4 could not be scored and was skipped \(it is constant in") as told:
        chosen = SequentialFeatureSelector(Touchy(), n_features_to_select=2).fit(X, y)
    assert told[0].filename == __file__
    assert not chosen.support_[4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="none was left after 4 features"):
            SequentialFeatureSelector(Touchy(), n_features_to_select=5).fit(X, y)
    with pytest.raises(ValueError, match=r"must fit the features it starts with.*constant column"):
        SequentialFeatureSelector(Touchy(), direction="backward").fit(X, y)


def test_a_constant_column_does_not_stop_lda():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([np.zeros(150), X])
    with pytest.warns(UserWarning, match="feature 0 could not be scored and was skipped"):
        chosen = SequentialFeatureSelector(LinearDiscriminantAnalysis(), n_features_to_select=2).fit(X, y)
    assert not chosen.support_[0]
    splits = list(StratifiedKFold(3).split(X, y))
    for solver in ("svd", "lsqr"):  # no division by the spread of nothing; warnings are errors here
        rule = LinearDiscriminantAnalysis(solver=solver)
        quick = criterion_for(rule, X, y, splits, None, check_scoring(rule)).quick
        quick.around([0, 1], [[2], [3]], True)
        quick.around([0, 1, 2], [[0], [1]], False)


def test_ties_go_to_the_lowest_index():
    X, y = load_iris(return_X_y=True)
    twice = np.column_stack([X, X])
    for estimator in (KNeighborsClassifier(3), LinearDiscriminantAnalysis(), GaussianNB()):
        first = SequentialFeatureSelector(estimator, n_features_to_select=1).fit(twice, y)
        assert np.flatnonzero(first.support_)[0] < 4


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(3), LinearDiscriminantAnalysis()])
def test_threads_change_no_bit(estimator):
    X, y = data("cancer")
    one, two = (SequentialFeatureSelector(estimator, n_features_to_select=4, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.support_, two.support_)


def test_history_is_a_table(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    chosen = SequentialFeatureSelector(LogisticRegression(), n_features_to_select=1, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen.fit(X[["alcohol", "ash"]], y)
    table = pd.DataFrame(chosen.history_)
    assert list(table.columns) == ["step", "action", "feature", "n_features", "score", "spread", "seconds"]
    assert chosen.history_["feature"] == [None, "alcohol"]
    chosen.save(tmp_path / "chosen.lowdim")
    again = lowdim.load(tmp_path / "chosen.lowdim")
    assert again.history_ == chosen.history_
    assert isinstance(again.estimator, LogisticRegression)
    assert again.estimator.get_params() == chosen.estimator.get_params()
    with pytest.raises(TypeError, match=r"the estimator is a SVC.*set_params\(estimator=None\)"):
        SequentialFeatureSelector(SVC(), n_features_to_select=1, cv=3).fit(X[["alcohol", "ash"]], y).save(
            tmp_path / "no.lowdim"
        )


def test_sparse_rows_stay_sparse():
    X, y = data("iris")
    chosen = SequentialFeatureSelector(LogisticRegression(), n_features_to_select=2, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen.fit(sp.csr_array(X), y)
    assert sp.issparse(chosen.transform(sp.csr_array(X)))
    np.testing.assert_array_equal(chosen.get_support(indices=True), np.flatnonzero(chosen.support_))


@pytest.mark.parametrize(
    "asked",
    [
        {"direction": "forward", "tol": 0.01},
        {"direction": "backward", "tol": -0.01},
        {"direction": "backward", "tol": 0.0},
        {"tol": None},
        {"n_features_to_select": 0.3, "direction": "backward"},
    ],
)
def test_sizes_and_tolerances_mean_what_they_do_in_scikit_learn(asked):
    X, y = data("wine")
    ours, theirs = (
        cls(LinearDiscriminantAnalysis(), **asked).fit(X, y) for cls in (SequentialFeatureSelector, TheirSelector)
    )
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    assert ours.n_features_to_select_ == theirs.n_features_to_select_


@pytest.mark.parametrize(
    ("asked", "old"),
    [
        ({"direction": "backward", "floating": True, "tol": -0.02}, {"direction": "floating_backward", "tol": 0.02}),
        ({"direction": "forward", "n_features_to_select": 3}, {"direction": "forward", "tol": 0.001, "n_features": 3}),
    ],
)
def test_files_with_the_names_of_before_load(asked, old, tmp_path):
    X, y = data("wine")
    model, path = SequentialFeatureSelector(KNeighborsClassifier(3), **asked).fit(X, y), tmp_path / "m.lowdim"
    model.save(path)
    state, _ = read_state(path)
    params = {name: value for name, value in state["params"].items() if name not in {"floating", "tol", *asked}}
    fitted = dict(state["fitted"])
    fitted["n_features_"] = fitted.pop("n_features_to_select_")
    params = {"n_features": "auto"} | params | old
    params.pop("n_features_to_select", None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lowdim.persist.archive.FORMAT_VERSION", 2)
        write_state(path, state | {"class": "SequentialSelector", "params": params, "fitted": fitted})
    again = lowdim.load(path)
    assert type(again) is SequentialFeatureSelector
    assert {name: getattr(again, name) for name in asked} == asked
    np.testing.assert_array_equal(again.support_, model.support_)
    again.fit(X, y)
    np.testing.assert_array_equal(again.support_, model.support_)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"direction": "sideways"}, "direction must be one of"),
        ({"n_features_to_select": 5}, "at most the 4 features there are; got 5"),
        ({"n_features_to_select": 1, "keep": [0, 1]}, "at least the 2 kept"),
        ({"keep": ["nothing"]}, "keep must name features.*got 'nothing'"),
        ({"keep": [4]}, "keep must name features.*got 4"),
        ({"groups": [0, 1]}, "one label for each of the 4 features; got 2"),
        ({"cv": 1}, "cv must be"),
        ({"estimator": "lda"}, "estimator must be"),
        ({"keep": [None]}, "keep must name features.*got None"),
        ({"keep": [1.5]}, r"keep must name features.*got 1\.5"),
        ({"keep": [True, False]}, "keep as a mask must have one flag for each of the 4 features; got 2"),
        ({"groups": [0, 1, 2, np.nan]}, "groups must have a number or text for every feature; got nan"),
        ({"groups": [0, 1, 2, [3]]}, r"groups must have a number or text for every feature; got \[3\]"),
        ({"cv": []}, "at least one pair of .* rows; got cv=\\[\\]"),
        ({"cv": [1, 2]}, "cv must be able to split the 150 rows.*int object. Pass a number"),
        ({"cv": [([0, 1, 60], [150])]}, "positions from 0 to 149.*from 150 to 150 in fold 0"),
        ({"cv": [([0, 1, 60], [])]}, r"positions from 0 to 149.*shape \(0,\) in fold 0"),
        ({"cv": GroupKFold(3)}, r"fit\(X, y, groups=…\)"),
        ({"estimator": KNeighborsClassifier(0)}, "estimator must have valid parameters.*'n_neighbors'.*Got 0"),
        ({"estimator": KNeighborsClassifier(2.5)}, r"estimator must have valid parameters.*'n_neighbors'.*Got 2\.5"),
        ({"estimator": Ridge(-1.0)}, "estimator must have valid parameters.*'alpha'"),
        ({"estimator": LinearDiscriminantAnalysis(solver="foo")}, "estimator must have valid parameters.*'solver'"),
        ({"scoring": "acuracy"}, "scoring must be the name.*got 'acuracy'. Did you mean 'accuracy'"),
        ({"scoring": "zzz"}, "get_scorer_names"),
        ({"cv": 200}, r"cv must be able to split the 150 rows; got cv=200"),
    ],
)
def test_impossible_parameters_are_refused(params, words):
    with pytest.raises(ValueError, match=words):
        SequentialFeatureSelector(**params).fit(*load_iris(return_X_y=True))


def test_impossible_targets_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="one value for each of the 150 rows of X; got 149"):
        SequentialFeatureSelector().fit(X, y[1:])
    with pytest.raises(ValueError, match="value for every row; got 1 NaN"):
        SequentialFeatureSelector().fit(X, np.append(y[:-1], np.nan))
    for classifier in (KNeighborsClassifier(), LinearDiscriminantAnalysis(), GaussianNB()):
        with pytest.raises(ValueError, match="must hold labels for .*, a classifier.*continuous.*pass a regressor"):
            SequentialFeatureSelector(classifier).fit(X, X[:, 0] + 0.5)
    for text in (y.astype(str), y.astype(str).astype(object)):
        with pytest.raises(ValueError, match="must hold numbers for LinearRegression, a regressor; got .* such as '0'"):
            SequentialFeatureSelector(LinearRegression()).fit(X, text)
    with pytest.raises(ValueError, match="value for every row; got 1 NaN"):
        SequentialFeatureSelector().fit(X, pd.Series([*map(str, y[:-1]), None], dtype="string"))
    for groups, words in (
        (y[1:], "one label for each of the 150 rows of X; got 149. Match them"),
        (
            [[0], [0, 1]] * 75,
            "one label for each of the 150 rows of X; got lists of different lengths. Pass one label per row",
        ),
        (X, r"one label per row; got shape \(150, 4\). Pass one column"),
    ):
        with pytest.raises(ValueError, match=words):
            SequentialFeatureSelector(cv=GroupKFold(3)).fit(X, y, groups=groups)


@pytest.mark.parametrize("estimator", [LinearRegression(), KNeighborsRegressor(3), Ridge()])
def test_flags_are_numbers_to_a_regressor(estimator):
    X, y = data("cancer")
    flags, numbers = (
        SequentialFeatureSelector(estimator, n_features_to_select=2).fit(X[:, :6], t) for t in (y == 1, y * 1.0)
    )
    np.testing.assert_array_equal(flags.scores_, numbers.scores_)


def test_numbers_of_numpy_count_as_numbers():
    X, y = data("wine")
    chosen = SequentialFeatureSelector(
        KNeighborsClassifier(np.int64(3)), n_features_to_select=np.int64(3), keep=np.array([1])
    ).fit(X, y)
    assert chosen.n_features_to_select_ == 3
    mask = SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=3, keep=np.arange(13) == 1).fit(X, y)
    np.testing.assert_array_equal(mask.support_, chosen.support_)


def test_folds_may_be_masks():
    X, y = data("iris")
    test = np.arange(150) % 3 == 0
    masks = SequentialFeatureSelector(n_features_to_select=2, cv=[(~test, test)]).fit(X, y)
    rows = SequentialFeatureSelector(n_features_to_select=2, cv=[(np.flatnonzero(~test), np.flatnonzero(test))]).fit(
        X, y
    )
    np.testing.assert_array_equal(masks.scores_, rows.scores_)


def test_a_tolerance_of_its_own_means_refits():
    X, y = data("wine")
    rule = LinearDiscriminantAnalysis(tol=0.5)
    splits = list(StratifiedKFold(3).split(X, y))
    assert isinstance(criterion_for(rule, X, y, splits, None, check_scoring(rule)), Refit)


def test_one_reason_for_all_is_told_once():
    class Broken(GaussianNB):
        def fit(self, X, y):
            raise RuntimeError("out of order")

    with pytest.raises(ValueError, match=r"all 4 of the first step failed \(RuntimeError: out of order\)"):
        SequentialFeatureSelector(Broken(), n_features_to_select=2).fit(*load_iris(return_X_y=True))


def test_rows_that_lack_values_are_for_estimators_that_take_them():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=150)])
    X[::7, 2] = np.nan
    tree = HistGradientBoostingClassifier(max_iter=5)
    ours = SequentialFeatureSelector(tree, n_features_to_select=2, cv=3, n_jobs=1).fit(X, y)
    theirs = TheirSelector(tree, n_features_to_select=2, cv=3).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.get_support())
    np.testing.assert_array_equal(ours.transform(X), X[:, ours.support_])
    with pytest.raises(ValueError, match="SequentialFeatureSelector: X must be finite; got NaN"):
        SequentialFeatureSelector(GaussianNB()).fit(X, y)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_features_are_chosen_without_targets(direction):
    X = load_iris().data
    model = KMeans(n_clusters=3, random_state=0, n_init=2)
    ours = SequentialFeatureSelector(model, n_features_to_select=2, cv=3, direction=direction).fit(X)
    theirs = TheirSelector(model, n_features_to_select=2, cv=3, direction=direction).fit(X)
    np.testing.assert_array_equal(ours.support_, theirs.get_support())
    with pytest.raises(ValueError, match="requires y"):
        SequentialFeatureSelector(GaussianNB()).fit(X)
    with pytest.raises(ValueError, match="requires y"):
        SequentialFeatureSelector().fit(X)


def test_targets_near_the_largest_float32_have_finite_scores(rng):
    y = np.where(rng.random(60) < 0.5, 1, -1).astype(np.float32) * np.finfo(np.float32).max
    assert np.isfinite(SequentialFeatureSelector().fit(rng.normal(size=(60, 3)), y).scores_).all()
