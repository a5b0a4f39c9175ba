"""What all pictures share: the colours, the axes they draw in, and how tables and labels are read."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Ten colours, tuned from the Okabe-Ito and Tol sets so that the two nearest stay apart for every kind of
# colour vision (smallest OKLab distance 0.12 under protanopia and deuteranopia, 0.10 under tritanopia, where
# the eight of Okabe and Ito have 0.08), that none is grey, and that all are seen on white.
PALETTE = (
    "#185ac9",
    "#b2460a",
    "#08968d",
    "#e9c008",
    "#cf72e2",
    "#7ed0e8",
    "#431292",
    "#76001e",
    "#8ca002",
    "#754a7a",
)
SEQUENTIAL = "viridis"
DIVERGING = "RdBu_r"
MISSING = "#c3c7cd"  # no label
OTHERS = "#636a75"  # labels beyond the ones named in the legend
INK = "#3c4149"
FAINT = "#d5d8dd"

MOST_NAMED = 20  # categories that get a colour and a legend entry of their own
MOST_CATEGORIES = 50  # whole numbers with more distinct values than this are a quantity, not a label


@dataclass(frozen=True)
class Categories:
    """Labels as codes into ``names``; ``len(names)`` stands for the ``hidden`` rare ones, -1 for missing."""

    codes: NDArray[np.intp]
    names: tuple[str, ...]
    hidden: int
    title: str


@dataclass(frozen=True)
class Values:
    """A continuous quantity, NaN where missing."""

    values: Floats
    title: str


def new_axes(ax: Any, size: tuple[float, float], *, solid: bool = False) -> Any:
    """The Axes given, or those of a new figure of ``size`` inches; ``solid`` asks for three dimensions."""
    if ax is None:
        import matplotlib.pyplot as plt

        kind = {"projection": "3d"} if solid else {}
        _, ax = plt.subplots(figsize=size, layout="constrained", subplot_kw=kind)
    return ax


def axes_inches(ax: Any) -> tuple[float, float]:
    """Width and height of the Axes on paper."""
    box = ax.get_window_extent()
    dpi = ax.figure.canvas.figure.dpi
    return max(box.width / dpi, 0.1), max(box.height / dpi, 0.1)


def quiet(ax: Any, *, ticks: bool) -> None:
    """Thin grey spines, ticks only when asked for."""
    for spine in ax.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize="small", length=3)
    if not ticks:
        ax.set_xticks([])
        ax.set_yticks([])


def category_colors(n: int) -> Floats:
    """The first ``n`` ≤ 20 colours as RGB rows: the palette, then the same hues mixed with white."""
    from matplotlib.colors import to_rgb

    full = np.array([to_rgb(color) for color in PALETTE])
    return np.vstack([full, 0.55 * full + 0.45])[:n]


def read_table(Y: Any, dims: Sequence[int] | None) -> tuple[Floats, tuple[str, ...]]:
    """The columns to draw and their names (empty for plain arrays)."""
    names = tuple(str(name) for name in Y.columns) if hasattr(Y, "columns") else ()
    table = np.asarray(Y.to_numpy() if hasattr(Y, "to_numpy") else Y)
    if table.ndim != 2:
        raise ValueError(
            f"scatter: Y must have two dimensions (samples, components); got shape {table.shape}. "
            "Reshape one coordinate per sample with Y.reshape(-1, 1)."
        )
    width = table.shape[1]
    if dims is None:
        if not 1 <= width <= 3:
            raise ValueError(
                f"scatter: Y must have 1, 2 or 3 columns; got {width}. Pick those to draw, as in dims=(0, 1)."
            )
        dims = range(width)
    dims = tuple(dims)
    if not 1 <= len(dims) <= 3 or any(not 0 <= i < width for i in dims):
        raise ValueError(
            f"scatter: dims must name 1, 2 or 3 columns between 0 and {width - 1}; got {dims}. "
            "Pass for example dims=(0, 1)."
        )
    points = np.array(table[:, list(dims)], dtype=np.float64)
    bad = int((~np.isfinite(points)).any(axis=1).sum())
    if bad or not len(points):
        came = f"{bad} rows hold NaN or infinity" if bad else "Y has no rows"
        raise ValueError(f"scatter: Y must hold finite coordinates; {came}. Drop or repair these rows first.")
    return points, tuple(names[i] for i in dims) if names else ()


def feature_names(caller: str, model: Any, names: Sequence[str] | None, d: int) -> list[str]:
    """The names given, else those seen by ``fit``, else x0, x1, …."""
    if names is None:
        names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(d)])
    if len(names) != d:
        raise ValueError(
            f"{caller}: names must hold one name per feature ({d}); got {len(names)}. "
            "Pass the column names of the data the model was fitted on."
        )
    return [str(name) for name in names]


def read_labels(
    y: Any, n: int, *, kind: str | None = None, names: Mapping[Any, str] | Sequence[str] | None = None
) -> Categories | Values:
    """Labels as categories or as a quantity.

    The rule: whole numbers with at most 50 distinct values, text, booleans and all other objects are
    categories; all other numbers are a quantity. ``kind`` overrules it. NaN and None are missing.
    """
    title = str(getattr(y, "name", None) or "")
    dtype = getattr(y, "dtype", None)
    order = getattr(dtype, "categories", None)  # pandas' and polars' own order of the labels
    raw = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if raw.shape != (n,):
        raise ValueError(
            f"scatter: y must hold one label per row of Y ({n}); got shape {raw.shape}. "
            "Pass y in the order and number of the rows of Y."
        )
    if kind not in (None, "categories", "values"):
        raise ValueError(f"scatter: kind must be 'categories', 'values' or None; got {kind!r}. Choose one.")
    numbers = _numbers(raw)
    if kind == "values" and numbers is None:
        raise ValueError(f"scatter: kind='values' needs numbers; got {raw.dtype}. Use kind='categories'.")
    if numbers is not None:
        present = np.unique(numbers[np.isfinite(numbers)])
        whole = bool((present == np.round(present)).all()) and len(present) <= MOST_CATEGORIES
        if kind == "values" or (kind is None and not whole):
            return Values(np.where(np.isfinite(numbers), numbers, np.nan), title)
        codes = np.searchsorted(present, numbers).astype(np.intp)
        codes[~np.isfinite(numbers)] = -1
        distinct: list[Any] = [int(v) if v == round(v) else float(v) for v in present.tolist()]
    else:
        codes, distinct = _encode(raw.tolist(), order)
    return _fold_rare(codes, _display(distinct, names), title)


def _fold_rare(codes: NDArray[np.intp], names: tuple[str, ...], title: str) -> Categories:
    """Keep the most frequent categories apart, in their order, and put the others under one code."""
    hidden = max(len(names) - MOST_NAMED, 0)
    if hidden:
        counts = np.bincount(codes[codes >= 0], minlength=len(names))
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_NAMED])
        place = np.full(len(names) + 1, MOST_NAMED, dtype=np.intp)
        place[kept] = np.arange(MOST_NAMED)
        place[-1] = -1
        codes, names = place[codes], tuple(names[i] for i in kept)
    return Categories(codes, names, hidden, title)


def _numbers(raw: NDArray[Any]) -> Floats | None:
    """The labels as floats when all that are present are numbers (booleans are not)."""
    if raw.dtype.kind in "iuf":
        return raw.astype(np.float64)
    if raw.dtype.kind == "O":
        present = [v for v in raw.tolist() if not _is_missing(v)]
        if present and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in present):
            return np.array([np.nan if _is_missing(v) else v for v in raw.tolist()], dtype=np.float64)
    return None


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _encode(labels: list[Hashable], order: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Codes and the distinct labels, in their own order when they bring one, else sorted."""
    seen: dict[Any, int] = {}
    first = np.fromiter((-1 if _is_missing(v) else seen.setdefault(v, len(seen)) for v in labels), np.intp, len(labels))
    distinct = [value for value in order if value in seen] if isinstance(order, Iterable) else []
    distinct += _in_order(list(set(seen).difference(distinct)))
    place = np.full(len(seen) + 1, -1, dtype=np.intp)  # its last entry answers for -1
    for rank, value in enumerate(distinct):
        place[seen[value]] = rank
    return place[first], distinct


