"""Errors of the command line: one line on standard error, and an exit code."""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

DONE, OURS, THEIRS, INTERRUPTED = 0, 1, 2, 130
# Wrong usage, bad input or a lack of memory or disk space; anything else is an internal error.
_THEIRS = (ValueError, TypeError, MemoryError, OSError, ImportError)

# The library names its keywords; here they are options.
_OPTIONS = {
    name: f"--{name}"
    for name in ("label", "id", "columns", "drop", "missing", "prepare", "scale", "log", "categories", "first")
}
_OPTIONS |= {name: f"--{name.replace('_', '-')}" for name in ("skip", "transpose", "drop_duplicates", "drop_totals")}
_OPTIONS |= {"on_unusable": "--on-unusable"}
_OPTIONS |= {"n_components": "-k", "n_jobs": "--jobs", "random_state": "--seed"}
_VALUES = {"...": "COLUMN", "[...]": "COLUMN,COLUMN", "True": ""}
_KEYWORD = re.compile(rf"(?<![\w'\"/])({'|'.join(_OPTIONS)})=('[^']*'|\[\.\.\.\]|\.\.\.|[\w.]*\w)")


def tell(message: str) -> None:
    """Write one line to standard error, whatever line breaks the message has."""
    click.echo(f"lowdim: {' '.join(message.split())}", err=True)


def report(error: BaseException) -> int:
    """Report an error and return its exit code."""
    if isinstance(error, BrokenPipeError):  # the reader of our output has closed it
        _abandon_stdout()
        return DONE
    if isinstance(error, KeyboardInterrupt | click.Abort):
        tell("interrupted; no file was left incomplete.")
        return INTERRUPTED
    debug = os.environ.get("LOWDIM_DEBUG", "") not in ("", "0")
    if debug and not isinstance(error, click.ClickException):
        traceback.print_exception(error)
    if isinstance(error, click.ClickException):
        tell(_usage(error))
        return THEIRS
    if isinstance(error, _THEIRS):
        tell(in_options(_text(error)))
        return THEIRS
    hint = "" if debug else " Set LOWDIM_DEBUG=1 to see the traceback."
    tell(f"internal error in lowdim, {type(error).__name__}: {error}. Please report it.{hint}")
    return OURS


def in_options(message: str) -> str:
    """Message of the library in terms of command-line options.

    >>> in_options("read: every cell must hold a number. Pass missing='drop' or drop=[...].")
    'every cell must hold a number. Pass --missing drop or --drop COLUMN,COLUMN.'
    """
    message = re.sub(r"^(read|write|load|compare|intrinsic_dimension|Prepare): ", "", message)
    message = re.sub(r"let lowdim\.Prepare encode \w+", "pass --prepare auto", message)
    message = re.sub(r"plan=\{'([^']*)': 'drop'\}", r"--drop \1", message)
    message = re.sub(r"\('(\w+)', (\d+)\)", r"\1=\2", message)  # a method and its components
    return _KEYWORD.sub(lambda m: f"{_OPTIONS[m[1]]} {_VALUES.get(m[2], m[2].strip(chr(39)))}".strip(), message)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show Python's warnings as one line each, without the source line that makes them look like failures."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        tell(f"warning: {in_options(str(message))}")

    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("default")
            for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning):
                warnings.simplefilter("ignore", kind)  # for developers, not for users of the command line
        warnings.showwarning = show
        yield


def _usage(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    path = "lowdim" if ctx is None else ctx.command_path
    return f"{error.format_message()} Try '{path} --help'."


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: '{error.filename}'." if error.filename else f"{error.strerror}."
    return str(error) or ("out of memory." if isinstance(error, MemoryError) else type(error).__name__)


def _abandon_stdout() -> None:
    """Redirect standard output to null, or Python would complain about the broken pipe when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
