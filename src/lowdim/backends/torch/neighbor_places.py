"""Places of data neighbours on a map, on a device."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.relate import neighbor_places as numpy_neighbor_places

_BLOCK = 2**22  # numbers at a time


@TORCH.implements(numpy_neighbor_places.spreads)
def spreads(places: Any, near: Any) -> Any:
    """Mean distance (m,) of the places (n, d) of the neighbours (m, k) of each row from their median place."""
    return torch.cat([_spreads(places, part) for part in near.long().split(_rows_at_a_time(near, places.shape[1]))])


def _spreads(places: Any, near: Any) -> Any:
    there = places[near].double()
    P = torch.sort(there, dim=1).values  # NaN last, in all coordinates
    count = P[:, :, 0].isfinite().sum(1)
    middle = torch.stack([count - 1, count], 1).div(2, rounding_mode="floor").clamp(min=0)
    centre = torch.gather(P, 1, middle[:, :, None].expand(-1, -1, P.shape[2])).mean(1, keepdim=True)
    apart = (there - centre).square().sum(2).sqrt()
    return apart.nansum(1) / torch.where(count > 0, count.double(), torch.nan)


@TORCH.implements(numpy_neighbor_places.common_share)
def common_share(first: Any, second: Any) -> Any:
    """Share (n,) of the distinct entries of each row of ``first`` (n, k) that are in that row of ``second`` (n, m)."""
    step = _rows_at_a_time(first, second.shape[1])
    pairs = zip(first.split(step), second.split(step), strict=True)
    return torch.cat([(a[:, :, None] == b[:, None, :]).any(2).double().mean(1) for a, b in pairs])


@TORCH.implements(numpy_neighbor_places.region_overlap)
def region_overlap(near: Any, there: Any, directions: Any) -> Any:
    """Cosine (n,) between the neighbours of a row's data neighbours and those of its map neighbours."""
    near, there = near.long(), there.long()
    regions = _mean_rows(directions, near)
    ours, theirs = _mean_rows(regions, near).double(), _mean_rows(regions, there).double()
    lengths = (ours.square().sum(1) * theirs.square().sum(1)).sqrt()
    products = (ours * theirs).sum(1)
    return torch.where(lengths > 0, products / torch.where(lengths > 0, lengths, 1), 0)


def _mean_rows(values: Any, near: Any) -> Any:
    """Mean of the rows of ``values`` (n, r) over the neighbours (n, k) of each row."""
    total = values[near[:, 0]]
    for column in near.T[1:]:
        total = total + values[column]
    return total / near.shape[1]


def _rows_at_a_time(near: Any, width: int) -> int:
    return max(1, _BLOCK // max(1, near.shape[1] * width))
