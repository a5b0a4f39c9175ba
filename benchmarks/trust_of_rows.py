"""Whether trust finds new rows that a map places badly: ``LOWDIM_DATA=… python -m benchmarks.trust_of_rows [sets]``.

Of 1,500 rows fitted, 500 other rows are placed. The tenth of them that keeps the fewest of its 15 nearest training rows
among 15 in the map is to be found: the area under the curve (AUC) by trust, and the share of the 500 with a trust
below 0.05, which is 0.05 where trust is calibrated. Rows far from the data (all columns moved by ten standard
deviations) have the largest trust in the last column.
"""

import sys
import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors

import lowdim
from benchmarks.map_sets import rows

_FITTED, _NEW, _NEAR = 1500, 500, 15
_SETS = ("s_curve_hole", "torus", "optdigits", "satimage", "letter", "mnist", "fashion_mnist", "wine_quality")


def _near(X: Any, Q: Any) -> np.ndarray:
    return NearestNeighbors(n_neighbors=_NEAR).fit(X).kneighbors(Q, return_distance=False)


def auc(bad: np.ndarray, score: np.ndarray) -> float:
    """Area under the curve of a score that is high for what is ``bad``."""
    ranks = rankdata(score)
    return float((ranks[bad].mean() - (bad.sum() + 1) / 2) / (~bad).sum())


def main(sets: list[str]) -> None:
    warnings.simplefilter("ignore")
    print("| rows | map | AUC | share below 0.05 | trust far away |\n|---|---|---:|---:|---:|")
    for name in sets or _SETS:
        A = rows(name, _FITTED + _NEW)
        X, Q = A[:_FITTED], A[_FITTED:]
        for cls in (lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP):
            model = cls(random_state=0).fit(X)
            pairs = zip(_near(X, Q), _near(model.embedding_, model.transform(Q)), strict=True)
            kept = np.array([len(np.intersect1d(there, here)) for there, here in pairs])
            kept = kept + 1e-3 * np.random.default_rng(0).random(len(kept))  # equal counts in random order
            bad, trust = kept <= np.quantile(kept, 0.1), model.trust(Q)
            far = float(model.trust(Q[:50] + 10 * X.std(axis=0)).max())
            figures = f"{auc(bad, -trust):.2f} | {np.mean(trust < 0.05):.3f} | {far:.2f}"
            print(f"| {name} | {cls.__name__} | {figures} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
