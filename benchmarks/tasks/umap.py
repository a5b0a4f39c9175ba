"""UMAP and PaCMAP beside umap-learn and pacmap: time by stage, the loss that UMAP minimises, what the maps keep."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from benchmarks.tasks.tsne import Map, _flow, _mnist, _mnist_10000, along_axes
from lowdim.data import load

_NEW = 2000  # rows to be placed


def _fashion(_: Path) -> np.ndarray:
    return along_axes("fashion_mnist")


def _stages(model: Any) -> str:
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in model.timings_.items() if seconds >= 0.05)


def lowdim_umap(seed: int = 0) -> Callable[[np.ndarray], Map]:
    def fit(X: np.ndarray) -> Map:
        from lowdim import UMAP

        model = UMAP(random_state=seed).fit(X)
        return Map(X, model.embedding_, _stages(model), model.loss_)

    return fit


def umap_learn(seed: int | None) -> Callable[[np.ndarray], Map]:
    def fit(X: np.ndarray) -> Map:
        from umap import UMAP

        return Map(X, UMAP(random_state=seed).fit_transform(X), "")

    return fit


def lowdim_pacmap(seed: int = 0, local: float | None = None) -> Callable[[np.ndarray], Map]:
    def fit(X: np.ndarray) -> Map:
        from lowdim import PaCMAP

        given = {"low_dist_thres": local} if local else {}  # which an older lowdim beside this one has not
        model = PaCMAP(random_state=seed, **given).fit(X)
        return Map(X, model.embedding_, _stages(model), model.loss_)

    return fit


def pacmap(seed: int | None, name: str = "PaCMAP") -> Callable[[np.ndarray], Map]:
    def fit(X: np.ndarray) -> Map:
        import pacmap

        return Map(X, getattr(pacmap, name)(random_state=seed).fit_transform(X), "")

    return fit


def _fitted(X: np.ndarray) -> tuple[Any, np.ndarray]:
    from lowdim import UMAP

    return UMAP(random_state=0).fit(X[:-_NEW]), X[-_NEW:]


def _fitted_there(X: np.ndarray) -> tuple[Any, np.ndarray]:
    from umap import UMAP

    return UMAP(random_state=0).fit(X[:-_NEW]), X[-_NEW:]


def transform(given: tuple[Any, np.ndarray]) -> Map:
    model, new = given
    return Map(new, model.transform(new), "")


def effective_loss(found: Map, _: Any) -> float:
    """UMAP's loss a row, for all systems by the graph of 15 exact neighbours and the same curve."""
    from lowdim.relate.fuzzy import fuzzy_union, memberships
    from lowdim.relate.neighbors import nearest
    from lowdim.solve.cross_entropy import CrossEntropy, curve

    near = nearest(found.X, 14, how="exact")
    graph = fuzzy_union(near.indices, memberships(near.distances).values)
    loss = CrossEntropy(*curve(0.1, 1.0), negatives=5.0)
    return loss.at(graph, np.ascontiguousarray(found.Y, dtype=np.float32)).value / len(found.X)


def own_loss(found: Map, _: Any) -> float | None:
    return None if found.kl is None else found.kl / len(found.X)


def trust(found: Map, _: Any) -> float:
    from lowdim import quality

    return float(quality.trustworthiness(found.X, found.Y, n_neighbors=15, sample=2000, random_state=0))


