"""``lowdim explore``: a page in the browser that shows, examines and computes maps."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import Times, show_progress
from lowdim.cli.preparation_options import preparation_asked, preparing, read_prepared
from lowdim.methods import registry

_LOOPBACK = ("127.0.0.1", "localhost")


def _refuse_hosts(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001
    if value not in _LOOPBACK:
        raise click.UsageError(
            f"--host {value}: the explorer serves this machine only. To reach it from another, leave --host out and "
            "open a tunnel there: ssh -L PORT:127.0.0.1:PORT this-machine, with --port PORT here.",
            ctx,
        )
    return value


@click.command(
    "explore",
    short_help="Open a page that shows, examines and computes maps.",
    epilog="""\b
Examples:
  lowdim explore digits
  lowdim explore table.csv --label species --id name
  lowdim explore people.csv --missing median --method tsne
  lowdim explore photos/ --no-browser --port 8765
""",
)
@arguments.data
@arguments.method("Method of the first map.")
@arguments.reading
@preparing
@click.option("--no-browser", is_flag=True, help="Print the address and do not open a browser.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; a free one by default.")
@click.option("--host", default=_LOOPBACK[0], hidden=True, callback=_refuse_hosts, expose_value=False)
@arguments.quiet
def command(source: str, method: str, no_browser: bool, port: int, quiet: bool, **reading: Any) -> None:
    """Explore DATA in the browser.

    The page shows maps of all rows, computes new ones while you watch, and examines them: false and missing
    neighbours, the columns that distinguish a selection from the rest, the positions of new rows. It is served on this
    machine only, at an address with a secret token. Ctrl-C ends it, as do SIGTERM and a closed terminal; labels that
    were not exported are then written to a file in the current folder.
    """
    from lowdim.explorer.opening import session_of
    from lowdim.explorer.server import Server, demand_packages

    demand_packages()
    asked = preparation_asked(reading)
    chosen = registry.find(method)
    made = read_prepared(Source(source), asked, reading, Times(), verbose=show_progress(quiet), quiet=quiet)
    session = session_of(made, Path(made.table.source).name or made.table.source)
    server = Server(session, port)
    session.fit(chosen.name, {})
    ended = server.serve(
        browser=not no_browser, announce=_announce, rescued=lambda path: tell(f"wrote the labels to {path}.")
    )
    if not ended:  # a solver that cannot be stopped must not delay the exit
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _announce(address: str) -> None:
    click.echo(address)
    tell("the explorer runs until Ctrl-C.")
