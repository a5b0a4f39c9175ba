"""The available metrics, in one table: the parameters of each, and how distances of rows are computed.

A metric is Euclidean if its distances are Euclidean distances of transformed rows (``neighbors.as_euclidean``): the
fast searches apply. For any other, distances are computed in blocks of rows. Verbs take a metric by name,
or a :class:`Metric`: the name together with its parameters.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.work import thread_limit

_FUNCTION = "function"
_TRIED, _UNEQUAL = 8, 1e-6  # pairs that a function is tried on, and the difference of both orders that is rounding


class Metric(str):
    """Name of a metric that carries its parameters: p of Minkowski's, VI of Mahalanobis', or the function itself."""

    given: Mapping[str, Any]

    def __new__(cls, name: str, given: Mapping[str, Any] | None = None) -> "Metric":
        """A metric by name with its parameters."""
        self = super().__new__(cls, name)
        self.given = dict(given or {})
        return self


@dataclass(frozen=True)
class Kind:
    """Parameters of a metric (``metric_params``), the rows it accepts, and its distances (m,), pair by pair."""

    takes: tuple[str, ...] = ()
    apart: Callable[..., NDArray] | None = None  # of two blocks of rows and the parameters; None: it is Euclidean
    scipy: str = ""  # SciPy's name of the metric
    sparse: bool = False
    scaled: bool = True  # whether the scales of features matter


def _jaccard(A: NDArray, B: NDArray) -> NDArray:
    """Share of the nonzero features of two rows that only one of them has, 0 if neither has any."""
    A, B = A != 0, B != 0
    either = (A | B).sum(axis=1)
    return np.asarray((A ^ B).sum(axis=1) / np.maximum(either, 1))


def _given(*rows: NDArray) -> NDArray:
    raise TypeError(f"precomputed distances are looked up, not computed from {len(rows)} blocks of rows")


KINDS: dict[str, Kind] = {
    "euclidean": Kind(sparse=True),
    "cosine": Kind(sparse=True),
    "correlation": Kind(scaled=True),
    "mahalanobis": Kind(("VI",), scaled=False),
    "manhattan": Kind(apart=lambda A, B: np.abs(A - B).sum(axis=1), sparse=True),
    "chebyshev": Kind(apart=lambda A, B: np.abs(A - B).max(axis=1), scipy="chebyshev"),
    "minkowski": Kind(("p",), lambda A, B, p: (np.abs(A - B) ** p).sum(axis=1) ** (1 / p), "minkowski"),
    "hamming": Kind(apart=lambda A, B: (A != B).mean(axis=1), scipy="hamming", scaled=False),
    "jaccard": Kind(apart=_jaccard, sparse=True, scaled=False),
    "precomputed": Kind(apart=_given, sparse=True, scaled=False),
}
METRICS = tuple(KINDS)
_KINDS = KINDS | {
    _FUNCTION: Kind(
        (_FUNCTION,),
        lambda A, B, function: np.array([function(a, b) for a, b in zip(A, B, strict=True)], np.float64),
        _FUNCTION,
        scaled=False,
    )
}
_ALIASES = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}  # of Minkowski's by p


def kind_of(metric: str) -> Kind:
    """Entry of the table for a metric."""
    return _KINDS[str(metric)]


def metric_with(metric: Any, params: Mapping[str, Any] | None, caller: str) -> Metric:
    """Metric from the parameters ``metric`` (a name or a function of two rows) and ``metric_params``.

    >>> metric_with("minkowski", {"p": 1}, "Isomap")
    'manhattan'
    """
    params = dict(params or {})
    name = metric if isinstance(metric, str) else _FUNCTION
    takes = KINDS[name].takes if name in KINDS else ()
    strange = [key for key in params if key not in takes]
    if strange:
        raise ValueError(
            f"{caller}: metric_params of metric={name!r} may hold {', '.join(takes) or 'nothing'}; got "
            f"{', '.join(map(str, strange))}. Leave it out."
        )
    if callable(metric):
        return Metric(_FUNCTION, {_FUNCTION: metric})
    if name == "minkowski":
        p = float(params.get("p", 2))
        if not p >= 1:
            raise ValueError(
                f"{caller}: metric='minkowski' needs metric_params={{'p': p}} with p of 1 or more; got {p:g}."
            )
        return Metric(_ALIASES[p]) if p in _ALIASES else Metric(name, {"p": p})
    if "VI" in params:
        params["VI"] = _demand_form(np.asarray(params["VI"], dtype=np.float64), caller)
    return Metric(name, params)


def _demand_form(V: NDArray, caller: str) -> NDArray:
    """Refuse a matrix of Mahalanobis' distance unless it is square, symmetric and positive semi-definite."""
    needs = f"{caller}: metric='mahalanobis' needs a VI that is symmetric and positive semi-definite"
    if V.ndim != 2 or V.shape[0] != V.shape[1] or not np.isfinite(V).all():
        raise ValueError(
            f"{needs}, (n_features, n_features) and finite; got shape {V.shape}. Pass an inverse covariance."
        )
    size = np.abs(V).max(initial=0.0)
    least = float(np.linalg.eigvalsh((V + V.T) / 2)[0])
    if np.abs(V - V.T).max(initial=0.0) > 1e-8 * size or least < -1e-8 * size:
        raise ValueError(f"{needs}; its smallest eigenvalue is {least:.3g}. Pass an inverse covariance.")
    return (V + V.T) / 2


