"""Result of a reader: the numbers, their names, and the labels and ids of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.data.file_errors import find, listing
from lowdim.data.missing import handle_missing
from lowdim.data.report_layout import Layout, Suspicion, suspicions, told
from lowdim.work.archive_errors import shortened
from lowdim.work.user_warnings import warn

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Data as it was read: rows are samples, columns are features.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        The numbers; a memory map where the file allows it. A polars DataFrame, if it was read with ``mixed=True`` and
        has columns of text or dates.
    names : list of str
        Name of each feature.
    labels : array of shape (n_samples,) or None
        Label of each row.
    label_name : str or None
        Name of the column the labels come from.
    ids : array of shape (n_samples,) or None
        Identifier of each row.
    id_name : str or None
        Name of the column the ids come from.
    image_shape : (int, int) or None
        Height and width, where each row is an image.
    source : str
        Where it was read from.
    notes : tuple of str
        Properties recognised in the file, such as ``"decimal commas in 2 columns"``.
    tabular : bool
        Whether the columns are those of a table, of any units, and not those of an array or an image.
    suspected : tuple
        What looks like a report rather than a table, such as rows of totals.

    Examples
    --------
    >>> Table(np.eye(2), ["a", "b"], source="by hand")
    Table(2 × 2 float64 from 'by hand')
    """

    X: Any
    names: list[str]
    labels: NDArray[Any] | None = None
    label_name: str | None = None
    ids: NDArray[Any] | None = None
    id_name: str | None = None
    image_shape: tuple[int, int] | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    tabular: bool = False
    suspected: tuple[Suspicion, ...] = ()

    @property
    def mixed(self) -> bool:
        """Whether columns hold text or dates, so that the table must be prepared before any method."""
        return hasattr(self.X, "columns")

    def __repr__(self) -> str:
        parts = [("label", self.label_name), ("id", self.id_name), ("image_shape", self.image_shape)]
        extras = "".join(f", {word}={value!r}" for word, value in parts if value is not None)
        n, d = self.X.shape
        return f"Table({n} × {d} {'mixed' if self.mixed else self.X.dtype} from {self.source!r}{extras})"


@dataclass(frozen=True)
class Wanted:
    """Options of a reader."""

    label: str | None = None
    id: str | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    missing: str = "error"
    mixed: bool = False
    layout: Layout = field(default_factory=Layout)


def features(names: list[str], taken: set[str | None], wanted: Wanted, source: str) -> list[str]:
    """Columns of X: those requested, in that order, without the dropped ones, the label and the id."""
    dropped = {find("drop", name, names, source) for name in as_list(wanted.drop)}
    if wanted.columns is None:
        kept = names
    else:
        kept = list(dict.fromkeys(find("columns", name, names, source) for name in as_list(wanted.columns)))
    left = [name for name in kept if name not in dropped and name not in taken]
    if not left:
        raise ValueError(
            f"read: at least one feature column is needed; {source} has {listing(names)} and none is left. "
            "Drop fewer columns, or name others in columns."
        )
    return left


