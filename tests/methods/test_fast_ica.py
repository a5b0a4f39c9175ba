from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import FastICA as Peer
from sklearn.exceptions import ConvergenceWarning

from lowdim import FastICA
from lowdim.solve import sources
from lowdim.solve.sources import CONTRASTS, contrast_sums


@pytest.fixture
def mixed(rng):
    """A sine, a square wave, a saw tooth and noise with heavy tails, as eight sensors hear them."""
    t = np.linspace(0, 40, 4000)
    S = np.column_stack([np.sin(2 * t), np.sign(np.sin(3.1 * t)), t % 1.7, rng.laplace(size=4000)])
    S = (S - S.mean(axis=0)) / S.std(axis=0)
    A = rng.normal(size=(8, 4))
    return S @ A.T + 3.0, S, A


@pytest.mark.parametrize("fun", CONTRASTS)
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sources_that_were_mixed_are_found(mixed, fun, algorithm, dtype):
    X, S, _ = mixed
    found = FastICA(4, fun=fun, algorithm=algorithm, random_state=0).fit_transform(X.astype(dtype))
    assert np.abs(np.corrcoef(found.T, S.T)[:4, 4:]).max(axis=0).min() > 0.99


def test_scores_are_white_and_the_mixing_gives_the_rows_back(mixed):
    X = mixed[0]
    ica = FastICA(4, random_state=0).fit(X)
    Y = ica.transform(X)
    np.testing.assert_allclose(Y.T @ Y / len(Y), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(ica.components_ @ ica.mixing_, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(ica.inverse_transform(Y), X, atol=1e-9)


def test_a_step_from_the_result_stays_there(mixed):
    X = mixed[0]
    ica = FastICA(4, random_state=0, tol=1e-12).fit(X)
    Y = ica.transform(X)
    g = np.tanh(Y)
    slope = (1 - g**2).mean(axis=0)
    new = g.T @ Y / len(Y) - np.diag(slope)  # in the coordinates of the sources, W is the identity
    U, _, V = np.linalg.svd(new)
    np.testing.assert_allclose(np.abs(U @ V), np.eye(4), atol=1e-5)


def test_sources_come_in_the_order_of_what_they_add_and_with_a_sign(mixed):
    ica = FastICA(4, random_state=0).fit(mixed[0])
    assert (np.diff(np.square(ica.mixing_).sum(axis=0)) <= 0).all()
    largest = np.abs(ica.components_).argmax(axis=1)
    assert (ica.components_[np.arange(4), largest] > 0).all()
    other = FastICA(4, random_state=5).fit(mixed[0])
    np.testing.assert_allclose(other.components_, ica.components_, atol=0.02)


def test_sources_are_as_far_from_gaussian_as_those_of_scikit_learn(mixed):
    X = mixed[0]

    def negentropy(S):
        return np.square(np.log(np.cosh(S / S.std(axis=0))).mean(axis=0) - 0.374567).sum()

    ours = FastICA(4, random_state=0).fit_transform(X)
    peer = Peer(4, whiten="unit-variance", random_state=0).fit_transform(X)
    assert negentropy(ours) == pytest.approx(negentropy(peer), rel=1e-2)


@pytest.mark.parametrize("contrast", CONTRASTS)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (700, 5, 3), (511, 16, 4), (513, 31, 97), (4100, 17, 17), (40_000, 3, 2)])
def test_sums_of_contrasts_are_those_of_their_definition(rng, isa, contrast, sizes):
    n, k, p = sizes
    Z, W = rng.normal(size=(n, k)), rng.normal(size=(p, k)) / np.sqrt(k)
    S = Z @ W.T
    g, slope = {
        "logcosh": (np.tanh(1.5 * S), 1.5 / np.cosh(1.5 * S) ** 2),
        "exp": (S * np.exp(-(S**2) / 2), (1 - S**2) * np.exp(-(S**2) / 2)),
        "cube": (S**3, 3 * S**2),
    }[contrast]
    products, slopes = contrast_sums(Z, W, contrast, 1.5)
    np.testing.assert_allclose(products, g.T @ Z, rtol=1e-10, atol=1e-9 * n)
    np.testing.assert_allclose(slopes, slope.sum(axis=0), rtol=1e-10)
    single = contrast_sums(Z.astype(np.float32), W, contrast, 1.5)
    np.testing.assert_allclose(single[0], products, atol=1e-5 * n)
    np.testing.assert_allclose(single[1], slopes, atol=1e-5 * n)


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_the_slope_of_a_turn_is_that_of_finite_differences(rng, contrast):
    Z, T = rng.laplace(size=(500, 4)), rng.normal(size=(4, 4))
    Z, T = Z - Z.mean(axis=0), T - T.T
    integral = {
        "logcosh": lambda s: np.log(np.cosh(s)),
        "exp": lambda s: -np.exp(-(s**2) / 2),
        "cube": lambda s: s**4 / 4,
    }[contrast]
    here = sources._turn(Z, np.linalg.qr(rng.normal(size=(4, 4)))[0], contrast, 1.0)
    sign = np.where(here.signs, -1, 1)

    def value(t):
        return float(integral(Z @ sources._turned(here.W, t * T).T).mean(axis=0) @ sign)

    assert (value(1e-5) - value(-1e-5)) / 2e-5 == pytest.approx(float(np.sum(T * here.slope)), rel=1e-6)


