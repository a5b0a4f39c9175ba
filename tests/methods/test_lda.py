import numpy as np
import pandas as pd
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
import sklearn
from scipy import special, stats
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim import LDA
from lowdim.relate.moments import class_moments
from lowdim.relate.shrinkage import ledoit_wolf

SOLVERS = ["auto", "cholesky", "range", "gram"]


def scatters(X, y, priors=None):
    """S_w and S_b by their definitions."""
    X = np.asarray(X, dtype=np.float64)
    classes, counts = np.unique(y, return_counts=True)
    pi = counts / counts.sum() if priors is None else np.asarray(priors)
    means = np.stack([X[y == c].mean(axis=0) for c in classes])
    S_w = sum(p * np.cov(X[y == c].T, bias=True) for p, c in zip(pi, classes, strict=True))
    B = means - pi @ means
    return S_w, (B.T * pi) @ B


def along(a, b):
    """|cosine| between rows of ``a`` and rows of ``b``."""
    return np.abs(np.sum(a * b, axis=1)) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.fixture(params=["iris", "wine"])
def labelled(request):
    return {"iris": load_iris, "wine": load_wine}[request.param](return_X_y=True)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("priors", ["empirical", "uniform", [0.2, 0.3, 0.5]])
def test_directions_solve_the_generalised_eigenproblem(labelled, solver, priors):
    X, y = labelled
    lda = LDA(solver=solver, priors=priors).fit(X, y)
    S_w, S_b = scatters(X, y, lda.priors_)
    W = lda.components_
    np.testing.assert_allclose(W @ S_w @ W.T, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(S_b @ W.T, S_w @ W.T * lda.eigenvalues_, atol=1e-7 * np.abs(S_b).max())
    np.testing.assert_allclose(lda.eigenvalues_, sl.eigh(S_b, S_w, eigvals_only=True)[::-1][:2], rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_equals_scikit_learn_up_to_sign_and_scale(labelled, solver):
    X, y = labelled
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    ours = LDA(solver=solver).fit(X, y)
    np.testing.assert_allclose(along(ours.components_, theirs.scalings_.T[:2]), 1.0, atol=1e-9)


def fisher_by(S_w, X, y):
    """Directions for a given covariance within classes."""
    return sl.eigh(scatters(X, y)[1], S_w)[1].T[::-1]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, "auto"])