def what_it_keeps(found: Map, _: Any, data: str = "mnist") -> dict[str, str]:
    from sklearn.neighbors import KNeighborsClassifier

    from lowdim import quality

    n, sample = len(found.X), {"sample": 2000, "random_state": 0}
    labels = np.asarray(load(data)[1])[:n]
    right = KNeighborsClassifier(5).fit(found.Y[: n // 2], labels[: n // 2]).score(found.Y[n // 2 :], labels[n // 2 :])
    return {
        "trustworthiness (15)": f"{trust(found, None):.4f}",
        "recall of 15": f"{float(quality.neighborhood_recall(found.X, found.Y, n_neighbors=15, **sample)):.3f}",
        "R_NX area": f"{float(quality.rnx_auc(found.X, found.Y, **sample)):.3f}",
        "5-NN accuracy": f"{right:.4f}",
        "silhouette": f"{float(quality.silhouette(found.Y, labels, sample=5000, random_state=0)):.3f}",
        "correlation of distances": f"{float(quality.shepard_correlation(found.X, found.Y, **sample)):.3f}",
        "seconds by stage": found.stages or "–",
    }


_NOTE = (
    "From rows to map, neighbours included, with the epochs each system takes by itself (the same). The loss is that "
    "of UMAP's expected steps, for all systems by the same exact graph; what is kept is measured at 2000 rows. The "
    "warm-up compiles what umap-learn and pacmap compile; in a fresh process there is none, and imports count."
)
_UMAPS = {
    "lowdim": System(lowdim_umap()),
    "lowdim, seed 1": System(lowdim_umap(1), once=True),
    "lowdim, seed 2": System(lowdim_umap(2), once=True),
    "umap-learn, parallel": System(umap_learn(None), once=True),
    "lowdim, fresh process": System(lowdim_umap(), once=True, fresh=True),
    "umap-learn, parallel, fresh process": System(umap_learn(None), once=True, fresh=True),
}
_LOCAL = {
    "lowdim": System(lowdim_pacmap(local=10)),
    "lowdim, PaCMAP": System(lowdim_pacmap()),
    "pacmap": System(pacmap(None, "LocalMAP"), once=True),
    "pacmap, PaCMAP": System(pacmap(None), once=True),
}
_PACMAPS = {
    "lowdim": System(lowdim_pacmap()),
    "lowdim, seed 1": System(lowdim_pacmap(1), once=True),
    "lowdim, seed 2": System(lowdim_pacmap(2), once=True),
    "pacmap": System(pacmap(None), once=True),
}


def _task(name: str, title: str, data: Callable[[Path], np.ndarray], systems: dict[str, System], **more: Any) -> Task:
    given = {"needs": "mnist", "rounds": 2, "warm_up": 5000, "details": what_it_keeps, "note": _NOTE} | more
    quality = given.pop("quality", (effective_loss, "loss a row"))
    return Task(name, title, data, systems, *quality, **given)


_OTHER = {"needs": "fashion_mnist", "details": partial(what_it_keeps, data="fashion_mnist")}

TASKS = [
    _task("umap-mnist", "UMAP, MNIST along 50 principal axes, 70,000×50", _mnist, _UMAPS),
    _task(
        "umap-mnist-10000",
        "UMAP, MNIST along 50 principal axes, 10,000×50",
        _mnist_10000,
        _UMAPS | {"umap-learn, seeded": System(umap_learn(0), once=True)},
    ),
    _task("umap-fashion", "UMAP, Fashion-MNIST along 50 principal axes, 70,000×50", _fashion, _UMAPS, **_OTHER),
    _task(
        "umap-transform",
        "UMAP, 2,000 new rows in a map of 8,000",
        _mnist_10000,
        {
            "lowdim": System(transform, _fitted),
            "umap-learn": System(transform, _fitted_there, once=True),
        },
        quality=(trust, "trustworthiness"),
        worst=min,
        warm_up=None,
        details=None,
        note="The map is fitted before the clock starts. Trustworthiness of the new rows among themselves.",
    ),
    _task(
        "umap-flow",
        "UMAP, flow cytometry, 1,600,000×13",
        _flow,
        {"lowdim": System(lowdim_umap(), once=True)},
        quality=(own_loss, "loss a row"),
        needs="flow_cytometry",
        rounds=1,
        details=lambda found, _: {"seconds by stage": found.stages},
        note="Loss as the model tells it.",
    ),
    _task(
        "pacmap-mnist",
        "PaCMAP, MNIST along 50 principal axes, 70,000×50",
        _mnist,
        _PACMAPS,
        quality=(trust, "trustworthiness"),
        worst=min,
    ),
    _task(
        "localmap-mnist-10000",
        "LocalMAP, MNIST along 50 principal axes, 10,000×50",
        _mnist_10000,
        _LOCAL,
        quality=(trust, "trustworthiness"),
        worst=min,
    ),
    _task(
        "pacmap-fashion",
        "PaCMAP, Fashion-MNIST along 50 principal axes, 70,000×50",
        _fashion,
        _PACMAPS,
        quality=(trust, "trustworthiness"),
        worst=min,
        **_OTHER,
    ),
    _task(
        "pacmap-mnist-10000",
        "PaCMAP, MNIST along 50 principal axes, 10,000×50",
        _mnist_10000,
        _PACMAPS,
        quality=(trust, "trustworthiness"),
        worst=min,
    ),
]