def _in_order(distinct: list[Any]) -> list[Any]:
    """Sorted as a reader would: 'b2' before 'b10'."""

    def natural(value: Any) -> list[tuple[int, int, str]]:
        parts = re.split(r"(\d+)", str(value))
        return [(0, int(part), "") if part.isdecimal() else (1, 0, part.casefold()) for part in parts]

    return sorted(distinct, key=natural)


def _display(distinct: list[Any], names: Mapping[Any, str] | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(str(value) for value in distinct)
    if isinstance(names, Mapping):
        return tuple(str(names.get(value, value)) for value in distinct)
    if len(names) != len(distinct):
        raise ValueError(
            f"scatter: names must hold one name per category ({len(distinct)}); got {len(names)}. "
            "Pass them in sorted order of the categories, or a mapping from label to name."
        )
    return tuple(str(name) for name in names)


class Ink:
    """Which colour a sample has: by category, by value, or the same for all."""

    def __init__(self, read: Categories | Values | None, cmap: Any) -> None:
        import matplotlib as mpl
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize, to_rgb, to_rgba_array

        self.read = read
        self.scale: Any = None
        named = category_colors(1)
        if isinstance(read, Values):
            seen = read.values[~np.isnan(read.values)]
            low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
            self.scale = ScalarMappable(Normalize(low, high), SEQUENTIAL if cmap is None else cmap)
        elif read is not None:
            count = len(read.names)
            if cmap is None:
                named = category_colors(count)
            elif isinstance(cmap, (list, tuple)):
                named = np.resize(to_rgba_array(cmap)[:, :3], (count, 3))
            else:
                named = mpl.colormaps.get_cmap(cmap).resampled(count)(range(count))[:, :3]
        # rows: the named categories, the rare ones, the missing (so that code -1 finds the last)
        self.table = np.vstack([named, to_rgb(OTHERS), to_rgb(MISSING)])

    def labelled(self, n: int) -> NDArray[np.bool_]:
        """Which of the ``n`` samples have a label."""
        if isinstance(self.read, Categories):
            return self.read.codes >= 0
        return np.ones(n, dtype=bool) if self.read is None else ~np.isnan(self.read.values)

    def colors(self, n: int) -> Floats:
        """One RGB row per sample."""
        if isinstance(self.read, Categories):
            return self.table[self.read.codes]
        if self.read is None:
            return np.broadcast_to(self.table[0], (n, 3))
        rgb: Floats = self.scale.to_rgba(self.read.values)[:, :3]
        rgb[np.isnan(self.read.values)] = self.table[-1]
        return rgb

    def shade(self, cell: NDArray[np.intp], n_cells: int) -> tuple[Floats, Floats]:
        """Colour (n_cells, 3) and opacity (n_cells,) of cells, from the cell of every sample."""
        everyone = np.bincount(cell, minlength=n_cells)
        mask = self.labelled(len(cell))
        cell = cell[mask]
        count = np.bincount(cell, minlength=n_cells)
        share = 1.0 / np.maximum(count, 1)
        if isinstance(self.read, Values):
            mean = np.bincount(cell, weights=self.read.values[mask], minlength=n_cells) * share
            rgb = self.scale.to_rgba(mean)[:, :3]
        else:
            light = (self.table**2.2)[self.read.codes[mask]] if self.read else self.table[[0]] ** 2.2
            light = np.broadcast_to(light, (len(cell), 3))
            rgb = np.column_stack(
                [np.bincount(cell, weights=light[:, i], minlength=n_cells) * share for i in range(3)]
            ) ** (1 / 2.2)
        rgb[count == 0] = self.table[-1]
        count = np.where(count, count, everyone)
        # where colour carries nothing, opacity alone must show the range of densities
        floor, share_full = (0.2, 0.998) if self.read is None else (0.4, 0.98)
        full = max(float(np.quantile(count[count > 0], share_full)), 2.0)
        opacity = floor + (1.0 - floor) * np.log(np.maximum(count, 1)) / np.log(full)
        return rgb, np.where(count > 0, np.minimum(opacity, 1.0), 0.0)
