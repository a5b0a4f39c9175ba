"""The data a command was given, readable more than once even where they come from a pipe."""

import io
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim.data import Table


@dataclass
class Source:
    """What the user named as DATA; standard input is kept, since it can be read only once."""

    name: str
    _piped: bytes | None = field(default=None, repr=False)

    def read(self, **options: Any) -> "Table":
        """Table of the data; ``options`` are those of :func:`lowdim.data.read`."""
        from lowdim import data

        if self.name == "-":
            if self._piped is None:
                self._piped = sys.stdin.buffer.read()
            sys.stdin = io.TextIOWrapper(io.BytesIO(self._piped))
        return data.read(self.name, **options)


def counted(d: int) -> list[str]:
    """Names that columns without names get from the readers.

    >>> counted(2)
    ['x0', 'x1']
    """
    return [f"x{j}" for j in range(d)]


def note_names(model: Any, table: "Table") -> None:
    """Let the model know its columns, as it would from a data frame.

    Rows go in as the plain array they were read into: a data frame would copy them, and a memory map would be read
    whole. Names that only count the columns are none.
    """
    import numpy as np

    if table.names != counted(len(table.names)):
        model.feature_names_in_ = np.array(table.names, dtype=object)


def named_labels(table: "Table") -> Any:
    """Labels under the name of their column, which becomes the title of the legend; None where there are none."""
    import polars as pl

    y = table.labels
    return None if y is None else pl.Series(table.label_name, y.tolist() if y.dtype.kind in "UO" else y)
