"""Kernel PCA: identities, agreement with scikit-learn and among solvers, approximations, pre-images, bad input."""

import warnings
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA as Peer
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim import PCA, KernelPCA
from lowdim.relate import kernels
from lowdim.work import memory

SOLVERS = ["dense", "krylov", "matrix_free"]


@pytest.fixture
def iris():
    X, _ = lowdim.data.load("iris")
    return X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)


def aligned(Y, reference):
    """``Y`` with the signs of ``reference``."""
    return Y * np.sign(np.einsum("ij,ij->j", Y, reference))


# Identities


@pytest.mark.parametrize("solver", SOLVERS)
def test_linear_kernel_is_pca(decaying, solver):
    new = decaying[:20] + 0.1
    pca, kpca = PCA(4).fit(decaying), KernelPCA(4, kernel="linear", eigen_solver=solver, random_state=0)
    Y = kpca.fit_transform(decaying)
    expected = pca.transform(decaying)
    np.testing.assert_allclose(aligned(Y, expected), expected, atol=1e-7)
    np.testing.assert_allclose(kpca.eigenvalues_, pca.explained_variance_ * (len(decaying) - 1), rtol=1e-9)
    expected = pca.transform(new)
    np.testing.assert_allclose(aligned(kpca.transform(new), expected), expected, atol=1e-7)


@pytest.mark.parametrize("gamma", np.logspace(-4, 2, 7))
def test_no_width_of_the_kernel_unrolls_a_spiral(gamma):
    X, length = lowdim.data.load("spiral", n_samples=400)
    assert abs(np.corrcoef(KernelPCA(1, gamma=gamma).fit_transform(X)[:, 0], length)[0, 1]) < 0.5


def test_one_component_parts_two_rings_and_no_direction_does():
    X, ring = lowdim.data.load("rings")
    Y = KernelPCA(1, gamma=0.5).fit_transform(X)[:, 0]
    assert Y[ring == 0].min() > Y[ring == 1].max()
    for y in PCA(2).fit_transform(X).T:  # the inner ring lies within the outer one, whichever way one looks
        assert y[ring == 1].min() < y[ring == 0].min() <= y[ring == 0].max() < y[ring == 1].max()
    lifted = PCA(3).fit_transform(np.column_stack([X, np.square(X).sum(axis=1)]))[:, 0]
    assert (lifted[ring == 0].max() < lifted[ring == 1].min()) or (lifted[ring == 0].min() > lifted[ring == 1].max())


@pytest.mark.parametrize("degree", [2, 3])
def test_homogeneous_polynomial_kernel_is_pca_on_weighted_monomials(degree, rng):
    X = rng.normal(size=(60, 3))
    columns = []
    for powers in combinations_with_replacement(range(3), degree):
        weight = factorial(degree) / np.prod([factorial(powers.count(j)) for j in range(3)])
        columns.append(np.sqrt(weight) * np.prod(X[:, powers], axis=1))
    expected = PCA(4).fit_transform(np.column_stack(columns))
    Y = KernelPCA(4, kernel="poly", degree=degree, gamma=1.0, coef0=0.0).fit_transform(X)
    np.testing.assert_allclose(aligned(Y, expected), expected, atol=1e-9)


def test_scores_have_the_eigenvalues_as_squared_lengths_and_do_not_correlate(iris):
    kpca = KernelPCA(5, gamma=0.3)
    Y = kpca.fit_transform(iris)
    np.testing.assert_allclose(Y.T @ Y, np.diag(kpca.eigenvalues_), atol=1e-9)
    np.testing.assert_allclose(Y, kpca.eigenvectors_ * np.sqrt(kpca.eigenvalues_), atol=1e-9)
    assert (kpca.eigenvectors_[np.abs(kpca.eigenvectors_).argmax(axis=0), range(5)] > 0).all()


