"""The test for finite numbers, for tensors."""

from typing import Any

from lowdim.backends import TORCH
from lowdim.work import finite


@TORCH.implements(finite.bad_row)
def bad_row(values: Any) -> int | None:
    """The first row that holds NaN or infinity; None if all are finite."""
    bad = ~values.isfinite()
    return int(bad.nonzero()[0, 0]) if bool(bad.any()) else None
