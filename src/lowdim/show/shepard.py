"""The Shepard diagram: distances in the embedding against distances in the data, pair by pair."""

from typing import Any

import numpy as np
from scipy import sparse

from lowdim.show import style
from lowdim.show.style import Floats
from lowdim.work.random import seed_of, stream

MOST_PAIRS = 100_000
CELLS_PER_INCH = 24
LINE, SHADES = "#b2460a", "Blues"


def shepard(X: Any, Y: Any, *, ax: Any = None, random_state: Any = 0) -> Any:
    """Draw distances in the embedding against distances in the data (a Shepard diagram).

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data.
    Y : array or DataFrame of shape (n_samples, n_components)
        The embedding of the same rows.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    random_state : int, Generator, RandomState or None
        Seed of the sample of pairs, if there are more than 100,000.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. The darker a cell, the more pairs; the line is the median distance in
        the embedding of pairs equally far apart in the data. A faithful map has a thin band; a band that is wide on the
        left separates neighbours, one that is flat on the right does not preserve large distances. The rank correlation
        (Spearman) of the pairs drawn is given above the plot.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import PCA, data, show
    >>> X, _ = data.load("iris")
    >>> show.shepard(X, PCA(2).fit_transform(X)).get_title(loc="right")
    'rank correlation 0.996'
    """
    from scipy import stats

    X = X if sparse.issparse(X) else np.asarray(X)
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or X.ndim != 2 or X.shape[0] != Y.shape[0] or X.shape[0] < 3:
        raise ValueError(
            f"shepard: X and Y must have the same rows, at least 3; got shapes {X.shape} and {Y.shape}. "
            "Pass the data and its embedding."
        )
    i, j = _pairs(X.shape[0], random_state)
    before, after = _distances(X, i, j), _distances(Y, i, j)
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise ValueError("shepard: X and Y must be finite; some distances are NaN or infinity. Drop those rows.")
    ax = style.new_axes(ax, (4.8, 4.4))
    style.quiet(ax, ticks=True)
    ax.spines[["top", "right"]].set_visible(False)
    wide, high = (max(12, round(side * CELLS_PER_INCH)) for side in style.axes_inches(ax))
    counts, left, low = np.histogram2d(before, after, bins=(wide, high))
    shade = np.where(counts > 0, 0.15 + 0.85 * np.sqrt(counts / max(counts.max(), 1.0)), np.nan)
    ax.pcolormesh(left, low, shade.T, cmap=SHADES, vmin=0.0, vmax=1.1, rasterized=True, linewidth=0)
    middle, typical = _medians(before, after)
    ax.plot(middle, typical, color=LINE, linewidth=1.8)
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("distance in the data", color=style.INK, fontsize="small")
    ax.set_ylabel("distance in the embedding", color=style.INK, fontsize="small")
    agreement = stats.spearmanr(before, after).statistic if np.ptp(before) and np.ptp(after) else np.nan
    ax.set_title(f"rank correlation {agreement:.3f}", loc="right", fontsize="small", color=style.INK)
    return ax


def _pairs(n: int, random_state: Any) -> tuple[Any, Any]:
    """Every pair i < j, or a random sample of them."""
    if n * (n - 1) // 2 <= MOST_PAIRS:
        return np.triu_indices(n, 1)
    rng = stream(seed_of(random_state), "shepard pairs")
    i = rng.integers(n, size=MOST_PAIRS)
    return i, (i + rng.integers(1, n, size=MOST_PAIRS)) % n


def _distances(X: Any, i: Any, j: Any) -> Floats:
    """Distances of pairs, in blocks: their differences would not fit into memory all at once."""
    out = np.empty(len(i))
    step = max(1, 2**22 // X.shape[1])
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        if sparse.issparse(X):
            out[part] = sparse.linalg.norm(X[i[part]] - X[j[part]], axis=1)
        else:
            difference = X[i[part]].astype(np.float64) - X[j[part]]
            out[part] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    return out


def _medians(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Median distance in the embedding of equal shares of the pairs, by their distance in the data."""
    order = np.argsort(before, kind="stable")
    groups = np.array_split(order, min(40, len(order)))
    return np.array([np.median(before[g]) for g in groups]), np.array([np.median(after[g]) for g in groups])
