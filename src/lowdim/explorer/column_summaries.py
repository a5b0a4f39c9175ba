"""Columns of the table beside the map: categories, numbers and text, as the page colours, counts and shows them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.categories import Values, read_labels
from lowdim.data.missing import missing_counts

MOST_CODES = 65_534  # categories that 16 bits can encode, besides "missing"
_FEW = 50  # distinct texts that are categories for any number of rows
OTHER = "other"


class Column:
    """A column of the table, read on first use. ``kind`` is "category", "number" or "text"."""

    def __init__(self, name: str, values: Any) -> None:
        self.name, self._values = name, values

    def __len__(self) -> int:
        return len(self._values)

    @property
    def is_feature(self) -> bool:
        """Whether it is a column of the session's ``features``."""
        return isinstance(self._values, _Feature)

    @cached_property
    def _read(self) -> tuple[str, NDArray, list[str]]:
        """Kind, codes (−1: missing) or values (NaN: missing), and the categories."""
        if isinstance(self._values, _Feature):
            return "number", self._values.to_numpy().astype(np.float32), []
        read = read_labels(self._values, len(self._values), caller="explore", most=MOST_CODES - 1)
        if isinstance(read, Values):
            return "number", read.values.astype(np.float32), []
        names = [*read.names, *[OTHER] * bool(read.hidden)]
        unique = len(names) > _FEW and len(names) > len(read.codes) / 2
        return "text" if unique else "category", read.codes, names

    @property
    def kind(self) -> str:
        """Kind of the column for display."""
        return "number" if self.is_feature else self._read[0]

    @property
    def categories(self) -> list[str]:
        """Names of the categories, in order; empty for numbers."""
        return [] if self.is_feature else self._read[2]

    @property
    def codes(self) -> NDArray[np.intp]:
        """Category of each row, −1 where it is missing."""
        return self._read[1]

    @property
    def numbers(self) -> NDArray[np.float32]:
        """Value of each row, NaN where it is missing."""
        return self._read[1]

    @property
    def missing(self) -> int:
        """Rows without a value."""
        if isinstance(self._values, _Feature):
            return self._values.missing
        values = self._read[1]
        return int(np.isnan(values).sum() if self.kind == "number" else (values < 0).sum())

    def described(self) -> dict[str, Any]:
        """The column as the page lists it."""
        few = self.categories if self.kind == "category" else None
        described = {"name": self.name, "kind": self.kind, "categories": few, "missing": self.missing}
        return described | {"label": isinstance(self, Labels)}

    def array(self) -> dict[str, NDArray]:
        """The column as it is sent: codes of 8 or 16 bits, all ones for missing, or values."""
        if self.kind == "number":
            return {"values": self.numbers}
        dtype = np.uint8 if len(self.categories) < 255 else np.uint16
        return {"codes": np.where(self.codes < 0, np.iinfo(dtype).max, self.codes).astype(dtype)}

    def texts(self, rows: NDArray) -> list[str]:
        """Cells of a table for these rows."""
        if self.kind == "number":
            return ["" if np.isnan(v) else f"{v:.6g}" for v in np.asarray(self._values[rows], np.float64)]
        names = self.categories
        return ["" if code < 0 else names[code] for code in self.codes[rows].tolist()]

    def raw(self, rows: NDArray) -> list[Any]:
        """Original values of these rows, None where they are missing."""
        if self.kind == "number":
            values = np.asarray(self._values[rows])
            return [None if v != v else v for v in values.tolist()]
        return [text or None for text in self.texts(rows)]

    def matches(self, text: str) -> NDArray[np.bool_]:
        """Rows (n,) whose text holds ``text``, in any case; numbers match ``5``, ``>5`` and ``<5``."""
        if self.kind == "number":
            return _compared(self.numbers, text)
        wanted = text.casefold()
        hit = np.array([wanted in name.casefold() for name in self.categories] + [False])
        return hit[self.codes]


def _compared(values: NDArray[np.float32], text: str) -> NDArray[np.bool_]:
    sign = text[:1] if text[:1] in "<>" else ""
    try:
        number = np.float32(text[len(sign) :])
    except ValueError:
        return np.zeros(len(values), bool)
    return values > number if sign == ">" else values < number if sign == "<" else values == number


class Labels(Column):
    """A column of labels given by the user: a name for some of the rows, none for the others."""

    def __init__(self, name: str, n: int) -> None:
        self.name, self._values = name, None
        self._codes = np.full(n, -1, np.intp)
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def _read(self) -> tuple[str, NDArray, list[str]]:
        return "category", self._codes, self._names

    def put(self, rows: NDArray[np.bool_], name: str | None) -> None:
        """Give rows this label, or remove theirs."""
        codes = self._codes.copy()  # readers see all of the change or none
        if name is None:
            codes[rows] = -1
        else:
            if name not in self._names:
                if len(self._names) >= MOST_CODES:
                    raise ValueError(
                        f"label: at most {MOST_CODES:,} different labels are possible. Use an existing one."
                    )
                self._names = [*self._names, name]
            codes[rows] = self._names.index(name)
        self._codes = codes


def feature_columns(X: Any, names: Sequence[str]) -> dict[str, Column]:
    """Columns of an array or CSR matrix of numbers, by name, read only when used."""
    counts = missing_counts(X)
    return {name: Column(name, _Feature(X, j, int(counts[j]))) for j, name in enumerate(names)}


class _Feature:
    """A column of an array or CSR matrix, extracted when it is read."""

    def __init__(self, X: Any, j: int, missing: int) -> None:
        self._X, self._j, self.missing = X, j, missing

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def __getitem__(self, rows: Any) -> NDArray:
        part = self._X[rows, self._j] if isinstance(self._X, np.ndarray) else self._X[rows][:, [self._j]].toarray()
        return np.asarray(part).ravel()

    def to_numpy(self) -> NDArray:
        """All values."""
        return self[np.arange(len(self))] if not isinstance(self._X, np.ndarray) else np.asarray(self._X[:, self._j])
