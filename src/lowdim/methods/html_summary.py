"""What a notebook shows of a fitted model besides its parameters: a few numbers about the fit."""

import html
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def _rows(Y: Any) -> str:
    return f"{Y.shape[0]:,} rows in {Y.shape[1]} dimension{'s' * (Y.shape[1] > 1)}"


def _components(U: Any) -> str:
    return f"{U.shape[0]} component{'s' * (U.shape[0] > 1)} of {U.shape[1]:,} features"


def _last(trace: Any) -> str:
    return f"{float(np.atleast_1d(trace)[-1]):.3g}"


_TEXTS: dict[str, Callable[[Any], str]] = {  # fitted attribute to its text, in the order shown
    "embedding_": _rows,
    "components_": _components,
    "explained_variance_ratio_": lambda share: f"{100 * float(np.sum(share)):.1f} % of the variance",
    "correlations_": lambda found: f"largest correlation {float(found[0]):.3f}",
    "kl_divergence_": lambda value: f"KL divergence {value:.3f}",
    "loss_": lambda value: f"loss {value:.4g}",
    "stress_": lambda value: f"stress {value:.4g}",
    "residual_variance_": lambda found: f"residual variance {_last(found)}",
    "reconstruction_error_": lambda value: f"reconstruction error {value:.3g}",
    "approximation_error_": lambda value: f"approximation error {value:.3g}",
    "n_iter_": lambda count: f"{count:,} iterations" if count > 1 else "",
    "n_epochs_": lambda count: f"{count:,} epochs",
    "n_connected_components_": lambda count: f"neighbour graph of {count} connected components" if count > 1 else "",
    "solver_": lambda name: f"solver {name}",
    "neighbor_search_": lambda name: f"{name} neighbours",
    "support_": lambda kept: f"{int(np.sum(kept))} of {len(kept)} features selected",
    "timings_": lambda stages: f"{sum(stages.values()):.2g} s",
}


def facts(model: Any) -> list[str]:
    """Texts of the fitted attributes that a reader looks for first; none for a model that is not fitted.

    >>> from lowdim import PCA
    >>> facts(PCA(2).fit(np.diag([3.0, 2.0, 1.0])))
    ['2 components of 3 features', '100.0 % of the variance', 'solver covariance']
    """
    fitted: Mapping[str, Any] = vars(model)
    texts = [text(fitted[name]) for name, text in _TEXTS.items() if fitted.get(name) is not None]
    return [text for text in texts if text]


def with_facts(page: str, model: Any) -> str:
    """HTML of an estimator with a line of facts below it, in the colours of the notebook."""
    found = facts(model)
    if not found:
        return page
    line = " · ".join(html.escape(text) for text in found)
    return f'{page}<div class="lowdim-facts" style="font-size:90%;opacity:.8;margin:.3em 0">{line}</div>'
