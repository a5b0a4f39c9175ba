"""Maps of a sequence, side by side or as a film."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data.categories import Categories, read_labels
from lowdim.show import style
from lowdim.show.scatter import scatter

_SIDE = 3.0  # inches of one of several maps
_ROW = 4
_MARGIN = 0.04  # of the widest map, around all of them
_MOST = 20_000  # points of a film
_REST = 0.6  # seconds on each map


def multiples(
    maps: Any, y: Any = None, *, titles: Sequence[str] | None = None, columns: int | None = None, **drawing: Any
) -> Any:
    """Draw several maps side by side, on one scale, with one legend.

    Parameters
    ----------
    maps : Aligned, or sequence or mapping of arrays of shape (n_samples, 2)
        The maps, such as what :func:`lowdim.aligned` returns, or ``turned`` of a comparison.
    y : array or sequence of arrays, optional
        Labels of the rows of every map, or of each, as :func:`lowdim.show.scatter` takes them.
    titles : sequence of str, optional
        Titles; the names or numbers of the maps by default.
    columns : int, optional
        Maps in a row; by default four, or as many as make the figure about twice as wide as high.
    **drawing
        Further parameters of :func:`lowdim.show.scatter`, such as ``size``.

    Returns
    -------
    matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lowdim
    >>> from lowdim import show
    >>> X, y = lowdim.data.load("iris")
    >>> figure = show.multiples([lowdim.PCA(2).fit_transform(X), lowdim.MDS(random_state=0).fit_transform(X)], y)
    >>> len([ax for ax in figure.axes if ax.get_title()])
    2
    """
    import matplotlib.pyplot as plt

    if isinstance(maps, Mapping):
        titles, maps = titles or list(maps), list(maps.values())
    points = _plane("multiples", maps)
    labels = _labels_of_each("multiples", y, points)
    names = [str(number) for number in range(1, len(points) + 1)] if titles is None else [str(one) for one in titles]
    if len(names) != len(points):
        raise ValueError(f"multiples: a title is needed for each of the {len(points)} maps; got {len(names)}.")
    across = min(columns or max(_ROW, int(np.ceil(np.sqrt(2 * len(points))))), len(points))
    down = -(-len(points) // across)
    across = across if columns else -(-len(points) // down)  # rows of one length
    figure, grid = plt.subplots(
        down, across, figsize=(_SIDE * across, _SIDE * down + 0.2), squeeze=False, layout="constrained"
    )
    low, high = _box(points)
    for ax, Y, one, name in zip(grid.flat, points, labels, names, strict=False):
        scatter(Y, one, ax=ax, title=name, legend=False, **drawing)
        ax.set_aspect("equal", "box")
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
    for ax in grid.flat[len(points) :]:
        ax.set_axis_off()
    _one_legend(figure, labels, points)
    return figure


def film(
    maps: Any, file: Any, y: Any = None, *, seconds: float = 1.0, rate: int = 20, size: float | None = None
) -> Path:
    """Write a film of a sequence of maps, in which shared rows move from one to the next.

    Rows that come appear, rows that go fade.

    Parameters
    ----------
    maps : Aligned
        What :func:`lowdim.aligned` returns.
    file : str or path-like
        Ends in ``.gif``.
    y : sequence of arrays, optional
        Labels of the rows of each map.
    seconds : float
        Time from one map to the next.
    rate : int
        Pictures per second.
    size : float, optional
        Marker area in points².

    Returns
    -------
    Path
        The file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    from lowdim.work.atomic_files import atomic

    path = Path(file).expanduser()
    if path.suffix.lower() != ".gif":
        raise ValueError(f"film: the file must end in .gif; got {str(file)!r}. Change the ending.")
    points = _plane("film", maps)
    if not hasattr(maps, "tracks"):
        raise ValueError("film: maps with relations are needed, as lowdim.aligned returns them; got arrays.")
    lines = maps.tracks()
    if len(lines) > _MOST:
        lines = lines[np.sort(np.random.default_rng(0).permutation(len(lines))[:_MOST])]
    places = np.full((*lines.shape, 2), np.nan)
    for t, Y in enumerate(points):
        here = lines[:, t] >= 0
        places[here, t] = Y[lines[here, t]]
    colors = _track_colors(lines, _labels_of_each("film", y, points))
    figure = Figure(figsize=(6, 6), layout="constrained", dpi=80)
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    low, high = _box(points)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal", "box")
    style.quiet(ax, ticks=False)
    across, up = np.nan_to_num(places[:, 0]).T
    dots = ax.scatter(across, up, s=size or 6, c=colors, linewidths=0)
    steps = max(2, round(seconds * rate))
    pictures = []
    for t in range(len(points)):
        for step in range(steps if t + 1 < len(points) else 1):
            share = step / steps
            eased = share * share * (3 - 2 * share)
            a, b = places[:, t], places[:, min(t + 1, len(points) - 1)]
            absent, gone = np.isnan(a[:, 0]), np.isnan(b[:, 0])
            now = np.where((absent | gone)[:, None], np.where(absent[:, None], b, a), (1 - eased) * a + eased * b)
            shown = np.where(absent, eased, np.where(gone, 1 - eased, 1.0)) * ~np.isnan(now[:, 0])
            dots.set_offsets(np.nan_to_num(now))
            dots.set_facecolor(np.column_stack([colors[:, :3], colors[:, 3] * shown]))
            ax.set_title(str(t + 1 + round(share)), fontsize="medium")
            canvas.draw()
            picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
            pictures.append(picture.quantize(128))
    times = [round(1000 / rate)] * len(pictures)
    for rest in range(0, len(pictures), steps):
        times[rest] = round(1000 * _REST)
    with atomic(path) as made:
        pictures[0].save(made, format="GIF", save_all=True, append_images=pictures[1:], duration=times, loop=0)
    return path


