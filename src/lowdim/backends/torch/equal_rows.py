"""Rows of tensors that are equal."""

from typing import Any

import numpy as np
import torch

from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import equal_rows as numpy_equal_rows


@implements_on_device(numpy_equal_rows.find_equal)
def find_equal(X: Any, queries: Any) -> Any:
    """Index (m,) of the first row of ``X`` equal to each query, −1 where there is none.

    Rows are compared by a hash of their bits, then entry by entry.
    """
    queries = queries.to(X.dtype)
    keys, wanted = _keys(X), _keys(queries)
    ordered, order = torch.sort(keys, stable=True)
    found = order[torch.searchsorted(ordered, wanted).clamp_(max=len(keys) - 1)]
    same = keys[found] == wanted
    for some in same.nonzero().view(-1).split(max(1, 2**24 // X.shape[1])):
        same[some] = (X[found[some]] == queries[some]).all(1)
    return torch.where(same, found, -1)


@implements_on_device(numpy_equal_rows.merge_equal)
def merge_equal(Y: Any, first: Any) -> Any:
    """Map in which equal rows have the mean of their positions; ``first`` (n,) is the first row equal to each.

    Positions are summed as integers, so that the order does not matter.
    """
    n = len(first)
    if bool((first == torch.arange(n, device=Y.device)).all()):
        return Y
    one = 2.0 ** int(61 - np.ceil(np.log2(max(float(Y.abs().max()), 1e-30) * n)))
    sums = torch.zeros(Y.shape, dtype=torch.int64, device=Y.device)
    sums.index_add_(0, first, (Y.double() * one).round_().long())
    counts = torch.bincount(first, minlength=n)
    return (sums[first].double() / one / counts[first, None]).to(Y.dtype)


def _keys(X: Any) -> Any:
    """Sum of each row's bits, weighted by column, modulo 2⁶⁴."""
    drawn = np.random.Generator(np.random.Philox(0)).integers(-(2**63), 2**63, size=X.shape[1])
    odd = torch.as_tensor(drawn | 1, device=X.device)
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[X.itemsize]
    keys = torch.empty(len(X), dtype=torch.int64, device=X.device)
    step = max(1, 2**24 // X.shape[1])
    for start in range(0, len(X), step):
        bits = (X[start : start + step] + 0.0).view(whole).long()  # −0 becomes 0
        keys[start : start + step] = ((bits ^ (bits >> 31)) * odd).sum(1)
    return keys
