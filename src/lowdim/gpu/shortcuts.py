"""Suspected short circuits of a graph on a device: judged in NumPy, with paths searched on the device."""

from typing import Any

from lowdim.relate.shortcuts import ShortCircuits, find_short_circuits
from lowdim.work.places import home


def short_circuits(graph: Any) -> ShortCircuits:
    """Edges that may join what lies far apart along the data, longest detour first, in NumPy."""
    return find_short_circuits(home(graph), graph.starts)
