import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.solve.leading_eigenpairs import eigh_top, eigh_top_operator, leading_span, refined


def symmetric(values, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return (Q * values) @ Q.T


@pytest.mark.parametrize("k", [1, 3, 7, 20])
def test_array_and_operator_give_the_leading_pairs(k):
    values = np.sort(np.random.default_rng(1).normal(size=20))[::-1]  # negative ones too
    A = symmetric(values)
    for pairs in (eigh_top(A.copy(), k), eigh_top_operator(lambda V: A @ V, 20, k, seed=0, tol=1e-10)):
        np.testing.assert_allclose(pairs.values, values[:k], atol=1e-9)
        np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-9)
        np.testing.assert_allclose(A @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-8)


def test_the_residual_it_states_is_the_residual_it_has():
    A = symmetric(0.95 ** np.arange(400))
    pairs = eigh_top_operator(lambda V: A @ V, 400, 5, seed=0, tol=1e-6)
    actual = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0).max()
    assert pairs.residual <= 1e-6
    assert actual == pytest.approx(pairs.residual * pairs.values[0], rel=0.3, abs=1e-12)


def test_a_residual_may_be_relative_to_each_value():
    values = np.r_[1.0, 1e-5, 0.8e-5 * 0.9 ** np.arange(398)]
    A = symmetric(values)
    pairs = eigh_top_operator(lambda V: A @ V, 400, 2, seed=0, tol=1e-4, each=True)
    apart = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert (apart <= 1.3e-4 * values[:2]).all()
    loose = eigh_top_operator(lambda V: A @ V, 400, 2, seed=0, tol=1e-4)  # relative to the first value
    assert loose.iterations < pairs.iterations


def test_restarts_keep_going_where_the_gap_is_small():
    values = np.r_[1.0, 0.999, 0.998, np.linspace(0.99, 0, 597)]
    A = symmetric(values)
    pairs = eigh_top_operator(lambda V: A @ V, 600, 3, seed=0, tol=1e-7)
    np.testing.assert_allclose(pairs.values, values[:3], atol=1e-9)


@pytest.mark.parametrize("values", [np.ones(30), np.r_[np.full(10, 2.0), np.zeros(20)], np.zeros(30)])
def test_repeated_and_zero_eigenvalues_are_found_with_their_multiplicity(values):
    A = symmetric(values)
    pairs = eigh_top_operator(lambda V: A @ V, 30, 12, seed=0, tol=1e-9)
    np.testing.assert_allclose(pairs.values, values[:12], atol=1e-10)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(12), atol=1e-9)


def test_a_good_start_saves_passes():
    A = symmetric(1.0 / np.arange(1, 501))
    cold = eigh_top_operator(lambda V: A @ V, 500, 6, seed=0, tol=1e-8)
    warm = eigh_top_operator(lambda V: A @ V, 500, 6, seed=0, tol=1e-8, start=cold.vectors)
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.values, cold.values)


@given(n=st.integers(1, 40), seed=st.integers(0, 99), data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_size_and_count_agree_with_lapack(n, seed, data):
    k = data.draw(st.integers(1, n))
    A = symmetric(np.random.default_rng(seed).gamma(0.5, size=n), seed)
    expected = np.linalg.eigvalsh(A)[::-1][:k]
    np.testing.assert_allclose(eigh_top(A.copy(), k).values, expected, atol=1e-10)
    pairs = eigh_top_operator(lambda V: A @ V, n, k, seed=seed, tol=1e-10)
    np.testing.assert_allclose(pairs.values, expected, atol=1e-9)


def test_wide_blocks_need_fewer_passes_and_find_the_same():
    A = symmetric(1.0 / np.arange(1, 801))
    thin, wide = (
        eigh_top_operator(lambda V: A @ V, 800, 10, seed=0, tol=1e-8, costly=costly) for costly in (False, True)
    )
    np.testing.assert_allclose(thin.values, wide.values, atol=1e-12)
    assert wide.iterations < thin.iterations


def test_the_product_it_returns_is_the_product():
    A = symmetric(0.97 ** np.arange(300))
    for pairs in (
        eigh_top(A.copy(), 4),
        eigh_top_operator(lambda V: A @ V, 300, 4, seed=0, tol=1e-3, costly=True),
        eigh_top_operator(lambda V: A @ V, 300, 4, seed=0, tol=1e-9),
    ):
        np.testing.assert_allclose(pairs.product, A @ pairs.vectors, atol=1e-12)


def test_negative_eigenvalues_show_in_the_lowest():
    A = symmetric(np.r_[3.0, 2.0, np.linspace(0.5, 0, 96), -1.0, -2.0])
    assert eigh_top(A.copy(), 100).lowest == pytest.approx(-2.0)
    assert eigh_top_operator(lambda V: A @ V, 100, 2, seed=0, tol=1e-10).lowest == pytest.approx(-2.0, abs=0.1)


def test_a_sample_of_rows_is_a_good_start():
    X = np.random.default_rng(0).normal(size=(900, 6)) * 2.0 ** -np.arange(6)
    K = np.exp(-np.square(X[:, None] - X).sum(axis=2))
    H = np.eye(900) - 1 / 900
    A = H @ K @ H
    cold = eigh_top_operator(lambda V: A @ V, 900, 5, seed=0, tol=1e-7, costly=True)
    start = leading_span(K[:200], 16)
    warm = eigh_top_operator(lambda V: A @ V, 900, 5, seed=0, tol=1e-7, costly=True, start=start)
    np.testing.assert_allclose(warm.values, cold.values, rtol=1e-10)
    assert warm.iterations < cold.iterations


def test_refinement_tightens_lower_bounds_and_keeps_its_identity():
    A = symmetric(0.9 ** np.arange(200))
    rng = np.random.default_rng(0)
    start = np.linalg.eigh(A)[1][:, ::-1][:, :12] + 0.02 * rng.normal(size=(200, 12))
    errors = []
    for passes in (1, 2, 3):
        found = refined(lambda V: A @ V, start, 6, passes, seed=0)
        np.testing.assert_allclose(A @ found.right, found.left * found.values, atol=1e-12)
        np.testing.assert_allclose(found.left.T @ found.left, np.eye(6), atol=1e-9)
        errors.append(0.9 ** np.arange(6) - found.values)
    assert all((e > -1e-12).all() for e in errors)
    assert errors[0].max() > errors[1].max() > errors[2].max()


@pytest.mark.parametrize("wide", [3, 30, 90])
def test_a_start_of_any_width_gives_the_residual_it_states(wide, rng):
    A = symmetric(0.97 ** np.arange(300))
    start = np.linalg.eigh(A)[1][:, ::-1][:, :wide] + 0.05 * rng.normal(size=(300, wide))
    pairs = eigh_top_operator(lambda V: A @ V, 300, 12, seed=0, tol=1e-7, start=start)
    actual = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0).max()
    assert actual <= 2e-7
    np.testing.assert_allclose(pairs.values, 0.97 ** np.arange(12), atol=1e-10)


@pytest.mark.parametrize("order", ["C", "F"])
def test_pairs_are_found_where_nearly_all_values_are_equal(order):
    n = 60
    A = np.asarray(0.5 * (np.eye(n) - 1 / n), order=order)
    found = eigh_top(A.copy(order=order), 2)
    np.testing.assert_allclose(found.values, 0.5)
    np.testing.assert_allclose(A @ found.vectors, 0.5 * found.vectors, atol=1e-12)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-12)
