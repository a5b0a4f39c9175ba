"""Rows of a map that a person has put somewhere: pinned, moved, and the map computed again around them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.explorer.running_fits import Map
from lowdim.explorer.session import Session
from lowdim.methods.anchoring import Anchored


def pin(session: Session, number: Any, rows: NDArray[np.bool_], shift: Any = None) -> Map:
    """Pin rows of a map where they are, or after a ``shift`` of all of them in its coordinates."""
    one = _ready(session, number)
    by = np.zeros(one.dims) if shift is None else np.asarray(shift, np.float64)
    if by.shape != (one.dims,) or not np.isfinite(by).all():
        raise ValueError(f"pin: a shift needs {one.dims} finite numbers; got {shift!r}.")
    Y = one.positions().copy()
    Y[rows] += by.astype(np.float32)
    one.pinned = rows.copy() if one.pinned is None else one.pinned | rows
    one.put(Y)
    return one


def unpin(session: Session, number: Any, rows: NDArray[np.bool_] | None) -> Map:
    """Let pinned rows go, or all of them."""
    one = _ready(session, number)
    left = None if rows is None or one.pinned is None else one.pinned & ~rows
    one.pinned = left if left is not None and left.any() else None
    one.put(one.positions())
    return one


def relax(session: Session, number: Any) -> Map:
    """Compute the map again from where its rows are, with pinned ones held; it replaces a map that was relaxed."""
    one = _ready(session, number)
    if one.pinned is None:
        raise ValueError(f"map {one.number} has no pinned rows. Select rows and pin them first.")
    if one.pinned.all():
        raise ValueError(f"all rows of map {one.number} are pinned. Unpin some, so that they can move.")
    made = session.fit(one.method, one.parameters, one.dims, None, one.number, pins=one.pinned)
    if one.relaxed:
        session.drop(one.number)
    return made


def _ready(session: Session, number: Any) -> Map:
    """Map of that number, if its rows can be pinned."""
    one = session.map(number)
    if not isinstance(one.model, Anchored):
        raise ValueError(f"rows of {one.title} cannot be pinned. Take a map of tsne, sne, umap, pacmap or mds.")
    if getattr(one.model, "kind", "metric") != "metric":
        raise ValueError(f"rows of {one.title} can be pinned with kind='metric' only. Compute such a map.")
    if one.alive or one.Y is None:
        raise ValueError(f"map {one.number} is being computed. Wait, or stop it.")
    if one.rows is not None:
        raise ValueError(f"map {one.number} has a selection of the rows. Pin rows in a map of all.")
    return one
