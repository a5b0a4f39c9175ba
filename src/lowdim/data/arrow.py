"""Tables of other libraries, through Arrow's C interface; columns are not copied where polars need not."""

from typing import Any

_KNOWN = ("numpy", "pandas", "polars", "scipy", "torch", "dask", "cupy")  # read by code of their own


def from_arrow(X: Any) -> Any:
    """Tables with ``__arrow_c_stream__`` or ``__arrow_c_array__``, as of DuckDB or pyarrow, as a polars DataFrame.

    All else is returned as it is.

    >>> from_arrow([[1.0]])
    [[1.0]]
    """
    exports = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if not exports or type(X).__module__.partition(".")[0] in _KNOWN:
        return X
    import polars as pl

    return pl.DataFrame(X)
