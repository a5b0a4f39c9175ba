"""The rule for scaling: which numbers are divided by their standard deviations where nobody says so."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowdim.data.table import Table

RULE = (
    "Numbers in files of tables are standardised, unless all share one unit, as pixels and counts do; those of arrays "
    "and images are left as they are."
)
_MANY = 16  # columns of one unit, as for pixels: 4 × 4


def numbers_of(table: "Table") -> str:
    """``numbers`` of :class:`lowdim.Prepare` for a table, by the rule above; text beside the numbers changes nothing.

    >>> import numpy as np
    >>> from lowdim.data.table import Table
    >>> numbers_of(Table(np.eye(3), ["a", "b", "c"], tabular=True)), numbers_of(Table(np.eye(3), ["a", "b", "c"]))
    ('standardize', 'as_is')
    """
    import polars as pl

    from lowdim.relate.feature_scales import one_unit

    if not (table.tabular or table.mixed):
        return "as_is"
    if not table.mixed:
        return "as_is" if one_unit(table.X) else "standardize"
    numbers = table.X.select([name for name, dtype in table.X.schema.items() if dtype.is_numeric()])
    if numbers.width < _MANY:
        return "standardize"
    filled = numbers.head(1000).cast(pl.Float64).fill_nan(None).drop_nulls()
    return "pooled" if filled.height > 1 and one_unit(filled.to_numpy()) else "standardize"
