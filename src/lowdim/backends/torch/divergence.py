"""``KL(P‖Q)`` as the loss of a map on a device."""

from math import log
from typing import Any

import torch

from lowdim.backends.torch.costs import attraction_costs, entropies
from lowdim.backends.torch.repulsive_field import sums_at
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.solve import divergence as numpy_divergence
from lowdim.solve.descent import Reached
from lowdim.work.progress import stage


@implements_on_device(numpy_divergence.divergence)
def divergence(P: Any, Y: Any, falloff: Any) -> Reached:
    """``KL(P‖Q)`` at the map ``Y`` (n, k), with ``Q`` normalised by exact sums over all pairs."""
    with stage("divergence"):
        costs = entropies(P) + attraction_costs(P, Y, falloff)
        total = float((sums_at(Y, Y, falloff)[1] - 1.0).sum())
        shares = torch.segment_reduce(P.values.double(), "sum", lengths=P.indptr.diff())
        points = costs + shares * log(max(total, 1e-300))
    return Reached(float(points.sum()), points)
