"""Maps being computed: one thread for each fit, of whose frames only the newest is kept; pause, stop, continue."""

import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Condition, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.explorer.message_format import Message, pack_bits, quantise
from lowdim.work import progress
from lowdim.work.user_warnings import collecting

ENDED = ("done", "stopped", "failed")
_REPORTS = 0.08  # approximate seconds between two frames of a fit
_STEP = 1e-7  # approximate seconds per row of a step of a descent, for the interval of frames
_TOLD = 0.2  # seconds between two reports on a stage


class Stopped(Exception):  # noqa: N818  # a wish, no error
    """The user stopped a fit where it had no map to keep."""


class Map:
    """A map of all or some rows, its model and its state; ``changed(map, what)`` is called after each change.

    Its state is replaced as a whole, never modified, so that readers need no lock.
    """

    def __init__(
        self, number: int, method: str, title: str, model: Any, parameters: dict[str, Any], dims: int, n: int,
        rows: NDArray[np.intp] | None, changed: Callable[["Map", str], None],
        judge: Callable[[NDArray[np.float32]], dict[str, float]],
    ) -> None:  # fmt: skip
        self.number, self.method, self.title, self.model = number, method, title, model
        self.parameters, self.dims, self.n, self.rows = parameters, dims, n, rows
        self.status, self.message, self.stage = "waiting", "", ""
        self.share: float | None = None
        self.fitted: Any = None
        self.Y: NDArray[np.float32] | None = None
        self._layout: NDArray[np.float32] | None = None  # shown until there is a map
        self.frame, self.iteration, self.total = 0, 0, 0
        self.loss: float | None = None
        self.trace: list[tuple[int, float]] = []
        self.quality: dict[str, float] = {}
        self.dubious: NDArray[np.bool_] | None = None  # of all rows, once they were asked for
        self.pinned: NDArray[np.bool_] | None = None  # rows that a person has put where they are
        self.relaxed = False  # whether it was computed around pinned rows
        self.seconds, self._begun, self._descending = 0.0, time.perf_counter(), 0.0
        self._changed, self._judge = changed, judge
        self._wish = Condition()
        self._paused = self._stop = False
        self._keeps = False  # whether the fit has a map to keep when it is stopped
        self._thread: Thread | None = None
        self._encoded: tuple[int, Message] | None = None

    @property
    def alive(self) -> bool:
        """Whether a thread still works on it."""
        return self.status not in ENDED

    def described(self) -> dict[str, Any]:
        """The map as the page lists it."""
        return {
            "map": self.number,
            "method": self.method,
            "title": self.title,
            "parameters": self.parameters,
            "dims": self.dims,
            "status": self.status,
            "rows": "all" if self.rows is None else len(self.rows),
            "message": self.message,
            "stage": self.stage,
            "share": self.share,
            "seconds": self.seconds,
            "frame": self.frame,
            "quality": self.quality,
            "pins": [] if self.pinned is None else np.flatnonzero(self.pinned).tolist(),
        }

    def put(self, Y: NDArray[np.float32]) -> None:
        """Show these positions of a map that is computed."""
        self.Y, self.frame, self._encoded = Y, self.frame + 1, None
        self._changed(self, "frame")
        self._changed(self, "status")

    def positions(self) -> NDArray[np.float32]:
        """Positions (n, dims) of all rows, NaN for those that are not in the map."""
        if self.Y is None:
            raise ValueError(f"map {self.number} has no positions yet. Wait for its first frame.")
        if self.rows is None:
            return self.Y
        full = np.full((self.n, self.Y.shape[1]), np.nan, np.float32)
        full[self.rows] = self.Y
        return full

    def picture(self) -> Message | None:
        """The newest frame, or None before the first."""
        frame, Y = self.frame, self._layout if self.Y is None else self.Y
        if Y is None:
            return None
        if self._encoded is not None and self._encoded[0] == frame:
            return self._encoded[1]
        positions, box = quantise(Y)
        arrays: dict[str, NDArray] = {"positions": positions}
        if self.rows is not None:
            full = np.full((self.n, Y.shape[1]), 65535, np.uint16)
            full[self.rows] = positions
            present = np.zeros(self.n, bool)
            present[self.rows] = True
            arrays = {"positions": full, "present": pack_bits(present)}
        fields = {
            "map": self.number,
            "frame": frame,
            "iteration": self.iteration,
            "total": self.total,
            "dims": int(Y.shape[1]),
            "box": box,
            "loss": self.loss,
            "seconds": self.seconds,
            "left": self._left(),
            "final": not self.alive,
            "start": self.Y is None,
        }
        message = Message("frame", None, fields, arrays)
        self._encoded = (frame, message)
        return message

    def curve(self) -> Message:
        """The loss during the descent."""
        fields = {
            "map": self.number,
            "name": "loss",
            "iterations": [step for step, _ in self.trace],
            "values": [value for _, value in self.trace],
        }
        return Message("loss", None, fields)

    def _left(self) -> float | None:
        """Seconds left of the descent."""
        if not self.alive or not self.total or not self.iteration:
            return None
        return self._descending / self.iteration * max(0, self.total - self.iteration)

    # Requests of the page

    def start(self, fit: Callable[[Any], Any], layout: Callable[[], Any] | None = None) -> None:
        """Fit in a thread; ``fit(model)`` returns the positions (m, dims), ``layout()`` those shown until then."""
        context = copy_context()
        self.status, self._begun = "running", time.perf_counter()
        work = (self._run, fit, layout)
        self._thread = Thread(target=context.run, args=work, daemon=True, name=f"map {self.number}")
        self._thread.start()
        self._changed(self, "status")

    def pause(self) -> None:
        """Pause the fit at the next point where it can wait."""
        if self.status == "waiting":
            raise ValueError(f"map {self.number} waits for other fits and has not begun. Stop it, or wait.")
        with self._wish:
            self._paused = self.alive
        if self.alive:
            self._be("paused")

    def resume(self) -> None:
        """Continue the fit."""
        with self._wish:
            self._paused = False
            self._wish.notify_all()
        if self.status == "paused":
            self._be("running")

    def stop(self) -> None:
        """End the fit at the next point where it can; the newest frame is kept."""
        with self._wish:
            self._stop, self._paused = True, False
            self._wish.notify_all()
        if self.status == "waiting":
            self._be("stopped", "Stopped before it began.")

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join(timeout)

    # Work of the thread

    def _run(self, fit: Callable[[Any], Any], layout: Callable[[], Any] | None) -> None:
        if "callback" in self.model.get_params(deep=False):
            self.model.set_params(callback=self._report, callback_every=self._every())
        try:
            with progress.following(self._follow), collecting() as told:
                if layout is not None:
                    self._lay_out(layout)
                Y = fit(self.model)
            stopped = self._stop and self.iteration < self.total
            self.fitted = self.model
            if "callback" in self.model.get_params(deep=False):
                self.model.set_params(callback=None)
                self.iteration = int(getattr(self.model, "n_iter_", self.iteration))
                self._note_loss(self.iteration)
            self._show(np.asarray(Y, np.float32))
            self._be("stopped" if stopped else "done", " ".join(dict.fromkeys(told)))
        except Stopped:
            self._be("stopped", "Stopped before there was a map." if self.Y is None else "")
        except BaseException as error:  # the session continues, whatever a fit raises
            self._be("failed", str(error) or type(error).__name__)
        with suppress(Stopped, ValueError, MemoryError):
            if self.fitted is not None and self.Y is not None:
                with progress.following(lambda _name, _total: self._unless_stopped):
                    self.quality = self._judge(self.Y)
        self._changed(self, "judged")

    def _lay_out(self, layout: Callable[[], Any]) -> None:
        """Show where the points are until there is a map; what is wrong with the rows is told by the fit."""
        with suppress(ValueError, MemoryError), collecting():
            self._layout = np.asarray(layout(), np.float32)
            self.frame += 1
            self._changed(self, "frame")

    def _unless_stopped(self, done: int) -> None:  # noqa: ARG002
        if self._stop:
            raise Stopped

    def _every(self) -> int:
        rows = self.n if self.rows is None else len(self.rows)
        return int(np.clip(round(_REPORTS / (_STEP * rows)), 1, 20))

    def _note_loss(self, iteration: int) -> None:
        values = getattr(self.model, "loss_curve_", None)
        if values is not None and len(values):
            self.loss = float(values[-1])
            self.trace = [*self.trace, (iteration, self.loss)]

    def _report(self, iteration: int, loss: float, Y: NDArray) -> bool:
        """Store the frame; wait while paused, and return whether to stop."""
        self.iteration, self.loss = iteration, float(loss)
        self.trace.append((iteration, float(loss)))
        self._show(np.asarray(Y, np.float32))
        return self._held()

    def _held(self) -> bool:
        """Wait while paused; return whether the fit should stop."""
        begun = time.perf_counter()
        with self._wish:
            while self._paused and not self._stop:
                self._wish.wait()
        waited = time.perf_counter() - begun
        self._begun += waited  # waiting is not counted as work
        self._stage_begun += waited
        return self._stop

    _stage_begun = 0.0

    def _show(self, Y: NDArray[np.float32]) -> None:
        self.Y, self.frame = Y, self.frame + 1
        self.seconds = time.perf_counter() - self._begun
        self._changed(self, "frame")

    def _follow(self, name: str, total: int | None) -> progress.Tick:
        """Report the stage, and stop there if the method has no map yet."""
        live = name == "descent" and "callback" in self.model.get_params(deep=False)
        self._keeps = self._keeps or live
        self.stage, self.share = name, None
        self._stage_begun = told = time.perf_counter()
        if live:
            self.total = int(total or 0)
        self._changed(self, "status")

        def tick(done: int) -> None:
            nonlocal told
            now = time.perf_counter()
            self._descending = now - self._stage_begun
            if not live:
                if total and now - told > _TOLD:
                    told, self.share = now, min(1.0, done / total)
                    self.seconds = now - self._begun
                    self._changed(self, "status")
                self._demand_wanted()

        self._demand_wanted()
        return tick

    def _demand_wanted(self) -> None:
        """Wait while paused, and end a fit that was stopped before it had a map."""
        if not self._keeps and self._held():
            raise Stopped

    def _be(self, status: str, message: str = "") -> None:
        self.status, self.message = status, message
        if status in ENDED:
            self.stage, self.share = "", None
            self._encoded = None  # the last frame is marked as final
        self._changed(self, "status")
