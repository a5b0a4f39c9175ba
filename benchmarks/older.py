"""Lets an earlier lowdim, from before the names of 0.2, run the tasks of today."""

from functools import wraps
from inspect import signature
from typing import Any

VARIABLE = "LOWDIM_BENCH_OLDER"  # set where a process runs another lowdim
_PARAMETERS = {  # that the tasks pass, by class: name of today and before
    "KernelPCA": {"eigen_solver": "solver"},
    "MDS": {"max_iter": "n_iter"},
    "LLE": {"method": "variant"},
    "SequentialFeatureSelector": {"n_features_to_select": "n_features"},
}
_CLASSES = {"SequentialFeatureSelector": "SequentialSelector"}


def adapt(lowdim: Any) -> None:
    """Make the classes of this package take the names of today; those that do already stay as they are."""
    for name, renamed in _PARAMETERS.items():
        cls = getattr(lowdim, name if name in lowdim.__all__ else _CLASSES.get(name, name))
        known = signature(cls).parameters
        setattr(lowdim, name, cls)
        names = {new: old for new, old in renamed.items() if new not in known}
        if names:
            cls.__init__ = _translating(cls.__init__, names)


def _translating(init: Any, names: dict[str, str]) -> Any:
    @wraps(init)
    def call(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{names.get(key, key): value for key, value in kwargs.items()})

    return call
