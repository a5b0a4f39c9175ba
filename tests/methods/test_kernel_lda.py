import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from lowdim import LDA, KernelCCA, KernelLDA, data


def apart(Y, y):
    """Whether one threshold on the first score separates two classes."""
    a, b = Y[y == 0, 0], Y[y == 1, 0]
    return a.min() > b.max() or b.min() > a.max()


@pytest.mark.parametrize("name", ["rings", "xor"])
def test_one_direction_separates_what_no_line_does(name):
    X, y = data.load(name, n_samples=200, noise=0.1)
    lda, kernel = LDA().fit(X, y), KernelLDA(gamma=0.5).fit(X, y)
    assert not apart(lda.transform(X), y)
    assert apart(kernel.transform(X), y)
    new, labels = data.load(name, n_samples=300, noise=0.1, random_state=1)
    assert apart(kernel.transform(new), labels)


def test_the_linear_kernel_is_lda_up_to_the_ridge():
    X, y = load_iris(return_X_y=True)
    lda = LDA().fit(X, y)
    for ridge, tolerance in ((0.0, 1e-7), (1e-7, 1e-4)):
        kernel = KernelLDA(kernel="linear", ridge=ridge).fit(X, y)
        np.testing.assert_allclose(kernel.eigenvalues_, lda.eigenvalues_, rtol=tolerance)
        np.testing.assert_allclose(np.abs(kernel.transform(X)), np.abs(lda.transform(X)), atol=1e-2 * tolerance**0.5)


def test_directions_solve_the_problem_with_ridge(rng):
    X, y = load_iris(return_X_y=True)
    model = KernelLDA(gamma=0.3, ridge=0.01).fit(X, y)
    Y = model.transform(X)
    means = np.stack([Y[y == c].mean(axis=0) for c in range(3)])
    within = np.square(Y - means[y]).mean(axis=0)
    between = np.square(means - Y.mean(axis=0)).mean(axis=0)
    K = rbf_kernel(X, gamma=0.3)
    H = np.eye(150) - 1 / 150
    lengths = np.einsum("ik,ij,jk->k", model.dual_coef_, H @ K @ H, model.dual_coef_)
    np.testing.assert_allclose(within + 0.01 * lengths, 1.0, rtol=1e-6)
    np.testing.assert_allclose(between, model.eigenvalues_, rtol=1e-6)


def test_a_precomputed_kernel_is_the_same():
    X, y = load_iris(return_X_y=True)
    K = rbf_kernel(X, gamma=0.3)
    plain, given = KernelLDA(gamma=0.3).fit(X, y), KernelLDA(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.transform(K[:9]), plain.transform(X[:9]), atol=1e-6)


def test_impossible_input_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"at most n_classes - 1 = 2; got 3"):
        KernelLDA(3).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        KernelLDA().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="got NaN"):
        KernelLDA().fit(X, np.where(y == 1, np.nan, y))
    with pytest.raises(ValueError, match="rows that differ under the kernel are needed; got 6 that are all alike"):
        KernelLDA().fit(np.ones((6, 2)), y[::25])
    with pytest.raises(ValueError, match="at most the rank 1 of the rows under the kernel; got 2. Lower it"):
        KernelLDA(2, kernel="linear").fit(X[:, :1], y)


def test_no_way_back_is_promised_where_there_is_none():
    assert not hasattr(KernelLDA(), "inverse_transform")
    assert not hasattr(KernelCCA(), "inverse_transform")


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_one_factor_gives_the_directions_of_all_eigenvectors(kernel, ridge, monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, y = X[10:], y[10:]  # classes of several sizes
    quick = KernelLDA(kernel=kernel, ridge=ridge).fit(X, y)
    monkeypatch.setattr(KernelLDA, "_by_factor", lambda *args: None)
    whole = KernelLDA(kernel=kernel, ridge=ridge).fit(X, y)
    np.testing.assert_allclose(quick.eigenvalues_, whole.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(quick.transform(X), whole.transform(X), rtol=1e-6, atol=1e-7)


def test_no_ridge_to_speak_of_and_classes_in_one_place_go_by_eigenvectors():
    X, y = load_iris(return_X_y=True)
    assert KernelLDA(kernel="linear", ridge=1e-13).fit(X, y).n_components_ == 2
    same = np.vstack([X[:50], X[:50], X[50:100]])  # two classes of the same rows
    model = KernelLDA(gamma=0.3).fit(same, np.repeat([0, 1, 2], 50))
    assert model.n_components_ == 2
    np.testing.assert_allclose(model.eigenvalues_[1], 0, atol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("given", [{}, {"gamma": "median"}, {"ridge": 1e-6}])
@pytest.mark.parametrize("cls", [KernelLDA, KernelCCA])
def test_float32_and_float64_agree_in_signs(cls, given, load):
    X, y = load(return_X_y=True)
    second = np.eye(3)[y] + 0.1 * np.random.default_rng(0).normal(size=(len(y), 3)) if cls is KernelCCA else y
    double = cls(2, **given).fit(X, second).transform(X)
    single = cls(2, **given).fit(X.astype(np.float32), second).transform(X.astype(np.float32))
    agreement = np.einsum("ij,ij->j", single, double) / np.einsum("ij,ij->j", double, double)
    np.testing.assert_allclose(agreement, 1, atol=0.02)


@pytest.mark.parametrize(("ridge", "tol"), [(0, 1e-9), (1e-7, 1e-4)])
def test_the_linear_kernel_classifies_as_lda(ridge, tol):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    names = np.array(["b", "a", "c"])[y]
    model, lda = KernelLDA(kernel="linear", ridge=ridge).fit(X, names), LDA().fit(X, names)
    np.testing.assert_allclose(model.predict_proba(X), lda.predict_proba(X), atol=tol)
    np.testing.assert_array_equal(model.predict(X), lda.predict(X))
    Y = model.transform(X)
    np.testing.assert_allclose(model.class_means_, [Y[names == c].mean(axis=0) for c in "abc"], atol=1e-6)
    assert model.set_output(transform="pandas").score(X, names) == lda.score(X, names)


def test_classes_that_no_line_separates_are_told_apart():
    X, y = data.load("rings")
    odd = np.random.default_rng(0).random(len(X)) < 0.5
    for kernel in ("rbf", "precomputed"):
        K = rbf_kernel(X, X[~odd], gamma=1.0) if kernel == "precomputed" else X
        model = KernelLDA(kernel=kernel, gamma=1.0).fit(K[~odd], y[~odd])
        assert model.decision_function(K[odd]).shape == (odd.sum(),)
        assert model.score(K[odd], y[odd]) == 1.0
    assert LDA().fit(X, y).score(X, y) < 0.7