# Beside scikit-learn, and solver beside solver


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine"])
def test_agrees_with_scikit_learn(kernel, iris):
    new = iris[:9] + 0.05
    ours = KernelPCA(3, kernel=kernel, gamma=0.02, coef0=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sigmoid: indefinite
        Y = ours.fit_transform(iris)
    K = {"laplacian": lambda A, B: pairwise_kernels(A, B, metric="laplacian", gamma=0.02)}.get(kernel)
    if K is None:
        theirs = Peer(3, kernel=kernel, gamma=0.02, coef0=0.5, eigen_solver="dense").fit(iris)
        expected, expected_new = theirs.transform(iris), theirs.transform(new)
    else:
        theirs = Peer(3, kernel="precomputed", eigen_solver="dense").fit(K(iris, iris))
        expected, expected_new = theirs.transform(K(iris, iris)), theirs.transform(K(new, iris))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(aligned(Y, expected), expected, atol=1e-7)
    np.testing.assert_allclose(aligned(ours.transform(new), expected_new), expected_new, atol=1e-7)


def test_functions_and_precomputed_matrices_are_the_kernel_they_hold(iris):
    new = iris[:9] + 0.05
    named = KernelPCA(3, gamma=0.1).fit(iris)
    called = KernelPCA(3, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1)).fit(iris)
    K = rbf_kernel(iris, gamma=0.1)
    given = KernelPCA(3, kernel="precomputed")
    np.testing.assert_allclose(given.fit_transform(K), named.transform(iris), atol=1e-10)
    np.testing.assert_allclose(called.transform(new), named.transform(new), atol=1e-10)
    np.testing.assert_allclose(given.transform(rbf_kernel(new, iris, gamma=0.1)), named.transform(new), atol=1e-10)
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not named.__sklearn_tags__().input_tags.pairwise
    assert (given.gamma_, called.gamma_, named.gamma_) == (None, None, 0.1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed"])
def test_solvers_agree(kernel, dtype, iris, monkeypatch):
    monkeypatch.setattr(kernels, "TILE", 40)
    monkeypatch.setattr(kernels, "_STRIP", 64)
    X = (rbf_kernel(iris, gamma=0.2) if kernel == "precomputed" else iris).astype(dtype)
    before = X.copy()
    models = [KernelPCA(3, kernel=kernel, gamma=0.2, eigen_solver=solver, random_state=0) for solver in SOLVERS]
    scores = [model.fit_transform(X) for model in models]
    tol = 2e-3 if dtype == "float32" else 1e-7
    size = float(np.abs(scores[0]).max())
    for model, Y in zip(models, scores, strict=True):
        assert Y.dtype == dtype
        np.testing.assert_allclose(Y, scores[0], atol=tol * size)
        np.testing.assert_allclose(model.transform(X), Y, atol=size * (3e-5 if dtype == "float32" else 1e-12))
        assert model.residual_ <= (1e-4 if dtype == "float32" else 1e-9)
    np.testing.assert_array_equal(X, before)


def test_many_rows_go_to_the_krylov_method_and_few_or_many_components_to_lapack(rng):
    X = rng.normal(size=(1600, 3)).astype(np.float32)
    model = KernelPCA(2, random_state=0).fit(X)
    assert model.solver_ == "krylov"
    assert KernelPCA(2).fit(X[:300]).solver_ == "dense"
    exact = KernelPCA(2, eigen_solver="dense").fit(X.astype(float))
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-5)


def test_what_does_not_fit_is_computed_anew_and_is_the_same(rng, monkeypatch):
    X = rng.normal(size=(400, 5))
    stored = KernelPCA(2, gamma=0.1, eigen_solver="krylov", random_state=0).fit_transform(X)
    monkeypatch.setattr(memory, "available", lambda: 1_000_000)  # the matrix alone has 1,280,000 bytes
    monkeypatch.setattr(memory, "require", lambda *args: None)  # asks for room for a tile of the usual size
    monkeypatch.setattr(kernels, "TILE", 64)
    free = KernelPCA(2, gamma=0.1, random_state=0)
    np.testing.assert_allclose(free.fit_transform(X), stored, atol=1e-9)
    assert free.solver_ == "matrix_free"


def test_what_lapack_has_no_room_for_goes_to_the_krylov_method(rng, monkeypatch):
    X = rng.normal(size=(1500, 3))
    monkeypatch.setenv("LOWDIM_MEMORY", "40M")  # 18 MB a matrix, of which LAPACK takes two and a half
    assert KernelPCA(2, random_state=0).fit(X).solver_ == "krylov"
    with pytest.raises(MemoryError, match=r"solver='dense' .*needs 42.9 MB"):  # float64 inside, at this size
        KernelPCA(2, eigen_solver="dense").fit(X.astype(np.float32))
    monkeypatch.setenv("LOWDIM_MEMORY", "60M")
    assert KernelPCA(2, random_state=0).fit(X).solver_ == "dense"
    with pytest.raises(MemoryError, match=r"solver='dense' .*needs 68.7 MB"):  # all vectors, for their number
        KernelPCA(2, kernel="sigmoid", eigen_solver="dense").fit(X)


