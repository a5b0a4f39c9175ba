"""Pieces of a page: each function returns finished, escaped HTML."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def heading(text: str, *, level: int = 2) -> str:
    """A heading; the page's title is level 1.

    >>> heading("Maps & measures")
    '<h2>Maps &amp; measures</h2>'
    """
    if level not in (2, 3):
        raise ValueError(f"heading: level must be 2 or 3 (the title is 1); got {level}. Pass one of them.")
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str) -> str:
    """A paragraph of plain text.

    >>> paragraph("n < d")
    '<p>n &lt; d</p>'
    """
    return f"<p>{escape(text)}</p>"


def code(text: str) -> str:
    """A block of code or commands.

    >>> code("make demo")
    '<pre><code>make demo</code></pre>'
    """
    return f"<pre><code>{escape(text)}</code></pre>"


def table(
    rows: Iterable[Sequence[Any]] | Mapping[str, Any],
    *,
    header: Sequence[str] | None = None,
    caption: str | None = None,
) -> str:
    """A table whose first column names the rows; numbers are right-aligned, floats with four digits.

    >>> table({"samples": 1797})
    '<div class="wide"><table><tbody><tr><th scope="row">samples</th><td class="number">1,797</td></tr>...
    """
    body = []
    numeric: list[bool] = []
    for row in rows.items() if isinstance(rows, Mapping) else rows:
        first, cells = row[0], list(row[1:])
        numeric = [isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in cells]
        data = "".join(
            f'<td class="number">{_number(cell)}</td>' if number else f"<td>{escape(str(cell))}</td>"
            for cell, number in zip(cells, numeric, strict=True)
        )
        body.append(f'<tr><th scope="row">{escape(str(first))}</th>{data}</tr>')
    head = ""
    if header is not None:
        right = [False, *numeric, *[False] * len(header)]  # each name is aligned as its column
        tags = [' class="number"' if number else "" for number in right]
        names = "".join(f'<th scope="col"{tag}>{escape(name)}</th>' for name, tag in zip(header, tags, strict=False))
        head = f"<thead><tr>{names}</tr></thead>"
    title = "" if caption is None else f"<caption>{escape(caption)}</caption>"
    return f'<div class="wide"><table>{title}{head}<tbody>{"".join(body)}</tbody></table></div>'


def _number(value: float) -> str:
    """Integers with separators, others with four significant digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
