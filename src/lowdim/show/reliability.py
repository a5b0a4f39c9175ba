"""The reliability overlay: which points of a map should not be believed."""

from typing import Any

import numpy as np

from lowdim.show.distortion import SHADES
from lowdim.show.scatter import scatter

_RING = "#b3261e"  # around dubious points


def reliability(
    model: Any,
    X: Any = None,
    *,
    found: Any = None,
    y: Any = None,
    part: str = "score",
    mark: bool = True,
    ax: Any = None,
    **looks: Any,
) -> Any:
    """Draw a map with points coloured by how little their place can be believed, and rings around the dubious ones.

    Parameters
    ----------
    model : fitted estimator, or array (n_samples, 2)
        The map; an array needs ``found``.
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features), optional
        The rows that the model was fitted on; not needed with ``found``.
    found : Reliability, optional
        Result of :func:`lowdim.quality.reliability`; computed without refits by default.
    y : array (n_samples,), optional
        Labels to colour by, instead of ``part``.
    part : str
        What to colour by: ``"score"``, ``"spread"``, ``"overlap"``, ``"shared"``, ``"recall"``, ``"stability"`` or
        ``"jump"``.
    mark : bool
        Whether to draw the rings.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    **looks
        Passed on to :func:`scatter`, such as ``size=8``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lowdim
    >>> X, _ = lowdim.data.load("iris")
    >>> lowdim.show.reliability(lowdim.PCA(2).fit(X), X).figure.axes[1].get_ylabel()
    'evidence against the place (score)'
    """
    import polars as pl
    from matplotlib.colors import LinearSegmentedColormap

    from lowdim import quality

    parts = ("score", "spread", "overlap", "shared", "recall", "stability", "jump")
    if part not in parts:
        raise ValueError(f"reliability: part must be one of {', '.join(map(repr, parts))}; got {part!r}. Choose one.")
    if found is None:
        if X is None:
            raise ValueError("reliability: X or found is needed; got neither. Pass the rows that the map is of.")
        found = quality.reliability(model, X)
    Y = _places(model, X)
    if len(Y) != len(found.score):
        raise ValueError(
            f"reliability: found must be of the {len(Y):,} rows of the map; got {len(found.score):,}. Pass that of "
            "this map."
        )
    values = getattr(found, part)
    if values is None:
        raise ValueError(f"reliability: found has no {part}; it needs refits or jump=True. Pass a result with it.")
    if y is None:
        shades = LinearSegmentedColormap.from_list("unreliable", SHADES)
        shades = shades if part in ("score", "spread", "jump") else shades.reversed()
        title = "evidence against the place (score)" if part == "score" else part
        ax = scatter(Y, pl.Series(title, values), ax=ax, kind="values", **({"cmap": shades} | looks))
    else:
        ax = scatter(Y, y, ax=ax, **looks)
    if mark and len(found.dubious):
        there = np.asarray(Y, np.float64)[found.dubious].T
        ax.scatter(*there, s=26, facecolors="none", edgecolors=_RING, linewidths=0.7)
        ax.set_xlabel(f"{len(found.dubious):,} dubious rows are ringed")
    return ax


def _places(model: Any, X: Any) -> Any:
    """Places of the rows on the map."""
    if not hasattr(model, "fit"):
        return model
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "embedding_"):
        return last.embedding_
    if X is None:
        raise ValueError(f"reliability: X is needed, to place its rows by a {type(last).__name__}. Pass it too.")
    return model.transform(X)
