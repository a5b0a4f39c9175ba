"""Which score of a row finds what a map gets wrong, false alarms, and the value that ``choose`` finds.

    LOWDIM_DATA=../data python -m benchmarks.reliability [auc|alarms|choose] > benchmarks/results_reliability.md

An error of a map: the 15 data neighbours of a row vote for its label, its 15 map neighbours vote against it. Sets on
which the score was designed are listed apart from those used for the table alone.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np

import lowdim
from lowdim import parts, quality
from lowdim.relate.neighbors import nearest

DESIGN = ("optdigits", "satimage", "letter", "fashion_mnist", "pbmc3k", "coil20", "flow_cytometry_1m6")
JUDGED = ("mnist", "shuttle", "spambase", "wine_quality", "olivetti_faces", "digits", "wine", "kddcup99_10pct")
SCALED = ("shuttle", "spambase", "wine_quality", "wine", "kddcup99_10pct")
MAPS = {"t-SNE": lowdim.TSNE, "UMAP": lowdim.UMAP}
ROWS, DRAWN, NEAR, REFITS = 3000, 0, 15, 6


def load(name):
    """At most 3,000 rows with labels; columns of different units are scaled, images reduced to 50 components."""
    if name in ("digits", "wine"):
        X, y = lowdim.data.load(name)
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


def auc(score, wrong):
    """Area under the curve of a score that should be high for wrong rows."""
    from scipy.stats import rankdata

    ranks, count = rankdata(np.nan_to_num(score, nan=np.nanmedian(score))), wrong.sum()
    return float((ranks[wrong].sum() - count * (count + 1) / 2) / (count * (len(wrong) - count)))


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
    shown = {one: auc(v, wrong) if np.isfinite(v).any() and wrong.any() else np.nan for one, v in scores.items()}
    top = free.score.argsort()[::-1][: max(1, len(X) // 20)]
    return shown | {
        "found in worst 5 %": wrong[top].sum() / max(1, wrong.sum()),
        "dubious": len(free.dubious) / len(X),
        "errors": int(wrong.sum()),
        "accuracy": told.mean(),
    }


def table_of_areas():
    """AUC of every score."""
    rows = {}
    for kind, names in (("design", DESIGN), ("judged", JUDGED)):
        for name in names:
            for method in MAPS:
                try:
                    rows[kind, name, method] = areas(name, method)
                except (OSError, KeyError) as error:
                    print(f"{name} is left out: {error}", file=sys.stderr)
                print(kind, name, method, file=sys.stderr, flush=True)
    heads = list(next(iter(rows.values())))
    print("| set | map | " + " | ".join(heads) + " |\n|" + "---|" * (2 + len(heads)))
    for (kind, name, method), row in rows.items():
        cells = [
            f"{v:.2f}" if isinstance(v, float) and np.isfinite(v) else str(v).replace("nan", "") for v in row.values()
        ]
        print(f"| {name} ({kind}) | {method} | " + " | ".join(cells) + " |")
    for kind in ("design", "judged"):
        for least in (0.0, 0.9):
            some = [
                row for (one, *_), row in rows.items() if one == kind and row["accuracy"] >= least and row["errors"] > 4
            ]
            if some:
                means = [f"{np.nanmean([row[head] for row in some]):.2f}" for head in heads]
                print(f"| mean of {kind}, accuracy ≥ {least} | {len(some)} maps | " + " | ".join(means) + " |")


def table_of_alarms():
    """Shares of false alarms: dubious rows of blobs, structure in noise, valleys in one cloud."""
    print("| dubious rows of well separated blobs, nominal 5 % | t-SNE | UMAP | PaCMAP |\n|---|---|---|---|")
    for n, d, classes in ((1000, 10, 5), (2000, 20, 10), (2000, 50, 10), (1000, 5, 3), (1000, 3, 4)):
        shares = {cls: [] for cls in (lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP)}
        for seed in range(50, 54):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(n, d)) + 10 * rng.normal(size=(classes, d))[rng.integers(classes, size=n)]
            for cls, made in shares.items():
                made.append(len(quality.reliability(cls(random_state=seed).fit(X), X).dubious) / n)
        print(
            f"| {n} × {d}, {classes} blobs, 4 draws | "
            + " | ".join(f"{np.mean(one):.3f}" for one in shares.values())
            + " |"
        )
    draws = range(1000, 1100)
    noise = [quality.structure(np.random.default_rng(i).normal(size=(200, 8)), random_state=i) for i in draws]
    print(f"\nstructure rejects {sum(one.p_values['permuted'] < 0.05 for one in noise)} of 100 draws of noise against ")
    print(f"permuted columns, {sum(one.p_values['gaussian'] < 0.05 for one in noise)} against Gaussian rows, ")
    blobs = []
    for i in range(1000, 1020):
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


def table_of_choices():
    """R_NX areas of the value chosen and of the best of a full grid."""
    print("| set | chosen | area | best of the grid | area | ratio |\n|---|---|---|---|---|---|")
    for name in (*DESIGN[:5], *JUDGED[:5]):
        X, _ = load(name)
        X = X[:1200]
        found = lowdim.choose(X)
        grid = (3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150)
        area = {u: float(quality.rnx_auc(X, lowdim.TSNE(perplexity=u, random_state=0).fit_transform(X))) for u in grid}
        best = max(area, key=area.get)
        own = float(quality.rnx_auc(X, found.model.embedding_))
        print(
            f"| {name} | {found.value} | {own:.3f} | {best} | {area[best]:.3f} | {own / area[best]:.3f} |", flush=True
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:] or ["auc", "alarms", "choose"]
    tables = {"auc": table_of_areas, "alarms": table_of_alarms, "choose": table_of_choices}
    for one in asked:
        tables[one]()
