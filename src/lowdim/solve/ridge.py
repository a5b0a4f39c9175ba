"""Ridge regression on kernels, with an intercept: all rows as centres, or a few of them."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.work.progress import stage


class Ridge(NamedTuple):
    """``t(y) ≈ intercept + k(y, centres) weights``: weights (r, d) and intercept (d,)."""

    weights: NDArray
    intercept: NDArray


def kernel_ridge(K: NDArray, means: NDArray[np.float64], T: NDArray, ridge: float) -> Ridge:
    """Weights ``(K + ridge·s I)⁻¹ (T − t̄)`` for the centred ``K`` (n, n), which is overwritten; s its mean diagonal.

    ``means`` (n,) are those of the rows before centring.
    """
    n = len(K)
    mean = T.mean(axis=0, dtype=np.float64)
    K.flat[:: n + 1] += ridge * (float(np.abs(np.diagonal(K)).mean()) or 1.0)
    with stage("pre-images"):
        try:
            factor = sl.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"ridge must make the kernel between the scores positive definite; {ridge:g} does not. "
                "Raise it, or use a positive kernel such as 'rbf'."
            ) from None
        weights = sl.cho_solve(factor, (T - mean.astype(K.dtype)).astype(K.dtype), overwrite_b=True, check_finite=False)
    return Ridge(weights, mean - means @ weights)


def landmark_ridge(blocks: Iterable[tuple[NDArray, NDArray]], core: NDArray, ridge: float) -> Ridge:
    """With r centres: ``blocks`` yields (k(rows, centres), targets), ``core`` (r, r) is the centres' kernel.

    Minimises ``‖T − K W‖² + ridge·s tr(Wᵀ core W)`` over all rows, ``K`` and ``T`` centred, in memory of size r².
    """
    r = len(core)
    ZZ, k_sum, count = np.zeros((r, r)), np.zeros(r), 0
    ZT: NDArray = np.zeros(())
    t_sum: NDArray = np.zeros(())
    with stage("pre-images"):
        for K, T in blocks:
            ZZ += K.T @ K
            ZT = ZT + K.T @ T
            k_sum += K.sum(axis=0, dtype=np.float64)
            t_sum = t_sum + T.sum(axis=0, dtype=np.float64)
            count += len(K)
        k_mean, t_mean = k_sum / count, t_sum / count
        ZZ -= count * np.outer(k_mean, k_mean)
        ZT = ZT - count * np.outer(k_mean, t_mean)
        ZZ += ridge * (abs(float(np.diag(core).mean() - k_mean.mean())) or 1.0) * core
        ZZ.flat[:: r + 1] += 1e-10 * float(np.trace(ZZ)) / r or 1.0  # where all is 0, so are the weights
        weights = sl.solve(ZZ, ZT, assume_a="sym", check_finite=False)
    return Ridge(weights, t_mean - k_mean @ weights)
