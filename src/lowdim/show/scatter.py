"""Maps: an embedding of one, two or three dimensions, coloured by labels or by a quantity.

Up to 50,000 points every sample is a marker. Beyond that markers would only hide each other, so the
plane (or the space) is divided into small cells, and each cell is shaded: its colour is the mean of its samples'
colours in linear light, its opacity grows with the logarithm of their number. No sample is left out, a single
sample is still visible, and a million points take about a second and the size of one small image.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.data.categories import MOST_NAMED, Categories, Values, read_labels
from lowdim.show import style
from lowdim.show.names_on_map import by_island, colors_by_place, named_islands, write_names
from lowdim.show.style import Floats

MOST_MARKERS = 50_000
CELLS_PER_INCH = 75
_ENTRY = 0.18  # inches per entry of the legend
MARKERS = ("o", "^")  # the second ten categories also differ by shape


def scatter(
    Y: Any,
    y: Any = None,
    *,
    ax: Any = None,
    dims: Sequence[int] | None = None,
    kind: str | None = None,
    names: Mapping[Any, str] | Sequence[str] | None = None,
    labels: bool | str = False,
    about: Any = None,
    title: str | None = None,
    legend: bool = True,
    size: float | None = None,
    alpha: float | None = None,
    cmap: Any = None,
    ticks: bool = False,
) -> Any:
    """Draw an embedding as a map.

    Parameters
    ----------
    Y : array or DataFrame of shape (n_samples, 1, 2 or 3)
        The embedding. Column names of a DataFrame become axis labels. One column is drawn as strips that
        are as wide as the samples are dense, one strip per category.
    y : array or Series of shape (n_samples,), optional
        Whole numbers with at most 50 distinct values, text, booleans and other objects are categories and
        get a legend; all other numbers are a quantity and get a colour bar. Samples whose label is NaN or
        None are drawn grey, beneath the others. Of more than 20 categories the 20 most frequent are named
        and coloured, the rest share one grey.
    ax : matplotlib Axes, optional
        Where to draw; three columns need one with ``projection="3d"``. A new figure by default.
    dims : sequence of int, optional
        The columns of ``Y`` to draw, needed when it has more than three.
    kind : {"categories", "values"}, optional
        Overrides how ``y`` is interpreted.
    names : mapping or sequence of str, optional
        Names of the categories, by label or in sorted order of the labels.
    labels : bool or "auto"
        Write the name of each category at the median of its samples. "auto" names the dense parts of the map, as
        :func:`lowdim.quality.islands` does, large ones first, where there is room; without ``y`` they are coloured,
        too, by their direction from the middle of the map.
    about : texts, labels or a table of the same rows, optional
        What automatic names are made of: terms of texts, or columns of a table. ``y`` by default.
    title : str, optional
        Title of the plot.
    legend : bool
        Whether to draw the legend or the colour bar.
    size, alpha : float, optional
        Marker area in points² and opacity; chosen by the number of samples and the size of the Axes. A given
        ``size`` always draws markers.
    cmap : colour map, its name, or a sequence of colours (categories), optional
        Replaces viridis for a quantity or the colour-blind-safe palette for categories.
    ticks : bool
        Whether to draw ticks. An embedding has no units, so the default is none.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import show
    >>> ax = show.scatter([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], ["a", "b", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    points, columns = style.read_table(Y, dims)
    n, width = points.shape
    if labels not in (True, False, "auto") or (labels == "auto" and y is None and about is None):
        came = "no y and no about" if labels == "auto" else repr(labels)
        raise ValueError(
            f"scatter: labels must be True, False or 'auto', which needs y or about; got {came}. Pass the texts, the "
            "table or the labels that names are made of."
        )
    if labels == "auto" and width == 1:
        raise ValueError("scatter: labels='auto' needs two or three columns; got 1. Pass labels=False.")
    read = None if y is None else read_labels(y, n, kind=kind, names=names)
    solid = width == 3
    if ax is not None and (ax.name == "3d") != solid:
        need = ("3-D", 'Make them with projection="3d"') if solid else ("plain", "Pass plain Axes")
        raise ValueError(
            f"scatter: {width} columns need {need[0]} Axes; got Axes of kind {ax.name!r}. "
            f"{need[1]}, or pick other columns with dims."
        )
    rows = len(_entries(read)) if isinstance(read, Categories) else 1
    height = 4.8 if width > 1 else float(np.clip(0.6 + 0.4 * rows, 2.0, 6.0))
    ax = style.new_axes(ax, (6.4, height), solid=solid)
    if width == 1:
        points = strips(points[:, 0], read)
    _frame(ax, columns, read, strips=width == 1, ticks=ticks)
    if title is not None:
        ax.set_title(title, fontsize="medium")
    islands = named_islands(points, y if about is None else about) if labels == "auto" else []
    if islands and read is None and cmap is None:
        ink = style.Ink(by_island(islands, n), list(colors_by_place(islands, points)))
    else:
        ink = style.Ink(read, cmap)
    # Legend and colour bar are placed first: cells and markers are sized by the space that is left.
    markers = n <= MOST_MARKERS or size is not None
    if isinstance(read, Categories) and width > 1:
        if legend:
            _add_legend(ax, read, ink, shapes=markers)
        if labels is True:
            _name_on_map(ax, points, read)
    elif legend and ink.scale is not None and isinstance(read, Values):
        bar = ax.figure.canvas.figure.colorbar(ink.scale, ax=ax, shrink=0.8, aspect=30, label=read.title)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize="small", length=2)
    if markers:
        _draw_markers(ax, points, ink, size, alpha)
    elif solid:
        _shade_space(ax, points, ink, alpha)
    else:
        _shade_plane(ax, points, ink, alpha)
    write_names(ax, islands)
    if solid:
        spans = np.abs(np.diff([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)).ravel()
        ax.set_box_aspect(spans, zoom=1.1)  # equal aspect; it needs the limits, so it comes last
    return ax


def _draw_markers(ax: Any, points: Floats, ink: style.Ink, size: float | None, alpha: float | None) -> None:
    """One marker per sample: the missing first, the others shuffled so that no category covers another."""
    n = len(points)
    width, height = style.axes_inches(ax)
    if size is None:
        size = float(np.clip(600.0 / np.sqrt(n), 2.0, 45.0) * np.clip(width * height / 20.0, 0.15, 2.0))
    if alpha is None:
        alpha = float(np.clip(1.2 - 0.15 * np.log10(n), 0.4, 0.9))
    rgb, mask = ink.colors(n), ink.labelled(n)
    order = np.random.default_rng(0).permutation(n)
    shape = np.where(mask, 0, -1)
    if isinstance(ink.read, Categories) and ink.read is not None and len(ink.read.names) <= MOST_NAMED:
        shape = np.where(mask, (ink.read.codes // len(style.PALETTE)) % 2, -1)
        shape[ink.read.codes == len(ink.read.names)] = 0
    for mark in (-1, 0, 1):
        chosen = order[shape[order] == mark]
        if len(chosen):
            ax.scatter(
                *points[chosen].T, c=rgb[chosen], s=size, alpha=alpha, marker=MARKERS[max(mark, 0)],
                linewidths=0, zorder=1.5 if mark < 0 else 2.0, rasterized=n > 5000,
            )  # fmt: skip


def _shade_plane(ax: Any, points: Floats, ink: style.Ink, alpha: float | None) -> None:
    """The samples as one image whose cells are about a third of a millimetre."""
    low = points.min(axis=0)
    span = np.maximum(np.ptp(points, axis=0), 1e-12 * np.maximum(np.abs(points).max(axis=0), 1e-300))
    step = span / (np.array(style.axes_inches(ax)) * CELLS_PER_INCH)
    if ax.get_aspect() != "auto":
        step[:] = step.max()
    low = low - step / 2  # the outermost samples lie in the middle of their cells
    index = ((points - low) / step).astype(np.intp)
    shape = index.max(axis=0) + 1
    rgb, opacity = ink.shade(index[:, 1] * shape[0] + index[:, 0], int(shape.prod()))
    image = np.column_stack([rgb, opacity * (1.0 if alpha is None else alpha)]).reshape(shape[1], shape[0], 4)
    high = low + shape * step
    drawn = ax.imshow(
        (image * 255).round().astype(np.uint8), extent=(low[0], high[0], low[1], high[1]), origin="lower",
        aspect=ax.get_aspect(), interpolation="nearest", zorder=2.0,
    )  # fmt: skip
    drawn.sticky_edges.x.clear()  # leave the usual margin, and space for existing content
    drawn.sticky_edges.y.clear()
    ax.autoscale_view()


def _shade_space(ax: Any, points: Floats, ink: style.Ink, alpha: float | None) -> None:
    """The samples as cubes, one marker each, as small as their number allows."""
    low = points.min(axis=0)
    span = float(np.ptp(points, axis=0).max()) or 1.0
    for cells in (128, 90, 64, 45, 32):
        index = ((points - low) * (cells / span)).astype(np.intp)
        full, cell = np.unique(
            (index[:, 0] * (cells + 1) + index[:, 1]) * (cells + 1) + index[:, 2], return_inverse=True
        )
        if len(full) <= MOST_MARKERS:
            break
    rgb, opacity = ink.shade(cell, len(full))
    count = np.bincount(cell)
    centre = np.column_stack([np.bincount(cell, weights=column) / count for column in points.T])
    rgba = np.column_stack([rgb, 0.6 * opacity * (1.0 if alpha is None else alpha)])
    area = (min(style.axes_inches(ax)) * 0.6 * 72 / cells) ** 2
    ax.scatter(*centre.T, c=rgba, s=max(area, 1.0), linewidths=0, rasterized=True)


def strips(x: Floats, read: Categories | Values | None) -> Floats:
    """Give samples on a line a second coordinate: the row of their category, spread by their density."""
    rows = np.zeros(len(x), dtype=np.intp)
    if isinstance(read, Categories):
        rows = np.where(read.codes < 0, len(read.names) + bool(read.hidden), read.codes)
    edges = np.linspace(x.min(), x.max() or 1.0, 65) if np.ptp(x) else np.linspace(x[0] - 1, x[0] + 1, 65)
    height = np.zeros(len(x))
    bell = np.exp(-0.5 * (np.arange(-6, 7) / 2.0) ** 2)
    for row in np.unique(rows):
        chosen = np.flatnonzero(rows == row)
        dense = np.convolve(np.histogram(x[chosen], edges)[0], bell, mode="same")
        wide = np.interp(x[chosen], (edges[1:] + edges[:-1]) / 2, dense / dense.max())
        # steps of the golden ratio fill the strip evenly and reproducibly
        turn = np.empty(len(chosen))
        turn[np.argsort(x[chosen], kind="stable")] = (np.arange(1, len(chosen) + 1) * 0.6180339887498949) % 1.0
        height[chosen] = (turn - 0.5) * 0.8 * wide
    return np.column_stack([x, height - rows])


def _frame(
    ax: Any,
    columns: tuple[str, ...],
    read: Categories | Values | None,
    *,
    strips: bool,
    ticks: bool,
) -> None:
    """Limits, aspect, ticks and axis labels."""
    style.quiet(ax, ticks=ticks)
    if ax.name == "3d":
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_pane_color((0.97, 0.97, 0.98, 1.0))
            axis.line.set_color(style.FAINT)
            if not ticks:
                axis.set_ticks([])
    if strips:
        names = [entry for _, entry in _entries(read)] if isinstance(read, Categories) else []
        ax.set_yticks([-row for row in range(len(names))], names)
        ax.tick_params(axis="y", length=0)
        if names and read is not None:
            ax.set_ylabel(read.title, color=style.INK, fontsize="small")
    elif ax.name != "3d":
        fixed = not ax.get_autoscale_on() or all(
            len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes())
        )
        ax.set_aspect("equal", adjustable="box" if fixed else "datalim")
    for letter, name in zip("xyz", columns, strict=False):
        pad = -10.0 if ax.name == "3d" and not ticks else 4.0
        getattr(ax, f"set_{letter}label")(name, color=style.INK, fontsize="small", labelpad=pad)


def _entries(read: Categories) -> list[tuple[int, str]]:
    """Code and text of every legend entry."""
    entries = list(enumerate(read.names))
    if read.hidden:
        entries.append((len(read.names), f"… and {read.hidden} more"))
    if (read.codes < 0).any():
        entries.append((-1, "no label"))
    return entries


def _add_legend(ax: Any, read: Categories, ink: style.Ink, *, shapes: bool) -> None:
    """A legend to the right of the Axes, where it hides nothing."""
    from matplotlib.lines import Line2D

    handles = []
    for code, text in _entries(read):
        second = shapes and len(style.PALETTE) <= code < len(read.names)
        handles.append(
            Line2D([], [], linestyle="", marker=MARKERS[second], color=ink.table[code], label=text, markersize=6)
        )
    figure = ax.figure.canvas.figure
    placed = figure.get_layout_engine() is None or len(figure.axes) > 1
    room = style.axes_inches(ax)[1] if placed else 0.95 * figure.get_figheight()  # Axes alone will fill the figure
    tall = (len(handles) + bool(read.title)) * _ENTRY > room
    legend = ax.legend(
        handles=handles, title=read.title or None, loc="upper left", bbox_to_anchor=(1.01, 1.0),
        ncols=1 + tall, columnspacing=1.0, frameon=False, fontsize="small", title_fontsize="small", borderaxespad=0.0,
        handletextpad=0.3, alignment="left",
    )  # fmt: skip
    if figure.get_layout_engine() is None:  # no layout engine makes space, so the Axes shrink
        taken = legend.get_window_extent().width / figure.bbox.width
        box = ax.get_position(original=True)
        ax.set_position([box.x0, box.y0, max(box.width - taken - 0.01, 0.3 * box.width), box.height])


def _name_on_map(ax: Any, points: Floats, read: Categories) -> None:
    """The name of each category at the median of its samples."""
    from matplotlib.patheffects import withStroke

    for code, name in enumerate(read.names):
        ax.text(
            *np.median(points[read.codes == code], axis=0), name, ha="center", va="center", zorder=5,
            color="#1b1e23", fontweight="bold", fontsize="medium" if len(read.names) <= 10 else "small",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip
