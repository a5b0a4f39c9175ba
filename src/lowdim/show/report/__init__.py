"""The report of a comparison: one HTML page that needs nothing but itself.

``page.html`` is its skeleton, ``page.css`` its looks, ``maps.js`` and ``page.js`` what moves in it; the modules here
fill them.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.show.report.page import compose
from lowdim.work.atomic import atomic

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison

__all__ = ["write"]


def write(
    comparison: "Comparison",
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    ids: Any = None,
    missing: str = "none",
    prepared: Sequence[str] = (),
    commands: list[str] | None = None,
) -> None:
    """Write the page; parameters are those of :meth:`lowdim.comparison.result.Comparison.report`."""
    n = comparison.facts.rows
    if ids is not None and np.shape(ids) != (n,):
        raise ValueError(
            f"report: ids must hold one for each of the {n:,} rows; got shape {np.shape(ids)}. Match them."
        )
    text = compose(comparison, title=title, ids=ids, missing=missing, prepared=prepared, commands=commands)
    with atomic(path) as file:
        file.write(text.encode("utf-8"))
