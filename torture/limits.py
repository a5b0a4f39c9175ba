"""An address space a little larger than what is in use: a fit succeeds or raises MemoryError, and Python lives on."""

import resource
import warnings
from typing import Any

import numpy as np
import psutil

from lowdim.methods import registry
from torture import draws
from torture.inputs import METHODS
from torture.judge import Failure, demand_finite

_ALLOWED = (MemoryError, ValueError)


def run(rng: np.random.Generator, only: str = "") -> str:
    """One fit and transform under a limit, after one without, which loads what is needed."""
    method = registry.find(only or draws.pick(rng, [name for name in METHODS if not registry.find(name).needs_torch]))
    n, d = int(draws.pick(rng, [300, 900, 1500])), int(draws.pick(rng, [3, 20]))
    X, y = rng.normal(size=(n, d)), rng.integers(3, size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _make(method).fit(X[:60], y[:60]).transform(X[:3] + 0.1)
        free = int(draws.pick(rng, [0, 1, 2, 4, 8, 16, 40])) * 2**20
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + free, before[1]))
        try:
            Y = _make(method).fit(X, y).transform(X[:50] + 0.1)
        except _ALLOWED:
            return "refused"
        except Exception as error:
            raise Failure("foreign exception", f"{method.name}, {n} × {d}: {type(error).__name__}: {error}") from None
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
    demand_finite(Y, method.name)
    return "fitted"


def _make(method: Any) -> Any:
    cls, quick = method.load(), {"max_iter": 60, "early_exaggeration_iter": 20, "n_jobs": 2, "random_state": 0}
    known = set(cls._rules)
    return cls(**{name: value for name, value in quick.items() if name in known})
