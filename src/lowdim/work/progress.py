"""Progress of long work: stage, share done and time left, on a terminal, in a notebook or in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from lowdim.work import lapack_time
from lowdim.work.notebook import NotebookBars
from lowdim.work.user_warnings import warn

Tick = Callable[[int], None]
Follow = Callable[
    [str, int | None], Tick
]  # from the name and size of a stage to a function called with the amount done

_current: ContextVar["_Reporter | None"] = ContextVar("lowdim_progress", default=None)
_follower: ContextVar["Follow | None"] = ContextVar("lowdim_follower", default=None)
_title: ContextVar[str] = ContextVar("lowdim_title", default="")
_TOLD = 2.0  # seconds from which a log says how long a stage will take
_LONG = 60.0  # seconds from which the user is warned even without ``verbose``


class _Reporter:
    """Displays stages: bars on a terminal or in a notebook, one line per finished stage elsewhere."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self.title, self.note = title, ""
        console = Console(stderr=True)
        self.bars: Any = None
        if console.is_jupyter:
            self.bars = NotebookBars()
        elif console.is_terminal:
            self.bars = Bars(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(elapsed_when_finished=True),
                TextColumn("{task.fields[note]}"),
                console=console,
            )


@contextmanager
def showing(verbose: int, title: str) -> Iterator[None]:
    """Show the stages opened inside, unless ``verbose`` is 0, on standard error."""
    if not verbose:
        named = _title.set(title)
        try:
            yield
        finally:
            _title.reset(named)
        return
    reporter = _Reporter(title)
    token = _current.set(reporter)
    try:
        if reporter.bars is None:
            yield
        else:
            with reporter.bars:
                yield
    finally:
        _current.reset(token)


@contextmanager
def following(follow: Follow) -> Iterator[None]:
    """Report the stages opened inside to ``follow`` instead of showing them; an exception in it ends the work.

    >>> seen = []
    >>> with following(lambda name, total: lambda done: seen.append((name, done, total))), stage("moments", 10) as tick:
    ...     tick(5)
    >>> seen
    [('moments', 5, 10)]
    """
    token = _follower.set(follow)
    try:
        yield
    finally:
        _follower.reset(token)


@contextmanager
def stage(name: str, total: int | None = None, flops: float = 0.0) -> Iterator[Tick]:
    """Open a stage of the current work and yield ``tick(done)``, to be called with how much of ``total`` is done.

    A stage inside LAPACK cannot tick, nor stop before its end: from ``flops``, the operations it takes at the speed of
    a matrix product, its time is estimated beforehand.

    >>> with stage("moments", total=10) as tick:
    ...     tick(10)
    """
    follow = _follower.get()
    if follow is not None:
        yield follow(name, total)
        return
    reporter, expected = _current.get(), lapack_time.seconds(flops)
    if reporter is None:
        if expected > _LONG:
            warn(
                f"{_title.get() or 'lowdim'}: {name} will take about {lapack_time.human(expected)}, growing with the "
                "cube of the size, and cannot be stopped before its end. Pass fewer rows, or verbose=1 to follow it."
            )
        yield _silent
        return
    label = f"{reporter.title}: {name}"
    if expected > _TOLD:
        label += f" (about {lapack_time.human(expected)})"
    if reporter.bars is None:
        if expected > _TOLD:
            print(f"{label} …", file=sys.stderr, flush=True)
        start, reporter.note = time.perf_counter(), ""
        yield _silent
        words = [label, f"{time.perf_counter() - start:.2f} s", reporter.note]
        print(", ".join(filter(None, words)), file=sys.stderr, flush=True)
        return
    bars = reporter.bars
    task = bars.add_task(label, total=total, note="")
    yield lambda done: bars.update(task, completed=done)
    bars.update(task, total=total or 1, completed=total or 1)


@contextmanager
def hidden() -> Iterator[None]:
    """Show no stages inside: those of a task would come from many threads at once."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def is_shown() -> bool:
    """Whether stages opened now are shown."""
    return _current.get() is not None


def note(text: str) -> None:
    """Show a short text (a loss, a count) after the current stage."""
    reporter = _current.get()
    if reporter is None:
        return
    reporter.note = text
    if reporter.bars is not None and reporter.bars.task_ids:
        reporter.bars.update(reporter.bars.task_ids[-1], note=text)


def _silent(done: int) -> None:
    """Show nothing."""