def test_shrinks_as_scikit_learn_does(labelled, solver, shrinkage):
    X, y = labelled
    # Its eigen solver shrinks S_b as well; the covariance within classes is the same.
    S_w = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y).covariance_
    ours = LDA(solver=solver, shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(along(ours.components_, fisher_by(S_w, X, y)[:2]), 1.0, atol=1e-9)
    np.testing.assert_allclose(ours.components_ @ S_w @ ours.components_.T, np.eye(2), atol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_shrinks_digits_as_scikit_learn_does(dtype):
    X, y = load_digits(return_X_y=True)
    S_w = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y).covariance_
    ours = LDA(shrinkage="auto").fit(X.astype(dtype), y)
    np.testing.assert_allclose(along(ours.components_, fisher_by(S_w, X, y)[:9]), 1.0, atol=1e-5)


def test_intensities_are_those_of_ledoit_and_wolf(rng):
    for X in (rng.normal(size=(40, 6)) * np.arange(1, 7), rng.normal(size=(8, 30)), load_digits().data[:20]):
        found = ledoit_wolf(X, np.zeros(len(X), np.int32), 1)
        covariance, intensity = sklearn_ledoit_wolf(StandardScaler().fit_transform(X))
        assert found.intensities[0] == pytest.approx(intensity, rel=1e-9)
        mu = np.trace(covariance) / X.shape[1]
        np.testing.assert_allclose(found.targets[0] / StandardScaler().fit(X).scale_ ** 2, intensity * mu)


def test_two_classes_give_the_closed_form(rng):
    X = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    y = np.repeat(["a", "b"], 40)
    X[y == "b"] += rng.normal(size=5)
    S_w, _ = scatters(X, y)
    w = np.linalg.solve(S_w, X[y == "a"].mean(axis=0) - X[y == "b"].mean(axis=0))
    lda = LDA().fit(X, y)
    np.testing.assert_allclose(along(lda.components_, w[None]), 1.0)
    assert list(lda.classes_) == ["a", "b"]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", ">f8"])
def test_all_types_give_the_same_directions(dtype):
    X, y = load_digits(return_X_y=True)
    expected = LDA().fit(X, y)
    lda = LDA().fit(X.astype(dtype), y)
    assert lda.solver_ == expected.solver_ == "range"  # digits have constant pixels
    np.testing.assert_allclose(along(lda.components_.astype(float), expected.components_), 1.0, atol=1e-4)


def test_units_do_not_matter(labelled):
    X, y = labelled
    units = 10.0 ** np.arange(-6, X.shape[1] - 6)
    for solver in SOLVERS:
        a, b = (LDA(solver=solver).fit(data, y) for data in (X, X * units + 7.0))
        np.testing.assert_allclose(np.abs(b.transform(X * units + 7.0)), np.abs(a.transform(X)), atol=1e-5)


def test_constant_and_duplicated_features_change_nothing(labelled):
    X, y = labelled
    more = np.column_stack([X, np.full(len(X), 3.3), X[:, 0], X[:, 0] + X[:, 1], np.zeros(len(X))])
    plain = LDA().fit(X, y)
    for solver in ("auto", "range", "gram"):
        lda = LDA(solver=solver).fit(more, y)
        assert lda.solver_ == ("range" if solver == "auto" else solver)
        np.testing.assert_allclose(lda.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
        np.testing.assert_allclose(np.abs(lda.transform(more)), np.abs(plain.transform(X)), atol=1e-6)
    with pytest.raises(ValueError, match="needs a regular covariance.*singular.*solver='auto'"):
        LDA(solver="cholesky").fit(more, y)


@pytest.mark.parametrize("shrinkage", [None, 0.2, "auto"])
def test_both_sides_agree_on_wide_data(rng, shrinkage):
    y = np.arange(60) % 4
    X = rng.normal(size=(60, 90)) + rng.normal(size=(4, 90))[y] * 2
    narrow, wide = (LDA(solver=solver, shrinkage=shrinkage).fit(X, y) for solver in ("range", "auto"))
    assert (narrow.solver_, wide.solver_) == ("range", "gram")
    np.testing.assert_allclose(wide.eigenvalues_, narrow.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(wide.components_, narrow.components_, atol=1e-6 * np.abs(narrow.components_).max())


def test_features_that_name_the_class_do_not_break_it(labelled):
    X, y = labelled
    for dtype in ("float64", "float32"):
        named = np.column_stack([X, y * 1e3]).astype(dtype)  # no spread within classes: outside the range of S_w
        lda = LDA().fit(named, y)
        assert np.isfinite(lda.components_).all()
        np.testing.assert_allclose(lda.components_[:, -1], 0.0, atol=1e-6)


def test_float32_far_from_zero_and_far_apart_is_read_again(rng):
    y = np.arange(400) % 2
    X = (rng.normal(size=(400, 3)) + 2e3 * y[:, None] * [1, 0, 0]).astype("float32")
    expected = LDA().fit(X.astype("float64"), y)
    lda = LDA().fit(X, y)
    np.testing.assert_allclose(along(lda.components_, expected.components_), 1.0, atol=1e-5)
    assert lda.eigenvalues_[0] == pytest.approx(expected.eigenvalues_[0], rel=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_orthogonal_directions_are_orthogonal_and_best_in_turn(solver):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    plain, lda = (LDA(solver=solver, orthogonal=flag).fit(X, y) for flag in (False, True))
    W = lda.components_
    np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(along(W[:1], plain.components_[:1]), 1.0)
    S_w, S_b = scatters(X, y)
    N = sl.null_space(W[:1])  # the best of what is orthogonal to the first, by definition
    best = sl.eigh(N.T @ S_b @ N, N.T @ S_w @ N, eigvals_only=True)[-1]
    np.testing.assert_allclose(lda.eigenvalues_[1], best, rtol=1e-8)
    np.testing.assert_allclose(lda.eigenvalues_[1], (W[1] @ S_b @ W[1]) / (W[1] @ S_w @ W[1]), rtol=1e-8)


def test_orthogonal_holds_with_shrinkage_on_wide_data(rng):
    y = np.arange(40) % 4
    X = rng.normal(size=(40, 100)) * np.geomspace(1, 9, 100) + rng.normal(size=(4, 100))[y] * 3
    W = LDA(orthogonal=True, shrinkage="auto").fit(X, y).components_
    np.testing.assert_allclose(W @ W.T, np.eye(3), atol=1e-9)


def test_scores_have_unit_variance_within_classes(labelled):
    X, y = labelled
    lda = LDA().fit(X, y)
    Y = lda.transform(X)
    S_w, S_b = scatters(Y, y)
    np.testing.assert_allclose(S_w, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(S_b, np.diag(lda.eigenvalues_), atol=1e-7 * lda.eigenvalues_[0])
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-8)


def test_priors_set_the_mean_and_agree_where_classes_are_balanced():
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(LDA(priors="uniform").fit(X, y).components_, LDA().fit(X, y).components_, rtol=1e-9)
    X, y = X[10:], y[10:]
    lda = LDA(priors="uniform").fit(X, y)
    np.testing.assert_allclose(lda.mean_, lda.means_.mean(axis=0))
    np.testing.assert_allclose(LDA().fit(X, y).mean_, X.mean(axis=0))
    without = LDA(1, priors=[0.5, 0.5, 0.0]).fit(X, y)
    np.testing.assert_allclose(
        along(without.components_, LDA(priors=[0.5, 0.5]).fit(X[y < 2], y[y < 2]).components_), 1
    )
    np.testing.assert_allclose(without.means_[2], X[y == 2].mean(axis=0))


def test_pictures_in_few_rows_of_many_pixels_are_told_apart(rng):
    """As faces are: 30 people in 10 pictures each, under lights that change a picture more than the person does."""
    y = np.repeat(np.arange(30), 10)
    X = rng.normal(size=(30, 2000))[y] + rng.normal(scale=0.6, size=(300, 2000))
    X += rng.normal(scale=60, size=(300, 4)) @ np.linalg.qr(rng.normal(size=(2000, 4)))[0].T
    train = np.arange(len(X)) % 10 < 5
    plain = KNeighborsClassifier(1).fit(X[train], y[train])
    assert plain.score(X[~train], y[~train]) < 0.6
    for shrinkage in (None, "auto"):
        lda = LDA(shrinkage=shrinkage).fit(X[train], y[train])
        nearest = KNeighborsClassifier(1).fit(lda.transform(X[train]), y[train])
        assert nearest.score(lda.transform(X[~train]), y[~train]) >= 0.93


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_components": 3}, r"at most .* = 2 \(3 classes, 4 features\); got 3.*Lower"),
        ({"priors": [0.5, 0.6, -0.1]}, "never negative; got -0.1 for class 2"),
        ({"priors": [0.5, 0.2, 0.1]}, "add up to 0.8"),
        ({"priors": [0.5, 0.5]}, "one number for each of the 3 classes; got 2"),
        ({"priors": "equal"}, "priors must be"),
        ({"shrinkage": 1.5}, "shrinkage must be"),
        ({"shrinkage": "ledoit"}, "shrinkage must be"),
        ({"solver": "eigen"}, "solver must be"),
        ({"tol": -1.0}, "tol must be"),
    ],
)
def test_impossible_parameters_are_refused(params, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        LDA(**params).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda y: np.zeros(150), r"at least two classes.*got 1 class \(0.0\)"),
        (lambda y: y[:-1], "one label for each of the 150 rows.*got 149"),
        (lambda y: np.where(y == 1, np.nan, y), r"label for every row; got NaN.*row 50 \(50 in all\)"),
        (lambda y: np.array([*y[:-1], None], dtype=object), "row 149"),
        (lambda y: pd.Series([*map(str, y[:-1]), None], dtype="string"), r"NaN.*row 149 \(1 in all\)"),
        (lambda y: pd.Series([*y[:-1], None], dtype="Int64"), r"NaN.*row 149 \(1 in all\)"),
        (lambda y: y + np.linspace(0, 0.5, 150), "y must hold labels"),
        (lambda y: None, "requires y"),
    ],
)
def test_impossible_labels_are_refused(damage, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        LDA().fit(X, damage(y))


@pytest.mark.parametrize("shrinkage", [None, 0.1, "auto"])
@pytest.mark.parametrize("wide", [False, True])
def test_classes_without_spread_are_refused_with_the_way_out(rng, wide, shrinkage):
    X, y = (rng.random((3, 5)), np.arange(3)) if wide else (np.repeat(np.eye(3), 4, axis=0), np.repeat([0, 1, 2], 4))
    with pytest.raises(ValueError, match="must vary within a class; no feature does. Pass several rows of each class"):
        LDA(2, shrinkage=shrinkage).fit(X, y)


def test_one_class_a_row_and_one_feature_work():
    lda = LDA().fit(np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1])
    assert lda.transform([[3.0]]).shape == (1, 1)
    assert lda.eigenvalues_[0] == pytest.approx(25.0)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [1e7, -3e7, 1e9])