# Sparse data, integers, odd matrices


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "laplacian"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_rows_are_read_as_they_are(kernel, solver, rng):
    X = rng.normal(size=(120, 30)) * (rng.random((120, 30)) < 0.2)
    dense = KernelPCA(3, kernel=kernel, gamma=0.1, random_state=0).fit(X)
    sparse = KernelPCA(3, kernel=kernel, gamma=0.1, eigen_solver=solver, random_state=0)
    expected = dense.transform(X)
    np.testing.assert_allclose(sparse.fit_transform(sp.csr_array(X)), expected, atol=1e-6)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X[:7])), expected[:7], atol=1e-6)
    np.testing.assert_allclose(sparse.transform(X[:7]), expected[:7], atol=1e-6)
    np.testing.assert_allclose(dense.transform(sp.csr_array(X[:7])), expected[:7], atol=1e-9)


def test_sparse_models_are_saved_and_approximated_too(rng, tmp_path):
    X = sp.csr_array(rng.normal(size=(120, 30)) * (rng.random((120, 30)) < 0.2))
    model = KernelPCA(2, gamma=0.1, approximation="rpcholesky", random_state=0).fit(X)
    model.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").transform(X), model.transform(X))


def test_small_integers_give_float32():
    X = np.random.default_rng(0).integers(0, 255, (60, 8), dtype=np.uint8)
    Y = KernelPCA(2).fit_transform(X)
    assert Y.dtype == np.float32
    np.testing.assert_allclose(Y, KernelPCA(2).fit_transform(X.astype(float)), atol=1e-4)


def test_zero_eigenvalues_give_zero_scores(rng):
    X = rng.normal(size=(50, 2))
    for options in ({}, {"approximation": "rpcholesky", "rank": 20}, {"approximation": "nystroem", "refine": 1}):
        model = KernelPCA(5, kernel="linear", random_state=0, **options)
        Y = model.fit_transform(X)
        assert Y.shape == (50, 5)
        assert np.isfinite(Y).all()
        assert not Y[:, 2:].any()
        assert not model.eigenvalues_[2:].any()
        np.testing.assert_allclose(model.transform(X), Y, atol=1e-10)
    constant = KernelPCA(2).fit(np.ones((9, 3)))
    assert not constant.transform(np.ones((4, 3))).any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_negative_eigenvalues_are_dropped_and_reported(solver, rng):
    Q, _ = np.linalg.qr(rng.normal(size=(40, 40)) - 0.0)
    H = np.eye(40) - 1 / 40
    K = H @ (Q * np.r_[5.0, 3.0, np.zeros(35), -1.0, -2.0, -4.0]) @ Q.T @ H
    K = (K + K.T) / 2
    low = np.linalg.eigvalsh(K)[0]
    model = KernelPCA(4, kernel="precomputed", eigen_solver=solver, random_state=0)
    with pytest.warns(UserWarning, match=rf"indefinite: .* negative, down to {low:.3g}.*dropped"):
        Y = model.fit_transform(K)
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(model.eigenvalues_[2:], 0, atol=1e-9)
    np.testing.assert_allclose(model.transform(K), Y, atol=1e-9)


def test_the_number_of_negative_eigenvalues_is_stated_where_all_are_known(iris):
    K = -rbf_kernel(iris, gamma=0.1)
    with pytest.warns(UserWarning, match=r"1?\d\d eigenvalues are negative"):
        KernelPCA(1, kernel="precomputed").fit(K)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_number_of_negative_eigenvalues_does_not_depend_on_that_of_components(k):
    K, H = np.diag([3.0, 2.0, -1.0, -2.0, -3.0, -4.0]), np.eye(6) - 1 / 6
    several = int((np.linalg.eigvalsh(H @ K @ H) < -1e-9).sum())
    with pytest.warns(UserWarning, match=rf"indefinite: {several} eigenvalues are negative"):
        KernelPCA(k, kernel="precomputed").fit(K)


@pytest.mark.parametrize("solver", SOLVERS)
def test_rounding_of_float32_is_no_negative_eigenvalue(solver, rng):
    X = (rng.normal(size=(500, 3)) + 100).astype(np.float32)  # values of 30,000, of which centring leaves few
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(2, kernel="precomputed", eigen_solver=solver, random_state=0).fit(X @ X.T)


@pytest.mark.parametrize("options", [*({"eigen_solver": s} for s in SOLVERS), {"approximation": "rpcholesky"}])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_constant_kernel_has_no_components_for_new_rows_either(options, dtype, rng):
    for kernel in ("cosine", "poly"):
        model = KernelPCA(2, kernel=kernel, random_state=0, **options)
        assert not model.fit_transform(np.ones((50, 3), dtype)).any()
        assert not model.transform(rng.normal(size=(5, 3)).astype(dtype)).any()


# Approximations


@pytest.mark.parametrize("approximation", ["rpcholesky", "nystroem"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_low_rank_is_near_the_exact_answer_and_says_how_near(approximation, dtype, iris):
    X = iris.astype(dtype)
    exact = KernelPCA(3, gamma=0.1).fit(iris)
    trace = len(iris)  # k(x, x) = 1
    for tol in (0.05, 1e-3):
        model = KernelPCA(3, gamma=0.1, approximation=approximation, tol=tol, random_state=0)
        Y = model.fit_transform(X)
        assert Y.dtype == dtype
        assert 0 < model.approximation_error_ <= tol
        assert model.solver_ == approximation
        lack = exact.eigenvalues_ - model.eigenvalues_
        assert (lack > -1e-3).all()  # never above
        assert (lack < model.approximation_error_ * trace + 1e-3).all()  # and within what is stated
        np.testing.assert_allclose(model.transform(X), Y, atol=1e-3 if dtype == "float32" else 1e-9)
        assert model.dual_coef_.shape == (len(model.landmarks_), 3)
        np.testing.assert_allclose(Y, exact.transform(iris), atol=max(10 * tol, 2e-3))


@pytest.mark.parametrize("approximation", ["rpcholesky", "nystroem"])
def test_all_rows_as_landmarks_are_exact(approximation, iris):
    exact = KernelPCA(3, gamma=2.0).fit(iris)
    model = KernelPCA(3, gamma=2.0, approximation=approximation, rank=len(iris), random_state=0).fit(iris)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(iris[:5] + 0.1), exact.transform(iris[:5] + 0.1), atol=1e-6)


def test_exact_passes_mend_a_coarse_approximation(rng):
    X = rng.normal(size=(600, 10)).astype(np.float32)  # a spectrum that falls slowly
    exact = KernelPCA(5, eigen_solver="dense").fit(X)
    lacks = []
    for refine in (0, 1, 2):
        model = KernelPCA(5, approximation="rpcholesky", rank=60, refine=refine, random_state=0)
        Y = model.fit_transform(X)
        np.testing.assert_allclose(model.transform(X), Y, atol=2e-5)
        lacks.append(float((1 - model.eigenvalues_ / exact.eigenvalues_).max()))
        assert (model.residual_ is None) == (refine == 0)
    assert lacks[0] > 5 * lacks[1] > 0
    assert lacks[1] > lacks[2] > -1e-5
    assert lacks[1] < 0.05


def test_a_tolerance_out_of_reach_is_told(monkeypatch, rng):
    for module in ("solve.cholesky", "compose.kernel_spectrum"):
        monkeypatch.setattr(f"lowdim.{module}.MOST", 30)
    with pytest.warns(UserWarning, match=r"30 landmarks leave 0\.\d+ of the trace out, more than tol=0.01.*Pass rank="):
        KernelPCA(2, gamma=5.0, approximation="rpcholesky", random_state=0).fit(rng.normal(size=(200, 5)))


@pytest.mark.parametrize("approximation", ["rpcholesky", "nystroem"])
def test_float32_landmarks_beyond_the_rank_do_no_harm(approximation):
    X = np.random.default_rng(0).normal(size=(1000, 5)).astype(np.float32)
    exact = KernelPCA(3, gamma=0.05).fit(X)
    model = KernelPCA(3, gamma=0.05, approximation=approximation, rank=300, random_state=0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=5e-4)
    assert (model.eigenvalues_ < exact.eigenvalues_ * (1 + 1e-6)).all()
    assert 0 < model.approximation_error_ < 5e-3


def test_a_tolerance_below_rounding_is_told(iris):
    with pytest.warns(UserWarning, match=r"more than tol=1e-06, and the rest is rounding of float32. Pass float64"):
        KernelPCA(2, approximation="rpcholesky", tol=1e-6, random_state=0).fit(iris.astype(np.float32))


@pytest.mark.parametrize("approximation", ["rpcholesky", "nystroem"])
def test_functions_that_are_no_kernels_are_refused_by_approximations(approximation, rng):
    def jitter(A, B):
        return A @ B.T + (0.1 * np.eye(len(A)) if A.shape == B.shape and np.array_equal(A, B) else 0)

    X = rng.normal(size=(150, 5))
    with pytest.raises(ValueError, match=r"the same k\(x, x\) in every block; got .* alone and .*approximation=None"):
        KernelPCA(2, kernel=jitter, approximation=approximation, rank=50).fit(X)
    indefinite = KernelPCA(2, kernel=lambda A, B: np.tanh(0.5 * A @ B.T + 0.1), approximation=approximation, rank=100)
    with pytest.raises(ValueError, match=r"needs a (positive semidefinite kernel|kernel with k\(x, x\) ≥ 0)"):
        indefinite.fit(X)


@pytest.mark.parametrize("approximation", [None, "rpcholesky", "nystroem"])
@pytest.mark.parametrize("refine", [0, 1])
def test_a_kernel_of_zeros_gives_zeros(approximation, refine):
    for kernel, X in (("linear", np.ones((20, 3))), ("cosine", np.zeros((20, 3)))):
        model = KernelPCA(2, kernel=kernel, approximation=approximation, refine=refine, random_state=0)
        assert not model.fit_transform(X).any()
        assert not model.transform(X[:4]).any()
        assert not model.eigenvalues_.any()
        back = model.set_params(fit_inverse_transform=True).fit(X).inverse_transform(np.zeros((2, 2)))
        np.testing.assert_allclose(back, X[:2], atol=1e-12)  # all that is known is the mean


# Pre-images


@pytest.mark.parametrize("options", [{}, {"approximation": "rpcholesky"}, {"approximation": "nystroem", "refine": 1}])
def test_pre_images_of_all_components_are_the_rows(options, iris):
    model = KernelPCA(30, gamma=0.1, fit_inverse_transform=True, alpha=1e-6, random_state=0, **options)
    if options:
        model.set_params(rank=80)
    Y = model.fit_transform(iris)
    back = model.inverse_transform(Y)
    assert np.square(back - iris).mean() < 0.01 * iris.var(axis=0).mean()
    assert np.abs(model.inverse_transform(Y[:3]) - back[:3]).max() < 1e-9


def test_pre_images_of_the_linear_kernel_approach_pca(decaying):
    pca = PCA(3).fit(decaying)
    model = KernelPCA(3, kernel="linear", fit_inverse_transform=True, alpha=1e-9).fit(decaying)
    expected = pca.inverse_transform(pca.transform(decaying))
    np.testing.assert_allclose(model.inverse_transform(model.transform(decaying)), expected, atol=1e-5)


def test_pre_images_denoise_better_than_pca():
    X, _ = lowdim.data.load("digits")
    rng = np.random.default_rng(0)
    noisy = X + rng.normal(scale=4, size=X.shape)
    train, test = slice(0, 1200), slice(1200, None)
    pca = PCA(16).fit(X[train])  # the best number for PCA
    kpca = KernelPCA(30, gamma=2e-4, fit_inverse_transform=True).fit(X[train])
    errors = [np.square(m.inverse_transform(m.transform(noisy[test])) - X[test]).mean() for m in (pca, kpca)]
    assert errors[1] < 0.85 * errors[0]


def test_the_bandwidth_of_pre_images_is_the_one_resolved(iris, tmp_path):
    model = KernelPCA(3, gamma="median", fit_inverse_transform=True, random_state=0).fit(iris.astype(np.float32))
    same = KernelPCA(3, gamma=model.gamma_, fit_inverse_transform=True, random_state=0).fit(iris.astype(np.float32))
    Y = model.transform(iris.astype(np.float32))
    np.testing.assert_array_equal(model.inverse_transform(Y), same.inverse_transform(Y))
    assert model.inverse_transform(Y).dtype == np.float32
    model.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").inverse_transform(Y), model.inverse_transform(Y))


# Behaviour


@pytest.mark.parametrize(
    "options",
    [
        {"approximation": "rpcholesky", "refine": 1},
        {"eigen_solver": "krylov"},
        {"eigen_solver": "matrix_free", "kernel": "laplacian"},
        {"fit_inverse_transform": True},
    ],
)
def test_scikit_learn_finds_nothing_to_complain_about_in_variants(options):
    check_estimator(KernelPCA(random_state=0, **options), on_skip=None)


def test_parameters_of_approximations_may_stay_set_without_one_as_in_a_grid(iris):
    grid = GridSearchCV(
        make_pipeline(KernelPCA(2, rank=20, refine=1, eigen_solver="krylov", random_state=0), LinearRegression()),
        {"kernelpca__approximation": [None, "rpcholesky", "nystroem"]},
        error_score="raise",
    )
    assert np.isfinite(grid.fit(iris, iris[:, 0]).cv_results_["mean_test_score"]).all()


def test_a_stored_map_with_gaps_is_refused(iris):
    model = KernelPCA(2).fit(iris)
    model._check_state()
    model.dual_coef_ = model.dual_coef_[:-1]
    with pytest.raises(ValueError, match="inconsistent"):
        model._check_state()
    model = KernelPCA(2).fit(iris)
    model._offset = np.zeros(3)
    with pytest.raises(ValueError, match="inconsistent"):
        model._check_state()


def test_later_changes_of_the_data_do_not_change_the_model(iris):
    for kernel in ("rbf", "poly", "laplacian", "cosine", "linear"):
        X = iris.copy()
        model = KernelPCA(2, kernel=kernel).fit(X)
        expected = model.transform(iris)
        X[:] = 0
        np.testing.assert_array_equal(model.transform(iris), expected)


@pytest.mark.parametrize("options", [{"eigen_solver": "krylov"}, {"approximation": "rpcholesky", "refine": 1}])
def test_same_seed_same_bits(options, iris):
    one, two, other = (KernelPCA(2, gamma=2.0, random_state=s, **options).fit(iris) for s in (3, 3, 4))
    np.testing.assert_array_equal(one.transform(iris), two.transform(iris))
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-2)


