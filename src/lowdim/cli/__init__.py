"""The command line: one file per command, loaded when it is used.

Modules here import nothing heavy at the top, so that ``lowdim --help`` is fast.
"""

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from lowdim import __version__
from lowdim.cli.errors import plain_warnings, report

COMMANDS = (
    "reduce",
    "transform",
    "check",
    "export",
    "compare",
    "aligned",
    "explore",
    "select",
    "inspect",
    "doctor",
    "methods",
    "completion",
)  # each is lowdim.cli.<name>.command


class Program(click.Group):
    """Group that loads its commands by name and turns every failure into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names in the order of use, not alphabetical."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"lowdim.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Command that the first argument names; for an unknown one, the error suggests the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = get_close_matches(name, COMMANDS, n=1)
            advice = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(COMMANDS)}."
            raise click.UsageError(f"No such command {name!r}. {advice}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises is reported before click sees it."""
        try:
            with plain_warnings():
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException):
            raise
        except (Exception, KeyboardInterrupt) as error:
            ctx.exit(report(error))

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the program and exit with its exit code."""
        for name in ("stdout", "stderr"):  # closed by the caller: nothing can be printed
            if getattr(sys, name) is None:
                setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        try:
            code = super().main(*args, **kwargs | {"prog_name": "lowdim", "standalone_mode": False})
        except (click.ClickException, click.Abort) as error:
            code = report(error)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  lowdim reduce digits --plot map.png
  lowdim reduce table.csv --label species -o map.csv --save map.lowdim
  lowdim transform map.lowdim new.csv -o new_map.csv
  lowdim export map.lowdim -o map.onnx
  lowdim compare table.csv --label species -o report.html
  lowdim explore table.csv --label species
  lowdim select table.csv --target species --estimator lda
  lowdim doctor table.csv --fix
  lowdim inspect table.csv
""",
)
@click.version_option(__version__, prog_name="lowdim", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Dimensionality reduction: from tables of many columns to maps of a few.

    DATA is a file (csv, tsv, parquet, npy, npz, h5ad), a folder of images, '-' for csv on standard input, or the name
    of a built-in data set such as digits, iris or swissroll.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


__all__ = ["main"]
