"""Messages to one page: replies at once; of each map the newest frame, no faster than the page draws."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from lowdim.explorer.message_format import Message, encode
from lowdim.explorer.running_fits import Map

PACE = 0.1  # seconds between two frames of a map
_MOST_WAITING = 10_000  # messages to a page that does not read
_PATIENCE = 30.0  # seconds after which an unacknowledged frame counts as lost


@dataclass
class _Sent:
    """Frame of a map sent last, its time, and whether the page has acknowledged it."""

    frame: int = 0
    at: float = -1e9
    answered: bool = True


class Outbox:
    """Messages for one page. ``wake`` is called, from any thread, when there is something to take."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: deque[Message] = deque(maxlen=_MOST_WAITING)
        self._moved: dict[int, Map] = {}
        self._sent: dict[int, _Sent] = {}
        self._lock = Lock()

    def put(self, message: Message) -> None:
        """Send a message as soon as possible."""
        with self._lock:
            self._waiting.append(message)
        self._wake()

    def note(self, one: Map) -> None:
        """A map has a new frame."""
        with self._lock:
            self._moved[one.number] = one
        self._wake()

    def acknowledge(self, number: int, frame: int) -> None:
        """The page has drawn a frame of a map."""
        with self._lock:
            sent = self._sent.get(number)
            if sent is not None and frame >= sent.frame:
                sent.answered = True
        self._wake()

    def forget(self, number: int) -> None:
        """A map was dropped."""
        with self._lock:
            self._moved.pop(number, None)
            self._sent.pop(number, None)

    def take(self, now: float) -> tuple[list[bytes], float | None]:
        """Messages to be sent now, and the seconds until there may be more (None: not before ``wake``)."""
        with self._lock:
            messages = list(self._waiting)
            self._waiting.clear()
            due: list[Map] = []
            later: list[float] = []
            for number, one in list(self._moved.items()):
                sent = self._sent.setdefault(number, _Sent())
                if not sent.answered and now - sent.at < _PATIENCE:
                    later.append(sent.at + _PATIENCE - now)
                elif now - sent.at < PACE:
                    later.append(sent.at + PACE - now)
                else:
                    del self._moved[number]
                    due.append(one)
        out = [encode(message) for message in messages]
        for one in due:
            frame = one.picture()
            if frame is None:
                continue
            with self._lock:
                self._sent[one.number] = _Sent(frame.fields["frame"], now, answered=False)
            out.append(encode(frame))
        return out, min(later, default=None)
