"""Several methods on the same data, measured side by side."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from lowdim.comparison import data_summary as facts_of
from lowdim.comparison.candidates import Candidate, Ground, Methods, enlist
from lowdim.comparison.cost import Cost
from lowdim.comparison.measures import BY_NAME, measure
from lowdim.comparison.result import Comparison, Outcome
from lowdim.data import options, validation
from lowdim.data.categories import Categories, Values, read_labels
from lowdim.methods.base import used_labels
from lowdim.relate.moments import divided_by_deviation
from lowdim.work import progress, thread_limit
from lowdim.work.random import seed_of
from lowdim.work.user_warnings import ScaleWarning


def compare(
    X: Any,
    y: Any = None,
    methods: Methods = None,
    *,
    n_components: int = 2,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    scale: bool = False,
    by: str = "rnx_auc",
    image_shape: tuple[int, int] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_result: Callable[[str, Outcome | str], None] | None = None,
) -> Comparison:
    """Embed data by several methods and measure the quality of each embedding.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data.
    y : array or Series of shape (n_samples,), optional
        Labels of the rows. Those that name classes (text, or whole numbers of at most 50 values) are given to methods
        that learn from them, and measured; others only colour the maps.
    methods : sequence of str, or mapping of str to estimators, optional
        Names that ``lowdim methods`` lists, or a mapping from names of your choice to estimators with
        ``fit_transform``. By default all methods that suit the size of the data, its labels and the available memory.
    n_components : int
        Number of components of each embedding.
    parameters : mapping of str to mappings, optional
        Parameters by method, such as ``{"tsne": {"perplexity": 50}}``; for estimators, by the names they have in
        ``methods``.
    scale : bool
        Divide each column by its standard deviation first.
    by : str
        Measure that ranks the methods: a name of :mod:`lowdim.quality`, such as ``"trustworthiness"``.
    image_shape : (height, width), optional
        Shape of the images, if rows are images; the report shows them beside the maps.
    random_state : int, Generator, RandomState or None
        Seed of the methods and of sampled measures.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int
        Whether to show progress.
    on_result : callable, optional
        Called with the name and the outcome of each method as soon as it is finished; a failure is passed as text.

    Returns
    -------
    Comparison
        ``.table``, ``.best``, ``.embeddings``, ``.models``, ``.verdict`` and ``.report("report.html")``. Methods that
        fail are listed in ``.failed`` and do not stop the others. Warnings of methods are in ``.warnings``.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> c = lowdim.compare(X, y, methods=["pca", "lda"])
    >>> c.best, sorted(c.embeddings), c.table["method"].to_list()
    ('pca', ['lda', 'pca'], ['pca', 'lda'])
    """
    _demand(by, n_components)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    X = validation.rows(X, "compare", sparse=True, minimum=4)
    n, d = X.shape
    if image_shape is not None and (len(image_shape) != 2 or image_shape[0] * image_shape[1] != d):
        raise ValueError(
            f"compare: image_shape must be (height, width) with {d} pixels in all, one per column; got {image_shape}. "
            "Pass the shape of the image in one row."
        )
    labels = None if y is None else read_labels(y, n, caller="compare", most=n)
    classes = _classes(labels)
    seed = seed_of(random_state)
    common = {"random_state": seed, "n_jobs": n_jobs, "verbose": 0}
    ground = Ground(n, d, sparse.issparse(X), len(classes.names) if classes else 0)
    candidates, left_out = enlist(methods, ground, n_components, parameters or {}, common)
    if scale:
        X = divided_by_deviation(X)
    targets = np.asarray(y) if classes else None
    with thread_limit.using(n_jobs):
        with progress.showing(verbose, "data"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ScaleWarning)
            facts = facts_of.gather(X, ground.classes, image_shape is not None, seed)
        outcomes: list[Outcome] = []
        failed: dict[str, str] = {}
        for candidate in candidates:
            try:
                outcome = _run(candidate, X, targets, n_components, seed, verbose)
            except ImportError as error:  # of an extra that is not installed
                outcome = str(error)
                if methods is None:
                    left_out[candidate.name] = outcome
                    continue
            if isinstance(outcome, str):
                failed[candidate.name] = outcome
            else:
                outcomes.append(outcome)
            if on_result is not None:
                on_result(candidate.name, outcome)
    if not outcomes:
        reasons = " ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise ValueError(f"compare: at least one method must succeed; none did. {reasons}")
    return Comparison(X, labels, names, facts, outcomes, failed, left_out, by, seed, scale, n_components, image_shape)


def _run(candidate: Candidate, X: Any, y: Any, k: int, seed: int, verbose: int) -> Outcome | str:
    """Fit one method and measure its map; an error is returned as text, so that the others can continue."""
    model = candidate.model
    try:
        with warnings.catch_warnings(record=True) as caught, progress.showing(verbose, candidate.name), Cost() as cost:
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("ignore", ScaleWarning)  # the summary mentions it once
            Y = np.asarray(model.fit_transform(X, used_labels(model, y)))[:, :k]
        if not np.isfinite(Y).all():
            raise ValueError(f"{candidate.title}: the embedding must be finite; got NaN or infinity.")
        with progress.showing(verbose, candidate.name):
            found = measure(X, Y, y, random_state=seed)
    except ImportError:
        raise
    except Exception as error:  # the other methods can still be compared
        return " ".join(str(error).split()) or type(error).__name__
    told = dict.fromkeys(" ".join(str(w.message).split()) for w in caught if issubclass(w.category, UserWarning))
    return Outcome(candidate, Y, found, cost.seconds, cost.memory, tuple(told))


def _classes(labels: Categories | Values | None) -> Categories | None:
    """Labels that name at least two classes, each row having one."""
    if isinstance(labels, Categories) and len(labels.names) > 1 and (labels.codes >= 0).all():
        return labels if len(labels.names) < len(labels.codes) else None
    return None


def _demand(by: str, n_components: int) -> None:
    if by not in BY_NAME:
        raise ValueError(f"compare: by must be one of {', '.join(BY_NAME)}; got {by!r}. Choose one of them.")
    if not options.integer(1).accepts(n_components):
        raise ValueError(f"compare: n_components must be an integer ≥ 1; got {n_components!r}. Pass 2 for a map.")
