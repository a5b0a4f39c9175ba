"""Requests of a page and their answers; one :class:`Visitor` for each page, over any transport."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import __version__
from lowdim.explorer import clusters, exports, new_rows, pins, selection_analysis, thumbnails
from lowdim.explorer.message_format import Message, WireError, decode, pack_bits, unpack_bits
from lowdim.explorer.message_queue import Outbox
from lowdim.explorer.running_fits import Map
from lowdim.explorer.session import MOST_LISTED, Session

UPLOAD_BYTES = 64 * 2**20
_MOST_ROWS = 1000  # rows of a table sent at a time
_SHOWN = 50  # columns of a table sent

Later = Callable[[], Message]


class Visitor:
    """One page: its selection and its outgoing messages.

    ``receive`` takes bytes of a request. Answers that take time are passed to ``aside``, which runs them in another
    thread.
    """

    def __init__(self, session: Session, wake: Callable[[], None], aside: Callable[[Callable[[], None]], Any]) -> None:
        self.session, self.outbox, self._aside = session, Outbox(wake), aside
        self.selected: NDArray[np.bool_] = np.zeros(session.n, bool)
        self._leave = session.listen(self._told)

    def close(self) -> None:
        """The page is closed; the fits it started continue."""
        self._leave()

    def receive(self, data: bytes | bytearray | memoryview) -> None:
        """Answer a request; an invalid one is answered by an error message."""
        try:
            request = decode(data)
        except WireError as error:
            self.outbox.put(Message("error", None, {"map": None, "message": f"Invalid message: {error}"}))
            return
        if request.type == "ack":
            number, frame = request.fields.get("map"), request.fields.get("frame")
            if isinstance(number, int) and isinstance(frame, int):
                self.outbox.acknowledge(number, frame)
            return
        answer = self._guarded(request, lambda: self._answer(request))
        if isinstance(answer, Message):
            self._reply(request, answer)
        else:
            later = answer
            self._aside(lambda: self._reply(request, self._guarded(request, later)))

    def _reply(self, request: Message, answer: Any) -> None:
        answer.id = request.id
        self.outbox.put(answer)

    def _guarded(self, request: Message, work: Callable[[], Any]) -> Any:
        """What ``work`` returns, or its error as a message."""
        try:
            return work()
        except Exception as error:  # the page is told, and the session continues
            words = str(error) or type(error).__name__
            return Message("error", None, {"message": words, "request": request.type, "map": None})

    def _told(self, what: str, whom: Any) -> None:
        """Forward an event of the session."""
        if what == "frame":
            self.outbox.note(whom)
        elif what == "status":
            self.outbox.put(Message("status", None, whom.described()))
            if whom.status == "failed":
                self.outbox.put(Message("error", None, {"map": whom.number, "message": whom.message}))
        elif what == "judged":
            self.outbox.put(whom.curve())
            ended = {"map": whom.number, "seconds": whom.seconds, "quality": whom.quality}
            self.outbox.put(Message("done", None, ended))
        elif what == "maps":
            self.outbox.put(Message("maps", None, {"maps": self._maps()}))
        elif what == "columns":
            listed = [column.described() for column in self.session.listed()]
            self.outbox.put(Message("columns", None, {"columns": listed}))
        elif what == "dropped":
            self.outbox.forget(whom)
            self.outbox.put(Message("dropped", None, {"map": whom}))

    def _maps(self) -> list[dict[str, Any]]:
        return [one.described() for one in list(self.session.maps.values())]

    def _answer(self, request: Message) -> Message | Later:
        handler = getattr(self, f"_on_{request.type}", None) if request.type in REQUESTS else None
        if handler is None:
            raise ValueError(f"request {request.type[:40]!r} is unknown. Reload the page.")
        answer: Message | Later = handler(request.fields, request.arrays)
        return answer

    # Requests, by their type

    def _on_hello(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return self.hello()

    def hello(self) -> Message:
        """All that a page needs at the start."""
        session = self.session
        shape = session.image_shape
        fields = {
            "version": __version__,
            "title": session.title,
            "n": session.n,
            "columns": [column.described() for column in session.listed()],
            "more_columns": max(0, len(session.columns) - MOST_LISTED),
            "rows_shown": [column.name for column in self._shown()],
            "colour": session.colour,
            "methods": session.methods,
            "maps": self._maps(),
            "sequence": session.sequence,
            "images": None if shape is None else {"height": shape[0], "width": shape[1], "channels": 1},
            "groupings": clusters.available(session.n),
            "limits": {"upload_bytes": UPLOAD_BYTES},
        }
        return Message("hello", None, fields)

    def _on_column(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return self.column(fields.get("name"))

    def column(self, name: Any) -> Message:
        """A column to colour by."""
        column = self.session.column(name)
        return Message("column", None, {**column.described(), "categories": column.categories or None}, column.array())

    def _on_fit(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        rows = None
        if fields.get("rows", "all") == "selection":
            rows = self._selection()
        made = self.session.fit(
            fields.get("method"), fields.get("parameters", {}), fields.get("dims", 2), rows, fields.get("start")
        )
        return Message("fit", None, made.described())

    def _on_pause(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return self._steer("pause", fields)

    def _on_resume(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return self._steer("resume", fields)

    def _on_stop(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return self._steer("stop", fields)

    def _steer(self, how: str, fields: dict[str, Any]) -> Message:
        one: Map = self.session.map(fields.get("map"))
        getattr(one, how)()
        return Message(how, None, {"map": one.number, "status": one.status})

    def _on_pin(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        one = pins.pin(self.session, fields.get("map"), self._selection(), fields.get("shift"))
        return Message("pin", None, one.described())

    def _on_unpin(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        rows = self.selected if self.selected.any() else None
        return Message("unpin", None, pins.unpin(self.session, fields.get("map"), rows).described())

    def _on_relax(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return Message("relax", None, pins.relax(self.session, fields.get("map")).described())

    def _on_map(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        one = self.session.map(fields.get("map"))
        frame = one.picture()
        if frame is None:
            raise ValueError(f"map {one.number} has no positions yet. Wait for its first frame.")
        if one.trace:
            self.outbox.put(one.curve())
        return Message("map", None, frame.fields, frame.arrays)

    def _on_drop(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        self.session.drop(fields.get("map"))
        return Message("drop", None, {"map": fields.get("map")})

    def _on_rows(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        of, n = fields.get("of", "all"), self.session.n
        if of == "all":
            chosen = np.arange(n)
        elif of == "selection":
            chosen = np.flatnonzero(self.selected)
        else:
            chosen = selection_analysis.row_numbers(of, n)
        first = max(0, int(fields.get("start", 0)))
        some = chosen[first : first + max(0, min(int(fields.get("count", 100)), _MOST_ROWS))]
        shown = self._shown()
        texts = [column.texts(some) for column in shown]
        table = [list(row) for row in zip(*texts, strict=True)] if shown else [[] for _ in some]
        names = [column.name for column in shown]
        return Message("rows", None, {"columns": names, "rows": table, "index": some.tolist(), "total": len(chosen)})

    def _shown(self) -> list[Any]:
        session = self.session
        first = [name for name in (session.identity, session.colour) if name is not None]
        names = list(dict.fromkeys([*first, *session.labels, *session.columns]))[: _SHOWN + len(session.labels)]
        return [session.column(name) for name in names]

    def _on_thumbs(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        return thumbnails.atlas(self.session, selection_analysis.row_numbers(fields.get("rows"), self.session.n))

    def _on_search(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        def answer() -> Message:
            found = selection_analysis.search(self.session, fields.get("text"), fields.get("column"))
            return Message("search", None, {"count": int(found.sum())}, {"mask": pack_bits(found)})

        return answer

    def _on_neighbours(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        return lambda: selection_analysis.neighbours(
            self.session, fields.get("row"), fields.get("k", 10), fields.get("map")
        )

    def _on_distortion(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        return lambda: selection_analysis.distortion(self.session, fields.get("map"), fields.get("k", 10))

    def _on_reliability(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        return lambda: selection_analysis.doubts(self.session, fields.get("map"), fields.get("refits", 0))

    def _on_names(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        return lambda: selection_analysis.names(self.session, fields.get("map"), fields.get("column"))

    def _on_group(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        def answer() -> Message:
            labels = clusters.group(self.session, fields.get("method"))
            return Message("group", None, {"column": labels.described()})

        return answer

    def _on_explain(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        return lambda: selection_analysis.explained(self.session, fields.get("row"), fields.get("map"))

    def _on_select(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        if "mask" not in arrays:
            raise ValueError("select: a mask of the rows is needed.")
        selected = self.selected = unpack_bits(arrays["mask"], self.session.n)
        return lambda: selection_analysis.describe(self.session, selected)

    def _selection(self) -> NDArray[np.bool_]:
        if not self.selected.any():
            raise ValueError("no rows are selected. Select some first.")
        return self.selected

    def _on_label(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Message:  # noqa: ARG002
        labels = self.session.label(fields.get("column"), fields.get("name"), self._selection())
        return Message("label", None, {"column": labels.described()})

    def _on_place(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:
        if "bytes" not in arrays:
            raise ValueError("place: the bytes of a file are needed.")
        data = arrays["bytes"].tobytes()
        return lambda: new_rows.place(self.session, fields.get("name"), fields.get("format"), fields.get("map"), data)

    def _on_export(self, fields: dict[str, Any], arrays: dict[str, NDArray]) -> Later:  # noqa: ARG002
        selected = self.selected
        return lambda: exports.export(self, selected, fields)


REQUESTS = frozenset(name.removeprefix("_on_") for name in vars(Visitor) if name.startswith("_on_"))
