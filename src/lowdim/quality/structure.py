"""Do rows have structure? The data, or a map of them, against rows without any.

Formulas, and what was measured, are in docs/maths/reliability.md.
"""

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import rows_of
from lowdim.data import options
from lowdim.methods import registry
from lowdim.quality.dimension import intrinsic_dimension
from lowdim.quality.fitted_map import FEWEST, NEAREST
from lowdim.quality.measure import SAMPLE, draw_rows, measuring
from lowdim.relate.neighbor_places import common_share
from lowdim.relate.neighbors import nearest
from lowdim.relate.null_rows import exceedance, gaussian_like, neighbor_distance, permuted_columns
from lowdim.work import memory, progress
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import backend_of
from lowdim.work.progress import stage
from lowdim.work.random import seed_of, stream
from lowdim.work.rows import searchable, take

NULLS = {"permuted": permuted_columns, "gaussian": gaussian_like}
_NAMES = {"permuted": "columns shuffled independently", "gaussian": "Gaussian rows with the same covariance"}
_LOSSES = ("kl_divergence_", "loss_", "stress_")
_SOME, _SOME_MAPPED = 1000, 2000  # rows sampled for "auto", without a map and with one
_LOWER = {"distance": True, "loss": True, "recall": False}  # whether less of it means structure

_RULES = {
    "parameters": options.none | options.Rule(lambda value: isinstance(value, Mapping), "a dict of parameters"),
    "draws": options.integer(2),
    "sample": SAMPLE,
    "random_state": options.seed,
    "n_jobs": options.jobs,
    "verbose": options.integer(0),
}


@dataclass(frozen=True)
class Structure:
    """Data against rows without structure; returned by :func:`structure`. Its text is a sentence.

    Attributes
    ----------
    observed : dict of str to float
        ``distance`` to the 15 nearest rows (geometric mean over rows), intrinsic ``dimension``; with a method also the
        ``loss`` of the map, if it has one, and the ``recall`` of neighbours.
    null : dict of str to dict of str to arrays (draws,)
        The same of the draws of both nulls, ``permuted`` and ``gaussian``.
    p_values : dict of str to float
        By null: how probable it is that a draw has as much structure as the data.
    method : str
        Name of the method, empty for the data alone.
    rows : int
        Number of rows used.
    """

    observed: dict[str, float]
    null: dict[str, dict[str, NDArray[np.float64]]]
    p_values: dict[str, float]
    method: str
    rows: int

    @property
    def p_value(self) -> float:
        """That against permuted columns."""
        return self.p_values["permuted"]

    def __str__(self) -> str:
        what = f"A map by {self.method}" if self.method else "The data"
        clear = [name for name, p in self.p_values.items() if p < 0.05]
        if not clear:
            return (
                f"{what} has no more neighbourhood structure than {_NAMES['permuted']} "
                f"(p = {_short(self.p_value)}): what a map shows may be noise."
            ).replace("The data has", "The data have")
        told = " and than ".join(f"{_NAMES[name]} (p = {_short(self.p_values[name])})" for name in clear)
        text = f"{what} has more neighbourhood structure than {told}".replace("The data has", "The data have")
        if clear == ["permuted"]:
            text += (
                f", but no more than {_NAMES['gaussian']} (p = {_short(self.p_values['gaussian'])}): "
                "correlated columns alone explain it"
            )
        return text + "."


