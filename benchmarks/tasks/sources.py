"""Independent components of MNIST beside those of scikit-learn and of python-picard."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.task import System, Task
from benchmarks.tasks.manifold import _mnist50


def _rows(folder: Any) -> np.ndarray:
    return np.ascontiguousarray(_mnist50(folder, 70_000), np.float32)


def lowdim(X: Any, **options: Any) -> Any:
    from lowdim import FastICA

    return FastICA(random_state=0, max_iter=500, **options).fit(X), X


def sklearn(X: Any, **options: Any) -> Any:
    from sklearn.decomposition import FastICA

    return FastICA(whiten="unit-variance", random_state=0, max_iter=500, **options).fit(X), X


class _Found(NamedTuple):
    """Sources of a function, as a model has them."""

    S: np.ndarray
    n_iter_: int

    def transform(self, _: Any) -> np.ndarray:
        return self.S


def picard(X: Any) -> Any:
    """Orthogonal, with the signs of FastICA; it ends at a gradient of 1e-3, which is its tolerance."""
    from picard import picard as find

    *_, S, steps = find(X.T, ortho=True, extended=True, random_state=0, tol=1e-3, return_n_iter=True)
    return _Found(S.T, steps), X


def _sources(fitted: Any) -> np.ndarray:
    model, X = fitted
    S = np.asarray(model.transform(X), np.float64)
    return S / S.std(axis=0)


def negentropy(fitted: Any, _: Any) -> float:
    """``Σ (E[log cosh s] − E[log cosh ν])²`` over the sources, each of variance 1, with a Gaussian ν."""
    S = np.abs(_sources(fitted))
    return float(np.square((S + np.log1p(np.exp(-2 * S)) - np.log(2)).mean(axis=0) - 0.37456718).sum())


def stationarity(fitted: Any, _: Any) -> dict[str, str]:
    """Steps, and the slope of ``Σ ± E[log cosh s]`` along turns of the sources: its norm and largest entry."""
    S = _sources(fitted)
    G = np.tanh(S)
    E = G.T @ S / len(S)
    E *= np.where(np.diag(E) < 1 - np.square(G).mean(axis=0), -1, 1)[:, None]
    slope = (E - E.T) / 2
    return {
        "steps": str(fitted[0].n_iter_),
        "loss": f"{negentropy(fitted, None):.5f}",
        "gradient": f"{np.linalg.norm(slope):.1e}",
        "largest": f"{np.abs(slope).max():.1e}",
    }


TASKS = [
    Task(
        "ica-mnist",
        "FastICA, 50 sources of 50 principal components of MNIST, 70,000×50 float32",
        _rows,
        {
            "lowdim": System(lowdim),
            "scikit-learn": System(sklearn, once=True),
            "python-picard": System(picard, once=True),
            "lowdim, exp": System(partial(lowdim, fun="exp")),
            "lowdim, cube": System(partial(lowdim, fun="cube")),
        },
        negentropy,
        "negentropy",
        worst=min,
        needs="mnist",
        warm_up=2000,
        details=stationarity,
        note="By the contrast log cosh where no other is named, to one tolerance (1e-4); python-picard in float64, to "
        "a largest gradient of 1e-3. Quality is the loss, by log cosh; more is better. The gradient is that of log "
        "cosh too, along turns of the sources.",
    ),
]
