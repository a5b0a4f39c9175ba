"""Files into tables: csv, tsv, parquet, npy, npz, h5ad, folders of images, standard input, data sets."""

import csv
import gzip
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.data.datasets import KNOWN, feature_names, image_shape, load
from lowdim.data.table import DAMAGE, Table, Wanted, as_list, from_arrays, from_frame, listing

if TYPE_CHECKING:
    import polars as pl

MISSING = (
    "",
    "NA",
    "N/A",
    "#N/A",
    "NaN",
    "nan",
    "null",
    "NULL",
    "None",
    "?",
)  # cells of text files without a value
_PANDAS_INDEX = "__index_level_0__"
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")  # more than eight bits a pixel: kept as they are


def read(
    source: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    missing: str = "error",
) -> Table:
    """Read a table of numbers, with the labels and ids of its rows.

    Parameters
    ----------
    source : str or path-like
        A file (csv, tsv, both also with .gz; parquet, npy, npz, h5ad), a folder of images of one size,
        ``"-"`` for csv or tsv on standard input, or the name of a data set, if there is no such file. A csv
        file has a header, unless its first line is all numbers; its columns are then ``x0``, ``x1``, ...
    label : str, optional
        Column (npz: or array; h5ad: column of obs) with the label of each row. Left out, ``y`` of an npz file
        and the subfolder of an image are used.
    id : str, optional
        Column with the identity of each row. Left out, the row index that pandas or R wrote (a first column
        without a name), ``ids`` of an npz file, the obs names of an h5ad file and the file name of an image
        are used.
    columns : list of str, optional
        Features to keep, in this order.
    drop : list of str, optional
        Features to leave out.
    missing : {"error", "drop", "mean"}, default "error"
        What to do about missing values: refuse them, drop their rows, or fill in the mean of the column. In
        text files, empty cells, ``NA``, ``NaN``, ``null``, ``None`` and ``?`` are missing.

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
    if missing not in ("error", "drop", "mean"):
        raise ValueError(f"read: missing must be 'error', 'drop' or 'mean'; got {missing!r}. Pass missing='error'.")
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            f"read: a path or the name of a data set is needed; got {type(source).__name__}. "
            "Pass arrays and data frames straight to a method."
        )
    wanted = Wanted(label, id, columns, drop, missing)
    name = os.fsdecode(source)
    if name == "-":
        stream = getattr(sys.stdin, "buffer", None)
        return _text(sys.stdin.read().encode() if stream is None else stream.read(), "standard input", wanted)
    path = Path(name).expanduser()
    if os.path.isdir(path):
        return _images(path, name, wanted)
    if not os.path.exists(path):
        if name in KNOWN:
            return _dataset(name, wanted)
        close = get_close_matches(name.lower(), KNOWN, n=1)
        advice = f"did you mean the data set {close[0]!r}?" if close else "or name a data set such as 'digits'."
        raise FileNotFoundError(
            f"read: a file, a folder of images or a data set is needed; there is none at {name!r}. "
            f"Check the path, {advice}"
        )
    reader = next((r for ending, r in _READERS.items() if path.name.lower().endswith(f".{ending}")), None)
    if reader is None:
        raise ValueError(
            f"read: a file of a known kind is needed; got {name!r}. Rename or convert it to one of "
            f"{', '.join(f'.{ending}' for ending in _READERS)}."
        )
    if path.stat().st_size == 0:
        raise ValueError(_no_data(name))
    return reader(path, name, wanted)


def _dataset(name: str, wanted: Wanted) -> Table:
    X, y = load(name)
    extras, label = ({}, None) if y is None else ({"y": y}, "y")
    names = feature_names(name) or _numbered(X)
    return from_arrays(X, names, extras, wanted, name, label=label, image_shape=image_shape(name))


def _numbered(X: Any) -> list[str]:
    return [f"x{j}" for j in range(X.shape[1] if X.ndim == 2 else 0)]


def _no_data(source: str) -> str:
    return f"read: at least one row is needed; {source} is empty. Pass a file with data."


def _damaged(source: str, kind: str, error: BaseException | str, advice: str = "Save it again.") -> ValueError:
    reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
    return ValueError(f"read: a readable {kind} file is needed; {source} is not one ({reason}). {advice}")


# Text and parquet, through polars


def _text(data: Path | bytes, source: str, wanted: Wanted, separator: str | None = None) -> Table:
    import polars as pl

    first, second = _first_lines(data, source)
    separator = separator or _separator(first, second)
    try:
        cells, below = (next(csv.reader([line], delimiter=separator), []) for line in (first, second))
    except csv.Error as error:
        raise _damaged(source, "text", error, "Check its quotes and line ends.") from None
    header = not _is_numbers(cells, below)
    # Labels and ids are read as text first: 007 is not 7.
    kept = {cell: pl.String for j, cell in enumerate(cells) if _keeps_text(j, cell.strip(), wanted)}
    try:
        frame = pl.read_csv(
            data if isinstance(data, bytes) or data.suffix.lower() != ".gz" else gzip.decompress(data.read_bytes()),
            separator=separator,
            has_header=header,
            new_columns=None if header else [f"x{j}" for j in range(len(cells))],
            schema_overrides=kept if header else None,
            infer_schema_length=None,
            glob=False,
        )
    except (pl.exceptions.PolarsError, *DAMAGE) as error:
        _blank_rows(data, source, separator, header, len(cells))  # a ragged line is the likely cause: name it
        raise _damaged(source, "text", error, "Check its quotes and its encoding (UTF-8).") from None
    if frame.width > 1 and frame.height and frame[:, -1].null_count():
        blank = _blank_rows(data, source, separator, header, frame.width)
        frame = frame.filter(~pl.Series(np.isin(np.arange(frame.height), blank)))
    names = [cell.strip() for cell in cells]
    # polars leaves doubled quotes in names as they are; names that are not all different it numbers itself
    if header and len(set(names)) == frame.width == len(names) and first.count('"') % 2 == 0:
        frame.columns = names
    frame, index = _tidy(frame, wanted)
    return from_frame(frame, wanted, source, id=index)


def _separator(first: str, second: str) -> str:
    """Sign that divides both lines into equally many cells; most cells win, the usual sign where equal."""
    counts = {sign: [re.sub('"[^"]*"', "", line).count(sign) for line in (first, second)] for sign in ",\t;|"}
    even = [sign for sign, (above, below) in counts.items() if above == below > 0]
    return max(even or counts, key=lambda sign: counts[sign][0])


def _keeps_text(place: int, name: str, wanted: Wanted) -> bool:
    return name in (wanted.label, wanted.id) or (place == 0 and not name)


def _open(data: Path | bytes) -> io.BytesIO | io.BufferedReader | gzip.GzipFile:
    if isinstance(data, bytes):
        return io.BytesIO(data)
    return gzip.GzipFile(data) if data.suffix.lower() == ".gz" else open(data, "rb")


def _first_lines(data: Path | bytes, source: str) -> tuple[str, str]:
    """First two lines that are not blank, the second empty if there is none."""
    try:
        with _open(data) as file:
            lines = (line.decode("utf-8-sig").rstrip("\r\n") for line in file)
            filled = (line for line in lines if line.strip())
            first, second = next(filled, ""), next(filled, "")
    except UnicodeDecodeError as error:
        raise _damaged(source, "text", error, "Save it as UTF-8.") from None
    except DAMAGE as error:
        raise _damaged(source, "gzip", error, "Compress it again.") from None
    if not first:
        raise ValueError(_no_data(source))
    if "\0" in first:
        raise _damaged(source, "text", "it holds binary data", "Name the file after what it is.")
    return first, second


def _is_numbers(cells: list[str], below: list[str]) -> bool:
    """Whether the first line is data: all numbers, and not the 0, 1, 2, ... of a pandas header."""
    cells = [cell.strip() for cell in cells]
    numbers = [_parses(cell, float) for cell in cells]
    if not any(numbers) or not all(ok or cell in MISSING for ok, cell in zip(numbers, cells, strict=True)):
        return False
    counts = [str(j) for j in range(len(cells))]
    if cells == counts:  # 0, 1 alone may well be data: a header then if what follows is no count
        return len(cells) < 2 or (len(cells) == 2 and all(_parses(cell, int) for cell in below))
    return cells != ["", *counts[:-1]]


def _parses(cell: str, kind: type) -> bool:
    try:
        kind(cell)
    except ValueError:
        return False
    return True


def _blank_rows(data: Path | bytes, source: str, separator: str, header: bool, width: int) -> list[int]:
    """Places of blank lines among the rows; raises if a line has more or fewer cells than the first."""
    blank: list[int] = []
    try:
        with _open(data) as file:
            lines = csv.reader(io.TextIOWrapper(file, "utf-8-sig", "replace", newline=""), delimiter=separator)
            row, started = 0, False
            for cells in lines:
                if not started and (header or not cells):
                    started = bool(cells)
                    continue
                started = True
                if not cells:
                    blank.append(row)
                elif len(cells) != width:
                    raise ValueError(
                        f"read: every line needs {width} cells; "
                        f"line {lines.line_num} of {source} has {len(cells)}. "
                        f"Correct the line, or quote cells that contain {separator!r}."
                    )
                row += 1
    except (csv.Error, OSError, EOFError):
        return []
    return blank


def _tidy(frame: "pl.DataFrame", wanted: Wanted) -> tuple["pl.DataFrame", str | None]:
    """Frame of a text file, numbers where text spells them, and the name of its row index if it has one."""
    import polars as pl

    if "" in frame.columns[1:] and frame[""].null_count() == frame.height:  # lines that end in a separator
        frame = frame.drop("")
    index = "index" if frame.columns[0] == "" and "index" not in frame.columns else None
    if index:
        frame = frame.rename({"": index})
    for column in frame:
        if column.dtype == pl.String:
            text = column.str.strip_chars()
            if column.name not in (wanted.id, index):
                text = text.set(text.is_in(MISSING), None)
            exact = column.name in (wanted.id, wanted.label, index)
            frame = frame.with_columns(_numbers(text, exact, whole=column.name in (wanted.id, index)))
    return _without_index(frame, index, wanted)


def _numbers(text: "pl.Series", exact: bool, whole: bool) -> "pl.Series":
    """Numbers that a column of text spells, or the text.

    ``exact`` keeps text that whole numbers would not give back (007); ``whole`` wants no other numbers.
    """
    import polars as pl

    if exact and _all_numbers(text, pl.Int64):
        numbers = text.cast(pl.Int64)
        return numbers if (numbers.cast(pl.String) == text).all() else text
    return text.cast(pl.Float64) if not whole and _all_numbers(text, pl.Float64) else text


def _all_numbers(text: "pl.Series", dtype: Any) -> bool:
    return bool(text.cast(dtype, strict=False).null_count() == text.null_count())


def _without_index(frame: "pl.DataFrame", index: str | None, wanted: Wanted) -> tuple["pl.DataFrame", str | None]:
    """Frame whose row index is the id, or is gone where another column is: no feature unless asked for."""
    if index is None or index in (wanted.label, *as_list(wanted.columns)):
        return frame, None
    return (frame, index) if wanted.id in (None, index) else (frame.drop(index), None)


def _parquet(path: Path, source: str, wanted: Wanted) -> Table:
    import polars as pl

    try:
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(source, "parquet", error) from None
    index = _PANDAS_INDEX if _PANDAS_INDEX in frame.columns else None
    frame, index = _without_index(frame, index, wanted)
    return from_frame(frame, wanted, source, id=index)


# Arrays


def _npy(path: Path, source: str, wanted: Wanted) -> Table:
    try:
        X = np.lib.format.open_memmap(path, mode="r")
    except DAMAGE as error:
        raise _damaged(source, ".npy", error, "Save a filled array of numbers with numpy.save.") from None
    return from_arrays(X, _numbered(X), {}, wanted, source)


def _npz(path: Path, source: str, wanted: Wanted) -> Table:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            keys = list(arrays.files)
            plain = [key for key in keys if key not in ("y", "ids", "names")]
            key = "X" if "X" in keys else plain[0] if len(plain) == 1 else None
            beside = {"y", "ids", "names", wanted.label, wanted.id} & set(keys) - {key}
            extras: dict[str, NDArray[Any]] = {str(name): arrays[name] for name in beside}
            X = None if key is None else np.asarray(arrays[key])
        if key is None and {"format", "shape"} <= set(keys):
            with open(path, "rb") as file:
                X = sparse.load_npz(file).tocsr()
            X.check_format(full_check=True)
            X.sum_duplicates()
    except (*DAMAGE, AttributeError) as error:
        advice = "Save arrays of numbers and text with numpy.savez, X and y by name."
        raise _damaged(source, ".npz", error, advice) from None
    if X is None:
        raise ValueError(
            f"read: an array called X, or a single array, is needed; {source} has {listing(keys) or 'none'}. "
            "Save the data with numpy.savez(file, X=..., y=...)."
        )
    names = extras.pop("names", None)
    known = names is not None and names.dtype.kind == "U" and names.shape == X.shape[1:]
    return from_arrays(
        X,
        [str(name) for name in names] if known and names is not None else _numbered(X),
        extras,
        wanted,
        source,
        label="y" if "y" in extras else None,
        id="ids" if "ids" in extras else None,
    )


def _h5ad(path: Path, source: str, wanted: Wanted) -> Table:
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise ImportError(
            f"read: the package h5py is needed for {source}; it is not installed. Install it: pip install h5py."
        ) from None
    try:
        with h5py.File(path, "r") as file:
            X, obs, var = _h5_matrix(file["X"]), file["obs"], file["var"]
            index = obs.attrs["_index"]
            names = [str(name) for name in _h5_column(var[var.attrs["_index"]])]
            extras = {str(key): _h5_column(obs[key]) for key in {index, wanted.label, wanted.id} & set(obs)}
    except (*DAMAGE, TypeError, AttributeError) as error:
        raise _damaged(source, ".h5ad", error, "Write it again with a recent anndata.") from None
    return from_arrays(X, names, extras, wanted, source, id=index)


def _h5_matrix(node: Any) -> Any:
    if hasattr(node, "shape"):
        return node[:]
    kind = {"csr_matrix": sparse.csr_matrix, "csc_matrix": sparse.csc_matrix}[node.attrs["encoding-type"]]
    X = kind((node["data"][:], node["indices"][:], node["indptr"][:]), shape=tuple(node.attrs["shape"]))
    X.check_format(full_check=True)
    return X.tocsr()


def _h5_column(node: Any) -> NDArray[Any]:
    """A column of obs or var: plain, text, categorical (codes, -1 missing) or nullable (values, mask)."""
    if hasattr(node, "shape"):
        return np.asarray(node.asstr()[:] if node.dtype.kind in "OS" else node[:])
    if "codes" in node:
        values = np.append(_h5_column(node["categories"]).astype(object), [None])
        return np.asarray(values[node["codes"][:]])
    values = node["values"][:].astype(object)
    values[node["mask"][:]] = None
    return np.asarray(values)


# Images


def _images(folder: Path, source: str, wanted: Wanted) -> Table:
    from PIL import Image

    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in _IMAGES and p.name[0] != "." and p.is_file())
    if not paths:
        raise ValueError(
            f"read: a folder with images ({', '.join(_IMAGES)}) is needed; {source} has none. Check the path."
        )
    files = [path.relative_to(folder) for path in paths]
    groups = [file.parts[0] if len(file.parts) > 1 else "" for file in files]
    if "" in groups and any(groups) and wanted.label is None:
        raise ValueError(
            f"read: images lie all in subfolders (their labels) or all in the folder itself; {source} has "
            f"{groups.count('')} of {len(groups)} outside subfolders. Move them."
        )
    X: NDArray[Any] | None = None
    shape: tuple[int, int] = (0, 0)
    for i, path in enumerate(paths):
        try:
            with Image.open(path) as image:
                pixels = np.asarray(image if image.mode in _DEEP_MODES else image.convert("L"))
        except (*DAMAGE, Image.DecompressionBombError) as error:
            raise _damaged(str(path), "image", error, "Replace or remove it.") from None
        if X is None:
            shape = (pixels.shape[0], pixels.shape[1])
            X = np.empty((len(paths), pixels.size), dtype=pixels.dtype)
        elif pixels.shape != shape or pixels.dtype != X.dtype:
            raise ValueError(
                f"read: images must have one size and depth; '{files[0]}' is {_size(shape)} {X.dtype} and "
                f"'{files[i]}' {_size(pixels.shape)} {pixels.dtype}. Resize or remove it."
            )
        X[i] = pixels.ravel()
    extras = {"file": np.array([file.as_posix() for file in files]), "folder": np.array(groups)}
    names = [f"pixel_{row}_{column}" for row in range(shape[0]) for column in range(shape[1])]
    label = "folder" if all(groups) else None
    return from_arrays(X, names, extras, wanted, source, label=label, id="file", image_shape=shape)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]} × {shape[0]}"


def _csv(path: Path, source: str, wanted: Wanted) -> Table:
    return _text(path, source, wanted)


def _tsv(path: Path, source: str, wanted: Wanted) -> Table:
    return _text(path, source, wanted, "\t")


_READERS: dict[str, Callable[[Path, str, Wanted], Table]] = {
    "csv": _csv,
    "csv.gz": _csv,
    "tsv": _tsv,
    "tsv.gz": _tsv,
    "parquet": _parquet,
    "npy": _npy,
    "npz": _npz,
    "h5ad": _h5ad,
}
