"""Autoencoders beside a plain loop in PyTorch and scikit-learn's MLPRegressor trained to give back its input."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

_BATCH, _RATE, _HIDDEN, _CODE = 128, 3e-3, 128, 10

Reconstruct = Callable[[np.ndarray], np.ndarray]


def _digits(_: Path) -> np.ndarray:
    return load("digits")[0].astype(np.float32)


def _mnist(_: Path) -> np.ndarray:
    return load("mnist")[0][:10_000].astype(np.float32)


def standardized(X: np.ndarray) -> np.ndarray:
    deviation = X.std(axis=0, dtype=np.float64)
    return ((X - X.mean(axis=0, dtype=np.float64)) / np.where(deviation == 0, 1, deviation)).astype(np.float32)


def lowdim(X: np.ndarray, epochs: int) -> Reconstruct:
    from lowdim import Autoencoder

    model = Autoencoder(
        _CODE, hidden=(_HIDDEN,), max_epochs=epochs, batch_size=_BATCH, learning_rate=_RATE, random_state=0
    ).fit(X)
    return lambda rows: (model.inverse_transform(model.transform(rows)) - model.mean_) / model.scale_


def pytorch(Z: np.ndarray, epochs: int, fused: bool) -> Reconstruct:
    """The loop of any tutorial: the same layers, batches, steps and fall of the learning rate, rows scaled before."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    d = Z.shape[1]
    net = nn.Sequential(
        nn.Linear(d, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _CODE), nn.Linear(_CODE, _HIDDEN), nn.ReLU(),
        nn.Linear(_HIDDEN, d),
    )  # fmt: skip
    rows, loss_of = torch.from_numpy(Z), nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=_RATE, fused=fused)
    steps = epochs * math.ceil(len(Z) / _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: 0.5 + 0.5 * math.cos(math.pi * t / steps))
    for _ in range(epochs):
        for ids in torch.randperm(len(rows)).split(_BATCH):
            batch = rows[ids]
            optimizer.zero_grad()
            loss_of(net(batch), batch).backward()
            optimizer.step()
            schedule.step()
    return lambda rows: net(torch.from_numpy(standardized(rows))).detach().numpy()


def sklearn(Z: np.ndarray, enough: float, most: int) -> Reconstruct:
    """Epochs until the error of the last one is that of lowdim; its code is bent as well."""
    from sklearn.neural_network import MLPRegressor

    net = MLPRegressor(
        hidden_layer_sizes=(_HIDDEN, _CODE, _HIDDEN),
        batch_size=min(_BATCH, len(Z)),
        learning_rate_init=_RATE,
        alpha=0.0,
        random_state=0,
    )
    spread = np.square(Z).mean()
    for _ in range(most):
        net.partial_fit(Z, Z)
        if 2 * net.loss_ / spread <= enough:
            break
    return lambda rows: net.predict(standardized(rows))


def share_lost(fitted: Reconstruct | None, _: Any, data: Callable[[Path], np.ndarray]) -> float | None:
    """Squared error as a share of the variance, rows scaled to unit variance."""
    if fitted is None:
        return None
    X = data(Path())
    Z = standardized(X)
    return float(np.square(fitted(X) - Z).sum(dtype=np.float64) / np.square(Z).sum(dtype=np.float64))


def _task(label: str, title: str, data: Any, epochs: int, enough: float, **options: Any) -> Task:
    return Task(
        f"autoencoder-{label}",
        f"Autoencoder, {title}, 128 hidden, k = 10, {epochs} epochs",
        data,
        {
            "lowdim": System(partial(lowdim, epochs=epochs)),
            "PyTorch loop": System(partial(pytorch, epochs=epochs, fused=False), standardized),
            "PyTorch loop, fused Adam": System(partial(pytorch, epochs=epochs, fused=True), standardized),
            "scikit-learn MLPRegressor": System(
                partial(sklearn, enough=enough, most=5 * epochs), standardized, once=True
            ),
        },
        partial(share_lost, data=data),
        "share of the variance lost",
        warm_up=300,
        note="lowdim scales the rows as it goes; the others are given scaled rows. scikit-learn trains until its error "
        f"is that of lowdim ({enough:g}), for five times the epochs at the most.",
        **options,
    )


TASKS = [
    _task("digits", "digits float32, 1,797×64", _digits, 100, 0.126),
    _task("mnist", "MNIST float32, 10,000×784", _mnist, 10, 0.476, needs="mnist"),
]
