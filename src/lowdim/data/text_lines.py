"""Lines and bytes of text files: their encoding, their separator, and what the first of them hold."""

import io
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lowdim.data.file_errors import damaged, no_data
from lowdim.work import memory

if TYPE_CHECKING:
    import polars as pl

_HEAD = 60  # lines read first
_LONGEST = 2**26  # bytes of a line
_BLOCK = 2**24  # bytes per block


class NotUTF8Error(ValueError):
    """Bytes that are not UTF-8: the file has another encoding."""


def in_utf16(data: Path | bytes) -> bool:
    """Whether a file begins with the byte order mark of UTF-16."""
    with opened(data) as file:
        return file.read(2) in (b"\xff\xfe", b"\xfe\xff")


def named_separator(line: str) -> str:
    """Separator that the first line of a file of a spreadsheet names; empty if it is an ordinary line.

    >>> named_separator("sep=;"), named_separator("separator;x")
    (';', '')
    """
    found = re.fullmatch(r'"?sep=([,;|\t])"?', line.lstrip("\ufeff"), re.IGNORECASE)
    return found[1] if found else ""


def recoded(data: Path | bytes, source: str) -> tuple[bytes, str]:
    """Bytes of a file converted to UTF-8, and its encoding."""
    raw = data
    if isinstance(raw, Path):
        memory.require(3 * raw.stat().st_size, f"Reading {source} in another encoding than UTF-8", "Save it as UTF-8.")
        with opened(raw) as file:
            raw = file.read()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return raw.decode("utf-16").encode(), "UTF-16"
        except UnicodeDecodeError as error:
            raise damaged(source, "text", error, "Save it as UTF-8.") from None
    if b"\0" in raw[:4096]:
        raise damaged(source, "text", "it holds binary data", "Name the file after what it is.")
    try:
        return raw.decode("cp1252").encode(), "Windows-1252 (Latin-1)"
    except UnicodeDecodeError:
        return raw.decode("latin-1").encode(), "Latin-1"


def separator_of(lines: list[str]) -> str:
    """Separator that splits the first two lines, or else most lines, into equally many cells.

    Of several it is the one with most cells, or on a tie the usual one.
    """
    filled = [re.sub('"[^"]*"', "", line) for line in lines if line.strip()]
    first, second = [*filled, ""][:2]
    counts = {sign: [line.count(sign) for line in (first, second)] for sign in ",\t;|"}
    even = [sign for sign, (above, below) in counts.items() if above == below > 0]
    for sign in even:  # commas inside cells with another separator are decimal commas
        if sign != "," and any(re.fullmatch(r"\s*[+-]?\d+,\d+\s*", cell) for cell in second.split(sign)):
            return sign
    if not even and len(filled) > 2:  # titles may stand above the table
        usual = {sign: Counter(line.count(sign) for line in filled).most_common(1)[0] for sign in counts}
        often = {sign: times for sign, (cells, times) in usual.items() if cells}
        if often:
            return max(often, key=lambda sign: (often[sign], usual[sign][0]))
    return max(even or counts, key=lambda sign: counts[sign][0])


def opened(data: Path | bytes) -> io.BytesIO | io.BufferedReader:
    """The file, or its bytes as one."""
    return io.BytesIO(data) if isinstance(data, bytes) else open(data, "rb")


def below_lines(data: Path | bytes, skip: int) -> bytes:
    """Bytes below so many lines."""
    if isinstance(data, Path):
        memory.require(2 * data.stat().st_size, f"Reading {data} without its first lines", "Remove them from the file.")
    with opened(data) as file:
        start = file.read(3)
        file.seek(3 if start == b"\xef\xbb\xbf" else 0)
        for _ in range(skip):
            file.readline()
        return file.read()


def first_lines(data: Path | bytes, source: str, notes: list[str]) -> list[str]:
    """The first lines, blank ones among them."""
    try:
        with opened(data) as file:
            if file.read(3) == b"\xef\xbb\xbf":
                notes.append("encoded in UTF-8 with a byte order mark")
            file.seek(0)
            lines: list[str] = []
            while len(lines) < _HEAD and (line := file.readline(_LONGEST)):
                if len(line) == _LONGEST:
                    raise ValueError(
                        f"read: lines of at most {memory.human(_LONGEST)} are needed; line {len(lines) + 1} of "
                        f"{source} is longer. Check its line ends, or save it as .parquet or .npy."
                    )
                lines.append(line.decode("utf-8-sig").rstrip("\r\n"))
    except UnicodeDecodeError:
        raise NotUTF8Error from None
    if not any(line.strip() for line in lines):
        raise ValueError(no_data(source))
    if "\0" in "".join(lines[:2]):
        raise damaged(source, "text", "it holds binary data", "Name the file after what it is.")
    return lines


def zero_padded(data: Path | bytes, frame: "pl.DataFrame", separator: str) -> list[int]:
    """Columns of whole numbers that may begin with zeros; none if no cell does."""
    integers = [j for j, dtype in enumerate(frame.dtypes) if dtype.is_integer()]
    integers = [j for j in integers if (frame[:, j].min() or 0) >= 0]  # type: ignore[operator]
    if not integers:
        return []
    with opened(data) as file:
        while block := file.read(_BLOCK) + file.readline():
            signs = np.frombuffer(block, np.uint8)
            digit = (signs[2:] >= ord("0")) & (signs[2:] <= ord("9"))
            begins = (signs[:-2] == ord(separator)) | (signs[:-2] == ord("\n")) | (signs[:-2] == ord('"'))
            if (digit & begins & (signs[1:-1] == ord("0"))).any():
                return integers
    return []


def even(data: Path | bytes, separator: str, width: int) -> bool:
    """Whether all lines have ``width`` cells, by their separators alone; False where quotes make that hard to tell."""
    try:
        with opened(data) as file:
            while block := file.read(_BLOCK) + file.readline():
                signs = np.frombuffer(block, np.uint8)
                ends = np.flatnonzero(signs == ord("\n"))
                starts = np.concatenate([[0], ends[ends < len(signs) - 1] + 1])
                counts = np.add.reduceat(signs == ord(separator), starts, dtype=np.int64)
                if (counts != width - 1).any() or b'"' in block:
                    return False
    except (OSError, EOFError):
        return False
    return True
