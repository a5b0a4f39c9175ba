"""Facts of a table in many parquet files, in one pass that holds a few rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.cli.printed_tables import show_table

if TYPE_CHECKING:
    import polars as pl

_HELD = 2**25  # values in memory at a time
_SHOWN = 40  # columns listed individually


def show_parts(files: list[Path]) -> Any:
    """Print shape, missing values, scales and ranges of the columns; return PCA of the complete rows, or None."""
    import numpy as np
    import polars as pl

    from lowdim.methods.pca import PCA
    from lowdim.work import memory

    schema = pl.read_parquet_schema(files[0])
    numbers = [name for name, kind in schema.items() if kind.is_numeric() or kind == pl.Boolean]
    others = [name for name in schema if name not in numbers]
    rows = complete = 0
    gaps, low, high = np.zeros(len(schema), np.int64), np.full(len(numbers), np.inf), np.full(len(numbers), -np.inf)
    model = PCA(None)
    for frame in _slices(files, len(schema)):
        rows += frame.height
        gaps += np.array(frame.null_count().row(0))
        if not numbers:
            continue
        X = frame.select(pl.col(numbers).cast(pl.Float64)).to_numpy()
        gaps[[list(schema).index(name) for name in numbers]] += np.isnan(X).sum(axis=0) - _nulls(frame, numbers)
        X = X[np.isfinite(X).all(axis=1)]
        complete += len(X)
        if len(X):
            low, high = np.minimum(low, X.min(axis=0)), np.maximum(high, X.max(axis=0))
            model.partial_fit(X)
    size = memory.human(sum(file.stat().st_size for file in files))
    facts = [
        ["files", f"{len(files):,}, {size}"],
        ["rows", f"{rows:,}, {complete:,} of them without missing values"],
        ["columns", f"{len(schema):,}: {len(numbers):,} of numbers, {len(others):,} of other kinds"],
        ["missing values", f"{int(gaps.sum()):,}"],
    ]
    show_table(facts)
    if complete < 2:
        return None
    M = model._moments
    spread = np.sqrt(np.diag(M[2]) / M[0])
    lacking = dict(zip(schema, gaps, strict=True))
    cells = [
        [name, f"{M[1][j]:.4g}", f"{spread[j]:.4g}", f"{low[j]:.4g}", f"{high[j]:.4g}", f"{lacking[name]:,}"]
        for j, name in enumerate(numbers[:_SHOWN])
    ]
    show_table(cells, ["column", "mean", "deviation", "least", "largest", "missing"], apart=True)
    return model


def _slices(files: list[Path], width: int) -> Iterator["pl.DataFrame"]:
    """Rows of all files in order, some at a time."""
    import polars as pl

    step = max(1, _HELD // max(1, width))
    for file in files:
        whole, start = pl.scan_parquet(file), 0
        while True:
            frame = whole.slice(start, step).collect()
            if frame.height:
                yield frame
            if frame.height < step:
                break
            start += step


def _nulls(frame: "pl.DataFrame", names: list[str]) -> Any:
    import numpy as np

    return np.array(frame.select(names).null_count().row(0))
