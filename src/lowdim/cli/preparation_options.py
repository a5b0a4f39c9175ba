"""Preparation of a table before the method: its options, and messages about it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import Times

if TYPE_CHECKING:
    from lowdim.data import Table
    from lowdim.methods.prepared_table import Preparation, PreparedTable

Command = TypeVar("Command", bound=Callable[..., Any])


class _First(click.ParamType):
    """A method and its number of components, ``pca=50``."""

    name = "first"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, count = value.partition("=")
        if not name or not count.isdecimal() or not int(count):
            self.fail(f"a method and a number of components are needed, such as pca=50; got {value!r}.", param, ctx)
        return name, int(count)


_OPTIONS = (
    click.option(
        "--prepare",
        metavar="auto|PLAN|gower|none",
        help="Convert every column to numbers of comparable weight: by kind (auto), by a .toml plan, for Gower's "
        "distances (gower), or not at all. Default: auto for files of tables (csv, xlsx, parquet …), none for arrays "
        "and images.",
    ),
    click.option(
        "--scale", is_flag=True,
        help="Divide each column of numbers by its standard deviation. Done for files of tables, unless all numbers "
        "share one unit, as pixels and counts do.",
    ),
    click.option("--log", is_flag=True, help="Take log(1 + x) of numbers, then scale them."),
    click.option(
        "--missing", type=click.Choice(["error", "drop", "mean", "median"]), default="error", show_default=True,
        help="Missing values: refuse, drop their rows, or fill in the mean or median of the column.",
    ),
    click.option(
        "--categories", type=click.Choice(["onehot", "ordinal", "drop"]),
        help="Columns of text: one column per level, codes in alphabetical order, or left out.",
    ),
    click.option(
        "--on-unusable", type=click.Choice(["drop", "error"]), default="drop", show_default=True,
        help="Columns that cannot be used, such as mixtures of numbers and text: left out with a warning, or refused.",
    ),
    click.option(
        "--first", type=_First(), metavar="METHOD=K", help="Reduce by another method first, such as pca=50."
    ),
)  # fmt: skip
NAMES = ("prepare", "scale", "log", "missing", "categories", "on_unusable", "first")


def preparing(command: Command) -> Command:
    """Give a command the options of this module; :func:`preparation_asked` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def preparing_by_model(command: Command) -> Command:
    """Give a command the same options, only to explain that the model determines them, as ``--prepare auto`` does."""

    def refuse(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value in (None, False) or (param.name == "prepare" and value == "auto"):
            return
        raise click.UsageError(
            f"{param.opts[0]} is part of the model, which prepares NEW like the table it was fitted to. "
            "Give it to 'lowdim reduce' when the model is fitted.",
            ctx,
        )

    flags = {"--scale", "--log"}
    for name in ("--prepare", "--categories", "--first", *flags):
        command = click.option(
            name, is_flag=name in flags, default=None, callback=refuse, expose_value=False, hidden=True
        )(command)
    return command


def preparation_asked(options: dict[str, Any]) -> "Preparation":
    """Take the options of preparation out of those of a command; what can be checked without data is checked."""
    from lowdim.methods.prepared_table import Preparation

    aside = tuple(options.get("drop") or ())
    asked = Preparation(**{name: options.pop(name) for name in NAMES}, aside=aside)
    if isinstance(asked.prepare, str) and asked.prepare not in ("auto", "none", "gower"):
        from lowdim.data.plan_files import reading_of

        given = {name: value for name, value in options.items() if value not in (None, False)}
        options |= {name: value for name, value in reading_of(asked.prepare).items() if name in options} | given
    return asked


def read_prepared(
    source: Source,
    asked: "Preparation",
    reading: dict[str, Any],
    times: Times,
    *,
    scaled_later: bool = False,
    as_it_is: bool = False,
    gaps: bool = False,
    verbose: int,
    quiet: bool,
) -> "PreparedTable":
    """Read a table, prepare it as requested, or as its columns need, and report what was done.

    ``as_it_is`` leaves the columns to a method that prepares them by itself, and ``gaps`` missing numbers to one that
    takes them, which nothing may prepare.
    """
    from lowdim.methods import prepared_table
    from lowdim.methods.prepared_table import prepared
    from lowdim.work import progress

    if gaps and asked.prepare != "none":
        raise ValueError("a method that takes gaps needs the numbers as they are. Pass --prepare none too.")
    missing = "drop" if asked.missing == "drop" else "keep" if gaps else "error"
    with progress.showing(verbose, "data"), progress.stage("reading"):
        table = times.of("read", lambda: source.read(mixed=asked.prepare != "none", missing=missing, **reading))
    if as_it_is:
        if not quiet:
            tell_prepared(table, [])
        return prepared_table.as_it_is(table, asked)
    made = times.of("prepare", lambda: prepared(table, asked, scaled_later=scaled_later, gaps=gaps, verbose=verbose))
    if not quiet:
        tell_prepared(table, made.done)
    return made


def what_it_did(model: Any, made: "PreparedTable", n: int, *, quiet: bool) -> "Table":
    """Report what a method did to the columns of a table; the table of the ``n`` rows that it kept."""
    from lowdim.methods.prepared_table import kept_rows

    if not quiet:
        tell_prepared(made.table, model.describe())
    return made.table if n == made.X.shape[0] else kept_rows(made.table, model.complete(made.X))


def tell_prepared(table: "Table", done: list[str]) -> None:
    """Report what was detected in the file and what was done to its columns."""
    if table.notes:
        tell(f"read {table.source}: {', '.join(table.notes)}.")
    for line in done:
        tell(f"prepared: {line}.")
