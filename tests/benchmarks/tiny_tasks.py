"""A task of seconds, with systems that fail in every way a system can."""

import os
from functools import partial

import numpy as np

from benchmarks.task import System, Task
from benchmarks.tasks.pca import eigenvalue_error, lowdim, sklearn, variances


def _data(folder):
    return np.random.default_rng(0).standard_normal((400, 5)) * np.array([5.0, 4.0, 3.0, 2.0, 1.0])


def _raise(X):
    raise ValueError("no such | thing\nand more")


def _die(X):
    os._exit(3)


TASKS = [
    Task(
        name="tiny",
        title="Tiny",
        data=_data,
        systems={
            "lowdim": System(partial(lowdim, k=2)),
            "scikit-learn": System(partial(sklearn, k=2, solver="full"), once=True),
            "raises": System(_raise),
            "dies": System(_die),
            "missing": System(_raise, prepare=lambda X: __import__("no_such_package")),
        },
        quality=eigenvalue_error,
        quality_name="error",
        reference=partial(variances, k=2),
        warm_up=100,
    )
]
