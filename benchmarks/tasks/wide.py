"""15 neighbours by the cosine of rows like those of a language model, and UMAP from such rows to the map."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import wide
from benchmarks.embeddings import embeddings
from benchmarks.task import System, Task

_ROWS, _COLUMNS = 100_000, 768


def _made(_: Path) -> np.ndarray:
    return embeddings(_ROWS, _COLUMNS)


def _neighbors(name: str, X: np.ndarray) -> Any:
    return X, wide.SYSTEMS[name][1](X)


def _umap(X: np.ndarray) -> Any:
    from lowdim import UMAP

    return X, UMAP(metric="cosine", random_state=0).fit(X).embedding_


def _umap_learn(X: np.ndarray) -> Any:
    from umap import UMAP

    return X, UMAP(metric="cosine", n_jobs=wide.threads()).fit_transform(X)


def recall(found: Any, _: Any) -> float:
    return wide.recall(*found)


def kept(found: Any, _: Any) -> float:
    """Share of the 15 neighbours of 2,000 rows that are among their 15 neighbours on the map."""
    from lowdim.relate.neighbors import nearest

    X, Y = found
    rows = np.random.default_rng(1).permutation(len(X))[:2000]
    near = nearest(X, wide.K + 1, X[rows], "cosine", "exact").indices
    shown = nearest(np.ascontiguousarray(Y, np.float32), wide.K + 1, np.ascontiguousarray(Y[rows], np.float32)).indices
    pairs = zip(rows, near, shown, strict=True)
    return float(np.mean([len({*a} & {*b} - {i}) / wide.K for i, a, b in pairs]))


def _system(name: str, *, once: bool = True) -> System:
    ours = name in ("approximate", "exact")
    return System(partial(_neighbors, name), once=once) if ours else System(partial(_neighbors, name), wide.units, once)


TASKS = [
    Task(
        "neighbors-wide",
        f"15 neighbours by the cosine, made embeddings, {_ROWS:,}×{_COLUMNS}, float16 (peers: float32)",
        _made,
        {
            "lowdim, approximate": _system("approximate", once=False),
            "lowdim, exact": _system("exact"),
            "pynndescent": _system("pynndescent"),
            "hnswlib": _system("hnswlib"),
            "faiss IVF": _system("ivf-bytes-4"),
        },
        recall,
        "recall",
        worst=min,
        warm_up=3000,
        rounds=2,
    ),
    Task(
        "umap-wide",
        f"UMAP by the cosine, made embeddings, {_ROWS:,}×{_COLUMNS}, float16 (peer: float32)",
        _made,
        {"lowdim": System(_umap), "umap-learn": System(_umap_learn, wide.units, once=True)},
        kept,
        "neighbours kept",
        worst=min,
        warm_up=3000,
        rounds=2,
    ),
]
