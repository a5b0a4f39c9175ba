"""Quality of a map: the measures of quality, for large data over a sample of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import Space
from lowdim.quality.measure import NEIGHBORS, Sample
from lowdim.quality.neighborhood_scores import Neighbourhoods

_MANY = 5000  # rows above which a sample is used
_FEWEST, _MOST = 32, 200  # size of the sample
_PRODUCTS = 1.9e9  # limit of their search: beyond 2e9 the rows are first sorted into groups, which takes longer


def judge(X: Any, Y: NDArray, inside: NDArray[np.intp]) -> dict[str, float]:
    """Trustworthiness, continuity and the share of neighbours kept, of the rows ``inside``; empty if there are none.

    Neighbours are searched among all rows.
    """
    k = min(NEIGHBORS, (len(Y) - 1) // 2)
    if not len(inside) or k < 1:
        return {}
    affordable = int(np.clip(_PRODUCTS / (len(Y) * X.shape[1]), _FEWEST, _MOST))
    sampled = len(inside) if len(Y) <= _MANY else min(len(inside), affordable)
    rows = np.sort(np.random.default_rng(0).choice(inside, sampled, replace=False))
    spaces = Space("explore", X), Space("explore", np.ascontiguousarray(Y))
    near = Neighbourhoods("explore", *spaces, k, Sample(len(Y), rows), 0)
    return {
        "trustworthiness": float(1 - near.false_neighbors().mean()),
        "continuity": float(1 - near.missing_neighbors().mean()),
        "neighbors_kept": float(near.recall().mean()),
        "rows": int(sampled),
        "of": len(inside),
    }
