"""Writers of embeddings, with the labels and ids of their rows."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.work.archive_errors import shortened
from lowdim.work.atomic_files import atomic

if TYPE_CHECKING:
    import polars as pl

FORMATS = ("csv", "tsv", "parquet", "npy", "npz")

_FORMULA = r"^[=+\-@\t\r]"
Columns = dict[str, NDArray[Any]]


def write(
    target: str | os.PathLike[str],
    columns: Mapping[str, ArrayLike],
    *,
    label: str | None = None,
    id: str | None = None,
    raw: bool = False,
) -> None:
    """Write columns of equal length to a file, whole or not at all.

    Parameters
    ----------
    target : str or path-like
        A path whose extension gives the format: csv, tsv, parquet, npy (one array, numbers only) or npz (``X`` and
        ``names``, with ``y`` and ``ids``); or ``"-"`` for csv on standard output. An existing file is
        replaced.
    columns : mapping of str to 1-D array
        The components of the embedding, and the label and id columns if there are any.
    label : str, optional
        The column that is the label; it is written before the components.
    id : str, optional
        The column that is the id; it is written first.
    raw : bool
        Whether text in csv and tsv files that begins with ``=``, ``+``, ``-`` or ``@`` is written as it is. By default
        an apostrophe is put before it, so that a spreadsheet does not run it as a formula.

    Examples
    --------
    >>> write("-", {"pca0": [0.5, -0.5], "species": ["a", "b"]}, label="species")
    species,pca0
    a,0.5
    b,-0.5
    """
    path = Path(os.fsdecode(target)).expanduser()
    kind = "csv" if os.fsdecode(target) == "-" else path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ValueError(
            f"write: a file name that ends in one of {', '.join(f'.{ending}' for ending in FORMATS)} "
            "is needed; "
            f"got {os.fsdecode(target)!r}. Change the ending."
        )
    arrays = _arrays(columns, label, id)
    if os.fsdecode(target) == "-":
        _print((_frame(arrays) if raw else harmless(_frame(arrays))).write_csv())
    elif kind in ("npy", "npz"):
        content: dict[str, Any] = {"npy": _stacked(arrays)} if kind == "npy" else _named(arrays, label, id)
        with atomic(path) as file:
            np.save(file, content["npy"]) if kind == "npy" else np.savez(file, **content)
    else:
        frame = _frame(arrays) if raw or kind == "parquet" else harmless(_frame(arrays))
        with atomic(path) as file:
            _write_frame(frame, file, kind)


def _arrays(columns: Mapping[str, ArrayLike], label: str | None, id: str | None) -> Columns:
    """Columns as arrays, the id and the label first; all 1-D, of one length."""
    for option, name in (("label", label), ("id", id)):
        if name is not None and name not in columns:
            raise ValueError(
                f"write: {option} must be one of the columns {list(columns)}; got {name!r}. Add it to columns."
            )
    first = [name for name in (id, label) if name is not None]
    arrays = {name: _plain(name, columns[name]) for name in dict.fromkeys([*first, *columns])}
    shapes = {name: array.shape for name, array in arrays.items()}
    if not arrays or len(set(shapes.values())) != 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise ValueError(
            f"write: one or more 1-D columns of one length are needed; got shapes {shapes}. "
            "Pass each component as a column of its own, Y[:, j]."
        )
    return arrays


def _plain(name: str, values: ArrayLike) -> NDArray[Any]:
    """Array of numbers, text or dates; Python objects are taken as text if that is what they are."""
    if np.ma.is_masked(values):
        raise ValueError(f"write: columns hold one value per row; {name!r} has masked ones. Pass {name}.filled(…).")
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(value is None or isinstance(value, str) for value in array.flat):
        if any(value is None for value in array.flat):
            return array  # a missing label is an empty cell
        array = array.astype(str)
    if array.dtype.kind not in "biufUM":
        kind = "Python objects of several kinds" if array.dtype.kind == "O" else str(array.dtype)
        raise ValueError(
            f"write: columns hold numbers, text or dates; {name!r} holds {kind}. Convert it, or leave it out."
        )
    odd = {np.dtype(np.float16): np.float32, np.dtype(np.longdouble): np.float64}  # which polars does not support
    return array.astype(odd.get(array.dtype, array.dtype), copy=False)


def _stacked(arrays: Columns) -> NDArray[Any]:
    """Columns side by side, as npy and npz keep them."""
    text = [name for name, array in arrays.items() if array.dtype.kind not in "biuf"]
    if text:
        raise ValueError(
            f"write: an .npy file holds numbers only; {', '.join(map(repr, text))} hold text or dates. "
            "Leave them out, or write csv, parquet or npz."
        )
    return np.column_stack(list(arrays.values()))


def _named(arrays: Columns, label: str | None, id: str | None) -> Columns:
    """Arrays of an npz file, under the names that the reader looks for."""
    arrays = {name: array if array.dtype.kind != "O" else _filled(array) for name, array in arrays.items()}
    components = {name: array for name, array in arrays.items() if name not in (label, id)}
    if not components:
        raise ValueError(
            f"write: an .npz file needs a column beside the label and the id; got {list(arrays)}. Add components."
        )
    beside = {"y": label, "ids": id}
    named = {key: arrays[name] for key, name in beside.items() if name is not None}
    return {"X": _stacked(components), "names": np.array(list(components)), **named}


def _filled(texts: NDArray[Any]) -> NDArray[Any]:
    """Text with an empty one where it is missing, since an npz file has no other."""
    return np.array(["" if text is None else text for text in texts.tolist()])


def _frame(arrays: Columns) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame([pl.Series(str(n), a.tolist() if a.dtype.kind in "UO" else a) for n, a in arrays.items()])


def harmless(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Frame whose text does not begin like a formula, names of columns included.

    >>> import polars as pl
    >>> harmless(pl.DataFrame({"=a": ["-x", "b", None]})).to_dict(as_series=False)
    {"'=a": ["'-x", 'b', None]}
    """
    import polars as pl

    columns = []
    for column in frame:
        name = column.name
        if column.dtype == pl.String and (begins := column.str.contains(_FORMULA).fill_null(False)).any():
            column = ("'" + column).zip_with(begins, column)
        columns.append(column.alias(f"'{name}" if re.match(_FORMULA, name) else name))
    return pl.DataFrame(columns)


def _write_frame(frame: "pl.DataFrame", file: BinaryIO, kind: str) -> None:
    import polars as pl

    try:
        if kind == "parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file, separator="\t" if kind == "tsv" else ",")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(f"write: the {kind} file could not be written ({shortened(error)}). Is the disk full?") from None


def _print(text: str) -> None:
    """Write UTF-8 whatever the console's encoding, so that piped output equals the content of a file."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        stream.write(text.encode())
    sys.stdout.flush()
