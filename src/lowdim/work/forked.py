"""Whether this process was forked from one that had started the threads of polars, which do not survive a fork."""

import os
import sys
from pathlib import Path

_lost = False
_started = False  # in the parent, as seen just before a fork


def _look() -> None:
    global _started
    _started = _lost or _has_threads()


def _note() -> None:
    global _lost
    _lost = _started


def _has_threads() -> bool:
    """Whether threads of polars run: their names say so where the system lists them."""
    if "polars" not in sys.modules:
        return False
    try:
        return any((thread / "comm").read_text().startswith("polars") for thread in Path("/proc/self/task").iterdir())
    except OSError:  # no such list: assume the worst
        return True


def demand_threads(name: str) -> None:
    """Refuse work on tables that would wait for ever, for the caller called ``name``."""
    if _lost:
        raise RuntimeError(
            f"{name}: tables need the threads of polars, which do not survive a fork; this process was forked from "
            "one that had used them. Start processes by 'spawn' or 'forkserver', as by "
            "multiprocessing.get_context('spawn'), let each worker import the program (gunicorn without --preload), or "
            "use joblib."
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_look, after_in_child=_note)
