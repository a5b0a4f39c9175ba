"""Non-negative parts of faces and of news beside scikit-learn's coordinate descent."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.task import System, Task
from lowdim.data import load


def _faces(_: Path) -> np.ndarray:
    return np.divide(load("faces")[0], 255, dtype=np.float32)


def _reuters(_: Path) -> Any:
    return sp.csr_array(load("reuters")[0])


def lowdim(X: Any, k: int, **options: Any) -> Any:
    from lowdim import NMF

    return NMF(k, random_state=0, **options).fit(X), X


def sklearn(X: Any, k: int, **options: Any) -> Any:
    import warnings

    from sklearn.decomposition import NMF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the faces, after 200 iterations
        return NMF(k, init="nndsvd", random_state=0, **options).fit(X), X


def error(fitted: Any, _: Any) -> float:
    """``‖X − W H‖ / ‖X‖`` with the amounts of ``transform``, in float64."""
    model, X = fitted
    W, H = (np.asarray(A, np.float64) for A in (model.transform(X), model.components_))
    X = X.astype(np.float64)
    crossed = (sp.csr_array(X) @ H.T * W).sum() if sp.issparse(X) else np.sum((X @ H.T) * W)
    square = float((X.multiply(X) if sp.issparse(X) else X * X).sum())
    return float(np.sqrt(max(0.0, square - 2 * crossed + np.sum((W.T @ W) * (H @ H.T))) / square))


_NOTE = (
    "scikit-learn starts from the same singular vectors (nndsvd); both stop by their own rules, after at most 200 "
    "iterations."
)
TASKS = [
    Task(
        "nmf-faces",
        "NMF, 50 parts of faces, 400×4096 float32",
        _faces,
        {
            "lowdim": System(partial(lowdim, k=50)),
            "lowdim, 32 iterations": System(partial(lowdim, k=50, max_iter=32)),
            "scikit-learn cd": System(partial(sklearn, k=50), once=True),
        },
        error,
        "relative error",
        needs="faces",
        warm_up=100,
        note=_NOTE,
    ),
    Task(
        "nmf-reuters",
        "NMF, 10 topics of Reuters, 11,069×8315, sparse float32",
        _reuters,
        {
            "lowdim": System(partial(lowdim, k=10)),
            "scikit-learn cd": System(partial(sklearn, k=10)),
            "lowdim, divergence": System(partial(lowdim, k=10, beta_loss="kullback-leibler")),
            "scikit-learn mu, divergence": System(
                partial(sklearn, k=10, beta_loss="kullback-leibler", solver="mu"), once=True
            ),
        },
        error,
        "relative error",
        needs="reuters",
        warm_up=500,
        note=_NOTE + " Of the divergence the table shows the squared error too.",
    ),
]
