"""A report as one self-contained HTML file: no scripts, no network, readable by day and by night.

A page is a title and a list of blocks. Each function returns a block of finished, escaped HTML::

    page("Digits", [heading("Map"), paragraph("…"), figure(ax, alt="…"), table(rows)], "index.html")
"""

import base64
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from lowdim.work.atomic import atomic

_STYLE = """
:root { color-scheme: light dark; --ink: #1f242b; --soft: #5b636e; --paper: #fbfbfa; --line: #dfe2e6;
  --card: #ffffff; --code: #f1f2f4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --soft: #a2aab5; --paper: #15181c;
  --line: #343a42; --card: #ffffff; --code: #20252b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system,
  "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -0.01em; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 0.75rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.75rem 0 0.5rem; }
p { max-width: 42rem; margin: 0 0 1rem; }
figure { margin: 1rem 0 1.5rem; }
figure img { display: block; max-width: 100%; height: auto; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; padding: 0.6rem; }
figcaption { color: var(--soft); font-size: 0.9rem; margin-top: 0.5rem; max-width: 42rem; }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 1.25rem;
  align-items: start; }
.wide { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.95rem; }
caption { text-align: left; color: var(--soft); font-size: 0.9rem; padding-bottom: 0.4rem; }
th, td { padding: 0.4rem 1.5rem 0.4rem 0; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; }
th[scope="row"] { font-weight: 500; }
th:last-child, td:last-child { padding-right: 0; }
td.number, th.number { text-align: right; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 0.8rem 1rem;
  overflow-x: auto; }
code { font: 0.9rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
"""


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
    """A table whose first column names the rows; numbers are set right, floats with four digits.

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
        right = [False, *numeric, *[False] * len(header)]  # each name stands as its column does
        tags = [' class="number"' if number else "" for number in right]
        names = "".join(f'<th scope="col"{tag}>{escape(name)}</th>' for name, tag in zip(header, tags, strict=False))
        head = f"<thead><tr>{names}</tr></thead>"
    title = "" if caption is None else f"<caption>{escape(caption)}</caption>"
    return f'<div class="wide"><table>{title}{head}<tbody>{"".join(body)}</tbody></table></div>'


def figure(picture: Any, *, alt: str, caption: str | None = None, dpi: int = 150) -> str:
    """A matplotlib Figure or Axes (then its whole figure) as an inline PNG; ``alt`` says what it shows.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import show
    >>> figure(show.scree([3.0, 1.0]), alt="two bars")[:54]
    '<figure><img alt="two bars" src="data:image/png;base64'
    """
    if not alt.strip():
        raise ValueError("figure: alt must say in words what the picture shows; got none. Describe it briefly.")
    canvas = picture if hasattr(picture, "savefig") else picture.figure.canvas.figure
    buffer = io.BytesIO()
    canvas.savefig(buffer, format="png", dpi=dpi, facecolor="white", metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    width = round(canvas.get_figwidth() * 100)
    below = "" if caption is None else f"<figcaption>{escape(caption)}</figcaption>"
    image = f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}" width="{width}">'
    return f"<figure>{image}{below}</figure>"


def row(*blocks: str) -> str:
    """Blocks side by side where the window is wide enough.

    >>> row(paragraph("a"), paragraph("b"))
    '<div class="row"><div><p>a</p></div><div><p>b</p></div></div>'
    """
    return '<div class="row">' + "".join(f"<div>{block}</div>" for block in blocks) + "</div>"


def page(title: str, blocks: Iterable[str], path: str | os.PathLike[str]) -> None:
    """Write a page that needs nothing but itself; ``path`` appears whole or not at all.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page("Digits", [paragraph("A map.")], f"{folder}/index.html")
    ...     "<h1>Digits</h1>" in pathlib.Path(folder, "index.html").read_text(encoding="utf-8")
    True
    """
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(blocks) + "\n</main>\n</body>\n</html>\n"
    )
    with atomic(path) as file:
        file.write(text.encode("utf-8"))


def _number(value: float) -> str:
    """Whole numbers with separators, others with four significant digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
