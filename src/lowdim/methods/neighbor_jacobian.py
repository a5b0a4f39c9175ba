"""Derivatives of positions in a map of neighbours: implicit, or by moving rows and placing them again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.methods.explanation import by_differences
from lowdim.relate.affinities import NEAREST, SHARE
from lowdim.relate.neighbors import Neighbors, nearest
from lowdim.relate.weight_slopes import differentiable, distance_slopes, likelihood_slopes
from lowdim.solve.sensitivity import Placed, implicit
from lowdim.work.rows import dense, in_form_of, take

Floats = NDArray[np.float64]
_FIFTH = 5  # the neighbour at whose distance a row is moved, where small steps change nothing
_ALIKE = 1e-3  # relative difference of distances from those of the search


def neighbor_jacobian(model: Any, Q: Any, own: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Positions (m, k) of rows in the form of the training rows, and their derivatives (m, k, d).

    ``own`` (m,) are their numbers among the rows of the fit, or −1: a row is not its own neighbour.
    """
    near = near_others(model, Q, own)
    Y = model._among(near, model.embedding_)
    found = [_implicit(model, Q[[i]], int(own[i]), _row(near, i), Y[i]) for i in range(Q.shape[0])]
    some = [one for one in found if one is not None]
    if len(some) == len(found):
        return np.stack([one.position for one in some]), np.stack([one.slopes for one in some])
    reach = near.distances[:, min(_FIFTH, near.distances.shape[1]) - 1]
    steps = np.where(reach > 0, reach, 1.0)[:, None]

    def moved(rows: Any, numbers: NDArray[np.intp]) -> NDArray:
        return model._among(near_others(model, in_form_of(rows, Q), own[numbers]), model.embedding_)

    return by_differences(Q, moved, np.broadcast_to(steps, Q.shape), Y)


def near_others(model: Any, Q: Any, own: NDArray[np.intp]) -> Neighbors:
    """Neighbours of rows among the others of the fit."""
    each = model._near_each(len(model.embedding_)) + 1
    found = nearest(model._fitted_rows(), each, model._new_rows(Q), model._metric, model.neighbor_search)
    others = found.indices != own[:, None]
    others[others.all(axis=1), -1] = False
    shape = (len(own), found.indices.shape[1] - 1)
    return found._replace(
        indices=found.indices[others].reshape(shape), distances=found.distances[others].reshape(shape)
    )


def _row(near: Neighbors, i: int) -> Neighbors:
    """Neighbours of one row."""
    return near._replace(indices=near.indices[[i]], distances=near.distances[[i]])


def _implicit(model: Any, row: Any, own: int, near: Neighbors, start: NDArray) -> Placed | None:
    """Position of one row and its slopes by implicit differentiation; None where weights do not change smoothly."""
    if not differentiable(model._metric):
        return None
    lengths, slopes = distance_slopes(dense(row)[0], dense(take(model._rows, near.indices[0])), model._metric)
    if not np.allclose(lengths, near.distances[0], rtol=_ALIKE, atol=_ALIKE * float(lengths.max(initial=0))):
        return None
    found = model._weight_slopes(lengths, slopes)
    if found is None:
        return None
    weights, rises = found
    few, few_rises = likelihood_slopes(lengths, slopes, [min(NEAREST, len(lengths))], None)
    total = weights.sum()  # as affinities.with_nearest does
    rises = (1 - SHARE) * rises + SHARE * (total * few_rises + few[:, None] * rises.sum(axis=0))
    weights = (1 - SHARE) * weights + SHARE * total * few
    loss = model._loss(len(model.embedding_), 0, again=True)
    return implicit(loss, own if own >= 0 else None, near.indices[0], weights, rises, model.embedding_, start)
