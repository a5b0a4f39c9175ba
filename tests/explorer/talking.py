"""A page without a browser: it asks a session by messages, and keeps what comes back."""

import time
from typing import Any

import numpy as np

from lowdim.explorer.message_format import Message, decode, encode, pack_bits
from lowdim.explorer.protocol import Visitor


class Page:
    """One page of a session; slow questions are answered before ``ask`` returns."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.visitor = Visitor(session, lambda: None, lambda work: work())
        self.pushed: list[Message] = []
        self._number = 0
        self._now = 0.0

    def ask(self, type: str, arrays: dict[str, np.ndarray] | None = None, **fields: Any) -> Message:
        self._number += 1
        self.visitor.receive(encode(Message(type, self._number, fields, arrays or {})))
        return next(message for message in self.read() if message.id == self._number)

    def refused(self, type: str, arrays: dict[str, np.ndarray] | None = None, **fields: Any) -> str:
        answer = self.ask(type, arrays, **fields)
        assert answer.type == "error"
        return answer.fields["message"]

    def tell(self, type: str, **fields: Any) -> None:
        self.visitor.receive(encode(Message(type, None, fields)))

    def read(self, later: float = 1.0) -> list[Message]:
        """What has come, after some seconds on the clock of the page."""
        self._now += later
        messages = [decode(data) for data in self.visitor.outbox.take(self._now)[0]]
        self.pushed += [message for message in messages if message.id is None]
        return messages

    def select(self, rows: np.ndarray) -> Message:
        return self.ask("select", {"mask": pack_bits(rows)})

    def finish(self, number: int, patience: float = 60.0) -> Any:
        """Wait for a map, and return it."""
        one = self.session.map(number)
        one.join(patience)
        assert not one.alive
        return one


def wait_for(condition: Any, patience: float = 30.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
