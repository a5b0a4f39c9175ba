"""Conversions that are never done silently to Dask collections."""

from typing import Any

from lowdim.backends import DASK
from lowdim.work import backend_arrays


@DASK.implements(backend_arrays.to_numpy)
def to_numpy(A: Any) -> Any:  # noqa: ARG001  # it is refused
    """Refuse to convert a collection: it may not fit in memory."""
    raise TypeError(
        "NumPy rows need labels, weights and second views in NumPy; got a Dask array or DataFrame. Convert it "
        "with .compute(), or pass X as a Dask collection too."
    )
