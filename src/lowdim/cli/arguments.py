"""Arguments that commands share: how data are read, how parameters are given."""

import ast
import csv
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_WORDS = {"true": True, "false": False, "none": None}


class _Columns(click.ParamType):
    """Names divided by commas; one that holds a comma itself goes in double quotes."""

    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        if isinstance(value, list):
            return value
        names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
        return [name for name in names if name] or self.fail("at least one name is needed.", param, ctx)


class _Components(click.ParamType):
    """A count, a proportion, or a word; the method knows which words."""

    name = "components"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ARG002
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        return value


class _Setting(click.ParamType):
    """A parameter and its value, ``name=value``."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        if isinstance(value, tuple):
            return value
        name, sign, text = value.partition("=")
        if not sign or not name.strip():
            self.fail(f"name=value is needed, such as solver=svd; got {value!r}.", param, ctx)
        return name.strip(), literal(text.strip())


def literal(text: str) -> Any:
    """Python value that ``text`` spells, or the text itself.

    >>> literal("0.5"), literal("svd"), literal("(2, 3)"), literal("true")
    (0.5, 'svd', (2, 3), True)
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


data = click.argument("source", metavar="DATA")
components = click.option(
    "-k", "components", type=_Components(), metavar="K", help="Components: a count, a proportion as 0.9, elbow, or all."
)
settings = click.option(
    "--set",
    "settings",
    type=_Setting(),
    multiple=True,
    metavar="NAME=VALUE",
    help="Any parameter of the method or estimator.",
)
quiet = click.option("-q", "--quiet", is_flag=True, help="No progress and no messages; warnings and errors stay.")
_label = click.option("--label", metavar="COLUMN", help="Labels of the rows: carried along, shown as colours.")
_id = click.option("--id", metavar="COLUMN", help="Identities of the rows: carried along.")
_columns = click.option("--columns", type=_Columns(), metavar="A,B", help="Features to keep, in this order.")
_drop = click.option("--drop", type=_Columns(), metavar="C,D", help="Columns to leave out.")
_missing = click.option(
    "--missing", type=click.Choice(["error", "drop", "mean"]), default="error", show_default=True,
    help="Missing values: refuse, drop their rows, or fill in the mean of the column.",
)  # fmt: skip


def reading(command: Command) -> Command:
    """Give a command the options of :func:`lowdim.data.read`, by the names it knows them by."""
    return _label(_id(_columns(_drop(_missing(command)))))


def reading_for_model(command: Command) -> Command:
    """Give a command the same without ``--columns``: the model knows its columns."""
    return _label(_id(_drop(_missing(command))))


def demand_parameters(class_name: str, known: list[str], asked: dict[str, str]) -> None:
    """Raise ValueError unless all parameters asked for exist; ``asked`` maps each to the option that asked."""
    for name, option in asked.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            advice = f"Did you mean {close[0]!r}? " if close and option == "--set" else ""
            raise ValueError(
                f"{class_name} has no parameter {name!r}, which {option} sets. {advice}It has {', '.join(known)}."
            )
