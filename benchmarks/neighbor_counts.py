"""How many neighbours spectral maps should take: ``LOWDIM_DATA=… python -m benchmarks.neighbor_counts [methods]``.

R_NX averaged over all sizes of neighbourhoods, of maps in two dimensions of 800 rows.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import lowdim
from benchmarks.map_sets import SURFACES, rows

_COUNTS = (8, 10, 12, 15, 20)
_REAL = ("optdigits", "satimage", "letter", "pbmc3k", "wine_quality", "fashion_mnist")
_ROWS = 800
METHODS: dict[str, Callable[..., object]] = {
    "Isomap": lowdim.Isomap,
    "LLE": lowdim.LLE,
    "LLE modified": partial(lowdim.LLE, method="modified"),
    "LLE hessian": partial(lowdim.LLE, method="hessian"),
    "LLE ltsa": partial(lowdim.LLE, method="ltsa"),
    "LaplacianEigenmaps": lowdim.LaplacianEigenmaps,
    "DiffusionMap": lowdim.DiffusionMap,
}


def main(methods: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in methods or METHODS:
        print(f"\n**{name}**\n\n| rows | {' | '.join(map(str, _COUNTS))} |\n|---|{'---:|' * len(_COUNTS)}")
        total = np.zeros(len(_COUNTS))
        for given in (*SURFACES, *_REAL):
            X = rows(given, _ROWS)
            scores = []
            for count in _COUNTS:
                try:
                    Y = METHODS[name](n_neighbors=count, n_components=2).fit_transform(X)
                    scores.append(float(lowdim.quality.rnx_auc(X, Y)))
                except Exception as error:  # a count may be too small for a method
                    print(given, count, error, file=sys.stderr)
                    scores.append(np.nan)
            total += scores
            print("|", given, "|", " | ".join(f"{value:.3f}" for value in scores), "|", flush=True)
        print("| mean |", " | ".join(f"{value / (len(SURFACES) + len(_REAL)):.3f}" for value in total), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
