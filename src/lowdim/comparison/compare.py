"""Several methods on the same data, measured side by side."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from lowdim.comparison import data_summary as facts_of
from lowdim.comparison import held_out
from lowdim.comparison.candidates import Candidate, Ground, Methods, enlist
from lowdim.comparison.cost import Cost
from lowdim.comparison.measures import BY_NAME, Found, can_score, chance_levels, measure
from lowdim.comparison.result import Comparison, Outcome
from lowdim.data import options
from lowdim.data.categories import Categories, Values, read_labels
from lowdim.data.in_memory import demand_pixels, table_of
from lowdim.methods.base import used_labels
from lowdim.methods.prepared_table import Preparation, PreparedTable, prepared, takes_table
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
    prepare: Any = None,
    scale: bool = False,
    log: bool = False,
    missing: str = "error",
    categories: str | None = None,
    on_unusable: str = "error",
    first: Any = None,
    id: Any = None,
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
    X : array, sparse matrix, DataFrame or Table of shape (n_samples, n_features)
        The data. Columns of text and dates of a DataFrame, or of a table that :func:`lowdim.data.read` returned with
        ``mixed=True``, become numbers by their kind, as :class:`lowdim.Prepare` makes them.
    y : array or Series of shape (n_samples,), or str, optional
        Labels of the rows, or the name of their column in the DataFrame. Those that name classes (text, or whole
        numbers of at most 50 values) are given to methods that learn from them, and measured; others, and labels that
        some rows lack, only colour the maps. Maps of methods that learn from labels are scored by them on held-out
        rows: each of five folds is placed on a map of the others.
    methods : sequence of str, or mapping of str to estimators, optional
        Names that ``lowdim methods`` lists, or a mapping from names of your choice to estimators with
        ``fit_transform``. By default all methods that suit the size of the data, its labels and the available memory.
    n_components : int
        Number of components of each embedding.
    parameters : mapping of str to mappings, optional
        Parameters by method, such as ``{"tsne": {"perplexity": 50}}``; for estimators, by the names they have in
        ``methods``.
    prepare : {None, "auto", "gower", "none"}, plan or Prepare
        Preparation of the columns: what they need (None: that of columns of text and dates), by kind for every column
        ("auto"), such that methods with a metric measure Gower's distances ("gower"), none at all, by a plan (a dict or
        a .toml file), or a :class:`lowdim.Prepare` of yours.
    scale : bool
        Divide each column of numbers by its standard deviation first.
    log : bool
        Take log(1 + x) of numbers, then scale them.
    missing : {"error", "drop", "mean", "median"}
        Missing values: refuse them, drop their rows, or fill in the mean or median of the column.
    categories : {"onehot", "ordinal", "drop"}, optional
        Columns of text: one column per level, codes in alphabetical order, or left out.
    on_unusable : {"error", "drop"}
        Columns that cannot be used: refuse them, or leave them out with a warning.
    first : (str, int) or estimator, optional
        Reduce by another method first, such as ``("pca", 50)`` or ``PCA(50)``.
    id : array of shape (n_samples,), or str, optional
        Identifiers of the rows, or the name of their column in the DataFrame; the report shows them.
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
        ``.table``, ``.best``, ``.embeddings``, ``.models``, ``.verdict`` and ``.report("report.html")``. The models
        begin with the preparation, so that they take rows like those of ``X``. Methods that fail are listed in
        ``.failed`` and do not stop the others. Warnings of methods are in ``.warnings``.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> c = lowdim.compare(X, y, methods=["pca", "lda"])
    >>> c.best, sorted(c.embeddings), c.table["method"].to_list()
    ('pca', ['lda', 'pca'], ['pca', 'lda'])
    """
    _demand(by, n_components, parameters)
    if isinstance(X, PreparedTable):  # by the command line, which reports what was done before the methods run
        made = X
    else:
        asked = Preparation(prepare, scale, log, missing, categories, on_unusable, first)
        table = table_of(X, y, caller="compare", id=id, image_shape=image_shape, minimum=4, scan=missing == "error")
        with thread_limit.using(n_jobs):
            made = prepared(table, asked, scaled_later=True, verbose=verbose)
    rows = divided_by_deviation(made.X) if made.scale else made.X
    n, d = rows.shape
    pictures = image_shape or made.table.image_shape
    if pictures is not None:
        demand_pixels(pictures, made.table.X.shape[1], "compare")
    labels = _labels(made, X[y] if isinstance(y, str) else y)
    classes = _classes(labels)
    seed = seed_of(random_state)
    common = {"random_state": seed, "n_jobs": n_jobs, "verbose": 0}
    unlabelled = int((labels.codes < 0).sum()) if isinstance(labels, Categories) else 0
    ground = Ground(n, d, sparse.issparse(rows), len(classes.names) if classes else 0, unlabelled, made.table.mixed)
    candidates, left_out = enlist(methods, ground, n_components, parameters or {}, common)
    targets = made.table.labels if classes else None
    with thread_limit.using(n_jobs):
        with progress.showing(verbose, "data"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ScaleWarning)
            facts = facts_of.gather(rows, ground.classes, pictures is not None and made.chain is None, seed)
        outcomes: list[Outcome] = []
        failed: dict[str, str] = {}
        for candidate in candidates:
            try:
                outcome = _run(candidate, made, rows, targets, n_components, seed, verbose)
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
    chance = {} if classes is None else chance_levels(classes.codes)
    return Comparison(rows, labels, made, facts, outcomes, failed, left_out, by, seed, n_components, pictures, chance)


