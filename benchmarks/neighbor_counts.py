"""How many neighbours spectral maps should take: ``LOWDIM_DATA=… python -m benchmarks.neighbor_counts [methods]``.

R_NX averaged over all K with weights 1/K, of maps in two dimensions of 800 rows: means of two samples of each set, over
all sets, and over the surfaces; and the mean trustworthiness of five neighbours. A method may be followed by numbers of
neighbours, as in ``Isomap:10,12,15``.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import lowdim
from benchmarks.map_sets import SURFACES, rows

_REAL = ("optdigits", "satimage", "letter", "pbmc3k", "wine_quality", "fashion_mnist", "mnist", "shuttle")
_ROWS, _SAMPLES = 800, 2
METHODS: dict[str, tuple[Callable[..., object], str]] = {
    "Isomap": (lowdim.Isomap, "8,10,11,12,13,15,20"),
    "LLE": (lowdim.LLE, "6,8,10,12,15"),
    "LLE hessian": (partial(lowdim.LLE, method="hessian"), "7,8,10,12,15,20"),
    "LLE ltsa": (partial(lowdim.LLE, method="ltsa"), "8,10,12,15,20"),
    "LaplacianEigenmaps": (lowdim.LaplacianEigenmaps, "8,10,15,20,40,80"),
}


def _scores(method: str, X: np.ndarray, count: int) -> tuple[float, float]:
    try:
        Y = METHODS[method][0](n_neighbors=count, n_components=2).fit_transform(X)
    except ValueError as error:  # a number may be too small for a method
        print(method, count, error, file=sys.stderr)
        return np.nan, np.nan
    return float(lowdim.quality.rnx_auc(X, Y)), float(lowdim.quality.trustworthiness(X, Y, 5))


def main(methods: list[str]) -> None:
    warnings.simplefilter("ignore")
    for given in methods or METHODS:
        name, _, numbers = given.partition(":")
        counts = [int(count) for count in (numbers or METHODS[name][1]).split(",")]
        print(f"\n**{name}**\n\n| rows | {' | '.join(map(str, counts))} |\n|---|{'---:|' * len(counts)}", flush=True)
        found = []
        for one in (*SURFACES, *_REAL):
            samples = [rows(one, _ROWS, seed) for seed in range(_SAMPLES)]
            found.append([np.mean([_scores(name, X, count) for X in samples], axis=0) for count in counts])
            _line(one, np.array(found[-1])[:, 0])
        _line("mean", np.mean(found, axis=0)[:, 0])
        _line("mean of the surfaces", np.mean(found[: len(SURFACES)], axis=0)[:, 0])
        _line("mean trustworthiness", np.mean(found, axis=0)[:, 1])


def _line(name: str, values: np.ndarray) -> None:
    print(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