@pytest.mark.parametrize("fun", CONTRASTS)
def test_steps_are_few_where_sources_depend_on_each_other(rng, fun):
    """Products of common factors have no independent sources, of which fixed-point steps are Newton's."""
    F = rng.normal(size=(5000, 6))
    Z = np.column_stack([F[:, i] * F[:, j] for i in range(6) for j in range(i)] + [np.abs(F)])
    Z -= Z.mean(axis=0)
    U, _, V = np.linalg.svd(Z, full_matrices=False)
    Z = np.ascontiguousarray(U @ V) * np.sqrt(len(Z))
    start = np.linalg.qr(np.random.default_rng(0).normal(size=(len(V), len(V))))[0]
    plain = sources._fixed_point(Z, start, fun, 1.0, 500, 1e-8)
    found = sources.find(Z, len(V), fun, 1.0, together=True, max_iter=500, tol=1e-8, seed=0)
    assert found.change <= 1e-8
    assert found.steps < 0.8 * plain.steps
    np.testing.assert_allclose(found.W @ found.W.T, np.eye(len(V)), atol=1e-12)
    assert np.abs(sources._turn(Z, found.W, fun, 1.0).slope).max() < 1e-3


def test_any_number_of_threads_gives_the_same_bits(rng):
    X = rng.laplace(size=(30_000, 6)).astype(np.float32) @ rng.normal(size=(6, 6)).astype(np.float32)
    one, two = (FastICA(random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_sparse_rows_give_what_dense_rows_give(rng):
    X = rng.exponential(size=(3000, 5)) * (rng.random((3000, 5)) < 0.3)
    dense, sparse = (FastICA(random_state=0, tol=1e-9).fit(A) for A in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-6)


def test_more_sources_than_there_are_directions_are_refused(mixed):
    X = mixed[0]
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\) = 8; got 9"):
        FastICA(9).fit(X)
    with pytest.raises(ValueError, match="at most the 4 directions in which the rows of X vary; got 6"):
        FastICA(6).fit(X)
    assert FastICA(random_state=0).fit(X).n_components_ == 4


def test_a_fit_that_has_not_converged_says_so(mixed):
    with pytest.warns(ConvergenceWarning, match="directions still turned by .* in step 1, above tol"):
        ica = FastICA(4, max_iter=1, random_state=0, tol=1e-9).fit(mixed[0])
    assert ica.change_ > 1e-9


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("fun", CONTRASTS)
def test_tensors_give_what_arrays_give(mixed, fun):
    import torch

    X = mixed[0]
    here, there = (FastICA(4, fun=fun, random_state=0, tol=1e-8).fit(A) for A in (X, torch.tensor(X)))
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-5)
    S = there.transform(torch.tensor(X))
    assert isinstance(S, torch.Tensor)
    np.testing.assert_allclose(S.numpy(), here.transform(X), atol=1e-4)
