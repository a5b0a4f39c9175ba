"""A sequence of maps in the explorer: each row that is followed through them is a row of the session."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim.comparison.aligned import Aligned
from lowdim.explorer.session import Session
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.rows import dense

_GIVEN = "Pass one row for each of the {} lines of tracks() as X, and the maps as sequence."


def followed_rows(maps: Aligned) -> Any:
    """Rows (n_tracks, d) that are followed, each as the first map has it; refused where maps have other columns."""
    lines = maps.tracks()
    if any(model.get_params().get("metric") == "precomputed" for model in maps.models):
        raise ValueError(f"explore: maps of distances have no rows to show. {_GIVEN.format(len(lines))}")
    rows = [model._rows if sp.issparse(model._rows) else to_numpy(model._rows) for model in maps.models]
    widths = [int(one.shape[1]) for one in rows]
    if len(set(widths)) > 1:
        raise ValueError(
            f"explore: the rows of all maps need the same columns; got {widths}. {_GIVEN.format(len(lines))}"
        )
    first = np.argmax(lines >= 0, axis=1)
    out = np.empty((len(lines), widths[0]), np.result_type(*(one.dtype for one in rows)))
    for t, one in enumerate(rows):
        here = np.flatnonzero(first == t)
        out[here] = dense(one[lines[here, t]])
    return out


def followed_labels(maps: Aligned, y: Any) -> Any:
    """Labels of the rows that are followed, from those of each map; others as they are."""
    lines = maps.tracks()
    sizes = [len(Y) for Y in maps]
    each = isinstance(y, list | tuple) and [len(one) if hasattr(one, "__len__") else -1 for one in y] == sizes
    if not each:
        return y
    first = np.argmax(lines >= 0, axis=1)
    return np.array([np.asarray(y[t])[row] for t, row in zip(first, lines[np.arange(len(lines)), first], strict=True)])


def show_sequence(session: Session, maps: Aligned) -> None:
    """Put the maps into the session, in their order."""
    lines = maps.tracks()
    if len(lines) != session.n:
        raise ValueError(
            f"explore: X must have one row for each of the {len(lines)} lines of tracks() of the sequence; got "
            f"{session.n}. Pass the maps alone, or X in that order."
        )
    if any(not 1 <= Y.shape[1] <= 3 for Y in maps):
        raise ValueError(f"explore: maps need 1 to 3 dimensions; got {[Y.shape[1] for Y in maps]}.")
    for t, model in enumerate(maps.models):
        here = np.flatnonzero(lines[:, t] >= 0)
        Y = np.asarray(to_numpy(model.embedding_), np.float32)[lines[here, t]]
        made = session.keep(model, Y, None if len(here) == session.n else here, f"{type(model).__name__} {t + 1}")
        session.sequence.append(made.number)
