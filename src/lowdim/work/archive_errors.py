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
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
)
