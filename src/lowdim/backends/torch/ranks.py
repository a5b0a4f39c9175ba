"""Ranks of rows on a device, by blocks of distances."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.neighbors import compared
from lowdim.backends.torch.tensors import is_native
from lowdim.compose import metric_space
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import numpy_version
from lowdim.work.progress import stage


@TORCH.implements(metric_space.ranks_among)
def ranks_among(X: Any, targets: NDArray, rows: NDArray | None) -> NDArray:
    """How many other rows are nearer, by (distance, index), to each of ``rows`` (None: all) than its targets (m, k)."""
    if is_native(X):
        return numpy_version(metric_space.ranks_among)(to_numpy(X), targets, rows)
    own = torch.arange(len(X), device=X.device) if rows is None else torch.as_tensor(rows, device=X.device)
    wanted = torch.as_tensor(targets, device=X.device).long()
    out = torch.empty(targets.shape, dtype=torch.int32, device=X.device)
    with stage("ranks", total=len(own)) as tick:
        for some, keys in compared(X, X[own], own):
            for column, target in enumerate(wanted[some].T):
                out[some, column] = (keys < torch.gather(keys, 1, target[:, None])).sum(1, dtype=torch.int32)
            tick(some.stop)
    return np.asarray(out.cpu().numpy())
