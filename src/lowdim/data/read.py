"""The reader: a file, a folder, standard input or a data set into a table, by the kind of its source."""

import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from lowdim.data.array_files import read_h5ad, read_npy, read_npz
from lowdim.data.datasets import KNOWN, feature_names, image_shape, load
from lowdim.data.file_errors import no_data
from lowdim.data.file_memory import unpacked
from lowdim.data.image_files import read_images
from lowdim.data.report_layout import Layout
from lowdim.data.table import Table, Wanted, from_arrays, numbered
from lowdim.data.table_files import PART
from lowdim.data.table_files import READERS as TABLE_READERS
from lowdim.data.text_files import read_parquet, read_text
from lowdim.work.forked import demand_threads

_tab = partial(read_text, separator="\t")
_READERS: dict[str, Callable[[Path, str, Wanted], Table]] = {
    "csv": read_text,
    "csv.gz": read_text,
    "tsv": _tab,
    "tsv.gz": _tab,
    "txt": read_text,
    "txt.gz": read_text,
    "parquet": read_parquet,
    "npy": read_npy,
    "npz": read_npz,
    "h5ad": read_h5ad,
}


def read(
    source: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    missing: str = "error",
    mixed: bool = False,
    skip: int | None = None,
    transpose: bool = False,
    drop_duplicates: bool = False,
    drop_totals: bool = False,
) -> Table:
    """Read a table, with the labels and ids of its rows.

    Parameters
    ----------
    source : str or path-like
        A file (csv, tsv, txt, all also with .gz; parquet, npy, npz, h5ad, json, ndjson, feather, arrow, sqlite; with
        extras xlsx, xls, ods, duckdb, dta, sav, sas7bdat), a sheet, table or query of one (``"sales.xlsx::2023"``,
        ``"shop.sqlite::orders"``, ``"shop.duckdb::select …"``), a folder of images of one size,
        ``"-"`` for csv or tsv on standard input, or the name of a data set, if there is no such file. A csv
        file has a header, unless its first line is all numbers; its columns are then ``x0``, ``x1``, ... Separators,
        decimal commas, thousands separators and encodings other than UTF-8 are recognised and listed in ``notes``.
    label : str, optional
        Column (npz: or array; h5ad: column of obs) with the label of each row. If omitted, ``y`` of an npz file
        and the subfolder of an image are used.
    id : str, optional
        Column with the identifier of each row. If omitted, the row index that pandas or R wrote (a first column
        without a name), ``ids`` of an npz file, the obs names of an h5ad file and the file name of an image
        are used.
    columns : list of str, optional
        Features to keep, in this order.
    drop : list of str, optional
        Features to leave out.
    missing : {"error", "drop", "mean", "keep"}, default "error"
        What to do about missing values: refuse them, drop their rows, fill in the mean of the column, or leave NaN. In
        text files, empty cells, ``NA``, ``NaN``, ``null``, ``None`` and ``?`` are missing.
    mixed : bool
        Whether columns may hold text and dates. ``X`` is then a polars DataFrame if some do, ready for
        :class:`lowdim.Prepare`; missing values in it are left as they are, and ``missing="drop"`` drops rows without a
        label only. Digits that begin with zeros (postcodes) stay text.
    skip : int, optional
        Lines above the header, of text files. By default a file that seems to have titles above its header is refused.
    transpose : bool
        Whether samples are in columns: the first column then names the features.
    drop_duplicates : bool
        Whether to leave out rows that are equal to an earlier one.
    drop_totals : bool
        Whether to leave out rows of totals, and those that repeat the header. Without these options such tables are
        read as they are, with a warning.

    Returns
    -------
    table : Table
        ``X``, ``names``, ``labels``, ``ids``, ... An npy file stays a memory map; npy and npz keep their
        numeric type; text and parquet give float64 (float32 if every column is).

    Examples
    --------
    >>> table = read("iris", drop=["petal width (cm)"])
    >>> table
    Table(150 × 3 float64 from 'iris', label='y')
    >>> table.names[0]
    'sepal length (cm)'
    """
    if missing not in ("error", "drop", "mean", "keep"):
        raise ValueError(
            f"read: missing must be 'error', 'drop', 'mean' or 'keep'; got {missing!r}. Pass missing='error'."
        )
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            f"read: a path or the name of a data set is needed; got {type(source).__name__}. "
            "Pass arrays and data frames straight to a method."
        )
    if skip is not None and (isinstance(skip, bool) or not isinstance(skip, int) or skip < 0):
        raise ValueError(f"read: skip must be a number of lines, 0 or more; got {skip!r}. Pass skip=3, for example.")
    layout = Layout(skip, transpose, drop_duplicates, drop_totals)
    demand_threads("read")
    wanted = Wanted(label, id, columns, drop, missing, mixed, layout)
    name = os.fsdecode(source)
    if name == "-":
        stream = getattr(sys.stdin, "buffer", None)
        text = sys.stdin.read().encode() if stream is None else unpacked(stream, "standard input")
        return read_text(text, "standard input", wanted)
    if "://" in name and not os.path.exists(name):
        raise ValueError(
            f"read: a file on this machine is needed; got the address {name!r}. Download it first, for example with "
            "curl -O, and pass the file."
        )
    path, part = Path(name).expanduser(), ""
    if PART in name and not os.path.exists(path):
        file, part = name.split(PART, 1)
        path = Path(file).expanduser()
    if os.path.isdir(path):
        return read_images(path, name, wanted)
    if not os.path.exists(path):
        if name in KNOWN:
            return _dataset(name, wanted)
        close = get_close_matches(name.lower(), KNOWN, n=1)
        advice = f"Did you mean the data set {close[0]!r}?" if close else "Data sets such as 'digits' go by name."
        raise FileNotFoundError(
            f"read: a file, a folder of images or a data set is needed; there is none at {name!r}. "
            f"Check the path. {advice}"
        )
    if (database := TABLE_READERS.get(path.suffix.lower().lstrip("."))) is not None:
        if path.stat().st_size == 0:
            raise ValueError(no_data(name))
        return database(path, name, wanted, part)
    if part:
        raise ValueError(
            f"read: only spreadsheets and databases have parts; got {part!r} of '{path}'. Leave out '::{part}'."
        )
    reader = next((r for ending, r in _READERS.items() if path.name.lower().endswith(f".{ending}")), None)
    if reader is None:
        raise ValueError(
            f"read: a file of a known kind is needed; got {name!r}. Convert it to one of "
            f"{', '.join(f'.{ending}' for ending in (*_READERS, *TABLE_READERS))}."
        )
    if path.stat().st_size == 0:
        raise ValueError(no_data(name))
    return reader(path, name, wanted)


def _dataset(name: str, wanted: Wanted) -> Table:
    X, y = load(name)
    extras, label = ({}, None) if y is None else ({"y": y}, "y")
    names = feature_names(name) or numbered(X)
    return from_arrays(X, names, extras, wanted, name, label=label, image_shape=image_shape(name))
