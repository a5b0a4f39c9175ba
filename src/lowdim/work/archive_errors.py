"""The ways in which NumPy and zipfile fail on a damaged archive or array file."""

import struct
import tokenize
import zipfile
import zlib

ARCHIVE_ERRORS = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    OverflowError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
)
_LONGEST = 160  # characters of another library's message that are passed on


def shortened(words: object) -> str:
    """First line of another library's message, shortened if it is long.

    >>> shortened("9" * 1000)[-12:]
    '9999999999 …'
    """
    line = str(words).strip().split("\n")[0]
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
