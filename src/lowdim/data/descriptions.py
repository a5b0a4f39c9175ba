"""Texts that docstrings share: a parameter that several estimators or functions take is described in one place."""

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Described = TypeVar("Described", bound=Callable[..., Any])

MAP_TEXTS = {
    "metric": """metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds the distances, all
        of them or a sparse graph of neighbours, and ``init`` cannot be "pca".
    metric_params : dict or None
        Parameters of the metric: ``{"p": 3}`` for Minkowski, ``{"VI": V}`` for Mahalanobis (default: inverse
        covariance).""",
    "anchors": """anchors : None, "pca", "mds", fitted model or array (n_rows, n_components)
        Positions that rows are drawn to, beside the loss: an earlier map, so that the new one stays recognisable; or
        principal components or metric MDS at the scale that fits best, for more of the global structure.
    anchor_weight : float in [0, 1] or array (n_samples,)
        Weight λ of the anchors, of all rows or of each: ``(1 − λ) loss + λ mean ‖y − a‖² / mean ‖a − ā‖²``, the loss as
        a mean over its pairs and distances relative to the size of the anchors, so that λ means the same in any unit. 0
        ignores them, 1 pins rows: they do not move.""",
    "shared": """shared : array, pair of arrays or data frame, optional
        Which rows have ``anchors``: for each row of ``X`` the number of its anchor, −1 for none; a pair of arrays,
        rows of ``X`` and of the anchors; or the rows of the anchors as a data frame, or its index, matched by the
        labels of ``X``. By default rows equal to one of the model's, or all in their order.""",
    "neighbors": """neighbor_search : {"auto", "exact", "approximate"}
        Search for nearest neighbours; "auto" chooses by the size of the data.""",
    "device": """device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute: None is where the rows are. NumPy rows are moved once and the results are NumPy arrays;
        tensors of torch give tensors on their device.""",
    "running": """callback : callable or None
        ``callback(iteration, loss, embedding)``; return True to stop the optimisation.
    callback_every : int
        Iterations between calls of ``callback`` and entries of ``loss_curve_``.
    warm_start : bool
        Continue from the previous map, for as many iterations again.
    random_state : int, Generator, RandomState or None
        Seed of the random numbers; the same seed gives the same bits.
    n_jobs : int or None
        Number of threads; None uses all cores available to the process. The map has the same bits for any number.
    verbose : int
        1 shows progress bars with the loss and the time left.""",
    "radii": """rad_orig_, rad_emb_ : arrays (n_samples,)
        After ``densmap=True``: logarithms of the squared local radii of the rows in the data, and in the map, which are
        computed when asked.""",
    "found": """loss_curve_, loss_iterations_ : arrays
        Loss during the optimisation, and the iterations at which it was recorded.
    timings_ : dict
        Seconds per stage.
    neighbor_search_ : str
        Neighbour search used.
    neighbor_recall_ : float or None
        Share of the true neighbours found by an approximate search, measured on a sample.""",
}


def described(texts: Mapping[str, str] = MAP_TEXTS, **more: str) -> Callable[[Described], Described]:
    r"""Decorator that puts texts where the docstring of a class or function has ``{their name}`` on a line of its own.

    Texts are written for docstrings indented by four spaces, and take the indentation of the line they replace: CPython
    strips that of docstrings from 3.13 on.

    >>> described({}, k="k : int\n        Number.")(type("A", (), {"__doc__": "{k}"})).__doc__
    'k : int\n    Number.'
    """
    known = {name: textwrap.dedent(f"    {text}") for name, text in {**texts, **more}.items()}

    def text(line: re.Match[str]) -> str:
        indent, name = line.groups()
        return textwrap.indent(known[name], indent) if name in known else line[0]

    def fill(target: Described) -> Described:
        target.__doc__ = re.sub(r"^([ ]*)\{(\w+)\}$", text, target.__doc__ or "", flags=re.MULTILINE)
        return target

    return fill
