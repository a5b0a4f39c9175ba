"""One rule for ``n_jobs``: how many threads our kernels and BLAS use."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from numbers import Integral
from threading import RLock
from typing import Any

import joblib

_PER_CORE, _MOST = 4, 1024  # maximum threads of a kernel: per core, and in total
_COUNTED_FOR = 1.0  # seconds before the quota of the cgroup is read again
_current: ContextVar[int | None] = ContextVar("lowdim_threads", default=None)
_counted: tuple[Any, float, int] = None, 0.0, 1  # affinity, time to count again, cores


def available() -> int:
    """Cores this process may use, by affinity, cgroup quota and OMP_NUM_THREADS.

    >>> available() >= 1
    True
    """
    cores = _cores()
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdigit() and int(asked) > 0:
        cores = min(cores, int(asked))
    return max(1, cores)


def _cores() -> int:
    """Cores by affinity and cgroup quota, whose files take as long to read as a small ``transform``."""
    global _counted
    affinity = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    now = time.monotonic()
    if affinity != _counted[0] or now >= _counted[1]:
        _counted = affinity, now + _COUNTED_FOR, max(1, int(joblib.cpu_count()))
    return _counted[2]


def threads(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs``: None is all cores, -1 all, -2 all but one, and so on.

    A number far above the cores, which a model file may carry too, means four threads per core: more only compete.

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
    return min(int(n_jobs), _most()) if n_jobs > 0 else max(1, available() + 1 + int(n_jobs))


def _most() -> int:
    return min(_PER_CORE * _cores(), _MOST)


@cache
def _blas() -> Any:
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401  # SciPy's BLAS is a second library: load it before looking
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


class _Limits:
    """Limits on BLAS that are in force, of all Python threads together.

    BLAS has one number of threads per process. The lowest limit applies; the number found by the first to enter is
    restored by the last to leave, in any order.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._held: list[int] = []
        self._found: list[int] = []
        self._set: list[int] = []

    def enter(self, n: int) -> None:
        with self._lock:
            if not self._held:
                self._most = _cores()  # more threads only wait for each other in BLAS
                self._set = self._found = [library.num_threads for library in _blas()]
            self._held.append(n)
            self._apply()

    def leave(self, n: int) -> None:
        with self._lock:
            self._held.remove(n)
            self._apply()

    def _apply(self) -> None:
        wanted = [min(self._most, *self._held)] * len(self._found) if self._held else self._found
        for library, before, now in zip(_blas(), self._set, wanted, strict=True):
            if now != before:
                _set_threads(library, now)
        self._set = wanted


def _set_threads(library: Any, n: int) -> None:
    """Set the number of threads of a BLAS from any Python thread.

    In threadpoolctl 3.8 the first thread that sets a number keeps control of OpenBLAS; what others set is ignored
    silently. Here the lock of the limits decides who sets it, so control is taken and given back each time.
    """
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
    library.set_num_threads(n)
    if clear is not None:
        clear()


_limits = _Limits()


@contextmanager
def _held(n: int) -> Iterator[None]:
    _limits.enter(n)
    try:
        yield
    finally:
        _limits.leave(n)


@contextmanager
def using(n_jobs: int | None) -> Iterator[int]:
    """Limit BLAS and our kernels to the threads of ``n_jobs``; nested uses keep the outer number.

    >>> with using(1):
    ...     current()
    1
    """
    n = threads(n_jobs) if _current.get() is None else current()
    token = _current.set(n)
    try:
        with _held(n):
            yield n
    finally:
        _current.reset(token)


@contextmanager
def within(n: int) -> Iterator[None]:
    """Limit BLAS and our kernels to ``n`` threads, whatever the outer limit is: a task has its own share."""
    token = _current.set(n)
    try:
        with _held(n):
            yield
    finally:
        _current.reset(token)


@contextmanager
def alone() -> Iterator[None]:
    """Limit BLAS to one thread, for small problems, where threads wait more than they work.

    It also makes results independent of ``n_jobs`` to the bit.
    """
    with _held(1):
        yield


def current() -> int:
    """Threads that a kernel called now may use: one in a forked process, since its siblings use the other cores."""
    return 1 if _forked else min(_current.get() or available(), _MOST)


def _note_fork() -> None:
    global _forked
    _forked = True


_forked = False
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
