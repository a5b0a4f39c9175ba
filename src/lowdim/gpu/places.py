"""Conversion of tensors to NumPy and back, and which of them use the NumPy verbs."""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray

Call = TypeVar("Call", bound=Callable[..., Any])
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # Triton's own switch: kernels then run in this memory


def to_numpy(A: Any) -> NDArray:
    """The tensor in NumPy, a view if it is in host memory."""
    return A.numpy(force=True)


def placed(A: NDArray, like: Any) -> Any:
    """The NumPy array on the device of the tensor ``like``."""
    A = np.asarray(A)
    wide = (
        A.dtype.kind == "f" and A.itemsize > 8
    )  # torch has no such type, no negative strides and no foreign byte orders
    return torch.tensor(np.ascontiguousarray(A, np.float64 if wide else A.dtype.newbyteorder("=")), device=like.device)


def at_home(A: Any) -> bool:
    """Whether the NumPy verbs are used for the tensor: it is in host memory, and kernels are not interpreted."""
    return A.device.type == "cpu" and not INTERPRETED


def beside(A: Any, like: Any) -> Any:
    """The tensor on the device of ``like``."""
    return A.to(like.device)


def torch_dtype(dtype: Any) -> torch.dtype:
    """Torch dtype of a NumPy or torch type."""
    return dtype if isinstance(dtype, torch.dtype) else cast(torch.dtype, getattr(torch, np.dtype(dtype).name))


def on_device(numpy_verb: Callable[..., Any]) -> Callable[[Call], Call]:
    """Decorator of a verb for tensors on a device: those in host memory are passed to ``numpy_verb`` as views."""

    def decorate(function: Call) -> Call:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            devices = {A.device for A in _tensors(given)}
            if len(devices) > 1:
                raise ValueError(
                    f"{function.__name__}: tensors must be on one device; got {', '.join(sorted(map(str, devices)))}. "
                    "Move them with .to(…)."
                )
            if INTERPRETED or any(device.type != "cpu" for device in devices):
                return function(*args, **kwargs)
            arrays = {name: _as_arrays(value) for name, value in kwargs.items()}
            return _as_tensors(numpy_verb(*map(_as_arrays, args), **arrays))

        return cast(Call, run)

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
