"""Printed tables: framed by rich on a terminal, aligned text in other output."""

import sys
from collections.abc import Sequence

import click


def show_table(rows: Sequence[Sequence[str]], header: Sequence[str] | None = None, *, apart: bool = False) -> None:
    """Print a table whose first column names the rows; ``apart`` leaves a blank line above."""
    if sys.stdout.isatty():
        _framed(rows, header)  # its frame leaves space around it
    else:
        echo("\n" * apart + aligned(rows, header))


def aligned(rows: Sequence[Sequence[str]], header: Sequence[str] | None = None) -> str:
    """Rows as text, every column as wide as its widest cell.

    >>> print(aligned([["a", "1"], ["long", "2"]]))
    a     1
    long  2
    """
    lines = [*([header] if header else []), *rows]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def echo(text: str) -> None:
    """Print text; characters that the output's encoding lacks become question marks."""
    encoding = sys.stdout.encoding or "utf-8"
    click.echo(text.encode(encoding, "replace").decode(encoding))


def _framed(rows: Sequence[Sequence[str]], header: Sequence[str] | None) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_header=header is not None)
    for j in range(len(rows[0])):
        table.add_column(header[j] if header else "", style="bold" if j == 0 else "", no_wrap=j == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # plain text: a name in brackets is not markup
    Console().print(table)
