"""Centring of Gram matrices on a device."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.relate import centring as numpy_centring
from lowdim.relate.centring import Means, demand_finite_kernel


@TORCH.implements(numpy_centring.centre)
def centre(K: Any) -> Means:
    """Centre the symmetric tensor ``K`` in place and return the means it had, in NumPy."""
    means = K.sum(1, dtype=torch.float64) / K.shape[1]
    demand_finite_kernel(means)
    total = means.mean()
    K -= (means - total).to(K.dtype)[:, None]
    K -= means.to(K.dtype)
    return Means(means.cpu().numpy(), float(total))
