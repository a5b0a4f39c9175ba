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
