"""Trust in the positions of new rows, on a device."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.relate import trust as numpy_trust
from lowdim.relate.neighbor_places import spreads
from lowdim.relate.trust import NEAREST, Familiar


@TORCH.implements(numpy_trust.familiar)
def familiar(indices: Any, distances: Any, places: Any) -> Familiar:
    """What trust needs of training rows: from the neighbours (n, k) of each, nearest first, and their places (n, d)."""
    spacings = _mean(distances)
    loose, spread = _looseness(indices, spacings, spacings), spreads(places, indices[:, :NEAREST])
    ascending = torch.sort(loose).values, torch.sort(spread).values
    worse = torch.minimum(_share(ascending[0], loose), _share(ascending[1], spread))
    return Familiar(spacings, *ascending, torch.sort(worse).values)


@TORCH.implements(numpy_trust.trust)
def trust(of: Any, indices: Any, distances: Any, places: Any) -> Any:
    """Trust (m,) in new rows by their neighbours (m, k) among the training rows at ``places``, nearest first."""
    loose = _looseness(indices, _mean(distances), of.spacings)
    spread = spreads(places, indices[:, :NEAREST])
    worse = torch.minimum(_share(of.loose, loose), _share(of.spread, spread))
    return torch.searchsorted(of.worse, worse * (1 + 1e-12), right=True).double() / len(of.worse)


def _share(ascending: Any, values: Any) -> Any:
    """Share of ``ascending`` that is at least as large as each value."""
    return 1 - torch.searchsorted(ascending, values * (1 - 1e-12)).double() / len(ascending)


def _mean(distances: Any) -> Any:
    return distances[:, :NEAREST].double().mean(1)


def _looseness(indices: Any, spacing: Any, each: Any) -> Any:
    theirs = each[indices[:, :NEAREST].long()].mean(1)
    least = torch.finfo(torch.float32).eps * each.mean()
    least = torch.where(least > 0, least, 1.0)  # equal rows have none
    return (spacing + least) / (theirs + least)
