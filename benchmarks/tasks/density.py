"""Maps that keep density beside umap-learn's densMAP, and beside the plain map of the same rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from benchmarks.tasks.tsne import Map, _flow, along_axes
from lowdim.data import load


def _fashion(_: Path) -> np.ndarray:
    return along_axes("fashion_mnist")[:10_000]


def _some_flow(folder: Path) -> np.ndarray:
    return _flow(folder, 10_000)


def _cells(_: Path) -> np.ndarray:
    return np.ascontiguousarray(load("pbmc3k")[0], dtype=np.float32)


def _lowdim(name: str = "UMAP", densmap: bool = True) -> Callable[[np.ndarray], Map]:
    def fit(X: np.ndarray) -> Map:
        import lowdim

        return Map(X, getattr(lowdim, name)(densmap=densmap, random_state=0).fit_transform(X), "")

    return fit


def _umap_learn(densmap: bool = True) -> Callable[[np.ndarray], Map]:
    def fit(X: np.ndarray) -> Map:
        from umap import UMAP

        return Map(X, UMAP(densmap=densmap, random_state=None).fit_transform(X), "")

    return fit


def kept(found: Map, _: Any) -> float:
    from lowdim import quality

    return float(quality.density_preservation(found.X, np.asarray(found.Y, dtype=np.float32)))


def neighbours(found: Map, _: Any) -> dict[str, str]:
    from lowdim import quality

    return {
        "recall of 15": f"{float(quality.neighborhood_recall(found.X, found.Y, n_neighbors=15)):.3f}",
        "R_NX area": f"{float(quality.rnx_auc(found.X, found.Y, sample=2000, random_state=0)):.3f}",
    }


_SYSTEMS = {
    "lowdim": System(_lowdim()),
    "lowdim, plain": System(_lowdim(densmap=False)),
    "umap-learn, parallel": System(_umap_learn(), once=True),
    "umap-learn, parallel, plain": System(_umap_learn(densmap=False), once=True),
    "lowdim, t-SNE": System(_lowdim("TSNE")),
    "lowdim, t-SNE, plain": System(_lowdim("TSNE", densmap=False)),
}
_NOTE = (
    "Quality is the correlation of the logarithms of local radii of 15 neighbours in the data and in the map. Defaults "
    "were chosen on MNIST, letters and the shuttle data, which are not shown here."
)


def _task(name: str, title: str, data: Callable[[Path], np.ndarray], needs: str) -> Task:
    return Task(
        f"density-{name}",
        f"Density kept, {title}",
        data,
        _SYSTEMS,
        kept,
        "correlation of radii",
        worst=min,
        needs=needs,
        warm_up=5000,
        rounds=1,
        note=_NOTE,
        details=neighbours,
    )


TASKS = [
    _task("fashion", "Fashion-MNIST along 50 principal axes, 10,000×50", _fashion, "fashion_mnist"),
    _task("flow", "flow cytometry, 10,000×13", _some_flow, "flow_cytometry"),
    _task("cells", "blood cells, 2,638×50", _cells, "pbmc3k"),
]
