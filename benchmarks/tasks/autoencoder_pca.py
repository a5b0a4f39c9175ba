"""Autoencoders beside PCA: what bending buys, and how close a linear network comes to PCA's subspace."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

Fitted = tuple[np.ndarray, list[Any]]  # the rows and a model for each part of them


# Data


def _digits(_: Path) -> np.ndarray:
    return load("digits")[0]


def _mnist(_: Path) -> np.ndarray:
    return load("mnist")[0][:20_000].astype(np.float32)


def _coil(_: Path, rows: int | None = None) -> np.ndarray:
    """Views of 32 × 32: means of 4 × 4 pixels."""
    X = load("coil20")[0][:rows]
    return X.reshape(len(X), 32, 4, 32, 4).mean(axis=(2, 4), dtype=np.float32).reshape(len(X), -1)


# Systems


def pca(X: np.ndarray, k: int, standardize: bool, parts: int = 1) -> Fitted:
    from lowdim import PCA

    return X, [PCA(k, standardize=standardize).fit(part) for part in np.split(X, parts)]


def autoencoder(X: np.ndarray, k: int, parts: int = 1, **options: Any) -> Fitted:
    from lowdim import Autoencoder

    return X, [Autoencoder(k, random_state=0, **options).fit(part) for part in np.split(X, parts)]


# Quality


def shares_lost(fitted: Fitted) -> list[float]:
    """Squared error of each part as a share of its variance, in the units of its model."""
    X, models = fitted
    lost = []
    for part, model in zip(np.split(X.astype(np.float64), len(models)), models, strict=True):
        error = (part - model.inverse_transform(model.transform(part))) / model.scale_
        lost.append(float(np.square(error).sum() / np.square((part - part.mean(axis=0)) / model.scale_).sum()))
    return lost


def share_lost(fitted: Fitted, _: Any) -> float:
    return float(np.mean(shares_lost(fitted)))


def each(fitted: Fitted, _: Any) -> dict[str, str]:
    return {"of each object": ", ".join(f"{share:.2f}" for share in shares_lost(fitted))}


def directions(X: np.ndarray, k: int) -> np.ndarray:
    """Components of PCA (k, d)."""
    return pca(X, k, standardize=False)[1][0].components_


def _span(fitted: Fitted) -> np.ndarray:
    """Directions (d, k) that the way back spans."""
    model = fitted[1][0]
    return model.components_.T if hasattr(model, "components_") else model.weights_[1]


def degrees_off(fitted: Fitted, reference: np.ndarray) -> float:
    """Largest angle between the subspace and PCA's."""
    from scipy.linalg import subspace_angles

    return float(np.degrees(subspace_angles(_span(fitted).astype(np.float64), reference.T.astype(np.float64)).max()))


def more_lost(fitted: Fitted, reference: np.ndarray) -> dict[str, str]:
    X, _ = fitted
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    least = 1 - np.square(Z @ reference.T).sum() / np.square(Z).sum()
    return {"error above PCA's": f"{100 * max(0.0, shares_lost(fitted)[0] / least - 1):.1g} %"}


def _bending(label: str, title: str, data: Any, k: int, standardize: bool, parts: int = 1, **options: Any) -> Task:
    terms = {"k": k, "standardize": standardize, "parts": parts}
    training = options.pop("training", {})
    return Task(
        f"autoencoder-bending-{label}",
        f"Autoencoder beside PCA, {title}, k = {k}",
        data,
        {"lowdim PCA": System(partial(pca, **terms)), "lowdim": System(partial(autoencoder, **terms, **training))},
        share_lost,
        "share of the variance lost",
        warm_up=None,
        rounds=1,
        **options,
    )


def _linear(label: str, title: str, data: Any, k: int, **options: Any) -> Task:
    return Task(
        f"autoencoder-linear-{label}",
        f"Linear autoencoder beside PCA, {title}, k = {k}",
        data,
        {
            "lowdim PCA": System(partial(pca, k=k, standardize=False)),
            "lowdim": System(partial(autoencoder, k=k, hidden=(), standardize=False), once=True),
        },
        degrees_off,
        "degrees from PCA's subspace",
        partial(directions, k=k),
        warm_up=300,
        rounds=1,
        details=more_lost,
        **options,
    )


TASKS = [
    _bending("digits-2", "digits standardised, 1,797×64", _digits, 2, True),
    _bending("digits-10", "digits standardised, 1,797×64", _digits, 10, True),
    _bending(
        "loops",
        "four objects of COIL-20, each 72 views of 32×32, a network each",
        partial(_coil, rows=4 * 72),
        2,
        False,
        4,
        training={"hidden": (64,), "batch_size": 36, "max_epochs": 400},
        needs="coil20",
        details=each,
    ),
    _bending(
        "coil20",
        "COIL-20, 1,440 views of 32×32",
        _coil,
        10,
        False,
        training={"max_epochs": 100},
        needs="coil20",
    ),
    _linear("digits", "digits, 1,797×64", _digits, 10),
    _linear("mnist", "MNIST float32, 20,000×784", _mnist, 10, needs="mnist"),
]
