"""Contribution of each point to ``KL(P‖Q)`` without the normaliser."""

from typing import Any

import torch

from lowdim.backends.torch.kernels.attraction_any import attraction_any
from lowdim.backends.torch.kernels.falloffs import law


def entropies(P: Any) -> Any:
    """``Σ_j p_ij log p_ij`` (n,) in float64."""
    return -torch.segment_reduce(torch.special.entr(P.values.double()), "sum", lengths=P.indptr.diff())


def attraction_costs(P: Any, Y: Any, falloff: Any) -> Any:
    """``Σ_j −p_ij log f(s_ij)`` (n,) in float64."""
    out = torch.empty(len(Y), device=Y.device)
    attraction_any[(len(Y), 1)](Y, *P, out, Y.shape[1], **law(falloff), COST=True, BC=128, num_warps=1)
    return out.double()
