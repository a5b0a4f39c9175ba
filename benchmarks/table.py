"""Results as Markdown."""

from collections.abc import Iterable
from statistics import median

from benchmarks.reading import ONE_RUN
from benchmarks.rounds import BEFORE, Row
from benchmarks.task import Task

_NOTHING = "–"


def seconds(t: float) -> str:
    return f"{t:.3g} s" if t >= 1 else f"{1000 * t:.3g} ms"


def megabytes(n: int | None) -> str:
    return _NOTHING if n is None else f"{n / 1e6:,.0f} MB"


def figure(x: float) -> str:
    return f"{x:.1e}" if abs(x) < 1e-3 else f"{x:.3g}"


def table(task: Task, rows: dict[str, Row]) -> str:
    """One task: a line per system, the failed ones with their reason."""
    first = next(iter(task.systems))
    base = rows.get(task.subtract or "", Row())
    runs = [run for row in rows.values() for run in row.runs]
    more = list(runs[0].get("details", {})) if runs else []
    heads = ("system", "time", "min – max", f"ratio to {first}", "first fit", "memory", task.quality_name, *more)
    lines = [_line(heads), _line(["---"] + ["---:"] * (len(heads) - 1))]
    for name, row in rows.items():
        if row.error or not row.runs:
            lines.append(_line([name, f"failed: {row.error.replace('|', '/')}", *[""] * (len(heads) - 2)]))
            continue
        own, alike = (Row() if name == task.subtract else base), rows.get(first, Row())
        times = _net(row, own, "again")
        ratios = [t / reference for t, reference in zip(times, _net(alike, base, "again"), strict=False)]
        cells = [
            name + ONE_RUN * row.once,
            seconds(median(times)),
            f"{seconds(min(times))} – {seconds(max(times))}",
            f"{median(ratios):.2f}" if ratios and name != task.subtract else _NOTHING,
            seconds(median(_net(row, own, "first"))),
            _peak(row),
            _worst(task, row),
            *(row.runs[-1].get("details", {}).get(head, _NOTHING) for head in more),
        ]
        lines.append(_line(cells))
    return "\n".join(lines)


def section(task: Task, rows: dict[str, Row]) -> str:
    rows = {name: row for name, row in rows.items() if not name.endswith(BEFORE)}
    return "\n\n".join(part for part in (f"## {task.title}", table(task, rows), task.note) if part) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


CHANGES = """\
| task | system | before | time | ratio by rounds | memory before | memory | quality before | quality |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def changes(task: Task, rows: dict[str, Row]) -> str:
    """One line for each system that ran with another lowdim too, for a table with the heads ``CHANGES``."""
    base = rows.get(task.subtract or "", Row())
    lines = []
    for name, earlier in rows.items():
        row = rows.get(name.removesuffix(BEFORE), Row())
        if not name.endswith(BEFORE) or not row.runs:
            continue
        system = name.removesuffix(BEFORE) + ONE_RUN * row.once
        if earlier.error or not earlier.runs:
            kind = earlier.error.partition(":")[0].replace("|", "/")  # its text may name places of one machine
            lines.append(_line([task.title, system, f"failed: {kind}", *[""] * 6]))
            continue
        then, now = _net(earlier, base, "again"), _net(row, base, "again")
        ratios = [b / a for a, b in zip(then, now, strict=False)]
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} – {max(ratios):.2f})"
        times = seconds(median(then)), seconds(median(now)), spread
        kept = _peak(earlier), _peak(row), _worst(task, earlier), _worst(task, row)
        lines.append(_line([task.title, system, *times, *kept]))
    return "\n".join(lines)


def _peak(row: Row) -> str:
    return megabytes(max((run["memory"] for run in row.runs if run["memory"] is not None), default=None))


def _worst(task: Task, row: Row) -> str:
    qualities = [run["quality"] for run in row.runs if run["quality"] is not None]
    return figure(task.worst(qualities)) if qualities else _NOTHING


def _net(row: Row, base: Row, key: str) -> list[float]:
    """Seconds of each round, less those of ``base`` in the same round."""
    off = [run[key] for run in base.runs] + [0.0] * len(row.runs)
    return [run[key] - less for run, less in zip(row.runs, off, strict=False)]
