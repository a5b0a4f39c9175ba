"""Memory is estimated before it is allocated, and refused with the figure and an alternative."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from lowdim.work.dispatch import operation

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_NEGLIGIBLE = 2**20  # bytes that are given without reading how many are free, which takes 0.2 ms


def human(n_bytes: float) -> str:
    """Size in a readable unit.

    >>> human(549 * 2**20)
    '549 MB'
    >>> human(1.5 * 2**30)
    '1.5 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1024 or unit == "GB":
            break
        n_bytes /= 1024
    return f"{n_bytes:.3g} {unit}" if n_bytes < 1000 else f"{n_bytes:,.0f} {unit}"


def _cgroup_free(root: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes left to the cgroup; its file cache counts as free, as in the system's own figure."""
    free = float("inf")
    for limit, used, cached in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            taken = int((root / used).read_text())
            counts = dict(line.split() for line in (root / used).with_name("memory.stat").read_text().splitlines())
            free = min(free, int((root / limit).read_text()) - taken + int(counts.get(cached, 0)))
        except (OSError, ValueError):  # no such controller, or "max"
            continue
    return free


def _address_space_free() -> float:
    """Bytes left to the address space of this process, where it is limited (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    import psutil

    return float(limit - psutil.Process().memory_info().vms)


def available() -> int:
    """Bytes that can be allocated now: the system's, the cgroup's, the address space's, and LOWDIM_MEMORY if set.

    The variable LOWDIM_MEMORY (such as ``8G`` or ``500M``) lowers the limit for this process.

    >>> available() > 0
    True
    """
    import psutil

    free = min(float(psutil.virtual_memory().available), _cgroup_free(), _address_space_free())
    asked = os.environ.get("LOWDIM_MEMORY", "").strip()
    if asked:
        parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", asked.upper())
        if parts is None:
            raise ValueError(f"LOWDIM_MEMORY must be a size such as 500M or 8G; got {asked!r}. Correct it or unset it.")
        free = min(free, float(parts[1]) * _UNITS[parts[2]])
    return max(0, int(free))


_where: ContextVar[Any] = ContextVar("lowdim_memory_where", default=None)


@contextmanager
def beside(rows: Any) -> Iterator[None]:
    """Memory asked for inside is that of the device where the rows live, unless said otherwise."""
    token = _where.set(rows)
    try:
        yield
    finally:
        _where.reset(token)


_recorded: ContextVar[list[float] | None] = ContextVar("lowdim_memory_recorded", default=None)


@contextmanager
def recording() -> Iterator[list[float]]:
    """Collect the bytes that are required inside, instead of refusing any.

    >>> with recording() as asked:
    ...     require(1e20, "PCA: much", "Use less.")
    >>> asked
    [1e+20]
    """
    asked: list[float] = []
    token = _recorded.set(asked)
    try:
        yield asked
    finally:
        _recorded.reset(token)


@operation
def available_for(rows: Any) -> int:  # noqa: ARG001  # it says where
    """Bytes that can be allocated now where the rows are."""
    return available()


def require(n_bytes: float, what: str, instead: str, where: Any = None) -> None:
    """Raise MemoryError unless ``n_bytes`` for ``what`` fit where some rows are; ``instead`` says what to do.

    >>> require(1, "PCA: a byte", "Use less.")
    """
    if (asked := _recorded.get()) is not None:
        asked.append(float(n_bytes))
        return
    where = _where.get() if where is None else where
    if where is None and n_bytes <= _NEGLIGIBLE and "LOWDIM_MEMORY" not in os.environ:
        return
    free = available() if where is None else available_for(where)
    if n_bytes > free:
        raise MemoryError(f"{what} needs {human(n_bytes)} of memory; {human(free)} is available. {instead}")
