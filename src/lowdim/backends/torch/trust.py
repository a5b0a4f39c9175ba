"""Trust in the positions of new rows, on a device."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.relate import trust as numpy_trust
from lowdim.relate.trust import NEAREST, Spacings


@TORCH.implements(numpy_trust.spacings)
def spacings(indices: Any, distances: Any) -> Spacings:
    """Spacings of training rows by the neighbours (n, k) of each, nearest first."""
    each = _mean(distances)
    return Spacings(each, torch.sort(_looseness(indices, each, each)).values)


@TORCH.implements(numpy_trust.trust)
def trust(of: Any, indices: Any, distances: Any) -> Any:
    """Trust (m,) in new rows by their neighbours (m, k) among the training rows, nearest first."""
    new = _looseness(indices, _mean(distances), of.each)
    return 1 - torch.searchsorted(of.loose, new * (1 - 1e-12)).double() / len(of.loose)


def _mean(distances: Any) -> Any:
    return distances[:, :NEAREST].double().mean(1)


def _looseness(indices: Any, spacing: Any, each: Any) -> Any:
    theirs = each[indices[:, :NEAREST].long()].mean(1)
    least = torch.finfo(torch.float32).eps * each.mean()
    least = torch.where(least > 0, least, 1.0)  # equal rows have none
    return (spacing + least) / (theirs + least)
