"""The directive ``benchmarks``: every table of a results file as a chart."""

from pathlib import Path
from typing import Any

from charts import charts, drawn
from docutils import nodes
from docutils.parsers.rst import Directive

REPOSITORY = Path(__file__).parents[2]


class Benchmarks(Directive):
    """``{benchmarks} FILE``: the charts of a results file, its path relative to the repository."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw the charts."""
        path = REPOSITORY / self.arguments[0]
        self.state.document.settings.env.note_dependency(str(path))
        return [nodes.raw("", drawn(chart), format="html") for chart in charts(path.read_text(encoding="utf-8"))]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
