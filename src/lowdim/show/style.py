"""Parts common to all plots: colours, axes, and the reading of tables and labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.categories import Categories, Values

Floats = NDArray[np.float64]

# Ten colours, tuned from the Okabe-Ito and Tol sets so that the two closest remain distinct for every kind of
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
# The same for a dark ground (#171b21): 0.12 under every kind of colour vision, contrast of 3.2 and more.
NIGHT = (
    "#3166cb",
    "#db6b3b",
    "#27a39a",
    "#ffec5f",
    "#7fbdff",
    "#a7f2ff",
    "#a47cff",
    "#ffb4a5",
    "#aac403",
    "#9f5556",
)
SEQUENTIAL = "viridis"
DIVERGING = "RdBu_r"
MISSING = "#c3c7cd"  # no label
OTHERS = "#636a75"  # labels beyond the ones named in the legend
INK = "#3c4149"
FAINT = "#d5d8dd"


def new_axes(ax: Any, size: tuple[float, float], *, solid: bool = False) -> Any:
    """The Axes given, or those of a new figure of ``size`` inches; ``solid`` is three-dimensional."""
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
    """Thin grey spines, ticks only if requested."""
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
        raise ValueError(f"scatter: Y must hold finite coordinates; {came}. Drop or correct these rows first.")
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


class Ink:
    """Colours of the samples: by category, by value, or the same for all."""

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
        # without colours, opacity alone shows the range of densities
        floor, share_full = (0.2, 0.998) if self.read is None else (0.4, 0.98)
        full = max(float(np.quantile(count[count > 0], share_full)), 2.0)
        opacity = floor + (1.0 - floor) * np.log(np.maximum(count, 1)) / np.log(full)
        return rgb, np.where(count > 0, np.minimum(opacity, 1.0), 0.0)
