"""PCA: its identities, its solvers against each other and against scikit-learn, streaming, and what it refuses."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as Theirs  # noqa: N811
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim import PCA
from lowdim.compose.spectrum import SOLVERS

EACH = SOLVERS[1:]
each_solver = pytest.mark.parametrize("solver", EACH)


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


def fit(X, solver="auto", **params):
    return PCA(svd_solver=solver, random_state=0, **params)


# Identities


@each_solver
def test_components_are_orthonormal_and_scores_uncorrelated(solver, decaying):
    pca = fit(decaying, solver, n_components=5).fit(decaying)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(5), atol=1e-10)
    covariance = np.cov(pca.transform(decaying).T)
    np.testing.assert_allclose(covariance, np.diag(pca.explained_variance_), atol=1e-9)


@each_solver
@pytest.mark.parametrize("shape", [(200, 12), (12, 200), (30, 30)])
def test_solvers_agree_with_each_other_and_with_scikit_learn(solver, shape, rng):
    X = rng.normal(size=shape) @ np.diag(0.9 ** np.arange(shape[1])) + 3
    ours = fit(X, solver, n_components=6).fit(X)
    theirs = Theirs(6, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(ours.mean_, theirs.mean_)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-5)
    assert ours.solver_ == solver


@each_solver
def test_all_components_reconstruct_the_data(solver, rng):
    for X in (rng.normal(size=(40, 7)), rng.normal(size=(7, 40))):
        pca = fit(X, solver).fit(X)
        np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-8)
        np.testing.assert_allclose(pca.reconstruction_error(X), 0, atol=1e-12)


@each_solver
def test_reconstruction_error_is_the_variance_left_out(solver, decaying):
    n = len(decaying)
    pca = fit(decaying, solver, n_components=3).fit(decaying)
    left = decaying.var(axis=0, ddof=1).sum() - pca.explained_variance_.sum()
    np.testing.assert_allclose(pca.reconstruction_error(decaying).mean(), left * (n - 1) / n)
    direct = np.square(decaying - pca.inverse_transform(pca.transform(decaying))).sum(axis=1)
    np.testing.assert_allclose(pca.reconstruction_error(decaying), direct)


@each_solver
def test_whitened_scores_have_unit_variance_and_invert(solver, decaying):
    pca = fit(decaying, solver, whiten=True, n_components=12).fit(decaying)
    Y = pca.transform(decaying)
    np.testing.assert_allclose(np.cov(Y.T), np.eye(12), atol=1e-4)
    np.testing.assert_allclose(pca.inverse_transform(Y), decaying, atol=1e-8)


@each_solver
def test_standardize_is_a_standard_scaler_before(solver, decaying):
    X = decaying * np.logspace(0, 4, 12)
    X[:, 3] = 5.0  # a constant feature is left alone
    pca = fit(X, solver, standardize=True, n_components=4).fit(X)
    theirs = make_pipeline(StandardScaler(), Theirs(4, svd_solver="full")).fit(X)
    np.testing.assert_allclose(pca.transform(X), theirs.transform(X), atol=1e-6)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), theirs.inverse_transform(theirs.transform(X)))


def test_directions_of_no_variance_agree_between_solvers(rng):
    X = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 9))
    fits = [fit(X, solver).fit(X) for solver in EACH]
    for pca in fits:
        assert np.count_nonzero(pca.explained_variance_) == 3
        np.testing.assert_allclose(pca.components_, fits[0].components_, atol=1e-6)
        np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(9), atol=1e-9)


def test_whitened_scores_of_no_variance_stay_zero(rng):
    X = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 5))
    Y = PCA(whiten=True).fit_transform(X)
    np.testing.assert_array_equal(Y[:, 2:], 0)


def test_constant_data_give_zero_variance_and_no_warning():
    pca = PCA().fit(np.full((5, 3), 7.0))
    np.testing.assert_array_equal(pca.explained_variance_, 0)
    np.testing.assert_array_equal(pca.explained_variance_ratio_, 0)
    np.testing.assert_array_equal(pca.transform(np.full((2, 3), 7.0)), 0)


# How many


@each_solver
@pytest.mark.parametrize("proportion", [0.3, 0.9, 0.999])
def test_a_proportion_of_variance_works_with_every_solver(solver, proportion, digits):
    digits = digits[:400]
    ratios = Theirs(svd_solver="full").fit(digits).explained_variance_ratio_
    expected = int(np.searchsorted(np.cumsum(ratios), proportion)) + 1
    pca = fit(digits, solver, n_components=proportion).fit(digits)
    assert pca.n_components_ == expected
    assert pca.explained_variance_ratio_.sum() >= proportion


@pytest.mark.parametrize("number", [np.float32(0.9), np.float64(0.9), np.float16(0.9)])
def test_a_proportion_may_be_any_kind_of_number(number, digits):
    assert PCA(number).fit(digits).n_components_ == PCA(0.9).fit(digits).n_components_
    assert PCA(np.int16(3)).fit(digits).n_components_ == 3


@each_solver
def test_elbow_keeps_what_stands_before_the_corner(solver, rng):
    X = rng.normal(size=(300, 20)) * np.r_[9, 8, 7, np.full(17, 0.5)]
    assert fit(X, solver, n_components="elbow").fit(X).n_components_ == 3


def test_all_components_are_the_default(decaying):
    assert PCA().fit(decaying).n_components_ == 12
    assert PCA().fit(decaying[:5]).n_components_ == 5


# The rule


@pytest.mark.parametrize(
    ("shape", "n_components", "expected"),
    [
        ((50, 10), None, "covariance"),
        ((10, 50), 3, "gram"),
        ((3200, 3100), 5, "randomized"),
        ((10, 5000), 0.9, "gram"),
    ],
)
def test_the_rule_picks_by_shape_and_count(shape, n_components, expected, rng):
    X = (rng.normal(size=(shape[0], 20)) * 0.7 ** np.arange(20) @ rng.normal(size=(20, shape[1]))).astype(np.float32)
    assert PCA(n_components, random_state=0).fit(X).solver_ == expected


def test_sparse_data_of_many_features_go_through_products(rng):
    X = sp.random_array((1200, 1100), density=0.01, random_state=rng, format="csr") @ sp.diags_array(
        0.9 ** np.arange(1100)
    )
    assert PCA(5, random_state=0).fit(X).solver_ == "randomized"


# Precision and kinds of data


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "int64", "bool", "float16"])
@each_solver
def test_integers_give_what_their_floats_give(dtype, solver, rng):
    X = (rng.gamma(2, 8, size=(300, 9)) * np.arange(1, 10) / 9).astype(dtype)
    ours, floats = (fit(Z, solver, n_components=3).fit(Z) for Z in (X, X.astype(float)))
    np.testing.assert_allclose(ours.explained_variance_, floats.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(ours.transform(X), floats.transform(X.astype(float)), atol=1e-3)


def test_float32_with_a_large_mean_keeps_its_digits(rng):
    X = (rng.normal(size=(5000, 6)) * np.arange(6, 0, -1)).astype(np.float32) + np.float32(3000)
    exact = np.linalg.eigvalsh(np.cov(X.astype(float).T))[::-1]
    for solver in ("covariance", "gram", "streaming"):
        Z = X if solver != "gram" else X[:300]
        want = exact if solver != "gram" else np.linalg.eigvalsh(np.cov(Z.astype(float).T))[::-1]
        np.testing.assert_allclose(fit(Z, solver).fit(Z).explained_variance_, want, rtol=1e-4)


@each_solver
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_sparse_data_give_what_dense_data_give(solver, kind, rng):
    dense = sp.random_array((60, 25), density=0.2, random_state=rng).toarray()
    sparse, full = (fit(None, solver, n_components=4, standardize=True).fit(Z) for Z in (kind(dense), dense))
    np.testing.assert_allclose(sparse.components_, full.components_, atol=1e-6)
    np.testing.assert_allclose(sparse.explained_variance_, full.explained_variance_)
    np.testing.assert_allclose(sparse.transform(kind(dense)), full.transform(dense), atol=1e-6)
    np.testing.assert_allclose(sparse.reconstruction_error(kind(dense)), full.reconstruction_error(dense), atol=1e-9)


def test_sparse_nan_is_named(rng):
    X = sp.random_array((30, 5), density=0.5, random_state=rng, format="csr")
    X.data[0] = np.nan
    row, column = (int(axis[0]) for axis in X.tocoo().coords)
    with pytest.raises(ValueError, match=f"NaN at row {row}, column {column}"):
        PCA(2).fit(X)


# Weights


@each_solver
def test_weights_count_repetitions(solver, rng):
    X, weights = rng.normal(size=(40, 5)), rng.integers(0, 4, size=40)
    weighted = fit(X, solver, n_components=3).fit(X, sample_weight=weights)
    repeated = fit(X, solver, n_components=3).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-7)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_)
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)


def test_weights_that_cannot_be_counts_are_refused(rng):
    X = rng.normal(size=(10, 3))
    with pytest.raises(ValueError, match="more than 1; got 1.*Multiply"):
        PCA().fit(X, sample_weight=np.full(10, 0.1))
    with pytest.raises(ValueError, match="non-zero|positive entry"):
        PCA().fit(X, sample_weight=np.zeros(10))
    with pytest.raises(ValueError, match="never negative; got -1 at row 0"):
        PCA().fit(X, sample_weight=-np.ones(10))
    with pytest.raises(ValueError, match="one weight for each of the 10 rows of X; got 9. Match them"):
        PCA().fit(X, sample_weight=np.ones(9))


# Numbers at the edge


def test_svd_keeps_what_squares_would_lose(rng):
    U, V = (np.linalg.qr(rng.normal(size=(50, 4)))[0] for _ in range(2))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    X = U * [1, 1e-4, 1e-8, 1e-10] @ V.T
    ours = PCA(4, svd_solver="svd").fit(X).explained_variance_
    np.testing.assert_allclose(ours, Theirs(4, svd_solver="full").fit(X).explained_variance_, rtol=1e-3)
    assert np.count_nonzero(ours) == 4


@pytest.mark.parametrize(("factor", "dtype"), [(1e160, "f8"), (1e20, "f4"), (1e-30, "f4")])
def test_variances_that_no_number_can_hold_are_refused(factor, dtype, rng):
    X = (rng.normal(size=(50, 4)) * factor).astype(dtype)
    with pytest.raises(ValueError, match="variances must fit in float|X varies"):
        PCA(2).fit(X)


def test_scores_of_float32_far_from_zero_keep_their_digits(rng):
    X = (rng.normal(size=(1000, 200)) + 1e4).astype(np.float32)
    pca = PCA(3).fit(X)
    exact = (X.astype(float) - pca.mean_.astype(float)) @ pca.components_.astype(float).T
    np.testing.assert_allclose(pca.transform(X), exact, atol=2e-5)


def test_a_narrow_float32_feature_far_from_zero_is_not_constant(rng):
    X = rng.normal(size=(500, 3)).astype(np.float32)
    X[:, 1] = X[:, 1] * np.float32(0.5) + np.float32(1e6)
    np.testing.assert_allclose(PCA(standardize=True).fit(X).scale_[1], X[:, 1].astype(float).std(), rtol=1e-4)


@pytest.mark.parametrize("value", [0.1, 0.3, 1e6])
def test_a_constant_sparse_feature_gives_no_component(value, rng):
    X = rng.normal(size=(300, 3))
    X[:, 1] = value
    for solver in EACH:
        variances = fit(X, solver, standardize=True).fit(sp.csr_array(X)).explained_variance_
        np.testing.assert_allclose(variances, PCA(standardize=True).fit(X).explained_variance_, atol=1e-9)


# Streaming


@given(cuts=st.lists(st.integers(1, 199), max_size=6), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_any_partition_into_chunks_gives_the_same_model(cuts, seed):
    X = np.random.default_rng(seed).normal(size=(200, 6)) * np.arange(1, 7) + 50
    whole, chunks = PCA(4).fit(X), PCA(4)
    for chunk in np.split(X, sorted(set(cuts))):
        chunks.partial_fit(chunk)
    np.testing.assert_allclose(chunks.explained_variance_, whole.explained_variance_)
    np.testing.assert_allclose(chunks.transform(X), whole.transform(X), atol=1e-8)
    assert chunks.solver_ == "streaming"


def test_chunks_of_wide_data_keep_as_many_components_as_a_fit(rng):
    X = rng.normal(size=(8, 20))
    chunks = PCA().partial_fit(X[:3]).partial_fit(X[3:])
    assert chunks.n_components_ == PCA().fit(X).n_components_ == 8


def test_partial_fit_goes_on_after_a_fit_and_after_a_file(decaying, tmp_path):
    whole = PCA(3).fit(decaying)
    for solver in ("covariance", "streaming"):
        np.testing.assert_allclose(
            PCA(3, svd_solver=solver).fit(decaying[:90]).partial_fit(decaying[90:]).components_,
            whole.components_,
            atol=1e-9,
        )
    PCA(3).partial_fit(decaying[:90]).save(tmp_path / "half.lowdim")
    again = lowdim.load(tmp_path / "half.lowdim").partial_fit(decaying[90:])
    np.testing.assert_allclose(again.components_, whole.components_, atol=1e-9)


def test_partial_fit_after_a_solver_without_moments_warns_that_it_starts_anew(decaying):
    pca = PCA(3, svd_solver="svd").fit(decaying[:90])
    with pytest.warns(UserWarning, match="starts again.*streaming"):
        pca.partial_fit(decaying[90:])
    np.testing.assert_allclose(pca.mean_, decaying[90:].mean(axis=0))


def test_what_chunks_cannot_hold_is_told_when_asked_for(rng):
    X = rng.normal(size=(9, 8))
    pca = PCA(5).partial_fit(X[:3])
    with pytest.raises(ValueError, match=r"at most min\(rows so far, n_features\) = 3; got 5"):
        pca.transform(X)
    assert not hasattr(pca, "components_")
    assert pca.partial_fit(X[3:]).components_.shape == (5, 8)
    with pytest.raises(ValueError, match="got 99"):
        PCA(2).partial_fit(X).set_params(n_components=99).transform(X)
    with pytest.raises(ValueError, match="n_components must be"):
        PCA(2).partial_fit(X).set_params(n_components="foo").transform(X)


def test_fractions_of_weight_count_rows_alike_in_a_fit_and_in_chunks(rng):
    X, half = rng.normal(size=(6, 9)), np.full(6, 0.5)
    chunks = PCA().partial_fit(X[:2], sample_weight=half[:2]).partial_fit(X[2:], sample_weight=half[2:])
    assert chunks.n_components_ == PCA().fit(X, sample_weight=half).n_components_ == 6


def test_copies_leave_the_moments_of_a_plain_fit_behind(rng):
    X = rng.normal(size=(300, 200))
    plain, stream = PCA(2).fit(X), PCA(2, svd_solver="streaming").fit(X)
    assert len(pickle.dumps(plain)) < 20_000 < len(pickle.dumps(stream))
    np.testing.assert_array_equal(copy.deepcopy(plain).transform(X), plain.transform(X))
    unsolved = PCA(2).partial_fit(X)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(unsolved)).transform(X), stream.transform(X), atol=1e-9)


def test_one_row_at_a_time_is_enough(decaying):
    pca = PCA(2)
    for row in decaying[:30]:
        pca.partial_fit(row[None])
    np.testing.assert_allclose(pca.explained_variance_, PCA(2).fit(decaying[:30]).explained_variance_)


def test_a_file_is_streamed_and_stays_a_memory_map(tmp_path, rng):
    X = rng.integers(0, 255, size=(5000, 20), dtype=np.uint8)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    pca = PCA(3).fit(mapped)
    assert pca.solver_ == "streaming"
    np.testing.assert_allclose(
        pca.explained_variance_, PCA(3, svd_solver="svd").fit(X.astype(float)).explained_variance_, rtol=1e-5
    )
    np.testing.assert_array_equal(pca.transform(mapped), pca.transform(X))


# The contract, beyond the default solver


@each_solver
@pytest.mark.filterwarnings("ignore:PCA. partial_fit starts again")
def test_scikit_learn_accepts_every_solver(solver):
    check_estimator(PCA(svd_solver=solver), on_skip=None)


@each_solver
def test_solvers_leave_bits_alone_for_the_same_seed(solver, decaying):
    one, two = (fit(decaying, solver, n_components=3).fit(decaying) for _ in range(2))
    np.testing.assert_array_equal(one.components_, two.components_)


@given(
    n=st.integers(2, 30),
    d=st.integers(1, 30),
    solver=st.sampled_from(EACH),
    scale=st.sampled_from([1e-150, 1e-3, 1.0, 1e6, 1e100]),
    seed=st.integers(0, 99),
)
@settings(max_examples=80, deadline=None)
def test_odd_shapes_and_scales_keep_the_identities(n, d, solver, scale, seed):
    X = np.random.default_rng(seed).normal(size=(n, d)) * scale
    pca = PCA(svd_solver=solver, random_state=0).fit(X)
    k = min(n, d)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(pca.explained_variance_.sum(), X.var(axis=0, ddof=1).sum(), rtol=1e-7)
    assert (np.diff(pca.explained_variance_) <= 1e-9 * pca.explained_variance_[0]).all()


# What it refuses


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_components": 5}, r"at most min\(n_samples, n_features\) = 4; got 5.*Lower it"),
        ({"n_components": 2.0}, "proportion strictly between 0 and 1.*got 2.0.*Pass n_components=2 for a count"),
        ({"n_components": "elbw"}, "got 'elbw'. Did you mean 'elbow'"),
        ({"svd_solver": "svdd"}, "svd_solver must be one of 'auto'.*got 'svdd'. Did you mean 'svd'"),
        ({"whiten": 1}, "whiten must be True or False; got 1"),
        ({"random_state": "seven"}, "random_state must be None.*got 'seven'"),
        ({"verbose": -1}, "verbose must be an integer"),
    ],
)
def test_wrong_parameters_are_told_apart(params, words, rng):
    with pytest.raises(ValueError, match=words):
        PCA(**params).fit(rng.normal(size=(20, 4)))


def test_a_scatter_that_does_not_fit_is_refused_with_the_figure(monkeypatch, rng):
    monkeypatch.setenv("LOWDIM_MEMORY", "1M")
    with pytest.raises(
        MemoryError, match=r"1,000 × 1,000 moments.*needs .* MB of memory; 1 MB is available.*randomized"
    ):
        PCA().fit(rng.normal(size=(1001, 1000)))


def test_components_count_in_the_memory_asked_for(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "40M")
    X = sp.random_array((200, 100_000), density=1e-4, random_state=np.random.default_rng(0), format="csr")
    with pytest.raises(MemoryError, match=r"solver='gram' \(200 × 200 moments, 200 components\).*small n_components"):
        PCA().fit(X)


def test_scores_of_the_wrong_width_cannot_be_inverted(decaying):
    with pytest.raises(ValueError, match="needs 3 columns.*got 2"):
        PCA(3).fit(decaying).inverse_transform(np.zeros((4, 2)))


def test_partial_fit_refuses_other_features(decaying):
    pca = PCA(2).partial_fit(decaying)
    before = dict(vars(pca))
    with pytest.raises(ValueError, match="expecting 12 features"):
        pca.partial_fit(decaying[:, :5])
    with pytest.raises(ValueError, match="NaN at row 0"):
        pca.partial_fit(np.full((2, 12), np.nan))
    assert vars(pca) == before


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "randomized", "streaming"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_weight_zero_may_be_the_only_ones_that_differ(solver, form):
    X = np.array([[1e6, 0.0], [0.1, 0.3], [0.1, 0.3], [0.1, 0.3]])
    model = PCA(1, svd_solver=solver).fit(form(X), sample_weight=[0, 1, 1, 1])
    np.testing.assert_allclose(model.explained_variance_, 0, atol=1e-30)
    np.testing.assert_allclose(model.mean_, X[1], rtol=1e-15)
    assert PCA().fit([[0.0], [2.0], [2.0], [2.0]], sample_weight=[0, 1, 1, 1]).explained_variance_ == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_variances_that_vanish_are_refused_in_the_words_of_their_precision(dtype):
    tiny = np.finfo(dtype).tiny
    with pytest.raises(ValueError, match=f"fit in {np.dtype(dtype).name}") as caught:
        PCA().fit(np.array([[0.0], [4 * tiny]], dtype))
    assert ("or pass float64" in str(caught.value)) == (dtype == np.float32)


@pytest.mark.parametrize("k", [1, 3, 5, None])
@pytest.mark.parametrize("whiten", [False, True])
def test_the_density_is_that_of_scikit_learn(k, whiten, rng):
    X = rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6)) + 3
    new = rng.normal(size=(9, 6)) + 3
    ours, theirs = PCA(k, whiten=whiten).fit(X), Theirs(k).fit(X)  # the units of scores are not those of rows
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-9)
    assert ours.score(new) == pytest.approx(theirs.score(new), rel=1e-9)
    np.testing.assert_allclose(ours.score_samples(sp.csr_array(new)), ours.score_samples(new), rtol=1e-12)
    single = PCA(k).fit(X.astype(np.float32)).score(new.astype(np.float32))
    assert single == pytest.approx(theirs.score(new), rel=1e-3)


def test_the_density_of_standardized_features_is_that_of_a_gaussian(rng):
    X = rng.normal(size=(200, 4)) * [1, 10, 100, 0.1]
    model = PCA(2, standardize=True).fit(X)
    C = model.get_covariance()
    np.testing.assert_allclose(C @ model.get_precision(), np.eye(4), atol=1e-8)
    Z = X[:5] - X.mean(axis=0)
    expected = -0.5 * (np.einsum("ij,jk,ik->i", Z, np.linalg.inv(C), Z) + np.linalg.slogdet(2 * np.pi * C)[1])
    np.testing.assert_allclose(model.score_samples(X[:5]), expected, rtol=1e-9)


def test_a_model_without_a_density_says_so(rng):
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=1)
    with pytest.raises(ValueError, match="PCA: a density needs variance in every direction; the model of 4 components"):
        PCA().fit(X).score(X)


@pytest.mark.parametrize("seed", range(6))
def test_the_likeliest_number_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    kept = 1 + seed % 4
    X = rng.normal(size=(150, kept)) @ rng.normal(size=(kept, 8)) * 2 + rng.normal(size=(150, 8))
    ours = PCA("mle").fit(X)
    assert ours.n_components_ == Theirs("mle").fit(X).n_components_
    assert PCA("mle", svd_solver="streaming").fit(X).n_components_ == ours.n_components_
    digits = load_digits().data[:, 10:30]
    assert PCA("mle").fit(digits).n_components_ == Theirs("mle").fit(digits).n_components_


@pytest.mark.parametrize("solver", ["covariance", "svd", "streaming"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("rank", "d"), [(9, 12), (1, 4), (4, 5), (12, 30)])
def test_the_likeliest_number_of_rows_without_noise_is_their_rank(solver, dtype, rank, d):
    rng = np.random.default_rng(rank)
    X = rng.normal(size=(200, rank)) @ rng.normal(size=(rank, d)) + 3
    assert PCA("mle", svd_solver=solver).fit(X.astype(dtype)).n_components_ == rank


def test_the_likeliest_number_needs_the_whole_spectrum(rng):
    with pytest.raises(ValueError, match="'mle' needs the whole spectrum, of at least as many rows as features; got 5"):
        PCA("mle").fit(rng.normal(size=(5, 9)))


@pytest.mark.parametrize(
    ("theirs", "ours"), [("full", "svd"), ("covariance_eigh", "covariance"), ("arpack", "randomized")]
)
def test_scikit_learns_names_of_solvers_mean_ours(decaying, theirs, ours):
    one, two = (PCA(3, svd_solver=name, random_state=0).fit(decaying) for name in (theirs, ours))
    assert (one.svd_solver, one.solver_) == (theirs, ours)
    np.testing.assert_array_equal(one.components_, two.components_)


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "randomized", "streaming"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_singular_values_and_the_number_of_rows_are_those_of_scikit_learn(solver, dtype):
    X = load_digits().data[:200].astype(dtype)
    ours, theirs = PCA(5, svd_solver=solver, random_state=0).fit(X), Theirs(5).fit(X)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-3)
    assert ours.singular_values_.dtype == dtype
    assert ours.n_samples_ == theirs.n_samples_ == 200
    np.testing.assert_allclose(ours.singular_values_, np.linalg.norm(ours.transform(X), axis=0), rtol=1e-3)
    chunks = PCA(5).partial_fit(X[:120]).partial_fit(X[120:])
    np.testing.assert_allclose(chunks.singular_values_, ours.singular_values_, rtol=1e-3)
    assert chunks.n_samples_ == 200
