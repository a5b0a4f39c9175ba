"""Distributed rows in blocks, and what is known of them before anything is computed."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Where(NamedTuple):
    """Number of a block, and the number of its first row among all rows where the lengths before it are known."""

    block: int
    start: int | None


def as_it_is(block: Any, where: Where) -> Any:  # noqa: ARG001  # one of the openers
    """Open a block that needs no check."""
    return block


@dataclass(frozen=True)
class Spread:
    """Rows in blocks: a Dask collection, and what is known of it before anything is computed.

    ``lengths`` are None if the number of rows of some block is unknown, as in DataFrames; ``shape`` is then infinite.
    ``opened`` turns a block into checked NumPy rows, in the task that reads it.
    """

    X: Any
    dtype: np.dtype
    width: int
    lengths: tuple[int, ...] | None
    name: str
    minimum: int = 0
    sparse: bool = False
    opened: Callable[[Any, Where], Any] = field(default=as_it_is)

    @property
    def shape(self) -> tuple[Any, int]:
        """Rows, infinitely many where their number is unknown, and columns."""
        return (math.inf if self.lengths is None else sum(self.lengths)), self.width

    @property
    def ndim(self) -> int:
        """Rows and columns."""
        return 2

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return int(self.X.npartitions)

    def where(self) -> list[Where]:
        """Position of each block."""
        if self.lengths is None:
            return [Where(i, None) for i in range(self.n_blocks)]
        starts = np.cumsum([0, *self.lengths[:-1]]).tolist()
        return [Where(i, start) for i, start in enumerate(starts)]