def distances_to(B: NDArray, X: Any, metric: str) -> NDArray[np.float64]:
    """Distances (m, n) of dense queries ``B`` from all rows of ``X``, in a metric that is not Euclidean."""
    kind, given = kind_of(metric), getattr(metric, "given", {})
    if metric == "jaccard":
        return _all_jaccard(B, X)
    from scipy.spatial.distance import cdist

    function = given.get(_FUNCTION)
    if function is not None:
        _demand_function(function, B, X)
        D = cdist(B, X, metric=function)
        if not np.isfinite(D).all() or D.min(initial=0.0) < 0:
            raise ValueError(
                "metric must be a function that gives distances, finite and 0 or more; got "
                f"{D.min():g} to {D.max():g}. Correct it."
            )
        return np.asarray(D)
    parts = [part for part in np.array_split(np.arange(len(B)), thread_limit.current()) if len(part)]
    with ThreadPoolExecutor(max(1, len(parts))) as pool:  # SciPy releases the GIL
        return np.concatenate(list(pool.map(lambda part: cdist(B[part], X, kind.scipy, **given), parts)))


def _demand_function(function: Callable[..., Any], B: NDArray, X: NDArray) -> None:
    """Try a function given as metric on a few pairs of rows: refused unless it gives numbers, the same both ways."""
    for j in np.linspace(0, len(X) - 1, min(len(X), _TRIED)).astype(int):
        there, back = function(B[0], X[j]), function(X[j], B[0])
        if not isinstance(there, Real) and getattr(getattr(there, "dtype", None), "kind", "") not in tuple("biuf"):
            raise ValueError(f"metric must be a function that gives a number; got {there!r}. Correct it.")
        if abs(float(there) - float(back)) > _UNEQUAL * abs(float(there)):
            raise ValueError(
                f"metric must be a function that is symmetric; got {float(there):g} for two rows and {float(back):g} "
                "for the same in the other order. Pass the mean of both, for example."
            )


def _all_jaccard(B: NDArray, X: Any) -> NDArray[np.float64]:
    """The same by products: rows have ``|a ∩ b| = a · b`` features in common."""
    A = (B != 0).astype(np.float32)
    Y = (sp.csr_array(X) != 0).astype(np.float32) if sp.issparse(X) else (X != 0).astype(np.float32)
    both = np.asarray((Y @ A.T).T, dtype=np.float64)
    either = A.sum(axis=1, dtype=np.float64)[:, None] + np.asarray(Y.sum(axis=1), dtype=np.float64).ravel() - both
    return 1.0 - np.divide(both, either, out=np.ones_like(both), where=either > 0)
