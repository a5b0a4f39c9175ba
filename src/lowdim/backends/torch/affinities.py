"""Affinities of rows on a device."""

from collections.abc import Callable
from math import log
from typing import Any

import torch
import triton

from lowdim.backends.torch.kernels.mutual import mutual
from lowdim.backends.torch.kernels.perplexity import perplexity
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import affinities as numpy_affinities
from lowdim.relate.affinities import NEAREST, SHARE, Affinities
from lowdim.work.progress import stage

_BLOCK = 4  # rows of a program
_QUEUE = 16  # neighbours read at a time


@implements_on_device(numpy_affinities.with_nearest)
def with_nearest(weights: Any, distances: Any) -> Any:
    """Weights (m, k) of the neighbours of new rows, with more on the nearest."""
    p, _ = likelihoods(distances, [min(NEAREST, distances.shape[1])])
    return (1 - SHARE) * weights + SHARE * weights.sum(1)[:, None] * p


@implements_on_device(numpy_affinities.likelihoods)
def likelihoods(distances: Any, perplexities: list[float], sigma: float | None = None) -> tuple[Any, Any]:
    """Probabilities (n, k) of neighbours at ascending ``distances`` (n, k), and the perplexity (n,) of each row."""
    most = float(distances.max())
    if most == float("inf") or most != most:
        raise ValueError(f"Affinities: distances must be finite in {distances.dtype}; got {most}. Scale the data.")
    n, k = distances.shape
    with stage("perplexity", total=n):
        if sigma is not None:
            near = distances.double()
            p = torch.softmax(-(near.square() - near[:, :1].square()) / (2 * sigma**2), dim=1).float()
        else:
            p = torch.zeros(n, k, device=distances.device)
            for one in perplexities:
                perplexity[(triton.cdiv(n, _BLOCK),)](
                    distances, p, n, k, log(one), 1 / len(perplexities), BR=_BLOCK, BK=triton.next_power_of_2(k)
                )
        return p, torch.special.entr(p.double()).sum(1).exp().float()


@implements_on_device(numpy_affinities.affinities)
def affinities(indices: Any, p: Any) -> Affinities:
    """Symmetric ``P`` from the neighbours (n, k) of each row and their probabilities (n, k).

    A row has its own neighbours first, nearest first, then other rows that have it as a neighbour, by index.
    """
    scale = 0.5 / len(indices)
    with stage("affinities"):
        return Affinities(*united(indices, p, lambda own, back: own.add_(back).mul_(scale)))


def united(indices: Any, p: Any, join: Callable[[Any, Any], Any]) -> tuple[Any, Any, Any]:
    """Symmetric sparse rows of ``join(p_{j|i}, p_{i|j})``, from the neighbours of each row and their ``p`` (n, k).

    Where only one of two rows has the other as a neighbour, ``join`` is given 0 for the other direction. The first
    argument may be overwritten.
    """
    n, k = indices.shape
    there = {"device": indices.device}
    back = torch.empty(n, k, **there)
    alone = torch.empty(n, k, dtype=torch.int8, **there)
    mutual[(n,)](indices, p, back, alone, k, BK=triton.next_power_of_2(k), BQ=_QUEUE)
    values = join(p.clone(), back)
    named = alone.view(-1).nonzero().view(-1)  # entries whose reverse is missing
    target, order = torch.sort(indices.view(-1)[named].long(), stable=True)
    named = named[order]
    counts = torch.bincount(target, minlength=n)
    starts = torch.zeros(n + 1, dtype=torch.int64, **there)
    torch.cumsum(counts, 0, out=starts[1:])
    indptr = starts + k * torch.arange(n + 1, **there)
    columns = torch.empty(n * k + len(named), dtype=torch.int32, **there)
    weights = torch.empty(len(columns), **there)
    own = indptr[:-1, None] + torch.arange(k, **there)
    columns[own], weights[own] = indices, values
    at = indptr[target] + k + torch.arange(len(named), **there) - starts[target]
    columns[at], weights[at] = (named // k).int(), values.view(-1)[named]
    return indptr, columns, weights
