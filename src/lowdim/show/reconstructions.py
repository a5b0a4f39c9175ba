"""Reconstructions of images: the originals above, below their reconstructions from few components."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.show import style
from lowdim.show.style import Floats

GAP = 0.06  # between images, in widths of one
ROUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # numbers of components to choose from


def reconstructions(
    model: Any,
    X: Any,
    *,
    image_shape: tuple[int, int],
    counts: Sequence[int] | None = None,
    ax: Any = None,
    n: int = 8,
) -> Any:
    """Draw images and their reconstructions from a growing number of components.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``transform`` and ``inverse_transform``.
    X : array of shape (n_samples, n_features)
        The images, one per row; the first ``n`` are drawn.
    image_shape : (height, width)
        Shape of one image.
    counts : sequence of int, optional
        Numbers of components, one row of images each. A linear model needs only one fit: the scores beyond the number
        are set to zero. By default four steps up to all of them; other models use all components only.
    ax : matplotlib Axes, optional
        Where to draw; all images share this one. A new figure by default.
    n : int
        Maximum number of images.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. All images have the grey scale of the originals.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import PCA, data, show
    >>> X, _ = data.load("digits")
    >>> ax = show.reconstructions(PCA(20).fit(X), X, image_shape=(8, 8), counts=(2, 20))
    >>> [text.get_text() for text in ax.texts]
    ['original', '2', '20']
    """
    if not hasattr(model, "inverse_transform"):
        raise ValueError(
            f"reconstructions: a model with inverse_transform is needed; {type(model).__name__} has none. "
            "Use PCA, KLExpansion, KernelPCA(fit_inverse_transform=True) or an autoencoder."
        )
    if n < 1:
        raise ValueError(f"reconstructions: n must be at least 1; got {n}. Ask for one image or more.")
    rows = np.asarray(X[:n])
    if len(image_shape) != 2 or image_shape[0] * image_shape[1] != rows.shape[1]:
        raise ValueError(
            f"reconstructions: image_shape must be (height, width) with {rows.shape[1]} pixels in all, one per "
            f"feature; got {image_shape}. Pass the shape of one sample's image."
        )
    Y = np.asarray(model.transform(rows))
    counts = _steps(model, Y.shape[1]) if counts is None else tuple(counts)
    if not counts or not all(1 <= k <= Y.shape[1] for k in counts):
        raise ValueError(
            f"reconstructions: counts must be between 1 and the {Y.shape[1]} components of the model; got {counts}. "
            "Fit more components, or ask for fewer."
        )
    if not hasattr(model, "components_") and any(k != Y.shape[1] for k in counts):
        raise ValueError(
            f"reconstructions: only linear models can reconstruct from fewer components; got counts {counts} with "
            f"{type(model).__name__}, which has {Y.shape[1]}. Leave counts out."
        )
    strips = [rows.astype(np.float64)]
    for k in counts:
        kept = Y.copy()
        kept[:, k:] = 0.0
        strips.append(np.asarray(model.inverse_transform(kept), dtype=np.float64))
    return _draw(ax, strips, ["original", *map(str, counts)], image_shape)


def _steps(model: Any, most: int) -> tuple[int, ...]:
    """Numbers of components to draw: for linear models three round ones below the total, and the total."""
    below = [k for k in ROUNDS if k < most] if hasattr(model, "components_") else []
    chosen = sorted({below[round(i)] for i in np.linspace(0, len(below) - 1, min(3, len(below)))})
    return (*chosen, most)


def _draw(ax: Any, strips: list[Floats], captions: list[str], shape: tuple[int, int]) -> Any:
    """One image that holds all others, with the names of its rows on the left."""
    height, width = shape
    gap = max(1, round(GAP * width))
    n = len(strips[0])
    canvas = np.full((len(strips) * (height + gap) - gap, n * (width + gap) - gap), np.nan)
    for i, strip in enumerate(strips):
        for j, picture in enumerate(strip):
            top, left = i * (height + gap), j * (width + gap)
            canvas[top : top + height, left : left + width] = picture.reshape(shape)
    tall = canvas.shape[0] / canvas.shape[1]
    ax = style.new_axes(ax, (6.4, float(np.clip(6.0 * tall, 1.2, 9.0))))
    low, high = float(strips[0].min()), float(strips[0].max())
    ax.imshow(canvas, cmap="gray", vmin=low, vmax=high, interpolation="nearest" if max(shape) < 32 else "auto")
    for i, caption in enumerate(captions):
        ax.text(
            -gap - 0.02 * canvas.shape[1], i * (height + gap) + height / 2, caption, ha="right", va="center",
            fontsize="small", color=style.INK,
        )  # fmt: skip
    ax.set_axis_off()
    return ax
