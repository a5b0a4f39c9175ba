"""The test for finite numbers, for tensors."""

from typing import Any


def bad_row(values: Any) -> int | None:
    """The first row that holds NaN or infinity; None if all are finite."""
    bad = ~values.isfinite()
    return int(bad.nonzero()[0, 0]) if bool(bad.any()) else None
