"""The distortion overlay: which points of a map are misplaced, and how."""

from typing import Any

import numpy as np

from lowdim.quality.measure import NEIGHBORS
from lowdim.show.scatter import scatter

SHADES = ("#dfe3e8", "#f2b48a", "#d9641c", "#7a2400")  # from well placed to misplaced; dark is bad


def distortion(
    X: Any,
    Y: Any,
    *,
    kind: str = "both",
    n_neighbors: int = NEIGHBORS,
    metric: str = "euclidean",
    ax: Any = None,
    **looks: Any,
) -> Any:
    """Draw a map with points coloured by how much they are misplaced.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data.
    Y : array or DataFrame of shape (n_samples, 2 or 3)
        The embedding of the same rows.
    kind : {"both", "false", "missing"}
        What counts: neighbours on the map that are far in the data, neighbours in the data that are far on the map, or
        the larger of the two.
    n_neighbors : int
        Neighbours of each row.
    metric : str
        Distance in the data, as in :func:`lowdim.quality.distortion`.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    **looks
        Passed on to :func:`scatter`, such as ``size=8``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. 0 is a point among its own neighbours, 1 one among
        those farthest from it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import PCA, data, show
    >>> X, _ = data.load("iris")
    >>> show.distortion(X, PCA(1).fit_transform(X)).figure.axes[1].get_ylabel()
    'false and missing neighbours'
    """
    import polars as pl
    from matplotlib.colors import LinearSegmentedColormap

    from lowdim import quality

    titles = {"both": "false and missing neighbours", "false": "false neighbours", "missing": "missing neighbours"}
    if kind not in titles:
        raise ValueError(f"distortion: kind must be one of {', '.join(map(repr, titles))}; got {kind!r}. Choose one.")
    found = quality.distortion(X, Y, n_neighbors, metric=metric)
    values = {
        "both": np.maximum(found.false_neighbors, found.missing_neighbors),
        "false": found.false_neighbors,
        "missing": found.missing_neighbors,
    }[kind]
    shades = LinearSegmentedColormap.from_list("misplaced", SHADES)
    return scatter(Y, pl.Series(titles[kind], values), ax=ax, kind="values", **({"cmap": shades} | looks))
