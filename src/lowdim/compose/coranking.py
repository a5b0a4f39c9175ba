"""R_NX(K), the share of K neighbours that two spaces have in common, corrected for chance, from full rows of ranks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import SampledRows, Space, common_neighbors


class Coranks(NamedTuple):
    """R_NX(K) and its standard error for K = 1 … n − 2, and the area of each sampled row (m,) over log K."""

    rnx: NDArray[np.float64]
    error: NDArray[np.float64]
    areas: NDArray[np.float64]


def coranks(X: Space, Y: Space, sample: SampledRows) -> Coranks:
    """Compare the neighbours of the sampled rows in both spaces, at every size."""
    n = X.n
    K = np.arange(1, n - 1)
    chance, room = K / (n - 1), 1 - K / (n - 1)
    weights = 1 / K / (1 / K).sum()
    # R_NX = (Q_NX − chance) / room is linear in the common neighbours c of each row: Q_NX = c / K.
    total, squares, areas = common_neighbors(X, Y, sample, weights / (room * K))
    m = len(sample)
    error = np.zeros(n - 2)
    if sample.rows is not None:
        variance = np.maximum(squares - total.astype(np.float64) ** 2 / m, 0) / max(1, m - 1)
        error = np.sqrt(variance * (1 - m / n) / m) / (K * room)
    return Coranks((total / (m * K) - chance) / room, error, areas - (weights * chance / room).sum())