def from_arrays(
    X: Any,
    names: list[str],
    extras: Mapping[str, NDArray[Any]],
    wanted: Wanted,
    source: str,
    *,
    label: str | None = None,
    id: str | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Table:
    """Table of an array; ``extras`` are further arrays, ``label`` and ``id`` those used by default."""
    _refuse_layout(wanted, source)
    X = _matrix(X, source)
    chosen: dict[str, tuple[str | None, NDArray[Any] | None]] = {}
    for option, asked, default in (("label", wanted.label, label), ("id", wanted.id, id)):
        name = default if asked is None else find(option, asked, [*extras, *names], source)
        if name is None:
            chosen[option] = None, None
        elif name in extras:
            chosen[option] = name, _beside(extras[name], name, X.shape[0], source)
        else:
            column = X[:, [names.index(name)]]
            chosen[option] = name, np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
    label_name, labels = chosen["label"]
    id_name, ids = chosen["id"]
    left = features(names, {label_name, id_name} - set(extras), wanted, source)
    if left != names:
        place = {name: i for i, name in enumerate(names)}
        X, image_shape = X[:, [place[name] for name in left]], None
    X, labels, ids = handle_missing(X, left, labels, ids, wanted, source)
    return Table(X, left, labels, label_name, ids, id_name, image_shape, source)


def from_frame(frame: "pl.DataFrame", wanted: Wanted, source: str, *, id: str | None = None) -> Table:
    """Table of a polars frame; every feature column must hold numbers, unless ``wanted.mixed``."""
    import polars as pl

    suspected = suspicions(frame, wanted.layout)
    for words in told(suspected, source):
        warn(words)
    known = frame.columns
    if wanted.layout.transpose and id is None:
        id = known[0]  # the names of the columns before
    label_name = None if wanted.label is None else find("label", wanted.label, known, source)
    id_name = id if wanted.id is None else find("id", wanted.id, known, source)
    left = features(known, {label_name, id_name}, wanted, source)
    if frame.height == 0:
        raise ValueError(f"read: at least one row is needed; {source} has column names only. Pass a file with data.")
    chosen = frame.select(left)
    X: Any = chosen
    if not wanted.mixed or all(dtype.is_numeric() or dtype in (pl.Boolean, pl.Null) for dtype in chosen.dtypes):
        _refuse_text(chosen, source)
        single = all(dtype == pl.Float32 for dtype in chosen.dtypes)
        X = chosen.cast(pl.Float32 if single else pl.Float64).to_numpy(order="c")
    labels = None if label_name is None else _values(frame[label_name], source)
    ids = None if id_name is None else _values(frame[id_name], source)
    X, labels, ids = handle_missing(X, left, labels, ids, wanted, source)
    return Table(X, left, labels, label_name, ids, id_name, None, source, tabular=True, suspected=tuple(suspected))


def as_list(names: Sequence[str] | None) -> list[str]:
    """Names as a list; a single name becomes a list of one."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _refuse_layout(wanted: Wanted, source: str) -> None:
    """Refuse options that mend tables for arrays and images, which would ignore them."""
    if wanted.layout != Layout():
        asked = [name for name, value in vars(wanted.layout).items() if value not in (None, False)]
        raise ValueError(
            f"read: {', '.join(asked)} {'is' if len(asked) == 1 else 'are'} for tables of named columns; {source} "
            "holds an array or images. Leave it out, or change the array."
        )


def _matrix(X: Any, source: str) -> Any:
    """X if it is a filled 2-D array of real numbers; booleans are read as 0 and 1."""
    if X.dtype.kind not in "biuf":
        kind = {"O": "Python objects", "U": "text", "S": "text", "c": "complex numbers"}.get(X.dtype.kind, X.dtype)
        raise ValueError(f"read: an array of real numbers is needed; {source} holds {kind}. Convert and save it again.")
    if X.ndim != 2:
        shape = "(-1, 1)" if X.ndim < 2 else "(len(X), -1)"
        raise ValueError(
            f"read: a 2-D array (samples × features) is needed; {source} has shape {X.shape}. Save X.reshape{shape}."
        )
    if 0 in X.shape:
        raise ValueError(
            f"read: at least one row and one column are needed; {source} has shape {X.shape}. Pass a file with data."
        )
    if X.dtype.kind == "b":
        return X.astype(np.uint8) if sparse.issparse(X) else X.view(np.uint8)
    return X


def _beside(values: NDArray[Any], name: str, n: int, source: str) -> NDArray[Any]:
    if values.shape != (n,):
        raise ValueError(
            f"read: {name!r} must hold one value for each of the {n} rows of {source}; "
            f"its shape is {values.shape}. "
            "Save it as a 1-D array of that length, or name another."
        )
    return values


def _refuse_text(frame: "pl.DataFrame", source: str) -> None:
    import polars as pl

    kinds: dict[str, str] = {}
    mixed = ""
    for column in frame:
        if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
            continue
        kinds[column.name] = "text" if column.dtype == pl.String else str(column.dtype)
        if column.dtype == pl.String:
            filled = column.is_not_null()
            wrong = filled & column.cast(pl.Float64, strict=False).is_null()
            if 0 < wrong.sum() < filled.sum():
                row = wrong.arg_true()[0]
                del kinds[column.name]
                mixed = (
                    mixed or f"column {column.name!r} of {source} holds {shortened(repr(column[row]))} in row {row + 1}"
                )
    if kinds:
        found = ", ".join(dict.fromkeys(kinds.values()))
        one = "holds", "Pass label=..., id=... or drop=[...] for it, or let lowdim.Prepare encode it."
        several = (
            "hold",
            "Pass label=... or id=... for one of them, drop=[...] for the others, or let lowdim.Prepare encode them.",
        )
        hold, advice = one if len(kinds) == 1 else several
        raise ValueError(
            f"read: columns must hold numbers; in {source} {listing(list(kinds))} {hold} {found}. {advice}"
        )
    if mixed:
        raise ValueError(f"read: columns must hold numbers; {mixed}. Correct the value, or drop the column.")


def _values(column: "pl.Series", source: str) -> NDArray[Any]:
    """Column of labels or ids as an array, with None where a value is missing."""
    import polars as pl

    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Date, pl.Datetime)):
        try:
            column = column.cast(pl.String)
        except pl.exceptions.PolarsError:
            raise ValueError(
                f"read: labels and ids must be numbers, text or dates; {column.name!r} of {source} holds "
                f"{column.dtype}. Convert it, or name another column."
            ) from None
    if column.dtype == pl.String or column.null_count():
        values = np.empty(len(column), dtype=object)
        values[:] = column.to_list()
        return values
    return column.to_numpy()


def numbered(X: Any) -> list[str]:
    """Names ``x0``, ``x1``, ... for columns without any."""
    return [f"x{j}" for j in range(X.shape[1] if len(X.shape) == 2 else 0)]
