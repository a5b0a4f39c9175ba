"""The columns of a table, one by one, as ``lowdim inspect`` lists them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.cli.errors import in_options, tell
from lowdim.cli.printed_tables import echo, show_table

if TYPE_CHECKING:
    from lowdim.data import Table
    from lowdim.data.preparation import Survey

_MOST_SHOWN = 40  # columns listed individually


def survey_columns(table: "Table") -> "list[Survey]":
    """What each column holds and what 'auto' would do to it; none for images and columns without names."""
    from scipy import sparse

    from lowdim.data.column_plans import RULES, wishes
    from lowdim.data.preparation import survey
    from lowdim.data.table import numbered
    from lowdim.data.table_columns import Columns
    from lowdim.methods.prepare import Prepare

    plain = sparse.issparse(table.X) or table.image_shape is not None or table.names == numbered(table.X)
    if plain and not table.mixed:
        return []
    shown = table.names if table.mixed else table.names[:_MOST_SHOWN]
    defaults = Prepare(missing="mean").get_params()
    return survey(Columns(table.X, table.names), wishes({name: defaults[name] for name in RULES}, None, shown))


def show_columns(found: "list[Survey]", n_columns: int) -> None:
    """The columns as a table."""
    rows = [
        [
            one.name,
            one.finding.kind,
            f"{one.finding.distinct:,}",
            f"{one.finding.gaps:,}" if one.finding.gaps else "",
            f"{one.finding.low} to {one.finding.high}" if one.finding.low else "",
            f"refused: {in_options(one.done)}" if one.wrong else f"{one.done} ({one.finding.why})",
        ]
        for one in found[:_MOST_SHOWN]
    ]
    options = "--prepare auto" + " --missing mean" * any(one.finding.gaps for one in found)
    show_table(rows, ["column", "kind", "distinct", "missing", "range", options], apart=True)
    if n_columns > len(rows):
        echo(f"and {n_columns - len(rows):,} more columns.")


def prepared_for_a_look(table: "Table", found: "list[Survey]", missing: str) -> tuple["Table | None", str]:
    """Table of mixed columns as numbers, without columns that cannot be used; or None, and the reason."""
    from lowdim.methods.prepare import Prepare
    from lowdim.methods.prepared_table import Preparation, prepared

    drop = {one.name: "drop" for one in found if one.wrong}
    try:
        made = prepared(table, Preparation(Prepare(missing=missing, plan=drop or None)))
    except (ValueError, MemoryError) as error:
        return None, in_options(str(error))
    return replace(made.table, X=made.X, names=made.names), ""


def write_plan(path: Path, text: str) -> None:
    """Write a plan, whole or not at all."""
    from lowdim.work.atomic_files import atomic

    with atomic(path) as file:
        file.write(text.encode())
    tell(f"wrote {path}.")


def gaps_told(found: "list[Survey]") -> str:
    """Description of the columns with missing values."""
    import numpy as np

    from lowdim.data.missing import gaps

    counts: Any = np.array([one.finding.gaps for one in found])
    return gaps(counts, [one.name for one in found]) if counts.any() else "none"
