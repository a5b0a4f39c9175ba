"""Texts that docstrings share: a parameter that several estimators or functions take is described in one place."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Described = TypeVar("Described", bound=Callable[..., Any])

MAP_TEXTS = {
    "metric": """metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds the distances, all
        of them or a sparse graph of neighbours, and ``init`` cannot be "pca".
    metric_params : dict or None
        ``{"p": 3}`` of Minkowski's distance, ``{"VI": V}`` of Mahalanobis', by default the inverse covariance.""",
    "neighbors": """neighbors : {"auto", "exact", "approximate"}
        How nearest neighbours are found.""",
    "running": """callback : callable or None
        ``callback(iteration, loss, embedding)``; returning True stops the descent.
    callback_every : int
        Iterations between calls of ``callback`` and entries of ``loss_trace_``.
    warm_start : bool
        Continue from the map fitted before, for as many iterations again.
    random_state : int, Generator, RandomState or None
        Seed of everything random: the same seed gives the same bits.
    n_jobs : int or None
        Threads; None is all cores this process may use. The map has the same bits for any number.
    verbose : int
        1 shows the stages with the loss and the time left.""",
    "found": """loss_trace_, loss_iterations_ : arrays
        The loss on the way, and the iterations it belongs to.
    timings_ : dict
        Seconds by stage.
    neighbors_ : str
        Search that ran.
    neighbors_recall_ : float or None
        Share of true neighbours that an approximate search found, measured on a sample.""",
}


def described(texts: Mapping[str, str] = MAP_TEXTS, **more: str) -> Callable[[Described], Described]:
    """Decorator that puts texts where the docstring of a class or function has ``{their name}`` on a line of its own.

    >>> described({}, k="k : int")(type("A", (), {"__doc__": "    {k}"})).__doc__
    '    k : int'
    """

    def fill(target: Described) -> Described:
        for name, text in {**texts, **more}.items():
            target.__doc__ = (target.__doc__ or "").replace(f"    {{{name}}}", f"    {text}")
        return target

    return fill