def _run(candidate: Candidate, made: PreparedTable, X: Any, y: Any, k: int, seed: int, verbose: int) -> Outcome | str:
    """Fit one method and measure its map; an error is returned as text, so that the others can continue."""
    model = candidate.model
    try:
        with warnings.catch_warnings(record=True) as caught, progress.showing(verbose, candidate.name), Cost() as cost:
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("ignore", ScaleWarning)  # the summary mentions it once
            rows = made.rows_for(model)
            rows = rows if takes_table(model) else X
            Y = np.asarray(model.fit_transform(rows, used_labels(model, y)))[:, :k]
        if not np.isfinite(Y).all():
            raise ValueError(f"{candidate.title}: the embedding must be finite; got NaN or infinity.")
        with progress.showing(verbose, candidate.name):
            found = _measured(candidate, X, Y, y, k, seed)
    except ImportError:
        raise
    except Exception as error:  # the other methods can still be compared
        return " ".join(str(error).split()) or type(error).__name__
    told = dict.fromkeys(" ".join(str(w.message).split()) for w in caught if issubclass(w.category, UserWarning))
    return Outcome(candidate, Y, found, cost.seconds, cost.memory, tuple(told))


def _labels(made: PreparedTable, y: Any) -> Categories | Values | None:
    """Labels of the rows that were kept, under the name of their column, in the order of their type if it has one."""
    table = made.table
    if table.labels is None:
        return None
    given = hasattr(y, "dtype") and hasattr(y, "to_numpy")  # a Series
    n = len(table.labels) if made.kept is None else len(made.kept)
    read = read_labels(y if given else table.labels, n if given else len(table.labels), caller="compare", most=n)
    title = table.label_name if table.label_name != "label" else read.title
    read = replace(read, title=title or "")
    if not given or made.kept is None:
        return read
    field = "codes" if isinstance(read, Categories) else "values"
    return replace(read, **{field: getattr(read, field)[made.kept]})


def _measured(candidate: Candidate, X: Any, Y: np.ndarray, y: Any, k: int, seed: int) -> Found:
    """Measures of a map; by labels that it learnt from, on held-out rows."""
    if y is None or not candidate.learns_from_labels:
        return measure(X, Y, y, random_state=seed)
    found = measure(X, Y, None, random_state=seed)
    if not can_score(y) or not hasattr(candidate.model, "transform"):
        return found
    return found.with_labels(*held_out.label_scores(candidate.model, X, y, k, seed))


def _classes(labels: Categories | Values | None) -> Categories | None:
    """Labels that name at least two classes, each row having one; others only colour the maps."""
    if isinstance(labels, Categories) and len(labels.names) > 1 and (labels.codes >= 0).all():
        return labels if len(labels.names) < len(labels.codes) else None
    return None


def _demand(by: str, n_components: int, parameters: Any) -> None:
    if by not in BY_NAME:
        raise ValueError(f"compare: by must be one of {', '.join(BY_NAME)}; got {by!r}. Choose one of them.")
    if not options.integer(1).accepts(n_components):
        raise ValueError(f"compare: n_components must be an integer ≥ 1; got {n_components!r}. Pass 2 for a map.")
    nested = parameters is None or (
        isinstance(parameters, Mapping) and all(isinstance(one, Mapping) for one in parameters.values())
    )
    if not nested:
        raise TypeError(
            f"compare: parameters must map names of methods to their parameters; got {parameters!r}. "
            "Pass for example {'tsne': {'perplexity': 50}}."
        )
