"""The explorer in a notebook: the same page and protocol over the widget's own channel."""

import base64
import time
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any
from weakref import ref

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from lowdim.explorer.exports import frame_of, picture
from lowdim.explorer.page_source import joined, static
from lowdim.explorer.protocol import Visitor
from lowdim.explorer.request_threads import Lanes
from lowdim.explorer.running_fits import Map
from lowdim.explorer.session import Session

_PATIENCE = 5.0  # seconds that the display waits for the picture of a first map that takes no descent
_DPI = 100


class Explorer(anywidget.AnyWidget):
    """Widget that shows the explorer of a session; returned by :func:`lowdim.explore`.

    ``selection``, ``labels`` and ``maps`` reflect the current state of the page.
    """

    # The newest map as a PNG in base64, for notebooks that are shown without a kernel.
    _picture = traitlets.Unicode("").tag(sync=True)

    def __init__(self, session: Session) -> None:
        self._esm, self._css = joined(), static()["app.css"].decode()
        self._session, self._lanes = session, Lanes()
        self._news, self._ended = Event(), Event()
        self._visitor = Visitor(session, self._news.set, self._lanes.put)
        super().__init__()
        self.on_msg(self._heard)
        self._pictured = Event()
        own, lanes = ref(self), self._lanes
        self._leave = session.listen(lambda what, whom: _drawn_again(what, whom, session, own, lanes))
        for one in list(session.maps.values()):
            if not one.alive:  # finished before anyone listened
                _drawn_again("status", one, session, own, lanes)
        Thread(target=_pump, args=(ref(self), self._visitor, self._news, self._ended), daemon=True).start()

    @property
    def selection(self) -> NDArray[np.intp]:
        """Indices of the selected rows."""
        return np.flatnonzero(self._visitor.selected)

    @property
    def labels(self) -> Any:
        """Labels as a polars DataFrame with one row per row of the data."""
        return frame_of(self._session, list(self._session.labels), np.arange(self._session.n))

    @property
    def maps(self) -> dict[int, NDArray[np.float32]]:
        """Positions (n, dims) by the number of the map, NaN for rows that are not in it."""
        return {number: one.positions() for number, one in self._session.maps.items() if one.Y is not None}

    def model(self, number: int) -> Any:
        """Fitted model of a map, with the steps before it."""
        one = self._session.map(number)
        if one.fitted is None:
            raise ValueError(f"map {number} has no model until it is finished. Wait for it, or stop it.")
        return self._session.made.whole(one.fitted)

    def close(self) -> None:
        """Stop all fits and close the widget."""
        self._ended.set()
        self._news.set()
        self._leave()
        self._visitor.close()
        self._session.close()
        self._lanes.close(0.0)
        super().close()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        made = super()._repr_mimebundle_(**kwargs)
        quick = any("callback" not in one.model.get_params(deep=False) for one in list(self._session.maps.values()))
        if made is not None and self._pictured.wait(_PATIENCE if quick else 0.0):
            data = made[0] if isinstance(made, tuple) else made
            data["image/png"] = self._picture
        return made

    def _heard(self, widget: Any, content: Any, buffers: list[Any]) -> None:  # noqa: ARG002
        for buffer in buffers:
            self._visitor.receive(bytes(buffer))


def _pump(widget: Any, visitor: Visitor, news: Event, ended: Event) -> None:
    """Send messages until the widget is closed or garbage-collected."""
    wait: float | None = None
    while not ended.is_set():
        news.wait(wait)
        news.clear()
        messages, wait = visitor.outbox.take(time.monotonic())
        owner = widget()
        if owner is None or ended.is_set():
            return
        for message in messages:
            owner.send({}, buffers=[message])
        del owner


def _drawn_again(what: str, one: Map, session: Session, widget: Any, lanes: Lanes) -> None:
    """Have the picture drawn, aside, when a map is finished."""
    if what == "status" and not one.alive and one.fitted is not None:
        lanes.put(partial(_draw, one, session, widget))


def _draw(one: Map, session: Session, widget: Any) -> None:
    with suppress(Exception):  # a picture that cannot be drawn is not shown
        drawn = base64.b64encode(picture(session, one, "png", {}, _DPI)).decode()
        owner = widget()
        if owner is not None:
            owner._picture = drawn
            owner._pictured.set()
