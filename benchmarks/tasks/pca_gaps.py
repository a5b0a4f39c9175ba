"""PCA of rows with gaps, beside PCA of the complete rows and a package for gaps."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

_SHARE = 0.3  # of the values, at random


@dataclass(frozen=True)
class Rows:
    """Rows with gaps, and the complete ones."""

    X: np.ndarray
    truth: np.ndarray

    def __getitem__(self, part: Any) -> "Rows":
        return Rows(self.X[part], self.truth[part])


def _mnist(_: Path, share: float = _SHARE) -> Rows:
    truth = np.sqrt(np.divide(load("mnist")[0], 255, dtype=np.float32))
    gaps = np.random.default_rng(0).random(truth.shape, dtype=np.float32) < share
    return Rows(np.where(gaps, np.float32(np.nan), truth), truth)


def _small(_: Path) -> Rows:
    truth = load("digits")[0].astype(float)
    gaps = np.random.default_rng(0).random(truth.shape) < _SHARE
    return Rows(np.where(gaps, np.nan, truth), truth)


def lowdim(rows: Rows, k: int) -> Any:
    from lowdim import PCA

    return PCA(k, missing="em").fit(rows.X)


def complete(rows: Rows, k: int) -> None:
    """What the same number of components costs where nothing is missing; nothing to measure the gaps by."""
    from lowdim import PCA

    PCA(k).fit(rows.truth)


def ppca(rows: Rows, k: int) -> Any:
    """By default it stops at a relative change of 1e-4 too; it keeps the rows filled."""
    from ppca import PPCA

    np.random.seed(0)  # noqa: NPY002  # the only seed it knows
    model = PPCA()
    model.fit(rows.X.copy(), d=k)
    return model


def means(rows: Rows, k: int) -> Any:
    """PCA of the rows with gaps filled by the means of their columns."""
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(keep_empty_features=True), PCA(k)).fit(rows.X)


def error_in_gaps(fitted: Any, _: Any, data: Any) -> float | None:
    """Root mean square of what fills the gaps less what was there."""
    if fitted is None:
        return None
    rows = data(Path())
    gaps = np.isnan(rows.X)
    if hasattr(fitted, "impute"):
        filled = fitted.impute(rows.X)
    elif hasattr(fitted, "stds"):
        seen = np.sum(~gaps, axis=0) >= 10
        filled = np.zeros_like(rows.truth)
        stds = np.where(fitted.stds > 0, fitted.stds, 1.0)
        z = np.nan_to_num(fitted.data)
        filled[:, seen] = (z @ fitted.C @ fitted.C.T) * stds + fitted.means
    else:
        filled = fitted[-1].inverse_transform(fitted.transform(rows.X))
    return float(np.sqrt(np.mean(np.square((filled - rows.truth)[gaps], dtype=float))))


def _task(name: str, title: str, data: Any, k: int, peers: dict[str, System], **options: Any) -> Task:
    systems = {
        "lowdim": System(partial(lowdim, k=k)),
        "lowdim, complete rows": System(partial(complete, k=k)),
        "scikit-learn, means filled in": System(partial(means, k=k)),
        **peers,
    }
    quality = partial(error_in_gaps, data=data)
    return Task(f"pca-gaps-{name}", title, data, systems, quality, "error in gaps", **options)


TASKS = [
    _task(
        "mnist",
        f"PCA, square roots of MNIST float32, 70,000×784, {_SHARE:.0%} missing, k = 10",
        _mnist,
        10,
        {},
        needs="mnist",
        note="The error is the root mean square of what is filled in less what was there.",
    ),
    _task(
        "mnist-50",
        f"PCA, square roots of MNIST float32, 70,000×784, {_SHARE:.0%} missing, k = 50",
        _mnist,
        50,
        {},
        needs="mnist",
        note="n·d·k² multiplications a pass: the matrices of the rows, for k = 50, are 25 times those of k = 10.",
    ),
    _task(
        "digits",
        f"PCA, digits float64, 1,797×64, {_SHARE:.0%} missing, k = 10",
        _small,
        10,
        {"ppca": System(partial(ppca, k=10))},
        warm_up=300,
    ),
]
