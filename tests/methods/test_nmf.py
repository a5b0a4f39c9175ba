from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as Peer  # noqa: N811

from lowdim import NMF


@pytest.fixture
def planted(rng):
    """Rows that four parts add up to exactly, each part alone in one row: then the factors are unique."""
    H, W = rng.random((4, 30)) * (rng.random((4, 30)) < 0.4), rng.random((80, 4)) * (rng.random((80, 4)) < 0.7)
    W[:4], H[:, :4] = np.eye(4), np.eye(4)
    return W @ H, H


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


def loss(X, model):
    return np.linalg.norm(X - model.inverse_transform(model.transform(X)))


@pytest.mark.parametrize("options", [{}, {"solver": "mu", "max_iter": 3000}, {"beta_loss": "kullback-leibler"}])
def test_parts_that_were_planted_are_found(planted, options):
    X, H = planted
    model = NMF(4, random_state=0, **{"max_iter": 2000, "tol": 1e-12} | options).fit(X)
    H = H / np.linalg.norm(H, axis=1)[:, None]
    assert np.abs(model.components_ @ H.T).max(axis=0).min() > 0.999
    assert loss(X, model) < 0.02 * np.linalg.norm(X)


@pytest.mark.parametrize("solver", ["hals", "mu"])
@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "random"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_loss_never_rises(digits, solver, init, dtype):
    model = NMF(10, solver=solver, init=init, random_state=0).fit(digits.astype(dtype))
    assert (np.diff(model.loss_curve_) <= 0).all()
    assert len(model.loss_curve_) == model.n_iter_ > 5


def test_the_divergence_never_rises(digits):
    for X in (digits, sp.csr_array(digits)):
        model = NMF(10, beta_loss="kullback-leibler", random_state=0).fit(X)
        assert (np.diff(model.loss_curve_) <= 0).all()
        assert model.reconstruction_err_ == pytest.approx(np.sqrt(2 * model.loss_curve_[-1]))


def test_amounts_of_new_rows_are_non_negative_least_squares(digits):
    model = NMF(12, random_state=0).fit(digits[:1000])
    W = model.transform(digits[1000:1040])
    expected = np.array([nnls(model.components_.T, x)[0] for x in digits[1000:1040]])
    np.testing.assert_allclose(W, expected, atol=1e-5 * expected.max())


def test_the_reported_error_is_that_of_the_reconstruction(digits):
    model = NMF(8, random_state=0, tol=1e-6).fit(digits)
    assert loss(digits, model) == pytest.approx(model.reconstruction_err_, rel=1e-5)
    assert loss(digits, model) <= model.reconstruction_err_ * (1 + 1e-12)


def test_parts_have_length_one_and_come_in_the_order_of_what_they_carry(digits):
    model = NMF(8, random_state=0).fit(digits)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    carried = np.linalg.norm(model.transform(digits), axis=0)
    assert (np.diff(carried) < 0.01 * carried.max()).all()


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize("options", [{}, {"solver": "mu"}, {"beta_loss": "kullback-leibler", "solver": "mu"}])
def test_the_loss_is_no_worse_than_that_of_scikit_learn(digits, options):
    ours = NMF(16, random_state=0, **options).fit(digits)
    peer = Peer(16, init="nndsvda" if options else "nndsvd", random_state=0, max_iter=200, **options)
    peer.fit(digits)  # by its rule, to the same tolerance
    assert ours.reconstruction_err_ < 1.001 * peer.reconstruction_err_


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_sparse_counts_give_what_dense_counts_give(rng, beta_loss):
    X = rng.poisson(0.2, size=(90, 40)).astype(float)
    dense, sparse = (NMF(5, beta_loss=beta_loss, random_state=0).fit(A) for A in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense.components_, sparse.components_, atol=1e-6)
    np.testing.assert_allclose(dense.transform(X), sparse.transform(sp.csr_array(X)), atol=1e-5)


@pytest.mark.parametrize("most", [2**31, 100])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_sparse_rows_with_long_positions_give_the_same(rng, monkeypatch, beta_loss, most):
    monkeypatch.setattr("lowdim.solve.nonnegative._MOST_VALUES", most)  # and as of more values than 32 bits count
    X = sp.csr_array(rng.poisson(0.4, (90, 12)).astype(float))
    expected = NMF(3, beta_loss=beta_loss, random_state=0, max_iter=20).fit(X)
    long = sp.csr_array(X)
    long.indptr, long.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    found = NMF(3, beta_loss=beta_loss, random_state=0, max_iter=20).fit(long)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.transform(long), expected.transform(X.toarray()), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"beta_loss": "kullback-leibler"}])
def test_chunks_come_near_a_fit_of_all_rows(digits, rng, options):
    rows = digits[rng.permutation(len(digits))]
    whole, chunks = (NMF(8, random_state=0, **options) for _ in range(2))
    whole.fit(rows)
    for _ in range(2):
        for chunk in np.array_split(rows, 9):
            chunks.partial_fit(chunk)
    assert loss(rows, chunks) < 1.03 * loss(rows, whole)


def test_the_same_chunk_again_lowers_its_loss_further(digits):
    model = NMF(8, random_state=0, max_iter=3).fit(digits[:300])
    before = loss(digits[:300], model)
    for _ in range(10):
        model.partial_fit(digits[:300])
    assert loss(digits[:300], model) < before


def test_any_number_of_threads_gives_the_same_bits(digits):
    X = digits.astype(np.float32)
    for rows in (X, sp.csr_array(X)):
        one, two = (NMF(12, random_state=0, n_jobs=n).fit(rows) for n in (1, 2))
        np.testing.assert_array_equal(one.components_, two.components_)
        np.testing.assert_array_equal(one.transform(rows), two.transform(rows))


def test_bytes_are_taken_as_they_are(digits):
    small, floats = (NMF(4, random_state=0).fit(digits.astype(dtype)) for dtype in ("uint8", "float32"))
    np.testing.assert_array_equal(small.components_, floats.components_)


def test_negative_values_are_refused_before_any_work(rng):
    X = rng.random((20, 5))
    model = NMF(2).fit(X)
    X[3, 1] = -0.5
    for call in (model.fit, model.transform, model.partial_fit):
        with pytest.raises(ValueError, match=r"NMF: X must not be negative.*got -0\.5"):
            call(X)


def test_ranks_that_do_not_exist_are_refused(rng):
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\) = 5; got 6"):
        NMF(6).fit(rng.random((20, 5)))


def test_a_loss_that_the_solver_does_not_have_is_refused(rng):
    with pytest.raises(ValueError, match="solver='hals' lowers the squared error; got beta_loss='kullback-leibler'"):
        NMF(2, solver="hals", beta_loss="kullback-leibler").fit(rng.random((20, 5)))


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("options", [{}, {"solver": "mu"}, {"beta_loss": "kullback-leibler"}])
def test_tensors_give_what_arrays_give(digits, options):
    import torch

    X = digits[:200]
    here, there = NMF(5, random_state=0, **options).fit(X), NMF(5, random_state=0, **options).fit(torch.tensor(X))
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-5)
    W = there.transform(torch.tensor(X[:9]))
    assert isinstance(W, torch.Tensor)
    np.testing.assert_allclose(W.numpy(), here.transform(X[:9]), atol=1e-4)
    there.partial_fit(torch.tensor(X[:50]))
    np.testing.assert_allclose(there.components_, here.partial_fit(X[:50]).components_, atol=1e-4)
