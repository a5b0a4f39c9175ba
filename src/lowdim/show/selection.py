"""The path of a selection: the score as features are added and removed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.show import style

LINE, GONE, CHOSEN = "#185ac9", "#b2460a", "#08968d"
MOST_NAMED = 30  # steps labelled by name; a longer path has no space for the labels


def selection(model: Any, *, ax: Any = None, names: Sequence[str] | None = None) -> Any:
    """Draw the path of a fitted :class:`lowdim.SequentialFeatureSelector`.

    Parameters
    ----------
    model : fitted SequentialFeatureSelector, or its ``history_``
        The path.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    names : sequence of str, optional
        Names of the features; by default those seen by ``fit``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. The band is the standard deviation over folds;
        removed features are marked with a minus.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> ax = lowdim.show.selection(lowdim.SequentialFeatureSelector().fit(X, y))
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['start', '+ 3', '+ 2']
    """
    history = model if isinstance(model, dict) else getattr(model, "history_", None)
    if history is None:
        raise ValueError(
            f"selection: a fitted selector with history_ is needed; {type(model).__name__} has none. Call fit first."
        )
    score, spread = (np.asarray(history[key], dtype=np.float64) for key in ("score", "spread"))
    steps = np.arange(len(score))
    ax = style.new_axes(ax, (7.2, 4.0))
    style.quiet(ax, ticks=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=style.FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.fill_between(steps, score - spread, score + spread, color=LINE, alpha=0.16, linewidth=0, label="spread of folds")
    ax.plot(steps, score, color=LINE, linewidth=1.6, label="mean score")
    removed = np.array([action == "remove" for action in history["action"]])
    ax.plot(steps[~removed], score[~removed], "o", color=LINE, markersize=4.5)
    if removed.any():
        ax.plot(steps[removed], score[removed], "v", color=GONE, markersize=6, label="feature removed")
    _mark_chosen(ax, model, history, score)
    texts = [
        _text(action, feature, names) for action, feature in zip(history["action"], history["feature"], strict=True)
    ]
    if len(texts) <= MOST_NAMED:
        crowded = len(texts) > 8 or max(map(len, texts)) > 6
        ax.set_xticks(steps, texts, rotation=60 if crowded else 0, ha="right" if crowded else "center")
        ax.tick_params(axis="x", labelsize="x-small" if len(texts) > 15 else "small")
        ax.set_xlabel("step", color=style.INK, fontsize="small")
    else:
        ax.set_xlabel("steps", color=style.INK, fontsize="small")
    ax.set_ylabel("score, cross-validated", color=style.INK, fontsize="small")
    ax.margins(x=0.03, y=0.08)
    ax.legend(frameon=False, fontsize="small", loc="best")
    return ax


def _mark_chosen(ax: Any, model: Any, history: dict[str, Any], score: Any) -> None:
    """A ring around the step whose features the selector kept."""
    kept = getattr(model, "n_features_to_select_", None)
    reached = getattr(model, "score_", None)
    if kept is None or reached is None:
        return
    fits = [i for i, n in enumerate(history["n_features"]) if n == kept and np.isclose(score[i], reached)]
    if fits:
        ax.plot(
            fits[-1], score[fits[-1]], "o", color=CHOSEN, markersize=11, fillstyle="none", markeredgewidth=2.0,
            label=f"chosen: {kept} features, {score[fits[-1]]:.3f}",
        )  # fmt: skip


def _text(action: str, feature: Any, names: Sequence[str] | None) -> str:
    if feature is None:
        return action
    called = names[int(feature)] if names is not None and isinstance(feature, int | np.integer) else feature
    return f"{'−' if action == 'remove' else '+'} {called}"
