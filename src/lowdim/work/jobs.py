"""One rule for ``n_jobs``: how many threads our kernels and BLAS use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from numbers import Integral
from typing import Any

import joblib

_current: ContextVar[int | None] = ContextVar("lowdim_threads", default=None)


def available() -> int:
    """Cores this process may use: affinity, cgroup quota and OMP_NUM_THREADS all honoured.

    >>> available() >= 1
    True
    """
    cores = int(joblib.cpu_count())  # affinity and cgroup quota
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdigit() and int(asked) > 0:
        cores = min(cores, int(asked))
    return max(1, cores)


def threads(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` stands for: None is all cores, -1 all, -2 all but one, and so on.

    >>> threads(3)
    3
    >>> threads(-1) == threads(None) == available()
    True
    """
    if n_jobs is None:
        return available()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"n_jobs must be None (all cores), a positive number of threads, or negative to leave cores free "
            f"(-1: all, -2: all but one); got {n_jobs!r}. Pass n_jobs=None or n_jobs=1."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, available() + 1 + int(n_jobs))


@cache
def _blas() -> Any:
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401  # SciPy's BLAS is a second library: load it before looking
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def using(n_jobs: int | None) -> Iterator[int]:
    """Hold BLAS and our kernels to the threads that ``n_jobs`` stands for; nested uses keep the outer number.

    >>> with using(1):
    ...     current()
    1
    """
    n = threads(n_jobs) if _current.get() is None else current()
    token = _current.set(n)
    try:
        with _blas().limit(limits=n):
            yield n
    finally:
        _current.reset(token)


@contextmanager
def alone() -> Iterator[None]:
    """Hold BLAS to one thread, for small problems: there threads wait for each other more than they work.

    It also makes results independent of ``n_jobs`` to the bit.
    """
    with _blas().limit(limits=1):
        yield


def current() -> int:
    """Threads that a kernel called now may use."""
    return _current.get() or available()
