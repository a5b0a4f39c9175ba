"""Texts of errors about files: what was needed, what was given, what to do."""

from collections.abc import Sequence
from difflib import get_close_matches

from lowdim.work.archive_errors import shortened

SHOWN = 5  # names listed in a message before the rest is counted


def listing(names: Sequence[str], shown: int = SHOWN) -> str:
    """First names, quoted, and a count of the others.

    >>> listing(["a", "b", "c"], shown=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(repr(str(name)) for name in names[:shown])
    return text if len(names) <= shown else f"{text} and {len(names) - shown} more"


def near(name: str, known: Sequence[str]) -> list[str]:
    """Names that may be meant, in whatever case.

    >>> near("FARE", ["Fare", "age"])
    ['Fare']
    """
    same = [one for one in known if str(one).casefold() == name.casefold()]
    return same or get_close_matches(name, known, n=3)


def find(option: str, name: str, known: Sequence[str], source: str) -> str:
    """``name`` itself if it is known, else an error with the nearest names."""
    if name in known:
        return name
    close = near(str(name), known)
    what = option if option in ("sheet", "table") else "column"
    advice = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"There are {listing(known, 20)}."
    raise ValueError(f"read: {option} must name a {what} of {source}; got {name!r}. {advice}")


def no_data(source: str) -> str:
    """Error message for a source without rows."""
    return f"read: at least one row is needed; {source} is empty. Pass a file with data."


def damaged(source: str, kind: str, error: BaseException | str, advice: str = "Save it again.") -> ValueError:
    """Error for a file that cannot be read as what its name says."""
    reason = shortened(error).rstrip(".") or type(error).__name__
    return ValueError(f"read: a readable {kind} file is needed; {source} is not one ({reason}). {advice}")
