"""The report of a comparison: one self-contained HTML page.

``page.html`` is its template, ``page.css`` its style, ``maps.js`` and ``page.js`` its scripts; the modules here
fill them.
"""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.show.report.assembly import compose
from lowdim.work.atomic_files import atomic

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison

__all__ = ["write"]


def write(
    comparison: "Comparison",
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    ids: Any = None,
    commands: list[str] | None = None,
) -> None:
    """Write the page; parameters are those of :meth:`lowdim.comparison.result.Comparison.report`."""
    n = comparison.facts.rows
    ids = comparison.prepared.table.ids if ids is None else ids
    if ids is not None and np.shape(ids) != (n,):
        raise ValueError(
            f"report: ids must hold one id for each of the {n:,} rows; got shape {np.shape(ids)}. Match them."
        )
    text = compose(comparison, title=title, ids=ids, commands=commands)
    with atomic(path) as file:
        file.write(text.encode("utf-8"))
