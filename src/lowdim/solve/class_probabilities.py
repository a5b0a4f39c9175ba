"""Probabilities of classes from their scores, the logarithms of the probabilities up to a shared term."""

from typing import Any

import numpy as np
import scipy.special as special
from numpy.typing import NDArray

from lowdim.work.dispatch import operation


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
