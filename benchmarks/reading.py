"""Tables of a results file, read again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0}


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
