"""UMAP and PaCMAP beside umap-learn and pacmap: ``LOWDIM_DATA=… python -m benchmarks.map_peers {UMAP,PaCMAP} [sets]``.

Rank correlation of all distances in the data and in the map, R_NX averaged over all K with weights 1/K, and recall of
15 neighbours: means over four samples and seeds, and the standard error of the recall. With PaCMAP, pacmap with and
without a seed: with one it draws its pairs by other random numbers.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

import lowdim
from benchmarks.map_sets import REAL, SURFACES, rows

_ROWS, _SEEDS = 1000, 4
_DRAWN = ("noise", "sphere")
_FEW = {"PaCMAP": (*_DRAWN, *SURFACES, "satimage", "letter", "pbmc3k"), "UMAP": (*SURFACES, *REAL)}


def _rows(name: str, seed: int) -> np.ndarray:
    if name not in _DRAWN:
        return rows(name, _ROWS, seed)
    X = np.random.default_rng(seed).normal(size=(_ROWS, 20 if name == "noise" else 3))
    return (X if name == "noise" else X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)


def systems(method: str) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Names, and functions that make an estimator from a seed."""
    cls = {"UMAP": lowdim.UMAP, "PaCMAP": lowdim.PaCMAP}[method]
    yield f"lowdim {method}", lambda seed: cls(random_state=seed)
    if method == "UMAP" and find_spec("umap"):
        from umap import UMAP

        yield "umap-learn", lambda seed: UMAP(random_state=seed)
    if method == "PaCMAP" and find_spec("pacmap"):
        from pacmap import PaCMAP

        yield "pacmap", lambda seed: PaCMAP(random_state=seed)
        yield "pacmap without a seed", lambda _: PaCMAP()


def _scores(X: np.ndarray, Y: np.ndarray) -> list[float]:
    order = spearmanr(pdist(X), pdist(Y)).statistic
    kept = lowdim.quality.rnx_auc(X, Y), lowdim.quality.neighborhood_recall(X, Y, 15)
    return [float(order), *map(float, kept)]


def main(method: str, sets: list[str]) -> None:
    warnings.simplefilter("ignore")
    print("| rows | system | rank correlation | R_NX | recall of 15 | standard error |\n|---|---|---:|---:|---:|---:|")
    for name in sets or _FEW[method]:
        samples = [_rows(name, seed) for seed in range(_SEEDS)]
        for system, made in systems(method):
            found = np.array([_scores(X, np.asarray(made(seed).fit_transform(X))) for seed, X in enumerate(samples)])
            mean, error = found.mean(axis=0), found[:, 2].std(ddof=1) / np.sqrt(_SEEDS)
            shown = " | ".join([*(f"{value:.3f}" for value in mean), f"{error:.3f}"])
            print(f"| {name} | {system} | {shown} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "UMAP", sys.argv[2:])