def test_where_the_data_lie_does_not_matter(solver, offset, dtype):
    X, y = load_iris(return_X_y=True)
    X = np.rint(X * 16).astype(dtype)  # whole numbers: exact beside the offset
    plain, moved = LDA(solver=solver).fit(X, y), LDA(solver=solver).fit(X + dtype(offset), y)
    np.testing.assert_allclose(moved.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(moved.components_, plain.components_, rtol=1e-5, atol=1e-7)


def test_times_in_seconds_count_as_others_do(rng):
    y = np.repeat([0, 1], 200)
    days = 86400 * (rng.normal(size=400) + 3 * y)
    lda = LDA().fit(np.column_stack([1.7e9 + days, rng.normal(size=400)]), y)
    assert lda.eigenvalues_[0] == pytest.approx(LDA().fit(days[:, None], y).eigenvalues_[0], rel=0.05)


def test_values_whose_squares_overflow_are_told(rng):
    X = rng.normal(size=(20, 3)) * 1e200
    with pytest.raises(ValueError, match="variances must fit in float64; the squares of these values overflow. Scale"):
        LDA().fit(X, np.arange(20) % 2)


def collinear(n=1500, d=120, kept=40, seed=0):
    """Rows whose features are mixtures of few, with variances within classes over seven decades."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=n)
    falling = np.logspace(0, -3.2, kept)
    Z = rng.normal(size=(n, kept)) * falling + (1.5 * rng.normal(size=(5, kept)) * falling)[y]
    return (Z @ rng.normal(size=(kept, d)) + 3).astype(np.float32), y


@pytest.mark.parametrize("extra", [0, 3])
def test_float32_keeps_directions_of_little_variance(extra):
    X, y = collinear()
    X = np.hstack([X, np.repeat(X[:, :1], extra, axis=1)])  # copies, which float32 products need not resolve
    single, double = LDA().fit(X, y), LDA().fit(X.astype(np.float64), y)
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-4)
    theirs = LinearDiscriminantAnalysis(solver="svd", tol=1e-4).fit(X.astype(np.float64), y)
    ratios = double.eigenvalues_ / double.eigenvalues_.sum()
    np.testing.assert_allclose(ratios, theirs.explained_variance_ratio_, rtol=1e-3)
    apart = np.abs(single.transform(X) - double.transform(X.astype(np.float64))).max(axis=0)
    assert np.all(apart < 1e-2 * double.transform(X.astype(np.float64)).std(axis=0))


def test_float32_products_are_enough_where_null_directions_prove_to_be_null(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = (rng.normal(size=(400, 24)) + rng.normal(size=(3, 24))[y]).astype(np.float32)
    X = np.hstack([X, X[:, :1] + X[:, 1:2]])
    asked = []

    def noted(*args, doubles=False):
        asked.append((doubles, args[0].shape[1]))
        return class_moments(*args, doubles=doubles)

    monkeypatch.setattr("lowdim.methods.lda.class_moments", noted)
    model = LDA().fit(X, y)
    assert asked == [(False, 25), (True, 1)]  # all features in float32, and the one direction that does not vary
    np.testing.assert_allclose(model.eigenvalues_, LDA().fit(X.astype(np.float64), y).eigenvalues_, rtol=1e-4)


@pytest.mark.parametrize("shape", [(300, 40), (40, 120)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("params", [{}, {"shrinkage": 0.2}, {"priors": "uniform"}])
def test_sparse_rows_give_the_directions_of_dense_ones(shape, dtype, params, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=shape[0])
    X = (rng.poisson(0.3, size=shape) + (rng.random((3, shape[1])) < 0.2)[y] * rng.poisson(1.0, size=shape)).astype(
        dtype
    )
    dense = LDA(**params).fit(X, y)
    if shape[0] > shape[1]:  # wide ones go by blocks of columns, and these fit in one
        monkeypatch.setattr(sp.csr_array, "toarray", demand_small(sp.csr_array.toarray, X.size))
    for form in (sp.csr_array, sp.csc_array):
        sparse = LDA(**params).fit(form(X), y)
        np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-4)
        np.testing.assert_allclose(sparse.means_, dense.means_, rtol=1e-5, atol=1e-6)
        Y = dense.transform(X)
        np.testing.assert_allclose(sparse.transform(form(X)), Y, atol=1e-3 * np.abs(Y).max())


def demand_small(convert, size):
    """Wrap ``toarray`` so that the whole of the rows is never made dense at once."""

    def checked(self, *args, **kwargs):
        assert self.shape[0] * self.shape[1] < size
        return convert(self, *args, **kwargs)

    return checked


def test_sparse_rows_with_large_means_do_not_cancel():
    X, y = load_iris(return_X_y=True)
    far = sp.csr_array(X + 1e7)
    np.testing.assert_allclose(LDA().fit(far, y).eigenvalues_, LDA().fit(X, y).eigenvalues_, rtol=1e-4)


def test_automatic_shrinkage_of_sparse_rows_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="shrinkage='auto' needs dense rows; got sparse ones. Pass a number"):
        LDA(shrinkage="auto").fit(sp.csr_array(X), y)


# Its `svd` divides by n_samples since 1.9; before, by n_samples - n_classes, unlike its other solvers.
SVD = "svd" if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9) else "eigen"
PEERS = [
    ({}, {"solver": SVD}),
    ({}, {"solver": "eigen"}),
    ({"shrinkage": 0.2}, {"solver": "eigen", "shrinkage": 0.2}),
    ({"shrinkage": "auto"}, {"solver": "lsqr", "shrinkage": "auto"}),
    ({"solver": "gram", "shrinkage": 0.1}, {"solver": "eigen", "shrinkage": 0.1}),
    ({"n_components": 1, "orthogonal": True}, {"solver": SVD}),
    ({"priors": "weighted"}, {"solver": "eigen", "priors": "weighted"}),
]


@pytest.mark.parametrize(("params", "theirs"), PEERS)
@pytest.mark.parametrize(("form", "tol"), [(np.float64, 1e-9), (np.float32, 2e-3), (sp.csr_array, 1e-9)])
@pytest.mark.parametrize("two", [False, True])
def test_rows_are_classified_as_by_scikit_learn(params, theirs, form, tol, two, labelled):
    X, y = labelled[0][labelled[1] < 2] if two else labelled[0], labelled[1]
    y = np.array(["beta", "alpha", "gamma"])[y[y < 2] if two else y]
    params, theirs = dict(params), dict(theirs)
    if two:
        params.pop("n_components", None)
    for given in (params, theirs):
        if "priors" in given:
            given["priors"] = [0.3, 0.7] if two else [0.2, 0.3, 0.5]
    if form is sp.csr_array and params.get("shrinkage") == "auto":
        pytest.skip("needs dense rows, and says so")
    rows = form(X) if form is sp.csr_array else X.astype(form)
    ours, peer = LDA(**params).fit(rows, y), LinearDiscriminantAnalysis(**theirs).fit(X, y)
    np.testing.assert_array_equal(ours.predict(rows), peer.predict(X))
    np.testing.assert_allclose(ours.predict_proba(rows), peer.predict_proba(X), atol=tol)
    np.testing.assert_array_equal(ours.predict_log_proba(rows).argmax(axis=1), peer.predict_proba(X).argmax(axis=1))
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(rows)), ours.predict_proba(rows), atol=1e-6)
    scores, expected = ours.decision_function(rows), peer.decision_function(X)
    assert scores.shape == expected.shape
    assert scores.dtype == (np.float32 if form is np.float32 else np.float64)
    if not two:  # scores of all classes may share a term
        scores, expected = (A - A.mean(axis=1, keepdims=True) for A in (scores, expected))
    np.testing.assert_allclose(scores, expected, atol=tol * 10 * np.abs(expected).max())
    dense = X @ ours.coef_.T.astype(np.float64) + ours.intercept_
    np.testing.assert_allclose(np.squeeze(dense), ours.decision_function(rows), atol=tol * 10 * np.abs(expected).max())
    assert ours.score(rows, y) == pytest.approx(peer.score(X, y))
    if "orthogonal" in params:
        assert ours.explained_variance_ratio_ is None
    elif not {"shrinkage", "priors"} & set(params):
        np.testing.assert_allclose(ours.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=tol * 10)


def test_probabilities_are_those_of_gaussian_classes_of_one_covariance(labelled):
    X, y = labelled
    model, S = LDA(n_components=1).fit(X, y), scatters(X, y)[0]
    density = np.stack([stats.multivariate_normal(X[y == c].mean(axis=0), S).logpdf(X) for c in range(3)], axis=1)
    joint = density + np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(
        model.predict_log_proba(X), joint - special.logsumexp(joint, axis=1, keepdims=True), atol=1e-8
    )


def test_a_class_of_prior_zero_is_never_predicted():
    X, y = load_iris(return_X_y=True)
    model = LDA(priors=[0.5, 0.5, 0.0]).fit(X, y)
    assert set(model.predict(X)) == {0, 1}
    np.testing.assert_array_equal(model.predict_proba(X)[:, 2], 0)


def test_a_rule_is_kept_in_files_and_missing_in_those_of_before(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LDA().fit(X, y)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))
    del model.coef_
    with pytest.raises(AttributeError, match="LDA: a model fitted by this version is needed to predict classes"):
        model.predict(X)
