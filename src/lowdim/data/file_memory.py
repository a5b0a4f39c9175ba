"""Memory that a file needs: estimated from its headers before it is read, and counted while it is unpacked."""

import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lowdim.work import memory

if TYPE_CHECKING:
    import polars as pl

COLUMNS = 100_000  # of a text file; the time polars takes grows with their square
_BLOCK = 2**24  # bytes unpacked at a time
_CELL = 26.0  # bytes that a cell of text takes: as it is parsed, as a float, and in rows
_SAMPLE = 2**20  # bytes of a file from which the number of cells is estimated
_INSTEAD = "Read fewer columns or rows, or convert the file to .npy, which is read as a memory map."


def unpacked(file: BinaryIO | Any, source: str) -> bytes:
    """All bytes of an open file; stops as soon as they do not fit into memory, however small the file was packed."""
    blocks, size = [], 0
    while block := file.read(_BLOCK):
        blocks.append(block)
        size += len(block)
        memory.require(2.0 * size + _BLOCK, f"read: {source}, unpacked so far,", _INSTEAD)
    return b"".join(blocks)


def demand_unpacked(file: BinaryIO | Any, source: str, separator: str = ",") -> None:
    """Refuse text that does not fit into memory once it is unpacked and parsed: it is unpacked and counted, not kept.

    The size in the trailer of a gzip file is counted modulo 4 GB, and may be made up.
    """
    free = memory.available()
    size = cells = 0
    while block := file.read(_BLOCK):
        size += len(block)
        cells += block.count(b"\n") + max(block.count(sign) for sign in (separator.encode(), b";", b"\t", b"|"))
        if 2.0 * size + _CELL * cells + _BLOCK > free:
            memory.require(2.0 * size + _CELL * cells + _BLOCK, f"read: {source}, unpacked so far,", _INSTEAD)


def demand_text(data: Path | bytes, separator: str, columns: int, source: str) -> None:
    """Refuse a text file of more cells than fit into memory, or of too many columns."""
    if columns > COLUMNS:
        raise ValueError(
            f"read: a text file needs at most {COLUMNS:,} columns; {source} has {columns:,}. Swap rows and columns, or "
            "save it as .npy or .npz."
        )
    if isinstance(data, bytes):
        sample, size = data, len(data)
    else:
        with open(data, "rb") as file:
            sample, size = file.read(_SAMPLE), data.stat().st_size
    cells = (sample.count(separator.encode()) + sample.count(b"\n") + 1) * size / max(1, len(sample))
    memory.require(_CELL * cells + size, f"read: about {cells:,.0f} cells of {source}", _INSTEAD)


def demand_members(path: Path, names: Iterable[str], source: str) -> None:
    """Refuse an npz file whose arrays of these names do not fit into memory, or declare more bytes than they hold."""
    total = 0.0
    with zipfile.ZipFile(path) as archive:
        for name in names:
            info = archive.getinfo(f"{name}.npy")
            with archive.open(info) as member:
                version = np.lib.format.read_magic(member)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(member)
            size = math.prod(shape) * dtype.itemsize
            if dtype.kind == "O":
                raise ValueError(f"{name} holds Python objects")
            if size > info.file_size:
                raise ValueError(f"{name} declares {memory.human(size)} and holds {memory.human(info.file_size)}")
            total += size
    demand_bytes(total, source)


def demand_bytes(size: float, source: str) -> None:
    """Refuse arrays of so many bytes that do not fit into memory."""
    memory.require(size, f"read: the arrays of {source}", _INSTEAD)


def demand_frame(path: Path, source: str) -> None:
    """Refuse a parquet file whose cells do not fit into memory: as they are stored, as floats, and in rows."""
    import polars as pl

    frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    rows, columns = frame.select(pl.len()).collect().item(), len(frame.collect_schema())
    memory.require(24.0 * rows * columns, f"read: {rows:,} × {columns:,} cells of {source}", _INSTEAD)
    nested = [name for name, dtype in frame.collect_schema().items() if dtype.is_nested()]
    for name in nested:  # lists may hold any number of values in a few bytes
        most = frame.select(
            pl.col(name).list.len().sum() if isinstance(frame.collect_schema()[name], pl.List) else pl.len()
        )
        memory.require(16.0 * float(most.collect().item() or 0), f"read: the lists in {name!r} of {source}", _INSTEAD)


def demand_texts(frame: "pl.DataFrame", source: str) -> None:
    """Refuse text that does not fit into memory once it is no longer shared between cells, however small its file."""
    import polars as pl

    size = sum(float(column.str.len_bytes().sum() or 0) for column in frame if column.dtype == pl.String)
    memory.require(2.0 * size, f"read: the text of {source}", _INSTEAD)


def demand_images(count: int, size: tuple[int, int], item: int, source: str) -> None:
    """Refuse images that do not fit into memory: the table, and one of them in colour."""
    pixels = float(size[0]) * size[1]
    what = f"read: {count:,} images of {size[0]:,} × {size[1]:,} pixels in {source}"
    memory.require(count * pixels * item + 8.0 * pixels + 150.0 * pixels, what, "Make them smaller, or read fewer.")
