"""The biplot: samples as points and features as arrows, in the plane of two components."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.show import style
from lowdim.show.scatter import scatter
from lowdim.show.style import Floats

REACH = 0.85  # length of the longest arrow, relative to the distance of the outermost samples
ARROW = "#22272e"


def biplot(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    ax: Any = None,
    dims: tuple[int, int] = (0, 1),
    names: Sequence[str] | None = None,
    top: int = 10,
    **looks: Any,
) -> Any:
    """Draw samples and loadings of a fitted linear model together.

    A sample lies far along an arrow if its value of that feature is large. Arrows in the same direction belong to
    features that are positively correlated in this plane, opposite ones to negatively correlated features.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``components_`` of shape (n_components, n_features) and ``transform``.
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The samples.
    y : array or Series of shape (n_samples,), optional
        Colours of the samples, read as :func:`scatter` reads them.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    dims : (int, int)
        The two components.
    names : sequence of str, optional
        Names of the features; those seen by ``fit`` by default.
    top : int
        Number of arrows: those with the longest loadings in this plane.
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
    >>> ax = show.biplot(PCA(2).fit(X), X, y, names=["sepal length", "sepal width", "petal length", "petal width"])
    >>> ax.get_xlabel()
    'pca0 (92.5 %)'
    """
    if not hasattr(model, "components_"):
        raise ValueError(
            f"biplot: the model must be fitted and linear, with components_; {type(model).__name__} has none. "
            "Call fit first, or draw the embedding alone with scatter."
        )
    loadings = np.asarray(model.components_, dtype=np.float64)
    if len(dims) != 2 or any(not 0 <= j < len(loadings) for j in dims):
        raise ValueError(
            f"biplot: dims must name two components between 0 and {len(loadings) - 1}; got {dims}. "
            "Fit more components, or pass for example dims=(0, 1)."
        )
    if top < 1:
        raise ValueError(f"biplot: top must be at least 1; got {top}. Ask for one arrow or more.")
    called = style.feature_names("biplot", model, names, loadings.shape[1])
    Y = np.asarray(model.transform(X), dtype=np.float64)[:, list(dims)]
    ax = scatter(Y, y, ax=ax, **looks)
    shares = getattr(model, "explained_variance_ratio_", None)
    columns = [f"{type(model).__name__.lower()}{j}" for j in dims]
    if shares is not None:
        columns = [f"{column} ({100 * shares[j]:.1f} %)" for column, j in zip(columns, dims, strict=True)]
    ax.set_xlabel(columns[0], color=style.INK, fontsize="small")
    ax.set_ylabel(columns[1], color=style.INK, fontsize="small")
    arrows = loadings[list(dims)].T
    longest = np.argsort(-np.linalg.norm(arrows, axis=1), kind="stable")[:top]
    draw_arrows(ax, _fit(arrows[longest], Y), [called[j] for j in longest])
    return ax


def _fit(arrows: Floats, Y: Floats) -> Floats:
    """Arrows, all scaled by the same factor so that none leaves the cloud of samples."""
    reach = np.abs(Y).max(axis=0)
    used = np.abs(arrows).max(axis=0)
    scale = min(reach[j] / used[j] for j in range(2) if used[j] > 0) if used.any() else 1.0
    return arrows * REACH * scale


def draw_arrows(ax: Any, tips: Floats, texts: list[str], origin: Any = (0.0, 0.0)) -> None:
    """Arrows from the ``origin``, their names at the tips, moved apart where they would overlap."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    for tip in tips:
        ax.annotate(
            "", tip, tuple(origin), zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": ARROW, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
    ax.update_datalim(np.asarray(origin) + 1.12 * (tips - origin))
    ax.autoscale_view()
    line = 0.045 * abs(np.diff(ax.get_ylim())[0])  # about the height of a name
    for right in (True, False):  # names on the two sides of the origin do not overlap
        side = [i for i, tip in enumerate(tips) if (tip[0] >= origin[0]) == right]
        height = -np.inf
        for i in sorted(side, key=lambda i: tips[i][1]):
            height = max(float(tips[i][1]), height + line)
            name = ax.annotate(
                texts[i], tips[i], (tips[i][0] + 0.02 * (tips[i][0] - origin[0]), height),
                ha="left" if right else "right", va="center",
                zorder=5, fontsize="small", fontweight="bold", color=ARROW, path_effects=halo,
            )  # fmt: skip
            ax.update_datalim(ax.transData.inverted().transform(name.get_window_extent()))  # names stay inside
    ax.autoscale_view()
