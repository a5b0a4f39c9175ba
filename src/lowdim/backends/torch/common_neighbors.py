"""Neighbours that two spaces have in common at every size of neighbourhood, on a device."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.neighbors import compared
from lowdim.backends.torch.tensors import is_native, to_numpy
from lowdim.compose import metric_space
from lowdim.work.dispatch import backend_of, numpy_version
from lowdim.work.progress import stage


@TORCH.implements(metric_space.common_neighbors)
def common_neighbors(
    X: Any, Y: Any, sample: Any, weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Sums over the rows of c_i(K), the neighbours among the K nearest of both spaces, and of c_i(K)², K = 1 … n − 2.

    The third is Σ_K weights_K c_i(K) of each row (m,).
    """
    if is_native(X.X):
        for space in (X, Y):
            space.X = space.X if backend_of(space.X) is None else to_numpy(space.X)
        return numpy_version(metric_space.common_neighbors)(X, Y, sample, weights)
    n, there = X.n, {"device": X.X.device}
    A, B = X.X, torch.as_tensor(Y.X, **there)
    rows, by = torch.as_tensor(sample.where, **there), torch.as_tensor(weights, **there)
    total, squares = torch.zeros(2, n - 2, dtype=torch.int64, **there)
    scores = torch.empty(len(rows), dtype=torch.float64, **there)
    with stage("ranks", total=len(rows)) as tick:
        for (some, own), (_, theirs) in zip(compared(A, A[rows], rows), compared(B, B[rows], rows), strict=True):
            positions = torch.argsort(torch.argsort(own, dim=1), dim=1)
            # A row is among the K nearest of both from the larger of its two ranks on.
            reached = torch.maximum(positions, torch.argsort(torch.argsort(theirs, dim=1), dim=1))
            common = torch.zeros_like(reached).scatter_add_(1, reached, torch.ones_like(reached))
            common = common[:, : n - 2].cumsum_(1)
            total += common.sum(0)
            squares += common.square().sum(0)
            scores[some] = common.double() @ by
            tick(some.stop)
    return total.cpu().numpy(), squares.cpu().numpy(), scores.cpu().numpy()