def test_a_model_with_a_function_says_why_it_cannot_be_saved(iris, tmp_path):
    model = KernelPCA(2, kernel=lambda A, B: A @ B.T).fit(iris)
    with pytest.raises(TypeError, match="function"):
        model.save(tmp_path / "m.lowdim")


# Bad input: before any work, with what to do


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"gamma": 0}, r"gamma must be .*got 0"),
        ({"gamma": -1.0}, r"gamma must be .*got -1"),
        ({"gamma": "auto"}, r"gamma must be .*'scale', 'median'; got 'auto'"),
        ({"kernel": "gauss"}, r"kernel must be one of .*got 'gauss'"),
        ({"degree": 0}, "degree must be"),
        ({"approximation": "svd"}, "approximation must be"),
        ({"tol": 0}, "tol must be"),
        ({"n_components": 150}, r"n_components must be at most n_samples - 1 = 149; got 150"),
        ({"approximation": "rpcholesky", "rank": 1}, r"rank must be from n_components .*\(2 to 150\); got 1"),
        ({"approximation": "rpcholesky", "rank": 200}, r"rank must be .*got 200"),
        ({"approximation": "rpcholesky", "kernel": "sigmoid"}, r"needs a positive semidefinite kernel.*'sigmoid'"),
        ({"kernel": lambda A, B: 1.0}, "a function must take blocks of"),
        ({"kernel": "precomputed"}, r"square matrix .*got \(150, 4\)"),
        ({"eigen_solver": "lobpcg"}, "solver must be one of"),
        ({"alpha": 0}, "alpha must be"),
    ],
)
def test_parameters_that_cannot_be_are_refused(params, words, iris):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        KernelPCA(**params).fit(iris)


