"""What more starts of nonmetric MDS gain: ``LOWDIM_DATA=… python -m benchmarks.stress_starts``.

Normalised stress, R_NX and seconds of a fit by classical scaling as the only start, and by the best of it and three
random starts, of 150 rows.
"""

import warnings
from time import perf_counter

import lowdim
from benchmarks.map_sets import rows

_SETS = ("s_curve", "torus", "swiss_roll", "optdigits", "satimage", "letter", "wine_quality", "fashion_mnist")
_ROWS = 150


def main() -> None:
    warnings.simplefilter("ignore")
    heads = " | ".join(f"{what}, n_init={k}" for k in (1, 4) for what in ("stress", "R_NX", "seconds"))
    print(f"| rows | {heads} |\n|---|{'---:|' * 6}")
    for name in _SETS:
        X, shown = rows(name, _ROWS), []
        for starts in (1, 4):
            begin = perf_counter()
            model = lowdim.MDS(kind="nonmetric", n_init=starts, random_state=0).fit(X)
            kept = float(lowdim.quality.rnx_auc(X, model.embedding_))
            shown += [f"{model.normalized_stress_:.4f}", f"{kept:.3f}", f"{perf_counter() - begin:.1f}"]
        print(f"| {name} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
