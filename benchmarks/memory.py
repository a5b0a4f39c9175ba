"""Peak memory of this process while something runs, from Linux's /proc."""

import threading
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_PERIOD = 0.005  # seconds between samples


def field(name: str) -> int:
    """Bytes that a line of /proc/self/status gives."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name + ":"))
    return int(line.split()[1]) * 1024


class Resident:
    """Context whose ``.growth`` is the peak of the resident set over its level before; None without /proc.

    The kernel keeps this peak and can be asked to start anew, so that nothing need run beside the work.
    """

    growth: int | None = None

    def __enter__(self) -> "Resident":
        if _CLEAR.exists():
            self._before = field("VmRSS")
            _CLEAR.write_text("5")
        return self

    def __exit__(self, *error: object) -> None:
        if _CLEAR.exists():
            self.growth = max(0, field("VmHWM") - self._before)


class Anonymous:
    """The same for anonymous memory alone, which leaves out the pages of mapped files. A thread samples it."""

    growth: int | None = None

    def __enter__(self) -> "Anonymous":
        if _STATUS.exists():
            self._before = self._highest = field("RssAnon")
            self._done = threading.Event()
            self._sampler = threading.Thread(target=self._sample, daemon=True)
            self._sampler.start()
        return self

    def _sample(self) -> None:
        while not self._done.wait(_PERIOD):
            self._highest = max(self._highest, field("RssAnon"))

    def __exit__(self, *error: object) -> None:
        if _STATUS.exists():
            self._done.set()
            self._sampler.join()
            self.growth = max(self._highest, field("RssAnon")) - self._before


class Elsewhere:
    """For work that other processes do: nothing is known."""

    growth: int | None = None

    def __enter__(self) -> "Elsewhere":
        return self

    def __exit__(self, *error: object) -> None: ...
