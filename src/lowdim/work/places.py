"""The place where rows are stored, and the implementation of each verb for it.

Rows are NumPy arrays or CSR unless their type says otherwise: torch tensors are on a device, Dask arrays on a
cluster. A verb is a function for NumPy rows decorated by :func:`verb`; given rows of another place it calls the
function of the same module and name there (``relate.moments.moments`` to ``lowdim.gpu.moments.moments``). A place that
lacks a verb raises an error that names it. Nothing unused is imported, and nothing is moved silently.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

Call = TypeVar("Call", bound=Callable[..., Any])


@dataclass(frozen=True)
class Place:
    """Arrays of one library: their name, their conversion to NumPy, and their verbs.

    ``verbs`` is a package whose modules mirror ours and whose ``METHODS`` names the estimators it supports, a mapping
    of ``"module.name"`` to functions, or None where there are no verbs. ``instead`` says what to do with rows that an
    estimator cannot take; ``several`` is whether they are distributed, where calls of a model are lazy.
    """

    name: str
    bring: str
    verbs: str | Mapping[str, Callable[..., Any]] | None = None
    instead: str = ""
    several: bool = False

    def serves(self, method: str) -> bool:
        """Whether the estimator called ``method`` takes rows of this place."""
        return method in import_module(self.verbs).METHODS if isinstance(self.verbs, str) else self.verbs is not None

    def find(self, key: str, otherwise: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """The function for the verb ``key``, ``"module.name"``; ``otherwise`` where the place has none."""
        if isinstance(self.verbs, str):
            module, *names = key.split(".")
            found: Any = import_module(f"{self.verbs}.{module}") if find_spec(f"{self.verbs}.{module}") else None
            for name in names:
                found = getattr(found, name, None)
            if found is not None:
                return cast(Callable[..., Any], found)
        elif self.verbs is not None and key in self.verbs:
            return self.verbs[key]
        if otherwise is not None:
            return otherwise
        advice = self.instead or f"Convert the rows to NumPy with .{self.bring}."
        raise TypeError(f"{key}: no version for {self.name} exists. {advice}")


_SPREAD = Place(
    "a Dask array or DataFrame",
    "compute()",
    "lowdim.cluster",
    "Take some of its rows, lowdim.data.sample(X, n, random_state=0): a model fitted on those transforms all rows by "
    "transform.",
    several=True,
)
_PLACES: dict[str, Place] = {  # by the package in which the types of arrays are defined
    "torch": Place("a torch tensor", "numpy(force=True)", "lowdim.gpu"),
    "dask": _SPREAD,
    "cupy": Place("a cupy array", "get()"),
    "jax": Place("a jax array", "__array__()"),
    "jaxlib": Place("a jax array", "__array__()"),
}
VERBS: dict[str, Callable[..., Any]] = {}  # those for NumPy, by "module.name", of the modules loaded so far
_HERE = ("numpy", "scipy", "builtins", "pandas")


def register(package: str, place: Place) -> None:
    """Register ``place`` for arrays whose types are defined in ``package``."""
    _PLACES[package] = place


def of(rows: Any) -> Place | None:
    """Place of an array, of what holds rows as ``X``, or of a tuple by its first entry; None is NumPy's.

    >>> of(np.zeros(3)) is None, of((np.zeros(3), 1)) is None
    (True, True)
    """
    while isinstance(rows, tuple) and rows:
        rows = rows[0]
    package = type(rows).__module__.partition(".")[0]
    if package in _HERE:
        return None
    if package == "polars" and type(rows).__name__ == "LazyFrame":
        return Place("a polars LazyFrame", "collect()")
    if package == "lowdim" and hasattr(rows, "X"):
        return of(rows.X)
    return _PLACES.get(package)


@overload
def verb(function: Call, *, on: int = 0, anywhere: bool = False) -> Call: ...


@overload
def verb(function: None = None, *, on: int = 0, anywhere: bool = False) -> Callable[[Call], Call]: ...


def verb(function: Any = None, *, on: int = 0, anywhere: bool = False) -> Any:
    """Decorate a function for NumPy rows so that rows of other places use theirs; ``on`` is the deciding argument.

    With ``anywhere``, the function reads only the shape of rows, and is also used for places without their own version.

    >>> @verb
    ... def total(X):
    ...     return X.sum()
    >>> float(total(np.ones(3)))
    3.0
    """
    if function is None:
        return lambda function: verb(function, on=on, anywhere=anywhere)
    named = list(signature(function).parameters)[on]
    key = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"

    if key in VERBS and VERBS[key].__module__ != function.__module__:
        raise ValueError(f"two verbs are called {key}: {VERBS[key].__module__} and {function.__module__}")
    VERBS[key] = function

    @wraps(function)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        place = of(args[on] if len(args) > on else kwargs[named])
        return (function if place is None else place.find(key, function if anywhere else None))(*args, **kwargs)

    return dispatch


def demand_served(rows: Any, name: str) -> Place | None:
    """Place of the rows, which must support the estimator or function called ``name``."""
    place = of(rows)
    if place is not None and not place.serves(name):
        raise TypeError(
            f"{name}: a NumPy array, a DataFrame or a SciPy sparse matrix is needed; got {place.name}, for which "
            f"{name} has no version. {place.instead or f'Convert it with .{place.bring}.'}"
        )
    return place


def apart(rows: Any) -> bool:
    """Whether rows are distributed.

    >>> apart(np.zeros((2, 1)))
    False
    """
    place = of(rows)
    return place is not None and place.several


def demand_together(rows: Any, what: str, instead: str) -> None:
    """Refuse distributed rows for ``what``, which needs all of them in one memory."""
    if apart(rows):
        raise ValueError(f"{what} needs all rows in one memory; got a Dask array or DataFrame. {instead}")


def demand_beside(who: str, A: Any, B: Any, called: str) -> None:
    """Refuse two tensors on different devices, which are never moved silently."""
    if of(A) is not None and of(A) is of(B) and getattr(A, "device", None) != getattr(B, "device", None):
        raise ValueError(f"{who}: {called} must be on one device; got {A.device} and {B.device}. Move one with .to(…).")


@verb
def to_numpy(A: Any) -> NDArray:
    """The array in NumPy, a view if it is in memory already."""
    return np.asarray(A)


@verb(on=1)
def placed(A: NDArray, like: Any) -> Any:  # noqa: ARG001  # it says where
    """The NumPy array ``A`` on the place of ``like``."""
    return A


@verb
def at_home(A: Any) -> bool:  # noqa: ARG001  # it is NumPy's
    """Whether the NumPy verbs can be used for the array, as a view in NumPy if necessary."""
    return True


@verb(on=1)
def beside(A: Any, like: Any) -> Any:  # noqa: ARG001  # it says where
    """The array ``A``, of the kind of ``like``, on the same device."""
    return A


def brought(A: Any, like: Any) -> Any:
    """The array ``A`` on the place of ``like``, itself if it is there; for a tuple, the arrays in it."""
    if isinstance(A, tuple):
        return _rebuilt(A, [brought(item, like) for item in A])
    if not hasattr(A, "shape"):
        return A
    if of(A) is of(like):
        return beside(A, like)
    return placed(to_numpy(A), like)


def home(value: Any) -> Any:
    """``value`` with every array of another place converted to NumPy, also within tuples and lists."""
    if isinstance(value, tuple):
        return _rebuilt(value, [home(item) for item in value])
    if isinstance(value, list):
        return [home(item) for item in value]
    return value if of(value) is None else to_numpy(value)


def _rebuilt(value: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple of the same kind with other items."""
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
