"""Symmetric matrices of which each pair is stored once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.work.products import multiply_packed

_WIDE = 64  # columns of a panel


class Half(NamedTuple):
    """A symmetric matrix (n, n), each pair of its rows once.

    ``panels`` (rows, 64) holds the columns 0 … 63, then 64 … 127 of the rows from 64 on, and so on.
    """

    panels: NDArray[np.float32]
    n: int

    def __matmul__(self, V: NDArray[np.float32]) -> NDArray[np.float32]:
        """Product (n, q) with ``V`` (n, q), with the same bits for any number of threads."""
        return multiply_packed(self.panels, V)

    def rows(self, ids: NDArray) -> NDArray[np.float32]:
        """The rows of these numbers, which rise.

        >>> half = Half(half_panels(2), 2)
        >>> half.panels[:, :2] = [[0, 3], [3, 0]]
        >>> half.rows(np.array([1]))
        array([[3., 0.]], dtype=float32)
        """
        out = np.empty((len(ids), self.n), np.float32)
        first = 0
        for left in range(0, self.n, _WIDE):
            panel = self.panels[first : first + self.n - left]
            first += self.n - left
            here, below = np.searchsorted(ids, [left, left + _WIDE])
            out[here:below, left:] = panel[:, ids[here:below] - left].T
            if below < len(ids):
                out[below:, left : left + _WIDE] = panel[ids[below:] - left]
        return out


def half_panels(n: int) -> NDArray[np.float32]:
    """Uninitialised panels of a matrix (n, n)."""
    return np.empty((_panel_rows(n), _WIDE), np.float32)


def bytes_for_half(n: int) -> float:
    """Memory that the panels of a matrix (n, n) take."""
    return 4.0 * _WIDE * _panel_rows(n)


def _panel_rows(n: int) -> int:
    """Rows of all panels of a matrix (n, n)."""
    return sum(range(n, 0, -_WIDE))
