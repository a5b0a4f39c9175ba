"""The building blocks of t-SNE and UMAP, to combine by hand: neighbours, affinities, initial layouts, optimisation.

``TSNE`` runs them one after the other. Use them directly for other affinities, a layout of your own or an optimisation
in several phases, as in openTSNE:

>>> import lowdim
>>> from lowdim import parts
>>> X, y = lowdim.data.load("iris")
>>> near = parts.nearest(X, 45)
>>> p, _ = parts.likelihoods(near.distances, [15.0])
>>> P = parts.affinities(near.indices, p)
>>> loss = parts.Divergence(parts.Falloff("student"), "exact", exaggerated=100)
>>> found = parts.descend(P, parts.by_pca(X, 2, seed=0), loss, iterations=300, every=50)
>>> found.embedding.shape, found.losses[-1] < found.losses[0]
((150, 2), True)
>>> parts.place(near.indices[:3], p[:3], found.embedding, loss).shape
(3, 2)

They are the operations of the estimators, whose arguments are checked here as the estimators check theirs.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from lowdim.compose import layout
from lowdim.data import options, validation
from lowdim.data.given_similarities import demand_similarities
from lowdim.data.precomputed import demand_distances
from lowdim.relate import affinities as _affinities
from lowdim.relate import fuzzy
from lowdim.relate import neighbors as _neighbors
from lowdim.relate.affinities import Affinities
from lowdim.relate.fuzzy import FuzzyGraph
from lowdim.relate.metrics import METRICS, Metric, metric_with
from lowdim.relate.neighbors import Neighbors, Within
from lowdim.solve import descent
from lowdim.solve import divergence as _divergence
from lowdim.solve.cross_entropy import CrossEntropy
from lowdim.solve.descent import Descended, Loss, Reached
from lowdim.solve.divergence import Divergence, Falloff
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import backend_of
from lowdim.work.finite import careful
from lowdim.work.rows import searchable

__all__ = [
    "Affinities",
    "CrossEntropy",
    "Descended",
    "Divergence",
    "Falloff",
    "FuzzyGraph",
    "Loss",
    "Neighbors",
    "Reached",
    "Within",
    "affinities",
    "by_chance",
    "by_pca",
    "by_spectrum",
    "descend",
    "divergence",
    "fuzzy_union",
    "gradient",
    "likelihoods",
    "memberships",
    "nearest",
    "neighbors_for",
    "place",
    "within",
]
Given = dict[str, Any]  # arguments by name
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_COUNT, _SEED, _POSITIVE = options.integer(1), options.integer(0), options.real(0)
_METRIC = options.one_of(*METRICS) | options.Rule(callable, "a function of two rows")
_LOSS = options.Rule(
    lambda value: all(callable(getattr(value, method, None)) for method in ("lower", "at", "place_new")),
    "a loss, such as Divergence(Falloff('student'), 'exact')",
)
_FALLOFF = {"name": options.one_of("student", "gauss"), "dof": options.real(0.01, 1e6, closed="both")}
_DIVERGENCE = {
    "repulsion": options.one_of("exact", "barnes_hut", "fft"),
    "angle": options.real(0, 1, closed="both"),
    "exaggerated": options.integer(0),
    "exaggeration": _POSITIVE,
    "late": _POSITIVE,
    "rate": options.none | _POSITIVE,
}
_CROSS_ENTROPY = {
    "a": _POSITIVE,
    "b": options.real(0, 4, closed="right"),
    "negatives": options.real(0, closed="left"),
    "rate": _POSITIVE,
    "seed": _SEED,
    "unit": _POSITIVE,
}


def _checked(
    operation: Callable[Parameters, Result], check: Callable[[Given, str], None], **rules: options.Rule
) -> Callable[Parameters, Result]:
    """The operation, with ``rules`` of its parameters and a ``check`` that may also replace its arguments."""
    name, takes = f"parts.{operation.__name__}", signature(operation)

    @wraps(operation)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        bound = takes.bind(*args, **kwargs)
        bound.apply_defaults()
        options.check(name, bound.arguments, rules)
        with careful(name):
            check(bound.arguments, name)
            return operation(*bound.args, **bound.kwargs)

    return call


def _rows(given: Given, name: str) -> None:
    """Rows to search, with a metric that carries its parameters."""
    metric, queries = given["metric"], given["queries"]
    given["metric"] = metric if isinstance(metric, Metric) else metric_with(metric, None, name)
    X = given["X"] = _searchable(given["X"], name, "X", 2 if queries is None else 1)
    known = metric == "precomputed"
    if known:
        demand_distances(X, name)
    if queries is not None:
        Q = given["queries"] = _searchable(queries, name, "queries")
        if Q.shape[1] != X.shape[1]:
            raise ValueError(
                f"{name}: queries must have the {X.shape[1]:,} columns of X; got {Q.shape[1]:,}. Match them."
            )
    limit = X.shape[0] - (queries is None)
    if given.get("k", 1) > limit:
        raise ValueError(f"{name}: k must be at most {limit:,}, the number of other rows; got {given['k']}. Lower it.")


def _layout_rows(given: Given, name: str) -> None:
    given["X"] = _searchable(given["X"], name, "X")


def _searchable(X: Any, name: str, called: str, minimum: int = 1) -> Any:
    X = validation.validated_rows(X, name, sparse=True, minimum=minimum, scan=True, called=called)
    return searchable(X, float_dtype(X.dtype))


def _numbers(values: Any, name: str, called: str, dtype: Any = None) -> Any:
    """Array (n, k) of finite numbers, as it is if it is one already; those of other backends are not looked at."""
    if backend_of(values) is not None:
        return values
    array = validation.validated_rows(values, name, sparse=False, minimum=1, scan=True, called=called)
    wanted = dtype or (array.dtype if array.dtype in (np.float32, np.float64) else np.float64)
    return np.ascontiguousarray(array, wanted)


def _distances(given: Given, name: str) -> None:
    """Distances of neighbours, nearest first."""
    if backend_of(given["distances"]) is not None:
        return
    D = given["distances"] = _numbers(given["distances"], name, "distances")
    down = np.flatnonzero((np.diff(D, axis=1) < 0).any(axis=1))
    if D.min() < 0 or len(down):
        what = f"{D.min():g}" if D.min() < 0 else f"those of row {down[0]} in another order"
        raise ValueError(f"{name}: distances must be 0 or more and ascend in each row; got {what}. Sort them.")


def _perplexities(given: Given, name: str) -> None:
    _distances(given, name)
    k, rule = given["distances"].shape[1], options.real(1, closed="left")
    them = given["perplexities"]
    if not isinstance(them, list | tuple) or not them or not all(rule.accepts(u) and u <= k for u in them):
        raise ValueError(
            f"{name}: perplexities must be a list of numbers from 1 to {k}, the number of neighbours; got {them!r}. "
            f"Pass [{min(30, k)}], or more neighbours."
        )
    given["perplexities"] = [float(u) for u in them]


def _near(given: Given, name: str, called: str, n: int | None = None) -> None:
    """Neighbours, those of each row if ``n`` is None, and their weights, called ``called``."""
    key = "indices" if "indices" in given else "neighbors"
    if backend_of(given[key]) is not None:
        return
    index = validation.validated_rows(given[key], name, sparse=False, minimum=1, scan=True, called=key)
    needs, below = f"{name}: {key} must hold numbers of rows", len(index) if n is None else n
    if index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= below:
        raise ValueError(
            f"{needs}, integers from 0 to {below - 1:,}; got {index.dtype} from {index.min()} to {index.max()}. "
            "Pass those of nearest."
        )
    ordered = np.sort(index, axis=1)
    twice = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    own = np.flatnonzero((index == np.arange(len(index))[:, None]).any(axis=1)) if n is None else twice[:0]
    if len(twice) or len(own):
        what = f"row {twice[0]} with one twice" if len(twice) else f"row {own[0]} as its own neighbour"
        raise ValueError(f"{needs}, each neighbour once and not the row itself; got {what}. Pass those of nearest.")
    given[key] = np.ascontiguousarray(index, np.int32)
    W = given[called] = _numbers(given[called], name, called, np.float32)
    if W.shape != index.shape or W.min() < 0:
        got = f"shape {W.shape}" if W.shape != index.shape else f"{W.min():g}"
        raise ValueError(f"{name}: {called} must be 0 or more, of the shape {index.shape} of {key}; got {got}.")


def _memberships(given: Given, name: str) -> None:
    _near(given, name, "v")
    if backend_of(given["v"]) is None and given["v"].max() > 1:
        raise ValueError(f"{name}: v must be from 0 to 1; got {given['v'].max():g}. Pass those of memberships.")


def _relations(given: Given, name: str, key: str = "P") -> int | None:
    """Symmetric similarities of rows, and the number of rows; those of other backends are not looked at."""
    if backend_of(given[key]) is not None:
        return None
    A = demand_similarities(given[key], name, key)
    if not isinstance(given[key], tuple):
        given[key] = (A.indptr, A.indices, A.data)
    starts, columns, values = given[key]
    given[key] = (  # the order of the caller, which the sums depend on
        np.ascontiguousarray(starts, np.int64),
        np.ascontiguousarray(columns, np.int32),
        np.ascontiguousarray(values, np.float32),
    )
    return A.shape[0]


def _graph(given: Given, name: str) -> None:
    _relations(given, name)


def _map(given: Given, name: str, n: int | None = None) -> None:
    """A map, of ``n`` points if that is known."""
    if backend_of(given["Y"]) is not None:
        return
    Y = given["Y"] = _numbers(given["Y"], name, "Y")
    if n is not None and len(Y) != n:
        raise ValueError(f"{name}: Y must have a row for each of the {n:,} rows; got {len(Y):,}. Match them.")
    if Y.shape[1] > descent.MOST_DIMENSIONS:
        raise ValueError(
            f"{name}: Y must have at most {descent.MOST_DIMENSIONS} columns; got {Y.shape[1]}. Pass a map."
        )


def _map_by_falloff(given: Given, name: str) -> None:
    _map(given, name, _relations(given, name))
    _law(given["falloff"], name)


def _map_in_single(given: Given, name: str) -> None:
    _map_by_falloff(given, name)
    if backend_of(given["Y"]) is None:
        given["Y"] = np.asarray(given["Y"], np.float32)


def _law(falloff: Any, name: str) -> None:
    if not isinstance(falloff, Falloff):
        raise TypeError(f"{name}: a Falloff is needed; got {falloff!r}. Pass Falloff('student').")
    options.check(f"{name}, Falloff", falloff._asdict(), _FALLOFF)


def _loss(given: Given, name: str) -> bool:
    """Check the parameters of a loss of lowdim; whether it is one."""
    loss, k = given["loss"], given["Y"].shape[1]
    if isinstance(loss, Divergence):
        options.check(f"{name}, Divergence", vars(loss), _DIVERGENCE)
        _law(loss.falloff, name)
        if k > (most := _divergence.FAST.get(loss.repulsion, k)):
            raise ValueError(
                f"{name}: repulsion={loss.repulsion!r} needs a map of at most {most} dimensions; got {k}. Pass 'exact'."
            )
    elif isinstance(loss, CrossEntropy):
        options.check(f"{name}, CrossEntropy", vars(loss), _CROSS_ENTROPY)
    return isinstance(loss, Divergence | CrossEntropy)


def _descent(given: Given, name: str) -> None:
    _map(given, name)
    if _loss(given, name) and (n := _relations(given, name, "relations")) is not None:
        _map(given, name, n)


def _places(given: Given, name: str) -> None:
    _map(given, name)
    _loss(given, name)
    _near(given, name, "weights", len(given["Y"]))


def _nothing(given: Given, name: str) -> None:
    """The rules of the parameters say all."""


nearest = _checked(_neighbors.nearest, _rows, k=_COUNT, metric=_METRIC, how=options.one_of(*_neighbors.HOW), seed=_SEED)
within = _checked(_neighbors.within, _rows, radius=options.real(0, closed="left"), metric=_METRIC)
neighbors_for = _checked(_affinities.neighbors_for, _nothing, perplexity=_POSITIVE, n=options.integer(2))
likelihoods = _checked(_affinities.likelihoods, _perplexities, sigma=options.none | options.real(1e-37, 1e37))
affinities = _checked(_affinities.affinities, lambda given, name: _near(given, name, "p"))
memberships = _checked(
    fuzzy.memberships,
    _distances,
    local_connectivity=options.real(0, closed="left"),
    typical=options.none | options.real(0, closed="left"),
)
fuzzy_union = _checked(fuzzy.fuzzy_union, _memberships, mix=options.real(0, 1, closed="both"))
by_pca = _checked(layout.by_pca, _layout_rows, k=_COUNT, seed=_SEED)
by_spectrum = _checked(layout.by_spectrum, _graph, k=_COUNT, seed=_SEED)
by_chance = _checked(layout.by_chance, _nothing, n=_COUNT, k=_COUNT, seed=_SEED)
descend = _checked(
    descent.descend,
    _descent,
    loss=_LOSS,
    iterations=_COUNT,
    every=_COUNT,
    report=options.none | options.Rule(callable, "a function (iteration, loss, map)"),
)
place = _checked(descent.place, _places, loss=_LOSS)
divergence = _checked(_divergence.divergence, _map_in_single)
gradient = _checked(_divergence.gradient, _map_by_falloff)
