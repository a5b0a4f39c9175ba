import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from lowdim.relate.centring import centre
from lowdim.solve.ridge import kernel_ridge, landmark_ridge


def rbf(A, B):
    return np.exp(-0.3 * np.square(A[:, None] - B).sum(axis=2))


def test_it_is_ridge_on_the_centred_kernel_with_a_mean(rng):
    Y, T, new = rng.normal(size=(80, 2)), rng.normal(size=(80, 3)) + 5, rng.normal(size=(6, 2))
    K = rbf(Y, Y)
    H = np.eye(80) - 1 / 80
    size = np.abs(np.diag(H @ K @ H)).mean()
    peer = KernelRidge(alpha=0.1 * size, kernel="precomputed").fit(H @ K @ H, T - T.mean(axis=0))
    means = centre(K)
    found = kernel_ridge(K, means.rows, T, 0.1)
    expected = peer.predict((rbf(new, Y) - means.rows) @ H) + T.mean(axis=0)
    np.testing.assert_allclose(rbf(new, Y) @ found.weights + found.intercept, expected, atol=1e-8)


def test_all_rows_as_landmarks_fit_as_well_as_no_landmarks(rng):
    Y = rng.normal(size=(60, 2))
    T = np.column_stack([np.sin(Y[:, 0]), Y[:, 1] ** 2]) + 3
    K = rbf(Y, Y)
    blocks = [(K[:25], T[:25]), (K[25:], T[25:])]
    few = landmark_ridge(blocks, K, 1e-6)
    np.testing.assert_allclose(K @ few.weights + few.intercept, T, atol=1e-2)


def test_a_kernel_that_stays_indefinite_is_refused():
    with pytest.raises(ValueError, match=r"ridge must make .*positive definite; 0.01 does not. Raise it"):
        kernel_ridge(np.diag([1.0, -5.0, 2.0]), np.zeros(3), np.ones((3, 1)), 0.01)
