"""Suspected short circuits of a graph on a device: decided in NumPy, with paths computed on the device."""

from typing import Any

from lowdim.backends import TORCH
from lowdim.relate import shortcuts as numpy_shortcuts
from lowdim.relate.shortcuts import ShortCircuits, find_short_circuits
from lowdim.work.backend_arrays import all_to_numpy


@TORCH.implements(numpy_shortcuts.short_circuits)
def short_circuits(graph: Any) -> ShortCircuits:
    """Edges that may connect rows far apart along the data, longest detour first, in NumPy."""
    return find_short_circuits(all_to_numpy(graph), graph.starts)
