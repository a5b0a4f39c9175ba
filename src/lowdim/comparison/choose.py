"""The most important parameter of a method, chosen with its reason."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from lowdim.data import options, validation
from lowdim.methods import registry
from lowdim.methods.choosing import WORD, Choice, choose_value
from lowdim.relate.null_rows import permuted_columns
from lowdim.solve.component_count import components_for
from lowdim.work import progress, thread_limit
from lowdim.work.random import seed_of, stream

_DRAWS, _QUANTILE = 19, 0.95  # of parallel analysis
_SHARE = 0.9  # of the variance

_RULES = {"random_state": options.seed, "n_jobs": options.jobs, "verbose": options.integer(0)}


def choose(
    X: Any,
    method: str = "tsne",
    /,
    *,
    y: Any = None,
    parameters: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Choice:
    """Choose the parameter that matters most: the perplexity, the number of neighbours, or of principal components.

    Maps by up to six values are fitted to all rows and compared by their area under R_NX; those within 1 % of the best
    are told apart by how little they change from sample to sample. For ``"pca"``, parallel analysis keeps the
    components whose variance exceeds that of permuted columns; the number that explains 90 % stands beside it.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data; at least 50 rows.
    method : str, default "tsne"
        A method with ``perplexity`` or ``n_neighbors``, or ``"pca"``.
    y : array (n_samples,), optional
        Labels, for methods that use them.
    parameters : dict, optional
        Other parameters of the method.
    random_state : int, Generator, RandomState or None, default 0
        Seed of fits and samples.
    n_jobs : int, default None
        Number of threads; None uses all cores.
    verbose : int, default 0
        Whether to show progress.

    Returns
    -------
    Choice
        ``.value``, ``.reason``, ``.table``, and ``.model``, fitted with it.

    Examples
    --------
    >>> import lowdim
    >>> X, _ = lowdim.data.load("iris")
    >>> found = lowdim.choose(X, "pca")
    >>> found.value, found.parameter
    (1, 'n_components')
    """
    given = {"random_state": random_state, "n_jobs": n_jobs, "verbose": verbose}
    options.check("choose", given, _RULES)
    chosen, seed = registry.find(method), seed_of(random_state)
    cls, params = chosen.load(), dict(parameters or {})
    known = cls._get_param_names()
    options.demand_known(chosen.class_name, params, known)
    X = validation.rows(X, "choose", sparse=True, minimum=50)
    with thread_limit.using(n_jobs), progress.showing(verbose, "choose"):
        if chosen.name == "pca":
            return _components(X, cls(**(params | {"n_components": None})), seed)
        name = next((one for one in ("perplexity", "n_neighbors") if one in known), None)
        if name is None:
            raise ValueError(
                f"choose: a method with perplexity or n_neighbors is needed, or pca; got {chosen.name}. Use 'tsne', "
                "'umap', 'pacmap', 'isomap' or 'lle'."
            )
        if name in params:
            raise ValueError(f"choose: {name} is what is chosen; got {params[name]!r}. Leave it out.")
        model = cls(**({"n_jobs": n_jobs} | params | {name: WORD}))
        return choose_value(model, name, X, y, seed)


def _components(X: Any, model: Any, seed: int) -> Choice:
    """Number of components by parallel analysis (Horn 1965)."""
    begun = perf_counter()
    fitted = model.fit(X)
    values = np.asarray(fitted.explained_variance_, np.float64)
    null = []
    for draw in range(_DRAWS):
        rows = permuted_columns(X, stream(seed, "null permuted", draw))
        null.append(np.asarray(type(model)(**model.get_params()).fit(rows).explained_variance_, np.float64))
    limit = np.quantile(null, _QUANTILE, axis=0)
    below = np.flatnonzero(values <= limit)
    count = int(below[0]) if len(below) else len(values)
    total = np.cumsum(fitted.explained_variance_ratio_)
    enough = components_for(_SHARE, fitted.explained_variance_ratio_)
    reason = (
        f"{count} leading component{' varies' if count == 1 else 's vary'} more than those of permuted columns; "
        f"{enough} explain{'s' if enough == 1 else ''} 90 % of the variance."
    )
    if count == 0:
        reason += " No component does: the columns do not depend on each other, and no number is right for noise."
    columns = {
        "component": list(range(1, len(values) + 1)),
        "variance": values.tolist(),
        "permuted": limit.tolist(),
        "cumulative_share": total.tolist(),
    }
    noise = (1 + sum(float(one[0] >= values[0]) for one in null)) / (_DRAWS + 1)
    model = type(model)(**(model.get_params() | {"n_components": max(1, count)})).fit(X)
    return Choice("n_components", max(1, count), reason, columns, noise, perf_counter() - begun, _DRAWS + 2, model)
