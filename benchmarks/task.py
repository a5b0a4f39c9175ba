"""What a benchmark is made of."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.memory import Resident


def as_it_is(X: Any) -> Any:
    return X


@dataclass(frozen=True)
class System:
    """One row of a table: ``fit`` is timed, ``prepare`` (a conversion, say) is not."""

    fit: Callable[[Any], Any]
    prepare: Callable[[Any], Any] = as_it_is
    once: bool = False  # too slow to repeat: one process, one fit
    fresh: bool = False  # without a warm-up: imports and compilation count


@dataclass(frozen=True)
class Task:
    """One table. The first system is the one that the others are compared with.

    ``data(folder)`` loads what is fitted, and may keep files in ``folder``, which all runs of one call share.
    ``reference(data)`` is computed once a task, outside the runs; ``quality(fitted, reference)`` is what is shown.
    """

    name: str
    title: str
    data: Callable[[Path], Any]
    systems: dict[str, System]
    quality: Callable[[Any, Any], float | None]
    quality_name: str
    reference: Callable[[Any], Any] | None = None
    worst: Callable[[Iterable[float]], float] = max  # quality of several rounds; min where more is better
    needs: str | None = None  # a stored data set, from the folder that LOWDIM_DATA names
    warm_up: int | None = 1000  # rows of the warm-up, enough that the same solver runs; None is all of the data
    memory: Callable[[], Any] = Resident  # context that measures the peak
    rounds: int = 3
    subtract: str | None = None  # system whose time is taken off all others
    note: str = ""
    details: Callable[[Any, Any], dict[str, str]] | None = None  # further columns, by their heads
