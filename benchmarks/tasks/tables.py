"""Mixed tables from csv to PCA: reading, preparation and reduction, beside pandas and scikit-learn's encoders."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task

_ROWS, _NUMBERS = 1_000_000, 44


def _csv(folder: Path) -> str:
    """A million rows of 50 columns: 44 of numbers (one with gaps), 3 categories, 2 answers, a date; written once."""
    import polars as pl

    path = folder / "table.csv"
    if not path.exists():
        random = np.random.default_rng(0)
        columns: dict[str, Any] = {
            f"m{j:02d}": (random.normal(size=_ROWS) * 10.0 ** random.integers(-2, 4)).round(4) for j in range(_NUMBERS)
        }
        columns["m05"][::97] = np.nan
        for name, levels in (("city", 5), ("group", 20), ("size", 3)):
            columns[name] = random.choice([f"{name} {i}" for i in range(levels)], _ROWS)
        for name in ("married", "active"):
            columns[name] = random.choice(["yes", "no"], _ROWS)
        columns["joined"] = (np.datetime64("2015-01-01") + random.integers(0, 3000, _ROWS)).astype(str)
        pl.DataFrame(columns).fill_nan(None).write_csv(path)
    return str(path)


def lowdim(path: str) -> np.ndarray:
    from lowdim import PCA, Prepare, chain, data

    model = chain(Prepare(missing="mean"), PCA(2)).fit(data.read(path, mixed=True).X)
    return np.asarray(model[-1].explained_variance_)


def sklearn(path: str) -> np.ndarray:
    """The same by hand: columns named, dates parsed, one-hot columns divided by the root of their share."""
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pd.read_csv(path, parse_dates=["joined"])
    frame["joined"] = (frame["joined"] - pd.Timestamp("1970-01-01")).dt.days
    frame[["married", "active"]] = frame[["married", "active"]] == "yes"
    categories = ["city", "group", "size"]
    numbers = [name for name in frame.columns if name not in categories]
    shares = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("categories", OneHotEncoder(sparse_output=False), categories),
        ]
    )
    X = shares.fit_transform(frame)
    X[:, len(numbers) :] /= np.sqrt(X[:, len(numbers) :].mean(axis=0))
    return PCA(2).fit(X).explained_variance_


def _largest(variances: np.ndarray | None, _: Any) -> float | None:
    return None if variances is None else float(variances[0])


TASKS = [
    Task(
        "table-csv",
        "Mixed csv of 1,000,000×50 to two components: read, prepare, PCA",
        _csv,
        {"lowdim": System(lowdim), "pandas, scikit-learn": System(sklearn, once=True)},
        _largest,
        "largest variance (alike)",
        warm_up=None,
        note="Prepare finds out what each column holds; in the peer's code it is written down. The column with gaps "
        "differs: its deviation is taken before they are filled, or after.",
    )
]
