"""Tables of a results file of the benchmarks, drawn as bars of time."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0}
DETAILS = {"min – max", "first fit", "first call", "seconds by stage", "time", "system", "task"}  # not beside the bars


@dataclass
class Chart:
    """A heading, the rows of its table as dictionaries, and the column that names them."""

    heading: str
    rows: list[dict[str, str]]
    named_by: str


def seconds(text: str) -> float | None:
    """Seconds of ``"307 ms"`` or ``"0.145 s (0.142 to 0.146)"``; None where there is no time."""
    found = re.match(r"([\d.,]+) (ms|s|min)\b", text)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def cells(line: str) -> list[str]:
    """Cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def charts(text: str) -> Iterator[Chart]:
    """Tables of times in a results file, each with the heading above it."""
    heading, table = "", []
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line.startswith("|"):
            table.append(cells(line))
            continue
        if table and "time" in table[0] and table[0][0] in ("system", "task"):
            rows = [dict(zip(table[0], row, strict=False)) for row in table[2:]]
            yield Chart(heading, rows, table[0][0])
        table = []


def drawn(chart: Chart) -> str:
    """HTML of one chart: a table whose bars are as long as the times, with memory and quality beside them."""
    times = [seconds(row["time"]) for row in chart.rows]
    longest = max((time for time in times if time is not None), default=0.0)
    beside = [name for name in chart.rows[0] if name not in DETAILS and not name.startswith("ratio")]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", "time", *beside))
    body = []
    for row, time in zip(chart.rows, times, strict=True):
        name = row[chart.named_by]
        share = 100 * time / longest if time is not None and longest else 0
        ours = " lowdim-ours" if name.startswith("lowdim") or chart.named_by == "task" else ""
        width = max(0.6 * share, 0.4)  # the text needs the rest of the cell
        bar = f'<span class="lowdim-bar{ours}" style="width:{width:.2f}%"></span> {html.escape(row["time"])}'
        numbers = "".join(f"<td>{html.escape(row.get(column, ''))}</td>" for column in beside)
        body.append(f'<tr><th scope="row">{html.escape(name)}</th><td class="lowdim-time">{bar}</td>{numbers}</tr>')
    return (
        f'<div class="lowdim-chart"><table><caption>{html.escape(chart.heading)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
