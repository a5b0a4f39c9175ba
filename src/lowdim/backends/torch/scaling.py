"""Classical scaling on a device."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.compose import scaling as numpy_scaling
from lowdim.compose.scaling import Scaling, scale_classically

_STEP = 2**26  # distances taken at a time


@TORCH.implements(numpy_scaling.place_by_distances)
def place_by_distances(D2: Any, scaling: Scaling) -> Any:
    """Positions (m, k) of rows with squared distances ``D2`` (m, n) to those that were scaled."""
    there = {"dtype": torch.float64, "device": D2.device}
    dual, offset = torch.as_tensor(scaling.dual, **there), torch.as_tensor(scaling.offset, **there)
    return torch.cat([-0.5 * (some.double() @ dual) - offset for some in D2.split(max(1, _STEP // D2.shape[1]))])


@TORCH.implements(numpy_scaling.classical_scaling)
def classical_scaling(D2: Any, k: int, seed: int, columns: Any = None) -> Scaling:
    """Coordinates in k dimensions from the squared distances ``D2`` (n, n), which are left unchanged."""
    return scale_classically(D2, k, seed, columns)
