"""Lengths of rows of tensors, and rows of length 1."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.relate import row_norms as numpy_row_norms
from lowdim.relate.row_norms import no_direction


@TORCH.implements(numpy_row_norms.unit_rows)
def unit_rows(X: Any, name: str | None = None) -> Any:
    """Rows of length 1; rows of zeros stay zero, or are refused if ``name`` is given."""
    size = X.double().norm(dim=1, keepdim=True)
    zero = (size[:, 0] == 0).nonzero().view(-1)
    if len(zero) and name is not None:
        raise no_direction(name, int(zero[0]))
    return (X / torch.where(size > 0, size, 1.0)).to(X.dtype)
