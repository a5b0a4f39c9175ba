"""Linear discriminant analysis: floats, integers, few rows of many features."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

Rows = tuple[np.ndarray, np.ndarray]


def _mnist(_: Path) -> Rows:
    return load("mnist")


def _mnist_float32(folder: Path) -> Rows:
    X, y = _mnist(folder)
    return np.divide(X, 255, dtype=np.float32), y


def _mnist_roots(folder: Path) -> Rows:
    """Floats that are no pixels any more."""
    X, y = _mnist_float32(folder)
    return np.sqrt(X), y


def _faces(_: Path) -> Rows:
    return load("faces")


def _floats(data: Rows) -> Rows:
    return data[0].astype(np.float32), data[1]


def _half(data: Rows) -> Rows:
    """Five of the ten pictures of each person."""
    rows = np.arange(len(data[0])) % 10 < 5
    return data[0][rows], data[1][rows]


def lowdim(data: Rows, **options: Any) -> Any:
    from lowdim import LDA

    return LDA(**options).fit(*data)


def sklearn(data: Rows, **options: Any) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(**options).fit(*data)


def after_pca(data: Rows) -> Any:
    """The textbook's way with a singular covariance: as many principal components as make it regular, then LDA."""
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline

    regular = len(data[0]) - len(np.unique(data[1]))
    return make_pipeline(PCA(regular), LinearDiscriminantAnalysis()).fit(*data)


def accuracy(fitted: Any, _: Any, name: str, root: bool = False) -> float | None:
    """Accuracy after reduction: for MNIST of the nearest class mean, for faces of the nearest neighbour, held out."""
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

    if fitted is None:
        return None
    X, y = load(name)
    test = np.arange(len(X)) % 10 >= (5 if name == "faces" else 9)
    X = X.astype(np.float32) / np.float32(255 if name == "mnist" and fitted.means_.max() <= 1 else 1)
    X = np.sqrt(X) if root else X
    rule = KNeighborsClassifier(1) if name == "faces" else NearestCentroid()
    rule.fit(fitted.transform(X[~test]), y[~test])
    return float(rule.score(fitted.transform(X[test]), y[test]))


TASKS = [
    Task(
        "lda-mnist-float32",
        "LDA, MNIST float32, 70,000×784",
        _mnist_float32,
        {
            "lowdim": System(lowdim),
            "scikit-learn svd": System(sklearn),
            "lowdim, shrinkage": System(partial(lowdim, shrinkage="auto")),
            "scikit-learn eigen, shrinkage": System(partial(sklearn, solver="eigen", shrinkage="auto"), once=True),
        },
        partial(accuracy, name="mnist"),
        "accuracy",
        worst=min,
        needs="mnist",
        warm_up=None,
        note="Accuracy of the nearest class mean in the nine scores; the rows were seen in the fit. Pixels divided by "
        "255, which lowdim multiplies as the bytes that they are.",
    ),
    Task(
        "lda-mnist-roots",
        "LDA, square roots of MNIST float32, 70,000×784",
        _mnist_roots,
        {"lowdim": System(lowdim), "scikit-learn svd": System(sklearn)},
        partial(accuracy, name="mnist", root=True),
        "accuracy",
        worst=min,
        needs="mnist",
        warm_up=None,
        note="Floats of any value. Accuracy of the nearest class mean in the nine scores; the rows were seen.",
    ),
    Task(
        "lda-mnist-uint8",
        "LDA, MNIST uint8, 70,000×784",
        _mnist,
        {"lowdim": System(lowdim), "scikit-learn svd": System(sklearn, prepare=_floats)},
        partial(accuracy, name="mnist"),
        "accuracy",
        worst=min,
        needs="mnist",
        warm_up=None,
        note="lowdim fits the integers; scikit-learn is given a float32 copy, whose making and memory are not counted.",
    ),
    Task(
        "lda-faces",
        "LDA, half of the faces, 200×4096",
        _faces,
        {
            "lowdim": System(lowdim, prepare=_half),
            "scikit-learn svd": System(sklearn, prepare=lambda data: _floats(_half(data))),
            "scikit-learn PCA to n − C, then svd": System(after_pca, prepare=lambda data: _floats(_half(data))),
            "lowdim, shrinkage": System(partial(lowdim, shrinkage="auto"), prepare=_half),
        },
        partial(accuracy, name="faces"),
        "accuracy",
        worst=min,
        needs="faces",
        warm_up=None,
        note="Accuracy of the nearest neighbour among the other half. scikit-learn's solvers with shrinkage form "
        "4096×4096 matrices and are left out.",
    ),
]
