"""Arrows on a map: which way each column moves some of its rows."""

from typing import Any

import numpy as np

from lowdim.show import style
from lowdim.show.biplot import draw_arrows
from lowdim.show.scatter import scatter
from lowdim.show.style import Floats

_REACH = 0.22  # length of the longest arrow, relative to the width of the map


def explanation(
    found: Any,
    Y: Any = None,
    y: Any = None,
    *,
    ax: Any = None,
    top: int = 3,
    each: bool = False,
    **looks: Any,
) -> Any:
    """Draw the way rows move when a column grows by one standard deviation.

    All arrows have one scale, which the text below the map gives.

    Parameters
    ----------
    found : Explanation
        Of ``model.explain(rows)``, on a map of two dimensions.
    Y : array (n_samples, 2), optional
        The whole map, drawn behind. The rows explained alone by default.
    y : array (n_samples,), optional
        Colours of the map, as in :func:`scatter`.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    top : int
        Number of columns, those that move the rows most.
    each : bool
        Arrows at each row. By default one for each column, of the median motion, at the median position.
    **looks
        Passed on to :func:`scatter`, such as ``legend=False`` or ``size=8``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import PCA, data, show
    >>> X, y = data.load("iris")
    >>> pca = PCA(2).fit(X)
    >>> ax = show.explanation(pca.explain(X[:5]), pca.transform(X), y, top=2)
    >>> sorted(text.get_text() for text in ax.texts if text.get_text().startswith("x"))
    ['x0', 'x1']
    """
    if found.positions.shape[1] != 2:
        raise ValueError(
            f"explanation: a map of 2 dimensions is needed; got {found.positions.shape[1]}. Fit n_components=2."
        )
    if top < 1:
        raise ValueError(f"explanation: top must be at least 1; got {top}. Ask for one column or more.")
    if not found.resolved.any():
        raise ValueError("explanation: a row with derivatives is needed; none was resolved. Explain other rows.")
    ax = scatter(found.positions if Y is None else Y, y, ax=ax, **({"alpha": 0.35} | looks))
    names = found.table["column"].head(top).to_list()
    columns = [found.columns.index(name) for name in names]
    motion = (found.jacobian * found.scale)[found.resolved][:, :, columns]
    starts = found.positions[found.resolved]
    if not each:
        motion, starts = (np.median(one, axis=0, keepdims=True) for one in (motion, starts))
    longest = np.sqrt((motion**2).sum(axis=1)).max() or 1.0
    factor = _REACH * max(float(np.ptp(ax.get_xlim())), float(np.ptp(ax.get_ylim()))) / longest
    if each:
        handles = [_quiver(ax, starts, factor * motion[:, :, j], name, j) for j, name in enumerate(names)]
        classes = ax.get_legend()
        ax.legend(handles=handles, loc="upper left", frameon=False, fontsize="small")
        if classes is not None:  # a second legend takes the place of the first
            ax.add_artist(classes)
    else:
        draw_arrows(ax, starts[0] + factor * motion[0].T, names, origin=starts[0])
    ax.set_xlabel(f"arrows: one standard deviation of a column, {factor:.3g} times as long", fontsize="x-small")
    return ax


def _quiver(ax: Any, starts: Floats, motion: Floats, name: str, number: int) -> Any:
    """Arrows of one column at several rows."""
    color = style.PALETTE[number % len(style.PALETTE)]
    drawn = ax.quiver(
        *starts.T, *motion.T, angles="xy", scale_units="xy", scale=1, color=color, width=0.003, zorder=4, label=name
    )
    ax.update_datalim(starts + motion)
    return drawn
