"""Limits of values, so that results computed from them are finite."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Smallest and largest magnitude other than 0, and what would not be finite beyond them."""

    least: float
    most: float
    reason: str

    def demand(self, name: str, size: float, what: str = "values must differ by") -> None:
        """Refuse a ``size`` that is not finite or lies outside, unless it is 0.

        >>> SQUARES.demand("Neighbours", 0.0)
        """
        if size != 0 and not self.least <= size <= self.most:
            raise ValueError(
                f"{name}: {what} {self.least:g} to {self.most:g}, {self.reason}; got {size:.3g}. Scale the data."
            )


SQUARES = Limits(1e-150, 1e150, "for their squares to be finite")  # in float64
SINGLES = Limits(1e-37, 1e37, "for distances in float32")