def _plane(caller: str, maps: Any) -> list[style.Floats]:
    """The maps as arrays of two columns."""
    points = [np.asarray(Y, np.float64) for Y in maps]
    if not points or any(Y.ndim != 2 or Y.shape[1] != 2 for Y in points):
        shapes = [Y.shape for Y in points]
        raise ValueError(
            f"{caller}: maps of two columns are needed; got shapes {shapes}. Pass others, or select columns."
        )
    return points


def _box(points: list[style.Floats]) -> tuple[style.Floats, style.Floats]:
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    half = (0.5 + _MARGIN) * float((high - low).max() or 1.0)
    return (low + high) / 2 - half, (low + high) / 2 + half


def _labels_of_each(caller: str, y: Any, points: list[style.Floats]) -> list[Any]:
    """Labels of each map."""
    if y is None:
        return [None] * len(points)
    each = list(y) if isinstance(y, list | tuple) and len(y) == len(points) and hasattr(y[0], "__len__") else None
    if each is None or isinstance(y[0], str):
        each = [y] * len(points)
    for number, (one, Y) in enumerate(zip(each, points, strict=True), 1):
        if len(one) != len(Y):
            raise ValueError(
                f"{caller}: map {number} has {len(Y)} rows and {len(one)} labels. Pass labels of each map."
            )
    return each


def _one_legend(figure: Any, labels: list[Any], points: list[style.Floats]) -> None:
    """The legend of all maps, drawn by a map of all their labels."""
    if labels[0] is None:
        return
    every = np.concatenate([np.asarray(one) for one in labels])
    read = read_labels(every, len(every))
    if not isinstance(read, Categories):
        return
    import matplotlib.pyplot as plt

    spare = plt.figure()
    drawn = scatter(np.concatenate(points), every, ax=spare.add_subplot())
    legend = drawn.get_legend()
    handles, texts = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
    figure.legend(handles, texts, loc="outside right upper", fontsize="small", frameon=False)
    plt.close(spare)


def _track_colors(lines: Any, labels: list[Any]) -> style.Floats:
    """Colour of each row that is followed."""
    if labels[0] is None:
        read = None
    else:
        first = np.argmax(lines >= 0, axis=1)
        values = np.empty(len(lines), dtype=object)
        for t, one in enumerate(labels):
            here = np.flatnonzero(first == t)
            values[here] = np.asarray(one)[lines[here, t]]
        read = read_labels(np.array(values.tolist()), len(lines))
    found = np.array(style.Ink(read, None).colors(len(lines)), np.float64)
    return found if found.shape[1] == 4 else np.column_stack([found, np.ones(len(found))])