def test_precomputed_matrices_are_checked(iris):
    K = rbf_kernel(iris)
    bent = K.copy()
    bent[3, 5] += 0.1
    with pytest.raises(ValueError, match=r"symmetric matrix; got K\[3, 5\]"):
        KernelPCA(kernel="precomputed").fit(bent)
    with pytest.raises(TypeError, match="needs a dense matrix"):
        KernelPCA(kernel="precomputed").fit(sp.csr_array(K))
    with pytest.raises(ValueError, match=r"approximation='nystroem' needs .*is already computed in full"):
        KernelPCA(kernel="precomputed", approximation="nystroem").fit(K)
    with pytest.raises(
        ValueError, match=r"fit_inverse_transform=True needs the rows themselves.*got kernel='precomputed'"
    ):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(K)
    model = KernelPCA(kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match=r"4 features, but KernelPCA is expecting 150 .*training rows: .*\(m, 150\)"):
        model.transform(iris)


def test_refusals_for_a_given_matrix_advise_what_it_can_have(monkeypatch):
    K = np.eye(1000)
    monkeypatch.setenv("LOWDIM_MEMORY", "10M")
    with pytest.raises(MemoryError, match=r"Use eigen_solver='krylov', which makes no copy\.$"):
        KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    with pytest.raises(MemoryError, match=r"Lower n_components\.$"):
        KernelPCA(2, kernel="precomputed").fit(K)


def test_refusals_of_a_search_by_tolerance_do_not_speak_of_a_rank_given(monkeypatch, rng):
    X = rng.normal(size=(5000, 30))
    monkeypatch.setenv("LOWDIM_MEMORY", "10M")
    with pytest.raises(MemoryError, match=r"rank 128 for 5,000 rows needs .*Pass a smaller rank=\."):
        KernelPCA(2, approximation="rpcholesky").fit(X)
    monkeypatch.setenv("LOWDIM_MEMORY", "23M")
    with pytest.raises(MemoryError, match=r"A factor of rank [34]\d\d needs .*Raise tol, or pass a smaller rank=\."):
        KernelPCA(2, gamma=1.0, approximation="rpcholesky", random_state=0).fit(X)
    with pytest.raises(MemoryError, match=r"rank 50 for .*Lower rank"):  # room for the landmarks, not for a tile
        KernelPCA(2, approximation="rpcholesky", rank=50, refine=1).fit(X)


@pytest.mark.parametrize("approximation", [None, "rpcholesky"])
def test_kernels_that_cannot_compare_scores_are_refused_before_the_fit(approximation, iris):
    weights = np.arange(1.0, 5.0)
    for options, words in (
        ({"kernel": "sigmoid"}, "got kernel='sigmoid', which may have negative"),
        ({"kernel": lambda A, B: (A * weights) @ B.T}, r"got a function that fails on rows of 2"),
        ({"kernel": "poly", "coef0": -1.0}, "got kernel='poly'"),
    ):
        with pytest.raises(
            ValueError, match=rf"fit_inverse_transform=True needs .*{words}.*fit_inverse_transform=False"
        ):
            KernelPCA(2, fit_inverse_transform=True, approximation=approximation, **options).fit(iris)
    KernelPCA(2, fit_inverse_transform=True, kernel=lambda A, B: rbf_kernel(A, B), approximation=approximation).fit(
        iris
    )


def test_inverse_needs_to_be_asked_for_and_dense(iris):
    model = KernelPCA(2).fit(iris)
    with pytest.raises(ValueError, match=r"fitted with fit_inverse_transform=True.*fit again"):
        model.inverse_transform(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"fit_inverse_transform=True needs .*got sparse X"):
        KernelPCA(2, fit_inverse_transform=True).fit(sp.csr_array(iris))
    with pytest.raises(ValueError, match=r"needs 2 columns.*got 3"):
        KernelPCA(2, fit_inverse_transform=True).fit(iris).inverse_transform(np.zeros((1, 3)))


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_a_matrix_that_does_not_fit_is_refused_with_the_figure_and_the_way_out(solver, monkeypatch):
    X = np.zeros((100_000, 3), np.float32)
    monkeypatch.setenv("LOWDIM_MEMORY", "8G")
    with pytest.raises(MemoryError, match=r"100,000 rows .* needs [\d.,]+ GB .*rpcholesky.*matrix_free"):
        KernelPCA(2, eigen_solver=solver).fit(X)
    with pytest.raises(MemoryError, match=r"fit_inverse_transform=True .*needs .*approximation='rpcholesky'"):
        KernelPCA(2, fit_inverse_transform=True).fit(X)
    with pytest.raises(MemoryError, match=r"rank 50,000 .*Lower rank"):
        KernelPCA(2, approximation="rpcholesky", rank=50_000).fit(X)


def test_overflow_in_the_kernel_is_named(rng):
    X = rng.normal(size=(50, 3)) * 1e200
    words = r"kernel: the values between rows must be finite.*Scale the data"
    with pytest.raises(ValueError, match=words), np.errstate(all="ignore"):
        KernelPCA(2, kernel="poly", gamma=1.0).fit(X)
