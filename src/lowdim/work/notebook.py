"""Progress bars in a notebook: one output that is updated in place and removed at the end. Needs no widgets."""

import html
import time
from typing import Any

_EVERY = 0.1  # seconds between updates


class NotebookBars:
    """Bars by HTML in one output of the running cell; they are removed when the work ends, also by an error."""

    def __init__(self) -> None:
        self.tasks: list[dict[str, Any]] = []
        self._handle: Any = None
        self._shown = 0.0

    @property
    def task_ids(self) -> range:
        """Numbers of the current tasks."""
        return range(len(self.tasks))

    def __enter__(self) -> "NotebookBars":
        from IPython.display import HTML, display

        self._handle = display(HTML(""), display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        from IPython.display import HTML

        if self._handle is not None:  # None outside of a kernel
            self._handle.update(HTML(""))

    def add_task(self, label: str, total: int | None, note: str = "") -> int:
        """Add a bar and return its number."""
        now = time.monotonic()
        self.tasks.append({"label": label, "total": total, "completed": 0, "note": note, "start": now, "end": None})
        self._draw()
        return len(self.tasks) - 1

    def update(self, task: int, **changes: Any) -> None:
        """Change what a bar shows."""
        entry = self.tasks[task]
        entry.update(changes)
        if entry["total"] is not None and entry["completed"] >= entry["total"] and entry["end"] is None:
            entry["end"] = time.monotonic()
        if entry["end"] is not None or time.monotonic() - self._shown >= _EVERY:
            self._draw()

    def _draw(self) -> None:
        from IPython.display import HTML

        self._shown = time.monotonic()
        if self._handle is not None:
            self._handle.update(HTML("".join(_line(entry, self._shown) for entry in self.tasks)))


def _line(entry: dict[str, Any], now: float) -> str:
    """HTML of one bar: its label, share, and the time left or taken."""
    total, done = entry["total"], entry["completed"]
    taken = (entry["end"] or now) - entry["start"]
    if entry["end"] is not None:
        when = f"{taken:.1f} s"
    elif total and done:
        when = f"{taken * (total - done) / done:.0f} s left"
    else:
        when = ""
    share = f' value="{done}" max="{total}"' if total else ""
    texts = " ".join(html.escape(text) for text in (when, str(entry["note"])) if text)
    return f"<div>{html.escape(entry['label'])} <progress{share}></progress> {texts}</div>"
