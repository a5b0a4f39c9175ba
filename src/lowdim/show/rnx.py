"""R_NX curves: how well embeddings preserve neighbourhoods, from the smallest to the whole data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.show import style

LINES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))  # for the first, second and third ten curves


def rnx(
    X: Any,
    Y: Any,
    *,
    ax: Any = None,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
) -> Any:
    """Draw R_NX(K), the share of the K nearest neighbours that an embedding keeps beyond chance, for every K.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data.
    Y : array of shape (n_samples, n_components), or mapping of str to such arrays
        One embedding, or several by name, such as ``Comparison.embeddings``.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    metric, sample, random_state
        As in :func:`lowdim.quality.rnx_curve`.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. 1 is perfect, 0 what a random map keeps; K has a logarithmic axis. The
        legend has the area under each curve. Bands are two standard errors, where rows were sampled.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import PCA, data, show
    >>> X, _ = data.load("iris")
    >>> maps = {f"{k} components": PCA(k).fit_transform(X) for k in (1, 2)}
    >>> [text.get_text() for text in show.rnx(X, maps).get_legend().get_texts()]
    ['2 components, 0.69', '1 components, 0.48']
    """
    from lowdim import quality

    maps = Y if isinstance(Y, Mapping) else {"": Y}
    if not maps:
        raise ValueError("rnx: at least one embedding is needed; got an empty mapping. Pass Y, or names and arrays.")
    curves = {
        name: quality.rnx_curve(X, one, metric=metric, sample=sample, random_state=random_state, return_error=True)
        for name, one in maps.items()
    }
    ax = style.new_axes(ax, (6.4, 4.0))
    style.quiet(ax, ticks=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    colors = np.resize(style.category_colors(10), (len(curves), 3))
    areas = {name: _area(curve) for name, (curve, _) in curves.items()}
    order = sorted(range(len(curves)), key=lambda i: -list(areas.values())[i])
    for i in order:  # best first in the legend
        name, (curve, error) = list(curves.items())[i]
        K = np.arange(1, len(curve) + 1)
        few = np.unique(np.geomspace(1, len(curve), 400).round().astype(int)) - 1
        label = f"{name}, {areas[name]:.2f}" if name else f"area {areas[name]:.2f}"
        line = LINES[i // 10 % len(LINES)]
        ax.plot(K[few], curve[few], color=colors[i], linewidth=1.8, linestyle=line, label=label)
        if error.any():
            low, high = curve - 2 * error, curve + 2 * error
            ax.fill_between(K[few], low[few], high[few], color=colors[i], alpha=0.15, linewidth=0)
    ax.set_xscale("log")
    ax.set_xlim(1, max(len(curve) for curve, _ in curves.values()))
    ax.set_ylim(min(0.0, *(float(curve.min()) for curve, _ in curves.values())), 1.0)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("neighbours, K", color=style.INK, fontsize="small")
    ax.set_ylabel("R_NX(K): neighbours kept beyond chance", color=style.INK, fontsize="small")
    outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0} if len(curves) > 4 else {}
    ax.legend(frameon=False, fontsize="small", **({"loc": "best"} | outside))
    return ax


def _area(curve: np.ndarray) -> float:
    """Area under the curve over the logarithm of K, as in :func:`lowdim.quality.rnx_auc`."""
    weights = 1.0 / np.arange(1, len(curve) + 1)
    return float(curve @ weights / weights.sum())
