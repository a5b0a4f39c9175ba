"""The neighbour graph of the data, drawn over an embedding: long edges show separated neighbours."""

from typing import Any

import numpy as np

from lowdim.data import validation
from lowdim.relate import neighbors
from lowdim.show import style
from lowdim.show.scatter import scatter
from lowdim.work.random import stream

EDGE, TORN = "#9aa1ab", "#b2460a"
MOST_EDGES = 100_000
FAR = 5.0  # an edge this many times as long as the median edge counts as torn


def graph(
    X: Any,
    Y: Any,
    y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    ax: Any = None,
    **looks: Any,
) -> Any:
    """Draw the neighbour graph of the data on the embedding.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data whose neighbours are connected.
    Y : array or DataFrame of shape (n_samples, 2)
        The embedding of the same rows.
    y : array or Series of shape (n_samples,), optional
        Colours of the samples, read as :func:`scatter` reads them.
    n_neighbors : int
        Neighbours of each row.
    metric : str
        Distance in the data: ``"euclidean"``, ``"cosine"`` or ``"manhattan"``.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    **looks
        Passed on to :func:`scatter`, such as ``legend=False`` or ``size=8``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. Edges more than five times as long as the median edge are coloured:
        there the embedding separates neighbours. Of more than 100,000 edges a random sample of that many is drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import PCA, data, show
    >>> X, t = data.load("s_curve", n_samples=200)
    >>> ax = show.graph(X, PCA(2).fit_transform(X), t, n_neighbors=6)
    >>> ax.get_title(loc="right")
    '6 neighbours, 0.0 % of edges torn'
    """
    from matplotlib.collections import LineCollection

    X = validation.rows(X, "graph", sparse=True)
    points = np.asarray(Y, dtype=np.float64)
    n = X.shape[0]
    if points.shape != (n, 2):
        raise ValueError(
            f"graph: Y must have two columns and the rows of X ({n}); got shape {points.shape}. "
            "Pick two columns, as in Y[:, :2]."
        )
    if not 1 <= n_neighbors < n:
        raise ValueError(f"graph: n_neighbors must be between 1 and {n - 1}; got {n_neighbors}. Change it.")
    if X.dtype.kind != "f":
        X = X.astype(np.float32)
    if isinstance(X, np.ndarray):
        X = np.ascontiguousarray(X)
    found = neighbors.nearest(X, n_neighbors, metric=metric)
    edges = np.column_stack([np.repeat(np.arange(n), n_neighbors), found.indices.ravel()])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    torn = length > FAR * np.median(length)
    share = 100 * float(torn.mean())
    if len(edges) > MOST_EDGES:
        chosen = stream(0, "edges drawn").choice(len(edges), MOST_EDGES, replace=False)
        edges, torn = edges[chosen], torn[chosen]
    ax = scatter(Y, y, ax=ax, **({"size": None} | looks))
    for flag, color, alpha in ((False, EDGE, 0.45), (True, TORN, 0.55)):
        lines = points[edges[torn == flag]]
        weight = float(np.clip(60.0 / np.sqrt(max(len(edges), 1)), 0.25, 0.9))
        ax.add_collection(
            LineCollection(lines, colors=color, linewidths=weight, alpha=alpha, zorder=1.2, rasterized=n > 2000),
            autolim=False,
        )
    ax.set_title(
        f"{n_neighbors} neighbours, {share:.1f} % of edges torn", loc="right", fontsize="small", color=style.INK
    )
    return ax
