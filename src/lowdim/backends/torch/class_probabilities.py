"""Probabilities of classes, for tensors."""

from typing import Any

import torch

from lowdim.backends import TORCH
from lowdim.solve import class_probabilities as numpy_probabilities


@TORCH.implements(numpy_probabilities.probabilities)
def probabilities(scores: Any, *, logarithms: bool = False) -> Any:
    """Probabilities (n, C) from scores (n, C), or their logarithms."""
    if scores.shape[1] == 1:
        scores = torch.cat([torch.zeros_like(scores), scores], dim=1)
    return scores.log_softmax(1) if logarithms else scores.softmax(1)
