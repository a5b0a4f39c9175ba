"""Tables of a results file of the benchmarks, drawn as bars of time."""

import html

from benchmarks.reading import Chart, charts, seconds

__all__ = ["charts", "drawn"]

DETAILS = {"min – max", "first fit", "first call", "seconds by stage", "time", "system", "task"}  # not beside the bars


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
