"""The same laws for tensors: with ``LOWDIM_LAWS=cuda`` (or ``cpu``) rows travel to that device and results back.

Methods that have a version for tensors are given them by every test that passes NumPy rows; the others are tested by
:func:`tests.contract.test_tensors.test_methods_without_a_version_refuse_by_name`.
"""

import os
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
import pytest

import lowdim

TWO_VIEWS = ("CCA", "PLSCanonical", "PLSRegression")

DEVICE = os.environ.get("LOWDIM_LAWS")


@pytest.fixture(autouse=True, scope="session")
def on_tensors() -> Iterator[None]:
    """Methods of estimators that take tensors are given them."""
    if not DEVICE:
        yield
        return
    from lowdim.backends.torch import ESTIMATORS

    with pytest.MonkeyPatch.context() as patch:
        for name in sorted(ESTIMATORS):
            cls = getattr(lowdim, name)
            for method in ("fit", "fit_transform", "transform", "inverse_transform", "partial_fit"):
                if hasattr(cls, method):
                    patch.setattr(
                        cls,
                        method,
                        _travelling(getattr(cls, method), ESTIMATORS, both=name in TWO_VIEWS),
                        raising=False,
                    )
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Frames are computed in NumPy, with which tensors agree up to rounding alone."""
    for item in items if DEVICE else []:
        if "test_data_frames_in_and_out" in item.name:
            item.add_marker(pytest.mark.skip(reason="frames do not travel to the device"))


def _travelling(method: Callable[..., Any], served: frozenset[str], *, both: bool) -> Callable[..., Any]:
    @wraps(method)
    def run(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        first = _there(X) if type(self).__name__ in served else X
        if both and first is not X:  # the second view is of the same kind
            args, kwargs = tuple(map(_there, args)), {name: _there(A) for name, A in kwargs.items()}
        result = method(self, first, *args, **kwargs)
        if isinstance(result, tuple):
            return tuple(map(_here, result))
        return _here(result)

    return run


def _there(A: Any) -> Any:
    import torch

    if type(A) is not np.ndarray or A.dtype.kind not in "fiubc" or A.dtype.itemsize > 16 or not A.ndim:
        return A
    try:
        return torch.tensor(np.ascontiguousarray(A), device=DEVICE)
    except TypeError:  # unsigned numbers and orders of bytes that torch has not
        return A


def _here(A: Any) -> Any:
    return A.numpy(force=True) if type(A).__module__.partition(".")[0] == "torch" else A
