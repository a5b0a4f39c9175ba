"""Suspected short circuits of a graph on a device: decided in NumPy, with paths computed on the device."""

from typing import Any

from lowdim.relate.shortcuts import ShortCircuits, find_short_circuits
from lowdim.work.places import home


def short_circuits(graph: Any) -> ShortCircuits:
    """Edges that may connect rows far apart along the data, longest detour first, in NumPy."""
    return find_short_circuits(home(graph), graph.starts)
