"""t-SNE beside openTSNE, scikit-learn-intelex and scikit-learn: time by stage, exact divergence, what the map keeps."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

_PERPLEXITY = 30
_ALL = 1_600_000  # rows of flow cytometry
_LEVELS = (3.5, 3.25, 3.03, 2.9, 2.82, 2.75, 2.7)  # intelex ends near 3.03 on MNIST, openTSNE at 2.82


class Map(NamedTuple):
    """Rows, their map, and seconds by stage where the system tells them."""

    X: np.ndarray
    Y: np.ndarray
    stages: str
    kl: float | None = None
    way: tuple[tuple[float, float], ...] = ()  # seconds from the start, and KL then


def along_axes(name: str) -> np.ndarray:
    """Pictures of 8 bits along their 50 leading principal axes."""
    from lowdim import PCA

    return np.ascontiguousarray(PCA(50).fit_transform(np.divide(load(name)[0], 255, dtype=np.float32)))


def _mnist(_: Path) -> np.ndarray:
    return along_axes("mnist")


def _mnist_10000(folder: Path) -> np.ndarray:
    return _mnist(folder)[:10_000]


def _flow(_: Path, n: int = _ALL) -> np.ndarray:
    X = load("flow_cytometry")[0]
    rows = slice(None) if n == _ALL else np.random.default_rng(0).permutation(len(X))[:n]
    return np.ascontiguousarray(X[rows], dtype=np.float32)


def lowdim(X: np.ndarray) -> Map:
    from time import perf_counter

    from lowdim import TSNE

    start, way = perf_counter(), []

    def note(iteration: int, loss: float, Y: np.ndarray) -> None:  # noqa: ARG001
        way.append((perf_counter() - start, loss))

    model = TSNE(perplexity=_PERPLEXITY, random_state=0, callback=note, callback_every=50).fit(X)
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in model.timings_.items() if seconds >= 0.05)
    way.append((perf_counter() - start, model.kl_divergence_))
    return Map(X, model.embedding_, stages, model.kl_divergence_, tuple(way))


def opentsne(X: np.ndarray) -> Map:
    from time import perf_counter

    from openTSNE import TSNEEmbedding, affinity, initialization

    from lowdim.work import thread_limit

    start, n = perf_counter(), thread_limit.available()
    P = affinity.PerplexityBasedNN(X, perplexity=_PERPLEXITY, n_jobs=n, random_state=0)
    middle = perf_counter()
    Y = TSNEEmbedding(initialization.pca(X, random_state=0), P, n_jobs=n, random_state=0)
    Y.optimize(250, exaggeration=12, momentum=0.5, inplace=True)
    Y.optimize(500, momentum=0.8, inplace=True)
    stages = f"neighbors and affinities {middle - start:.1f}, descent {perf_counter() - middle:.1f}"
    return Map(X, np.asarray(Y), stages)


def intelex(X: np.ndarray) -> Map:
    from sklearnex.manifold import TSNE

    return Map(X, TSNE(perplexity=_PERPLEXITY, max_iter=750, random_state=0).fit_transform(X), "")


def sklearn(X: np.ndarray) -> Map:
    from sklearn.manifold import TSNE

    return Map(X, TSNE(perplexity=_PERPLEXITY, max_iter=750, random_state=0, n_jobs=-1).fit_transform(X), "")


def exact_divergence(found: Map, _: Any) -> float | None:
    """KL with P from 90 exact neighbours and Q over all pairs in float64; an earlier lowdim tells its own."""
    if find_spec("lowdim.solve.divergence") is None:
        return found.kl
    from lowdim.relate.affinities import affinities, likelihoods
    from lowdim.relate.neighbors import nearest
    from lowdim.solve.divergence import Falloff, gradient

    near = nearest(found.X, 3 * _PERPLEXITY, how="exact")
    P = affinities(near.indices, likelihoods(near.distances, [float(_PERPLEXITY)])[0])
    return gradient(P, np.ascontiguousarray(found.Y, dtype=np.float64), Falloff("student"))[0]


def own_divergence(found: Map, _: Any) -> float | None:
    return found.kl


def _reached(found: Map) -> list[str]:
    """When the divergence first was below some values, by its way there."""
    when = {value: next((t for t, kl in found.way if kl <= value), None) for value in _LEVELS}
    return [f"{value} after {t:.1f}" for value, t in when.items() if t is not None]


def what_it_keeps(found: Map, _: Any) -> dict[str, str]:
    from lowdim import quality

    return {
        "trustworthiness": f"{float(quality.trustworthiness(found.X, found.Y, sample=2000, random_state=0)):.4f}",
        "recall of 10": f"{float(quality.neighborhood_recall(found.X, found.Y, sample=2000, random_state=0)):.3f}",
        "seconds by stage": found.stages or "–",
        "seconds to KL": ", ".join(_reached(found)) or "–",
    }


_NOTE = (
    "Perplexity 30, 750 iterations of which 250 exaggerated (lowdim: at most), from rows to map, neighbours included. "
    "KL is the same for "
    "all systems: P from 90 exact neighbours, Q normalised over all pairs in float64. What is kept is measured at 2000 "
    "rows."
)
TASKS = [
    Task(
        "tsne-mnist",
        "t-SNE, MNIST along 50 principal axes, 70,000×50",
        _mnist,
        {
            "lowdim": System(lowdim),
            "scikit-learn-intelex": System(intelex, once=True),
            "openTSNE": System(opentsne, once=True),
        },
        exact_divergence,
        "exact KL",
        needs="mnist",
        rounds=2,
        details=what_it_keeps,
        note=_NOTE,
    ),
    Task(
        "tsne-mnist-10000",
        "t-SNE, MNIST along 50 principal axes, 10,000×50",
        _mnist_10000,
        {
            "lowdim": System(lowdim),
            "scikit-learn-intelex": System(intelex, once=True),
            "openTSNE": System(opentsne, once=True),
            "scikit-learn": System(sklearn, once=True),
        },
        exact_divergence,
        "exact KL",
        needs="mnist",
        details=what_it_keeps,
        note=_NOTE,
    ),
    *(
        Task(
            "tsne-flow" if n == _ALL else f"tsne-flow-{n}",
            f"t-SNE, flow cytometry, {n:,}×13",
            partial(_flow, n=n),
            {"lowdim": System(lowdim, once=True)},
            own_divergence,
            "KL (certified)",
            needs="flow_cytometry",
            rounds=1,
            details=what_it_keeps,
            note="KL as the model tells it, by its own neighbours; what is kept is measured at 2000 rows.",
        )
        for n in (10_000, 30_000, 100_000, 300_000, 1_000_000, _ALL)
    ),
]
