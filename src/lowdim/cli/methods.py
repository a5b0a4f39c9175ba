"""``lowdim methods``: the methods, when to use each, and what it costs."""

import click

from lowdim.cli.printed_tables import show_table
from lowdim.methods.registry import METHODS


@click.command(
    "methods",
    short_help="List the methods: when to use each, and what it costs.",
    epilog="""\b
Examples:
  lowdim methods
  lowdim reduce digits --method pca --plot map.png
""",
)
def command() -> None:
    """List the methods, when to use each, and what it costs.

    n is the number of rows, d the number of columns. A method with labels needs --label in 'lowdim reduce'.
    """
    rows = [[m.name, m.summary, "yes" if m.supervised else "no", m.when, m.cost] for m in METHODS]
    show_table(rows, ["method", "what it finds", "labels", "when to use it", "what it costs"])
