"""Tables of a results file, read again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

ONE_RUN = " (one run, first fit)"
UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0}


@dataclass
class Chart:
    """A heading, the rows of its table as dictionaries, and the column that names them."""

    heading: str
    rows: list[dict[str, str]]
    named_by: str

    def ours(self) -> dict[str, str] | None:
        """First row of lowdim that has a time."""
        return next((row for row in self._timed() if row[self.named_by].startswith("lowdim")), None)

    def peers(self) -> list[dict[str, str]]:
        """Rows of others, the fastest first, without those that belong to a later row of lowdim (``, shrinkage``)."""
        named = [(row, row[self.named_by].removesuffix(ONE_RUN)) for row in self._timed()]
        kinds = tuple(name.removeprefix("lowdim") for _, name in named if name.startswith("lowdim,"))
        rows = [row | {self.named_by: name} for row, name in named if not name.startswith(("lowdim", "nothing"))]
        rows = [row for row in rows if not row[self.named_by].endswith(kinds)]
        return sorted(rows, key=lambda row: seconds(row["time"]) or 0.0)

    def _timed(self) -> list[dict[str, str]]:
        return [row for row in self.rows if seconds(row["time"])]


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
