"""What the best features share: their correlations, best first, beside their scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.show import style

CHOSEN = "#08968d"
_MOST = 40  # features named at the axes


def redundancy(model: Any, *, ax: Any = None, names: Sequence[str] | None = None) -> Any:
    """Draw the absolute correlations of the best features of a fitted :class:`lowdim.RankFeatures`.

    Parameters
    ----------
    model : fitted RankFeatures
        The ranking; the selected features are in bold.
    ax : matplotlib Axes, optional
        Where to draw. A new figure by default.
    names : sequence of str, optional
        Names of all features; by default those seen by ``fit``.

    Returns
    -------
    matplotlib Axes
        The one given, or that of the new figure. Dark blocks off the diagonal are features that say the same.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> ax = lowdim.show.redundancy(lowdim.RankFeatures("anova").fit(X, y))
    >>> ax.get_yticklabels()[0].get_text()
    'x2  1.18e+03'
    """
    if not hasattr(model, "redundancy_"):
        raise ValueError(
            f"redundancy: a fitted RankFeatures is needed; {type(model).__name__} has no redundancy_. Call fit first."
        )
    m, order = len(model.redundancy_), np.argsort(model.ranking_)
    called = style.feature_names("redundancy", model, names, model.n_features_in_)
    size = 2.2 + 0.22 * max(m, 8)
    ax = style.new_axes(ax, (size + 1.2, size))
    image = ax.imshow(model.redundancy_, cmap="Blues", vmin=0, vmax=1)
    best = order[:m]
    ax.set_yticks(range(m), [f"{called[j]}  {model.scores_[j]:.3g}" for j in best], fontsize="small")
    ax.set_xticks(range(m), [called[j] for j in best], rotation=90, fontsize="small")
    for label, j in zip(ax.get_yticklabels(), best, strict=True):
        if model.support_[j]:
            label.set(color=CHOSEN, fontweight="bold")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.04, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("absolute correlation", fontsize="small", color=style.INK)
    ax.set_title(
        f"{model.n_features_to_select_} of {len(order)} features selected, by {model.by}", fontsize=10, loc="left"
    )
    return ax
