"""Components of a linear model: images where features are pixels, bars otherwise."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from lowdim.show import style
from lowdim.show.style import Floats

POSITIVE, NEGATIVE = "#b2182b", "#2166ac"  # the two ends of the diverging colour map
GAP, CAPTION = 0.06, 0.2  # in widths and heights of one image


def components(
    model: Any,
    *,
    ax: Any = None,
    image_shape: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    n: int | None = None,
    top: int = 6,
    mean: bool = True,
) -> Any:
    """Draw the components of a fitted linear model.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``components_`` of shape (n_components, n_features).
    ax : matplotlib Axes, optional
        Where to draw; all images share this one. A new figure by default.
    image_shape : (height, width), optional
        Draws each component as an image of this shape: red where it is positive, blue where negative,
        white at zero, each scaled by its largest loading. Without it, the loadings of largest magnitude are
        drawn as bars.
    names : sequence of str, optional
        Names of the features; those seen by ``fit`` by default.
    n : int, optional
        Number of components; 15 images or 3 groups of bars by default, fewer if the model has fewer.
    top : int
        Bars per component.
    mean : bool
        Start the images with the mean sample, in grey, where the model has a ``mean_``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from lowdim import show
    >>> ax = show.components(PCA(5).fit(load_digits().data), image_shape=(8, 8))
    >>> len(ax.images)  # the mean and five components
    6
    """
    if not hasattr(model, "components_"):
        raise ValueError(
            f"components: the model must be fitted and have components_; {type(model).__name__} has none. "
            "Call fit first, or use a linear method."
        )
    loadings = np.array(model.components_, dtype=np.float64)
    wanted = (3 if image_shape is None else 15) if n is None else n
    if not all(isinstance(count, Integral) and count >= 1 for count in (wanted, top)):
        raise ValueError(
            f"components: n and top must be integers of at least 1; got n={n}, top={top}. Ask for one or more."
        )
    loadings = loadings[:wanted]
    captions = _captions(model, len(loadings))
    if image_shape is None:
        return _draw_bars(
            ax, loadings, captions, style.feature_names("components", model, names, loadings.shape[1]), top
        )
    sides = np.atleast_1d(image_shape)
    if len(sides) != 2 or np.any(sides < 1) or int(np.prod(sides)) != loadings.shape[1]:
        raise ValueError(
            f"components: image_shape must be (height, width) with {loadings.shape[1]} pixels in all, one "
            f"per feature; got {image_shape}. Pass the shape of one sample's image."
        )
    middle = getattr(model, "mean_", None) if mean else None
    middle = None if middle is None else np.asarray(middle, dtype=np.float64)
    return _draw_pictures(ax, loadings, captions, middle, (int(image_shape[0]), int(image_shape[1])))


def _captions(model: Any, n: int) -> list[str]:
    """The name of each output column, with its share of the variance if the model has it."""
    columns = [f"{type(model).__name__.lower()}{i}" for i in range(n)]
    shares = getattr(model, "explained_variance_ratio_", None)
    if shares is None:
        return columns
    return [f"{column}, {100 * share:.1f} %" for column, share in zip(columns, shares, strict=False)]


def _draw_pictures(
    ax: Any, loadings: Floats, captions: list[str], middle: Floats | None, shape: tuple[int, int]
) -> Any:
    """A grid of images inside one Axes, the captions above them."""
    tiles = list(loadings) if middle is None else [middle, *loadings]
    captions = captions if middle is None else ["mean", *captions]
    tall = shape[0] / shape[1]  # height of an image of width 1
    step_x, step_y = 1.0 + GAP, tall + CAPTION
    box = (6.4, 5.2) if ax is None else style.axes_inches(ax)
    columns = _columns(len(tiles), step_x, step_y, box)
    rows = -(-len(tiles) // columns)
    width, height = columns * step_x - GAP, rows * step_y
    if ax is None:
        inches = min(6.4 / width, 8.0 / height)
        ax = style.new_axes(None, (max(width * inches, 1.5) + 0.2, height * inches + 0.2))
    inch = min(box[0] / width, box[1] / height)
    # three fifths of the caption's height, and never wider than the image
    longest = max(len(caption) for caption in captions)
    points = float(np.clip(min(0.6 * CAPTION * inch * 72, inch * 72 / (0.58 * longest)), 3.0, 10.0))
    for i, (tile, caption) in enumerate(zip(tiles, captions, strict=True)):
        left, upper = (i % columns) * step_x, (i // columns) * step_y + CAPTION
        grey = middle is not None and i == 0
        limit = float(np.abs(tile).max()) or 1.0
        ax.imshow(
            tile.reshape(shape),
            cmap="gray" if grey else style.DIVERGING,
            vmin=None if grey else -limit,
            vmax=None if grey else limit,
            extent=(left, left + 1.0, upper + tall, upper),
            interpolation="nearest" if max(shape) < 32 else "auto",
        )
        ax.text(
            left + 0.5,
            upper - 0.2 * CAPTION,
            caption,
            ha="center",
            va="bottom",
            fontsize=points,
            color=style.INK,
        )
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)
    ax.set_aspect("equal", anchor="N")
    ax.set_axis_off()
    return ax


def _columns(n: int, step_x: float, step_y: float, box: tuple[float, float]) -> int:
    """Number of images per row that makes them largest in the box."""

    def scale(columns: int) -> float:
        return min(box[0] / (columns * step_x), box[1] / (-(-n // columns) * step_y))

    return max(range(1, n + 1), key=scale)


def _draw_bars(ax: Any, loadings: Floats, captions: list[str], names: list[str], top: int) -> Any:
    """Groups of horizontal bars, one group per component, its largest loadings from the top down."""
    from matplotlib.ticker import MaxNLocator

    per = min(top, loadings.shape[1])
    ax = style.new_axes(ax, (6.4, 0.6 + 0.24 * len(loadings) * (per + 1.6)))
    style.quiet(ax, ticks=True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    positions: list[float] = []
    ticks: list[str] = []
    for j, row in enumerate(loadings):
        chosen = np.argsort(-np.abs(row), kind="stable")[:per]
        start = j * (per + 1.6)
        at = start + np.arange(per)
        ax.barh(at, row[chosen], height=0.75, color=[POSITIVE if v > 0 else NEGATIVE for v in row[chosen]])
        ax.text(
            0.0, start - 0.65, captions[j], transform=ax.get_yaxis_transform(), va="bottom", fontsize="small",
            fontweight="bold", color=style.INK,
        )  # fmt: skip
        positions += at.tolist()
        ticks += [names[i] for i in chosen]
    ax.axvline(0.0, color=style.INK, linewidth=0.8)
    ax.set_yticks(positions, ticks)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(positions[-1] + 0.7, -1.7)
    limit = 1.05 * float(np.abs(loadings).max() or 1.0)
    ax.set_xlim(-limit, limit)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, symmetric=True))
    ax.set_xlabel("loading", color=style.INK, fontsize="small")
    return ax
