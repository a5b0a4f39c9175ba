"""How maps arrange the connected components of a graph: ``python -m benchmarks.components``.

Twelve Gaussian clusters of very different density in ten dimensions, each a component of the graph. Of all triplets of
centroids, the share whose two distances from the first have the same order in the map as in the data; the rank
correlation of all distances between centroids; and the recall of 15 neighbours.
"""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

import lowdim

_CLUSTERS = 12


def clusters(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their cluster."""
    random = np.random.default_rng(seed)
    centres = 6 * random.normal(size=(_CLUSTERS, 10))
    widths = np.exp(random.uniform(-2.5, 0.7, _CLUSTERS))
    y = np.repeat(np.arange(_CLUSTERS), random.integers(40, 260, _CLUSTERS))
    return (centres[y] + widths[y][:, None] * random.normal(size=(len(y), 10))).astype(np.float32), y


def arranged(X: np.ndarray, Y: np.ndarray, y: np.ndarray) -> list[float]:
    """Share of triplets in order, rank correlation, recall."""
    there, here = (
        cdist(means, means) for A in (X, Y) for means in [np.array([A[y == c].mean(0) for c in np.unique(y)])]
    )
    i, j, k = np.indices((_CLUSTERS,) * 3)
    some = (i != j) & (i != k) & (j < k)
    i, j, k = i[some], j[some], k[some]
    right = (there[i, j] < there[i, k]) == (here[i, j] < here[i, k])
    pairs = np.triu_indices(_CLUSTERS, 1)
    recall = float(lowdim.quality.neighborhood_recall(X, Y, 15))
    return [float(right.mean()), float(spearmanr(there[pairs], here[pairs]).statistic), recall]


def main(seeds: int) -> None:
    warnings.simplefilter("ignore")
    systems = {"lowdim": lowdim.UMAP}
    if find_spec("umap"):
        from umap import UMAP

        systems["umap-learn"] = UMAP
    print("| seed | system | triplets | rank correlation | recall |\n|---|---|---:|---:|---:|")
    for seed in range(seeds):
        X, y = clusters(seed)
        for name, cls in systems.items():
            figures = arranged(X, cls(random_state=seed).fit_transform(X), y)
            print("|", " | ".join([str(seed), name, *(f"{value:.2f}" for value in figures)]), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
