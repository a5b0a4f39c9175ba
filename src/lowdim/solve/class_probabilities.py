"""Linear scores of classes, the logarithms of their probabilities up to a shared term, and the probabilities."""

from typing import Any

import numpy as np
import scipy.special as special
from numpy.typing import NDArray

from lowdim.work.dispatch import operation


def linear_rule(
    C: NDArray, means: NDArray, mean: NDArray, priors: NDArray, dtype: np.dtype
) -> tuple[NDArray, NDArray[np.float64]]:
    """Weights (C, d) and intercepts (C,) of the scores, from the rows ``S_w⁻¹ (m_c − m)``; of two classes their
    difference.

    >>> coef, intercept = linear_rule(np.array([[-1.0], [1.0]]), np.array([[1.0], [3.0]]), np.array([2.0]),
    ...                               np.array([0.5, 0.5]), np.dtype(float))
    >>> coef, intercept
    (array([[2.]]), array([-4.]))
    """
    shift = mean.astype(np.float64)
    with np.errstate(divide="ignore"):
        offset = np.log(priors) - 0.5 * np.einsum("ij,ij->i", C, means.astype(np.float64) - shift)
    offset = np.maximum(offset, np.finfo(dtype).min / 4)  # of a class of prior 0
    if len(C) == 2:
        C, offset = C[1:] - C[:1], offset[1:] - offset[:1]
    coef = C.astype(dtype)
    return coef, offset - coef.astype(np.float64) @ shift


@operation
def probabilities(scores: Any, *, logarithms: bool = False) -> NDArray:
    """Probabilities (n, C) from scores (n, C), or their logarithms; one column is the second class less the first.

    >>> probabilities(np.array([[0.0], [np.log(3.0)]])).round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    found = special.log_softmax(scores, axis=1) if logarithms else special.softmax(scores, axis=1)
    return np.asarray(found, dtype=scores.dtype)
