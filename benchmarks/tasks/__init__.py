"""The tasks: each module here has a list ``TASKS``."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from benchmarks.task import Task


def declared() -> Iterator[tuple[str, Task]]:
    """Every task, with the module that declares it."""
    for found in iter_modules(__path__, prefix=f"{__name__}."):
        for task in import_module(found.name).TASKS:
            yield found.name, task
