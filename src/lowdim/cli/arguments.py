"""Arguments that commands share: how data are read, how parameters are given."""

import ast
import csv
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])

_WORDS = {"true": True, "false": False, "none": None}


class Names(click.ParamType):
    """Names separated by commas; one that contains a comma is put in double quotes."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """Names as a list."""
        if isinstance(value, list):
            return value
        names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
        return [name for name in names if name] or self.fail("at least one name is needed.", param, ctx)


class _Components(click.ParamType):
    """A count, a proportion, or a word, which the method checks."""

    name = "components"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ARG002
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        return value


class Setting(click.ParamType):
    """A parameter and its value, ``name=value``."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Name and value."""
        if isinstance(value, tuple):
            return value
        name, sign, text = value.partition("=")
        if not sign or not name.strip():
            self.fail(f"name=value is needed, such as svd_solver=svd; got {value!r}.", param, ctx)
        return name.strip(), literal(text.strip())


def literal(text: str) -> Any:
    """Python value written as ``text``, or the text itself.

    >>> literal("0.5"), literal("svd"), literal("(2, 3)"), literal("true")
    (0.5, 'svd', (2, 3), True)
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Completion of file names by the shell."""
    return [CompletionItem(incomplete, type="file")]


def complete_data(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of data sets, and of files."""
    from lowdim.data import names

    sets = [name for name in names() if name.startswith(incomplete)]
    if not sets:
        return complete_files(ctx, param, incomplete)
    # Files here are named as well, since bash forgets all names once it is asked to complete files itself.
    here = [f"{path.name}/" if path.is_dir() else path.name for path in sorted(Path().glob(f"{incomplete}*"))]
    return [CompletionItem(name) for name in (*sets, *(name for name in here if not name.startswith(".")))]


def complete_methods(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Names of methods, the last of several separated by commas."""
    from lowdim.methods.registry import METHODS

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{m.name}", help=m.summary) for m in METHODS if m.name.startswith(last)]


def method(words: str) -> Callable[[Command], Command]:
    """Option for the name of a method, with this help text."""
    return click.option("--method", "-m", shell_complete=complete_methods, default="pca", show_default=True, help=words)


data = click.argument("source", metavar="DATA", shell_complete=complete_data)
components = click.option(
    "-k",
    "components",
    type=_Components(),
    metavar="K",
    help="Components: a number, a share of the variance such as 0.9, elbow, or all.",
)
settings = click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    metavar="NAME=VALUE",
    help="Any parameter of the method or estimator.",
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Show warnings and errors only.")
raw = click.option(
    "--raw", is_flag=True, help="Write text that begins with = + - @ as it is, which spreadsheets may run as a formula."
)
_label = click.option("--label", metavar="COLUMN", help="Column of labels: not a feature; kept in tables and plots.")
_id = click.option("--id", metavar="COLUMN", help="Column of row identifiers: not a feature; kept in tables.")
_columns = click.option("--columns", type=Names(), metavar="A,B", help="Features to keep, in this order.")
_drop = click.option("--drop", type=Names(), metavar="C,D", help="Columns to leave out.")
_LAYOUT = (
    click.option("--skip", type=click.IntRange(0), metavar="N", help="Lines above the header of a text file."),
    click.option("--transpose", is_flag=True, help="Samples are in columns; the first column names the features."),
    click.option("--drop-duplicates", is_flag=True, help="Leave out rows that are equal to an earlier one."),
    click.option("--drop-totals", is_flag=True, help="Leave out rows of totals, and those that repeat the header."),
)
LAYOUT = ("skip", "transpose", "drop_duplicates", "drop_totals")


def _laid_out(command: Command) -> Command:
    for option in reversed(_LAYOUT):
        command = option(command)
    return command


def reading(command: Command) -> Command:
    """Give a command the options of :func:`lowdim.data.read`, except ``--missing``."""
    return _label(_id(_columns(_drop(_laid_out(command)))))


def reading_for_model(command: Command) -> Command:
    """The same options without ``--columns``: the model knows its columns."""
    return _label(_id(_drop(_laid_out(command))))


def demand_parameters(class_name: str, known: list[str], asked: dict[str, str]) -> None:
    """Raise ValueError unless all parameters exist; ``asked`` maps each to the option that sets it."""
    for name, option in asked.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            advice = f"Did you mean {close[0]!r}? " if close and option == "--set" else ""
            raise ValueError(
                f"{class_name} has no parameter {name!r}, which {option} sets. {advice}It has {', '.join(known)}."
            )


def spell(ctx: click.Context, *names: str) -> list[str]:
    """The options of these names that were given on the command line, as they are typed."""
    words: list[str] = []
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        given = ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
        if param.name not in names or not given:
            continue
        option = max(param.opts, key=len)
        if isinstance(value, bool):
            words.append(option)
        elif param.name == "first":
            words += [option, "=".join(str(part) for part in value or ())]
        elif isinstance(value, tuple):
            words += [part for name, setting in value for part in (option, f"{name}={setting}")]
        else:
            words += [option, _typed(value)]
    return words


def _typed(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return ",".join(f'"{name}"' if "," in name else name for name in value)
