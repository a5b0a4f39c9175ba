"""Threads for requests that take time, so that others are answered meanwhile; they end with the explorer."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread, current_thread

from lowdim.work import progress

_THREADS = 2


class _Closed(BaseException):  # not an error: no handler of a request catches it
    """The explorer was closed."""


class Lanes:
    """A few threads that run what they are given; once closed, work in our kernels stops at its next tick."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._closed = Event()
        self._threads = [Thread(target=self._run, daemon=True, name=f"questions {i}") for i in range(_THREADS)]
        for thread in self._threads:
            thread.start()

    def put(self, work: Callable[[], None]) -> None:
        """Run ``work`` as soon as a thread is free."""
        self._work.put(work)

    def close(self, timeout: float = 2.0) -> bool:
        """End the threads; whether all have ended in time."""
        self._closed.set()
        for _ in self._threads:
            self._work.put(None)
        others = [thread for thread in self._threads if thread is not current_thread()]  # which may be one of them
        for thread in others:
            thread.join(timeout)
        return not any(thread.is_alive() for thread in others)

    def _run(self) -> None:
        while (work := self._work.get()) is not None and not self._closed.is_set():
            try:
                with progress.following(lambda _name, _total: self._tick):
                    work()
            except _Closed:
                return

    def _tick(self, done: int) -> None:  # noqa: ARG002
        if self._closed.is_set():
            raise _Closed
