"""The data of a command, which can be read more than once even from a pipe."""

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


def named_labels(table: "Table") -> Any:
    """Labels under the name of their column, which becomes the title of the legend; None without labels."""
    import polars as pl

    y = table.labels
    return None if y is None else pl.Series(table.label_name, y.tolist() if y.dtype.kind in "UO" else y)
