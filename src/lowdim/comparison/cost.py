"""Cost of a computation: seconds, and peak memory."""

import threading
from time import perf_counter
from types import TracebackType

_PERIOD = 0.01  # seconds between two readings of the memory


class Cost:
    """Context that fills in ``seconds``, and ``memory``: the peak of the resident set above its level before.

    A thread reads it every 10 ms, so a shorter peak may be missed; memory that was already held and is reused does not
    count.

    >>> with Cost() as cost:
    ...     _ = bytearray(10)
    >>> cost.seconds < 1 and cost.memory < 2**28
    True
    """

    seconds = 0.0
    memory = 0

    def __enter__(self) -> "Cost":
        import psutil

        self._process = psutil.Process()
        self._before = self._highest = self._resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._look, daemon=True)
        self._watcher.start()
        self._start = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = perf_counter() - self._start
        self._done.set()
        self._watcher.join()
        self.memory = max(self._highest, self._resident()) - self._before

    def _resident(self) -> int:
        return int(self._process.memory_info().rss)

    def _look(self) -> None:
        while not self._done.wait(_PERIOD):
            self._highest = max(self._highest, self._resident())
