"""What more iterations of t-SNE gain and lose: ``LOWDIM_DATA=… python -m benchmarks.convergence [sets]``.

"limits" is the plane with several limits of iterations; other sets, by default six surfaces and ten sets of real data,
are fitted with exaggeration that waits for surfaces, and without. ``KL(P‖Q)`` of each map with the same ``P`` of
perplexity 30, R_NX at several K, and its average over all K with weights 1/K, of 1,500 rows.
"""

import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

import lowdim
from benchmarks.map_sets import REAL, SURFACES, rows
from lowdim import parts

_ROWS, _PERPLEXITY = 1500, 30.0
_SIZES = (1, 5, 20, 150, 300)
_LIMITS = (500, 750, 2000)
_NO_WAIT = {"early_exaggeration_iter": 75, "max_iter": 575}  # where exaggeration ended for clusters and surfaces alike


def divergence(X: np.ndarray, Y: np.ndarray) -> float:
    near = parts.nearest(X, parts.neighbors_for(_PERPLEXITY, len(X)))
    P = parts.affinities(near.indices, parts.likelihoods(near.distances, [_PERPLEXITY])[0])
    return float(parts.divergence(P, np.ascontiguousarray(Y, dtype=np.float32), parts.Falloff("student")).value)


def maps(X: np.ndarray, *, by_limit: bool) -> Iterator[tuple[str, int, np.ndarray]]:
    """System, iterations done, and map: of several limits, or of the rule that ends exaggeration and without it."""
    settings = [{"max_iter": limit} for limit in _LIMITS] if by_limit else [{}, _NO_WAIT]
    for given in settings:
        model = lowdim.TSNE(random_state=0, **given).fit(X)
        said = ", ".join(f"{name}={value}" for name, value in given.items())
        yield f"lowdim {said}".strip(), model.n_iter_, model.embedding_
    if find_spec("openTSNE"):
        from openTSNE import TSNE

        for more in (500, _LIMITS[-1]) if by_limit else (500,):
            model = TSNE(n_iter=more, random_state=0)
            yield f"openTSNE n_iter={more}", more + model.early_exaggeration_iter, np.asarray(model.fit(X))


def _mean(R: np.ndarray) -> float:
    """R_NX averaged over all K with weights 1/K, as ``quality.rnx_auc`` does."""
    weights = 1 / np.arange(1, len(R) + 1)
    return float(R @ weights / weights.sum())


def main(sets: list[str]) -> None:
    warnings.simplefilter("ignore")
    print(f"| rows | system | iterations | KL | {' | '.join(f'K = {k}' for k in _SIZES)} | mean |")
    print(f"|---|---|{'---:|' * (3 + len(_SIZES))}")
    for name in sets or (*SURFACES, *REAL):
        X = rows("plane" if name == "limits" else name, _ROWS)
        for system, done, Y in maps(X, by_limit=name == "limits"):
            R = lowdim.quality.rnx_curve(X, Y)
            kept = " | ".join(f"{R[k - 1]:.2f}" for k in _SIZES)
            print(f"| {name} | {system} | {done} | {divergence(X, Y):.3f} | {kept} | {_mean(R):.3f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
