"""Conversion of tensors to NumPy and back, and which of them use the NumPy operations."""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.work import backend_arrays
from lowdim.work.dispatch import numpy_version

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # Triton's own switch: kernels then run in this memory


@TORCH.implements(backend_arrays.to_numpy)
def to_numpy(A: Any) -> NDArray:
    """The tensor in NumPy, a view if it is in host memory; in float32 if in bfloat16, which NumPy lacks."""
    if A.device.type == "meta":
        raise ValueError("values are needed; got a tensor on the device 'meta', which has none. Pass one with data.")
    if A.layout != torch.strided:
        kind = str(A.layout).removeprefix("torch.")
        raise ValueError(f"a dense tensor is needed; got one of layout {kind}. Pass it with .to_dense().")
    return (A.float() if A.dtype == torch.bfloat16 else A).numpy(force=True)


@TORCH.implements(backend_arrays.from_numpy)
def from_numpy(A: NDArray, like: Any) -> Any:
    """The NumPy array on the device of the tensor ``like``."""
    A = np.asarray(A)
    wide = (
        A.dtype.kind == "f" and A.itemsize > 8
    )  # torch has no such type, no negative strides and no foreign byte orders
    return torch.tensor(np.ascontiguousarray(A, np.float64 if wide else A.dtype.newbyteorder("=")), device=like.device)


@TORCH.implements(backend_arrays.is_native)
def is_native(A: Any) -> bool:
    """Whether the NumPy operations are used for the tensor: it is in host memory, and kernels are not interpreted."""
    return A.device.type == "cpu" and not INTERPRETED


@TORCH.implements(backend_arrays.to_device_of)
def to_device_of(A: Any, like: Any) -> Any:
    """The tensor on the device of ``like``."""
    return A.to(like.device)


def torch_dtype(dtype: Any) -> torch.dtype:
    """Torch dtype of a NumPy or torch type."""
    return dtype if isinstance(dtype, torch.dtype) else cast(torch.dtype, getattr(torch, np.dtype(dtype).name))


def implements_on_device(
    operation: Callable[Parameters, Any],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Register an operation for tensors on a device; those in host memory go to NumPy's version as views."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @TORCH.implements(operation)
        @wraps(function)
        def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            devices = {A.device for A in _tensors([*args, *kwargs.values()])}
            if len(devices) > 1:
                raise ValueError(
                    f"{function.__name__}: tensors must be on one device; got {', '.join(sorted(map(str, devices)))}. "
                    "Move them with .to(…)."
                )
            if INTERPRETED or any(device.type != "cpu" for device in devices):
                return function(*args, **kwargs)
            arrays = {name: _as_arrays(value) for name, value in kwargs.items()}
            found: Any = numpy_version(cast(Callable[..., Any], operation))(*map(_as_arrays, args), **arrays)
            return cast(Result, _as_tensors(found))

        return run

    return decorate


def _tensors(given: Any) -> list[Any]:
    if isinstance(given, torch.Tensor):
        return [given]
    return [A for part in given for A in _tensors(part)] if isinstance(given, list | tuple) else []


def _as_arrays(value: Any) -> Any:
    return _converted(value, torch.Tensor, to_numpy)


def _as_tensors(value: Any) -> Any:
    return _converted(value, np.ndarray, torch.from_numpy)


def _converted(value: Any, kind: type, convert: Callable[[Any], Any]) -> Any:
    """``value``, or a tuple of values, with all arrays of one kind converted."""
    if isinstance(value, kind):
        return convert(value)
    if isinstance(value, tuple):
        parts = [_converted(part, kind, convert) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
