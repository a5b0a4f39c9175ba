"""Label scores of a map whose method learns from the labels: on rows that it was not fitted on."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import quality
from lowdim.relate.neighbors import nearest
from lowdim.work.random import seed_of

FOLDS = 5
_VOTES, _NEAREST = 5, 10  # as on other maps
_SEEDS = 2**32  # scikit-learn's folds accept none larger


def label_scores(model: Any, X: Any, y: NDArray, k: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Scores of the unfitted ``model`` by name, and their standard errors: each fold is placed on a map of the others.

    The neighbours of a held-out row are sought among the rows fitted; silhouettes are those of the held-out rows alone.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    found: dict[str, list[float]] = {"knn_accuracy": [], "neighbor_hit": [], "silhouette": []}
    codes = np.unique(y, return_inverse=True)[1]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed_of(seed) % _SEEDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # those of the whole fit are told
        for train, test in folds.split(np.zeros(len(y)), codes):
            copy = clone(model)
            here = _map(copy.fit_transform(X[train], y[train]), k)
            there = _map(copy.transform(X[test]), k)
            near = nearest(here, min(_NEAREST, len(train)), there, how="exact").indices
            theirs = codes[train][near]
            votes = np.zeros((len(test), codes.max() + 1), np.int32)
            np.add.at(votes, (np.arange(len(test))[:, None], theirs[:, :_VOTES]), 1)
            found["knn_accuracy"].append(float((votes.argmax(axis=1) == codes[test]).mean()))
            found["neighbor_hit"].append(float((theirs == codes[test][:, None]).mean()))
            if 1 < len(np.unique(codes[test])) < len(test):
                found["silhouette"].append(float(quality.silhouette(there, y[test], random_state=seed)))
    values = {name: float(np.mean(folds)) for name, folds in found.items() if folds}
    errors = {name: float(np.std(found[name], ddof=1)) / len(found[name]) ** 0.5 for name in values}
    return values, errors


def _map(Y: Any, k: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.asarray(Y)[:, :k], dtype=np.float64)
