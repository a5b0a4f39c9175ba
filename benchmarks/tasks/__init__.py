"""The tasks: each module here has a list ``TASKS``."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from benchmarks.task import Task

_FIRST = ("pca", "lda", "kernel_pca", "tsne", "umap", "manifold", "spectral")  # what most readers look for


def declared() -> Iterator[tuple[str, Task]]:
    """Every task, with the module that declares it."""
    names = sorted(found.name for found in iter_modules(__path__))
    names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    for name in names:
        for task in import_module(f"{__name__}.{name}").TASKS:
            yield f"{__name__}.{name}", task
