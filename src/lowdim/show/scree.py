"""The scree plot: the variance that each component explains, and how many to keep."""

from typing import Any

import numpy as np

from lowdim.show import style
from lowdim.show.style import Floats

BAR, LINE, MARK, CORNER = "#9db8e3", "#22272e", "#185ac9", "#b2460a"
MOST_BARS = 60  # more components than this are drawn up to a little beyond the marks


def scree(model: Any, *, ax: Any = None, proportion: float = 0.9, n: int | None = None) -> Any:
    """Draw the share of variance per component, its cumulative sum, and two suggestions for the number of components.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n_components,)
        Anything with ``explained_variance_ratio_`` or ``eigenvalues_``, or the variances themselves, largest
        first. Variances and eigenvalues are divided by their sum; ratios are drawn as they are, so a model
        with few components shows how much of the total they explain.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    proportion : float
        Share of the variance to mark, with the number of components that reach it.
    n : int, optional
        Number of components to draw; by default all up to 60, and of more as many as the marks need.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lowdim import show
    >>> ax = show.scree([50.0, 30.0, 12.0, 5.0, 3.0])
    >>> [text.get_text() for text in ax.get_legend().get_texts() if "%" in text.get_text()]
    ['3 components explain 92 %', 'elbow: 2 components explain 80 %']
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    from lowdim.solve.component_count import components_for, elbow

    if not 0.0 < proportion < 1.0:
        raise ValueError(f"scree: proportion must be between 0 and 1; got {proportion}. Pass 0.9 for 90 %.")
    if n is not None and n < 1:
        raise ValueError(f"scree: n must be at least 1; got {n}. Ask for one component or more.")
    ratio = _ratios(model)
    total = np.cumsum(ratio)
    enough = components_for(proportion, ratio)
    reached = bool(total[enough - 1] >= proportion - 1e-12)
    corner = elbow(ratio)
    bends = corner < len(ratio)
    shown = len(ratio)
    if n is not None:
        shown = min(n, shown)
    elif shown > MOST_BARS:
        shown = min(shown, max(int(1.5 * enough), 2 * corner * bends, 30))

    ax = style.new_axes(ax, (6.4, 4.0))
    style.quiet(ax, ticks=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.6, zorder=0)
    ax.set_axisbelow(True)
    count = np.arange(1, shown + 1)
    wide = shown > 40  # adjacent bars touch: the space between would be thinner than a pixel
    ax.bar(count, ratio[:shown], width=1.0 if wide else 0.8, color=BAR, linewidth=0, label="each component")
    ax.plot(
        count,
        total[:shown],
        color=LINE,
        linewidth=1.6,
        marker="" if wide else "o",
        markersize=3.5,
        label="together",
    )
    if enough <= shown:
        if reached:
            ax.plot([0, enough], [proportion] * 2, color=MARK, linestyle=(0, (4, 3)), linewidth=1.0)
            ax.annotate(
                f"{100 * proportion:.4g} %", (0.3, proportion), (3, 3), textcoords="offset points",
                color=MARK, fontsize="x-small",
            )  # fmt: skip
            ax.plot([enough] * 2, [0, total[enough - 1]], color=MARK, linestyle=(0, (4, 3)), linewidth=1.0)
        ax.plot(enough, total[enough - 1], "o", color=MARK, markersize=7, label=_count(enough, total))
        ax.annotate(
            str(enough), (enough, total[enough - 1]), (5, -6), textcoords="offset points", va="top",
            color=MARK, fontsize="small", fontweight="bold",
        )  # fmt: skip
    if bends and corner <= shown:
        tip = (corner, ratio[corner - 1])
        ax.annotate(
            f"elbow {corner}", tip, (7, 17), textcoords="offset points", color=CORNER, fontsize="small",
            fontweight="bold", arrowprops={"arrowstyle": "-|>", "color": CORNER, "shrinkA": 0, "shrinkB": 1},
        )  # fmt: skip
        ax.plot([], [], "v", color=CORNER, label=f"elbow: {_count(corner, total)}")
    ax.set_xlim(0.3, shown + 0.7)
    ax.set_ylim(0.0, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    rest = f" (the first {shown} of {len(ratio)})" if shown < len(ratio) else ""
    ax.set_xlabel(f"components{rest}", color=style.INK, fontsize="small")
    ax.set_ylabel("share of the variance", color=style.INK, fontsize="small")
    # the legend is between the bars and the line, where there is most space on the right
    middle = (ratio[shown // 2] + total[shown // 2]) / 2 / ax.get_ylim()[1]
    handles, texts = ax.get_legend_handles_labels()
    first = texts.index("each component")
    handles, texts = [handles.pop(first), *handles], [texts.pop(first), *texts]
    ax.legend(
        handles, texts, loc="center right", bbox_to_anchor=(1.0, middle), fontsize="small", framealpha=0.85,
        edgecolor="none",
    )  # fmt: skip
    return ax


def _count(k: int, total: Floats) -> str:
    """A whole percentage, rounded down so that 89.9 % is never called 90 %."""
    what = "1 component explains" if k == 1 else f"{k} components explain"
    return f"{what} {int(100 * total[k - 1] + 1e-9)} %"


def _ratios(model: Any) -> Floats:
    """Shares of the variance, from a model or from variances."""
    if hasattr(model, "explained_variance_ratio_"):
        values = np.array(model.explained_variance_ratio_, dtype=np.float64)
        whole = 1.0
    else:
        if hasattr(model, "fit") and not hasattr(model, "eigenvalues_"):
            raise ValueError(
                f"scree: the model must be fitted and have explained_variance_ratio_ or eigenvalues_; "
                f"{type(model).__name__} has neither. Call fit first, or pass the variances themselves."
            )
        values = np.array(getattr(model, "eigenvalues_", model), dtype=np.float64)
        whole = float(values.sum())
    if values.ndim != 1 or not len(values):
        raise ValueError(
            f"scree: variances must be one number per component; got shape {values.shape}. "
            "Pass a fitted model or a 1-D array."
        )
    if not np.isfinite(values).all() or (values < 0).any() or whole <= 0:
        raise ValueError(
            f"scree: variances must be finite, not negative, and not all zero; smallest is {values.min()}. "
            "Drop negative eigenvalues first."
        )
    if (np.diff(values) > 1e-9 * values.max()).any():
        raise ValueError("scree: variances must be in descending order; they are not. Sort them, largest first.")
    return values / whole
