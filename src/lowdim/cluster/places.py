"""What is never done to Dask collections in silence."""

from typing import Any


def to_numpy(A: Any) -> Any:  # noqa: ARG001  # it is refused
    """Refuse to bring a collection over: it may not fit."""
    raise TypeError(
        "rows of NumPy go with labels, weights and second views of NumPy; got a Dask array or DataFrame. Bring it over "
        "with .compute(), or pass X as a Dask collection too."
    )
