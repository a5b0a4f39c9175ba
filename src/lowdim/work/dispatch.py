"""Operations and their implementations for the arrays of other libraries.

An operation is a function for NumPy arrays and CSR matrices, decorated by :func:`operation`. A :class:`Backend` has
other implementations of operations, for the arrays of one library, each registered by the operation that it implements
(:meth:`Backend.implements`). The type of an argument selects the backend. A backend that lacks an operation raises an
error that names it. A backend's package is imported when its first array arrives, and nothing is moved silently.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any, ParamSpec, TypeVar, overload

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Call = TypeVar("Call", bound=Callable[..., Any])


class Backend:
    """The arrays of one library: their name, the call that converts them to NumPy, and their operations.

    ``package`` is imported on first use; it registers its implementations, and its ``SUPPORTED`` are the estimators and
    measures all of whose operations it has. Without a package nothing is implemented. ``advice`` says what to do with
    rows that an estimator does not support; ``distributed`` is whether calls of a model on its rows are lazy.
    """

    def __init__(
        self, name: str, convert: str, package: str | None = None, *, advice: str = "", distributed: bool = False
    ) -> None:
        self.name, self.package, self.distributed = name, package, distributed
        self.advice = advice or f"Convert the rows to NumPy with .{convert}."
        self.implementations: dict[Callable[..., Any], Callable[..., Any]] = {}

    def implements(
        self,
        operation: Callable[Parameters, Any],
    ) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
        """Decorate the implementation of ``operation``; mypy compares the parameters of both."""

        def register(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
            if operation not in OPERATIONS:
                raise ValueError(f"{full_name(operation)} is not an operation: decorate it with @operation.")
            if operation in self.implementations:
                raise ValueError(f"{full_name(operation)} has two implementations for {self.name}.")
            self.implementations[operation] = function
            return function

        return register

    def supports(self, method: str) -> bool:
        """Whether the estimator or measure called ``method`` takes these arrays."""
        return self.package is not None and method in import_module(self.package).SUPPORTED

    def find(self, operation: Callable[..., Any]) -> Callable[..., Any] | None:
        """The implementation of an operation, None where there is none."""
        if self.package is not None:
            import_module(self.package)
        return self.implementations.get(operation)


_BACKENDS: dict[str, Backend] = {}  # by the package in which the types of arrays are defined
OPERATIONS: set[Callable[..., Any]] = set()  # of the modules loaded so far
_NUMPY = ("numpy", "scipy", "builtins", "pandas")


def register(library: str, backend: Backend) -> Backend:
    """Register ``backend`` for arrays whose types are defined in the package ``library``."""
    _BACKENDS[library] = backend
    return backend


def backend_of(rows: Any) -> Backend | None:
    """Backend of an array, of what holds rows as ``X``, or of a tuple by its first entry; None is NumPy.

    >>> import numpy as np
    >>> backend_of(np.zeros(3)) is None, backend_of((np.zeros(3), 1)) is None
    (True, True)
    """
    while isinstance(rows, tuple) and rows:
        rows = rows[0]
    library = type(rows).__module__.partition(".")[0]
    if library in _NUMPY:
        return None
    if library == "polars" and type(rows).__name__ == "LazyFrame":
        return Backend("a polars LazyFrame", "collect()")
    if library == "lowdim" and hasattr(rows, "X"):
        return backend_of(rows.X)
    return _BACKENDS.get(library)


@overload
def operation(function: Call, *, on: int = 0, any_backend: bool = False) -> Call: ...


@overload
def operation(function: None = None, *, on: int = 0, any_backend: bool = False) -> Callable[[Call], Call]: ...


def operation(function: Any = None, *, on: int = 0, any_backend: bool = False) -> Any:
    """Decorate a function for NumPy so that arrays of other libraries use their own; ``on`` is the deciding argument.

    With ``any_backend`` the function reads only the shape of arrays, and serves backends without their own version.

    >>> import numpy as np
    >>> @operation
    ... def total(X):
    ...     return X.sum()
    >>> float(total(np.ones(3)))
    3.0
    """
    if function is None:
        return lambda function: operation(function, on=on, any_backend=any_backend)
    named = list(signature(function).parameters)[on]

    @wraps(function)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        backend = backend_of(args[on] if len(args) > on else kwargs[named])
        if backend is None:
            return function(*args, **kwargs)
        found = backend.find(dispatched) or (function if any_backend else None)
        if found is None:
            raise TypeError(f"{full_name(function)}: no version for {backend.name} exists. {backend.advice}")
        return found(*args, **kwargs)

    OPERATIONS.add(dispatched)
    return dispatched


def numpy_version(operation: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The NumPy version of an operation."""
    return operation.__wrapped__  # type: ignore[attr-defined]


def full_name(function: Callable[..., Any]) -> str:
    """Module and name of a function, without the packages.

    >>> full_name(backend_of)
    'dispatch.backend_of'
    """
    return f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"


def require_supported(rows: Any, name: str) -> Backend | None:
    """Backend of the rows, which must support the estimator or measure called ``name``."""
    backend = backend_of(rows)
    if backend is not None and not backend.supports(name):
        raise TypeError(
            f"{name}: a NumPy array, a DataFrame or a SciPy sparse matrix is needed; got {backend.name}, for which "
            f"{name} has no version. {backend.advice}"
        )
    return backend


def is_distributed(rows: Any) -> bool:
    """Whether rows are distributed.

    >>> import numpy as np
    >>> is_distributed(np.zeros((2, 1)))
    False
    """
    backend = backend_of(rows)
    return backend is not None and backend.distributed


def require_one_memory(rows: Any, what: str, advice: str) -> None:
    """Refuse distributed rows for ``what``, which needs all of them in one memory."""
    if is_distributed(rows):
        raise ValueError(f"{what} needs all rows in one memory; got a Dask array or DataFrame. {advice}")


def require_one_device(who: str, A: Any, B: Any, called: str) -> None:
    """Refuse two tensors on different devices, which are never moved silently."""
    same = backend_of(A) is not None and backend_of(A) is backend_of(B)
    if same and getattr(A, "device", None) != getattr(B, "device", None):
        raise ValueError(f"{who}: {called} must be on one device; got {A.device} and {B.device}. Move one with .to(…).")