def structure(
    X: Any,
    method: Any = None,
    /,
    *,
    parameters: Mapping[str, Any] | None = None,
    draws: int = 19,
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Structure:
    """Test whether rows, or a map of them, have more neighbourhood structure than rows that have none.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data; at least 50 rows.
    method : str or estimator, optional
        A method that ``lowdim methods`` lists, or an unfitted estimator, fitted to the data and to each draw. None
        compares the distances to the nearest rows alone, without a map, and is fast.
    parameters : dict, optional
        Parameters of the method.
    draws : int, default 19
        Draws of each null.
    sample : None, int or "auto", default "auto"
        Rows to use: all, this many, or 1,000 (2,000 with a method).
    random_state : int, Generator, RandomState or None, default 0
        Seed of sample, draws and method.
    n_jobs : int, default None
        Number of threads; None uses all cores.
    verbose : int, default 0
        Whether to show progress.

    Returns
    -------
    Structure
        ``.p_value``, ``.observed``, ``.null``; as text, a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim import data, quality
    >>> X, _ = data.load("iris")
    >>> quality.structure(X).p_value < 0.001
    True
    >>> noise = np.random.default_rng(0).normal(size=(200, 10))
    >>> quality.structure(noise).p_value > 0.05
    True
    """
    given = {"parameters": parameters, "draws": draws, "sample": sample, "random_state": random_state}
    with measuring("structure", _RULES, **given, n_jobs=n_jobs, verbose=verbose) as who:
        seed = seed_of(random_state)
        model, called = _model(who, method, dict(parameters or {}), seed)
        X = rows_of(who, X, "X", minimum=FEWEST)
        if backend_of(X) is not None:
            raise TypeError(f"{who}: rows in NumPy are needed; got {type(X).__name__}. Convert them, or a sample.")
        rows = draw_rows(int(X.shape[0]), sample, _SOME if model is None else _SOME_MAPPED, seed, "rows of structure")
        if len(rows) < FEWEST:
            raise ValueError(f"{who}: sample must be at least {FEWEST}; got {sample}. Pass more, or 'auto'.")
        X = take(X, rows.where) if rows.rows is not None else X
        memory.require(
            8.0 * (len(rows) ** 2 + 3 * X.shape[0] * X.shape[1]),
            f"{who}: Gaussian rows like {len(rows):,} rows",
            "Pass a smaller sample.",
        )
        with progress.showing(verbose, who), stage("draws", total=2 * draws) as tick, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the caller's own fit gives them
            observed = _statistics(X, model)
            null: dict[str, dict[str, NDArray[np.float64]]] = {}
            for i, (name, draw) in enumerate(NULLS.items()):
                found = []
                for j in range(draws):
                    found.append(_statistics(draw(X, stream(seed, f"null {name}", j)), model))
                    tick(i * draws + j + 1)
                null[name] = {key: np.array([one[key] for one in found]) for key in observed}
        p_values = {name: _p_value(observed, one) for name, one in null.items()}
        return Structure(observed, null, p_values, called, len(rows))


def _p_value(observed: dict[str, float], null: dict[str, NDArray[np.float64]]) -> float:
    """By Bonferroni over loss and recall; by the distances alone without a map."""
    used: list[str] = [name for name in ("loss", "recall") if name in observed] or ["distance"]
    least = min(exceedance(observed[name], null[name], lower=_LOWER[name]) for name in used)
    return min(1.0, len(used) * least)


def _model(who: str, method: Any, parameters: dict[str, Any], seed: int) -> tuple[Any, str]:
    """The unfitted method, None for none, and its name."""
    if method is None:
        if parameters:
            raise ValueError(f"{who}: parameters need a method; got none. Pass its name, such as 'tsne'.")
        return None, ""
    if isinstance(method, str):
        chosen = registry.find(method)
        if chosen.supervised:
            raise ValueError(
                f"{who}: a method that learns from X alone is needed; {chosen.name} learns from labels. Use 'tsne', "
                "'umap' or 'pca'."
            )
        cls, called = chosen.load(), chosen.name
        options.demand_known(chosen.class_name, parameters, cls._get_param_names())
        model = cls(**parameters)
    else:
        from sklearn.base import clone

        if not hasattr(method, "fit") or isinstance(method, type):
            raise TypeError(f"{who}: a method must be a name or an estimator; got {method!r}. Pass 'tsne' or TSNE().")
        model, called = clone(method).set_params(**parameters), type(method).__name__
    known = model.get_params(deep=False)
    if known.get("metric") == "precomputed":
        raise ValueError(
            f"{who}: rows of features are needed, whose columns can be permuted; got metric='precomputed'. Pass the "
            "rows that the distances come from."
        )
    if "random_state" in known and "random_state" not in parameters:
        model.set_params(random_state=seed)
    return model, called


def _statistics(X: Any, model: Any) -> dict[str, float]:
    """Statistics of rows, and of a map of them."""
    k = min(NEAREST, X.shape[0] - 1)
    rows = searchable(X, float_dtype(X.dtype))
    near = nearest(rows, k, None, getattr(model, "_metric", "euclidean"), "exact")
    found = {"distance": neighbor_distance(near.distances)}
    found["dimension"] = float("nan")
    with suppress(ValueError):  # too few distinct rows
        found["dimension"] = float(intrinsic_dimension(X, sample=None))
    if model is None:
        return found
    from sklearn.base import clone

    copy = clone(model)
    Y = np.ascontiguousarray(copy.fit_transform(X), dtype=np.float64)
    loss = next((getattr(copy, name) for name in _LOSSES if hasattr(copy, name)), None)
    if loss is not None:
        found["loss"] = float(loss)
    found["recall"] = float(common_share(near.indices, nearest(Y, k, how="exact").indices).mean())
    return found


def _short(p: float) -> str:
    return f"{p:.2f}" if p >= 0.005 else f"{p:.1g}" if p >= 1e-4 else "below 0.0001"
