"""``python -m benchmarks.judge``: protocols of others, written anew from their papers, with losses beside wins.

- maps: how PaCMAP was judged (Wang, Huang, Rudin and Shaposhnik 2021): accuracy of nearest neighbours and of a support
  vector machine on the map, order kept in random triplets of rows and in triplets of class centroids; several seeds.
- times: seconds by number of rows, as in the paper of openTSNE (Poličar, Stražar and Zupan 2024).
- agreement: our measures beside those of ZADU (Jeon et al. 2023), which is another implementation.
- search: recall against time of all neighbours of GloVe vectors, in the manner of ann-benchmarks (Aumüller,
  Bernhardsson and Faithfull 2020), on all cores.

Each part (named as argument, all by default) keeps its numbers in build/judge; results_judge.md is written from them.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lowdim
from benchmarks.machine import describe, version_of
from lowdim import parts, quality

HERE = Path(__file__).parent
RESULTS, KEPT = HERE / "results_judge.md", HERE.parent / "build" / "judge"
SEEDS = (0, 1, 2)
NEIGHBORS = (1, 3, 5, 10, 15, 20, 25, 30)  # of the paper
ROWS = 2000  # of each set at most
TRIPLETS = 5  # random triplets of each row
# and principal components, as in the paper for wide rows
SETS = {
    "optdigits": None,
    "satimage": None,
    "coil20": 100,
    "mnist": 100,
    "fashion_mnist": 100,
    "letter": None,
    "pbmc3k": None,
}
SIZES = (1000, 2500, 5000, 10_000, 20_000, 70_000)
WORDS, NEAREST = 100_000, 10
LOSES = 0.005  # difference that is shown as a win or a loss
Map = Callable[[NDArray, int], NDArray]


def maps_of(n_jobs: int = 1) -> dict[str, dict[str, Map]]:
    """Systems by method, ours first; on one thread, so that the machine's other work disturbs all alike."""
    import openTSNE
    import pacmap
    import umap

    return {
        "t-SNE": {
            "lowdim": lambda X, seed: lowdim.TSNE(random_state=seed, n_jobs=n_jobs).fit_transform(X),
            "openTSNE": lambda X, seed: np.asarray(openTSNE.TSNE(random_state=seed, n_jobs=n_jobs).fit(X)),
        },
        "UMAP": {
            "lowdim": lambda X, seed: lowdim.UMAP(random_state=seed, n_jobs=n_jobs).fit_transform(X),
            "umap-learn": lambda X, seed: umap.UMAP(random_state=seed, n_jobs=n_jobs).fit_transform(X),
        },
        "PaCMAP": {
            "lowdim": lambda X, seed: lowdim.PaCMAP(random_state=seed, n_jobs=n_jobs).fit_transform(X),
            "pacmap": lambda X, seed: pacmap.PaCMAP(random_state=seed).fit_transform(X),
        },
    }


# The protocol of PaCMAP


def neighbor_accuracy(Y: NDArray, y: NDArray) -> float:
    """Leave-one-out accuracy of nearest neighbours on the map, the mean over their numbers."""
    near = parts.nearest(np.ascontiguousarray(Y), max(NEIGHBORS)).indices
    votes = y[near]
    hits = []
    for k in NEIGHBORS:
        counts = np.array([(votes[:, :k] == label).sum(axis=1) for label in np.unique(y)])
        hits.append(float((np.unique(y)[counts.argmax(axis=0)] == y).mean()))
    return float(np.mean(hits))


def svm_accuracy(Y: NDArray, y: NDArray) -> float:
    """Five-fold accuracy of a linear machine on 100 features of a Gaussian kernel, fitted to scaled positions."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    model = make_pipeline(
        StandardScaler(), Nystroem(gamma=1.0, n_components=100, random_state=0), LinearSVC(random_state=0)
    )
    return float(cross_val_score(model, Y, y, cv=StratifiedKFold(5, shuffle=True, random_state=0)).mean())


def triplet_accuracy(X: NDArray, Y: NDArray, seed: int) -> float:
    """Share of random triplets (i, j, k) in which j is nearer to i than k is, or not, in data and map alike."""
    rng = np.random.default_rng(seed)
    i = np.repeat(np.arange(len(X)), TRIPLETS)
    j, k = rng.integers(0, len(X), (2, len(i)))
    kept = (i != j) & (i != k) & (j != k)
    i, j, k = i[kept], j[kept], k[kept]

    def nearer(Z: NDArray) -> NDArray:
        return np.asarray(((Z[i] - Z[j]) ** 2).sum(axis=1) < ((Z[i] - Z[k]) ** 2).sum(axis=1))

    return float((nearer(X) == nearer(Y)).mean())


def centroid_accuracy(X: NDArray, Y: NDArray, y: NDArray) -> float:
    """The same for all triplets of class centroids."""
    centres = [np.array([Z[y == label].mean(axis=0) for label in np.unique(y)]) for Z in (X, Y)]
    apart = [np.linalg.norm(C[:, None] - C, axis=2) for C in centres]
    c = len(centres[0])
    pairs = [(a, b, d) for a in range(c) for b in range(c) for d in range(b + 1, c) if a not in (b, d)]
    return float(np.mean([(apart[0][a, b] < apart[0][a, d]) == (apart[1][a, b] < apart[1][a, d]) for a, b, d in pairs]))


def loaded(name: str) -> tuple[NDArray, NDArray]:
    """Rows and labels of a file of LOWDIM_DATA."""
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz") as file:
        return file["X"], file["y"]


def judge_maps() -> Iterator[dict[str, Any]]:
    """Four scores of every system, method, set and seed."""
    for name, components in SETS.items():
        X, y = loaded(name)
        some = np.sort(np.random.default_rng(0).permutation(len(X))[:ROWS])
        X, y = np.asarray(X[some], np.float32), y[some]
        if components is not None:
            X = lowdim.PCA(components, random_state=0).fit_transform(X)
        for method, systems in maps_of().items():
            for system, fit in systems.items():
                for seed in SEEDS:
                    Y = np.asarray(fit(X, seed), np.float64)
                    yield {
                        "set": name, "method": method, "system": system, "seed": seed,
                        "kNN": neighbor_accuracy(Y, y), "SVM": svm_accuracy(Y, y),
                        "random triplets": triplet_accuracy(X.astype(np.float64), Y, seed),
                        "centroid triplets": centroid_accuracy(X.astype(np.float64), Y, y),
                    }  # fmt: skip


# Times


def judge_times() -> Iterator[dict[str, Any]]:
    """Seconds of t-SNE by number of rows; the second of two fits, the first of which compiles and warms up."""
    X, _ = loaded("mnist")
    Z = lowdim.PCA(50, random_state=0).fit_transform(np.asarray(X[: max(SIZES)], np.float32))
    systems = maps_of(n_jobs=-1)["t-SNE"]
    for system, fit in systems.items():
        fit(Z[:500], 0)
        for n in SIZES:
            start = time.perf_counter()
            Y = np.asarray(fit(Z[:n], 0), np.float64)
            seconds = time.perf_counter() - start
            recall = float(quality.neighborhood_recall(Z[:n], Y, n_neighbors=15))
            yield {"system": system, "rows": n, "seconds": seconds, "recall": recall}


# Agreement with ZADU


def judge_agreement() -> Iterator[dict[str, Any]]:
    """The same measures by both, on one map."""
    from zadu import zadu

    X, y = loaded("optdigits")
    X, y = np.asarray(X[:2000], np.float64), np.asarray(y[:2000])
    Y = lowdim.UMAP(random_state=0).fit_transform(X).astype(np.float64)
    k = 15
    asked = [
        {"id": "tnc", "params": {"k": k}}, {"id": "lcmc", "params": {"k": k}}, {"id": "nh", "params": {"k": k}},
        {"id": "srho", "params": {}}, {"id": "snc", "params": {}},
    ][:4]  # fmt: skip
    theirs: dict[str, float] = {}
    for scores in zadu.ZADU(asked, X).measure(Y, y):
        theirs |= {name: float(value) for name, value in scores.items()}
    ours = {
        "trustworthiness": quality.trustworthiness(X, Y, n_neighbors=k),
        "continuity": quality.continuity(X, Y, n_neighbors=k),
        "lcmc": quality.lcmc(X, Y, n_neighbors=k),
        "neighborhood_hit": quality.neighbor_hit(Y, y, n_neighbors=k),
        "spearman_rho": quality.shepard_correlation(X, Y, sample=None),
    }
    for name, value in ours.items():
        if name in theirs:
            yield {"measure": name, "lowdim": float(value), "ZADU": theirs[name]}


# Recall against time


def judge_search() -> Iterator[dict[str, Any]]:
    """Seconds for the ten nearest rows of all rows, the index included, and the recall."""
    import faiss
    import hnswlib

    with np.load(Path(os.environ["LOWDIM_DATA"]) / "glove_100d_100k.npz") as file:
        X = file["X"][:WORDS].astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    exact = parts.nearest(X, NEAREST, how="exact").indices
    sample = np.arange(0, WORDS, 10)

    def recall(found: NDArray) -> float:
        return float(
            np.mean([len(np.intersect1d(a, b)) / NEAREST for a, b in zip(found[sample], exact[sample], strict=True)])
        )

    def without_self(found: NDArray) -> NDArray:
        return np.array([row[row != i][:NEAREST] for i, row in enumerate(found)])

    for how in ("exact", "approximate"):
        start = time.perf_counter()
        found = parts.nearest(X, NEAREST, how=how).indices
        yield {"system": f"lowdim, {how}", "seconds": time.perf_counter() - start, "recall": recall(found)}
    start = time.perf_counter()
    inverted = faiss.IndexIVFFlat(faiss.IndexFlatIP(X.shape[1]), X.shape[1], 316, faiss.METRIC_INNER_PRODUCT)
    inverted.train(X)
    inverted.add(X)
    built = time.perf_counter() - start
    for probes in (4, 8, 16, 32, 64, 128):
        inverted.nprobe = probes
        start = time.perf_counter()
        found = inverted.search(X, NEAREST + 1)[1]
        seconds = built + time.perf_counter() - start
        yield {"system": f"faiss IVF, {probes} of 316 lists", "seconds": seconds, "recall": recall(without_self(found))}
    start = time.perf_counter()
    index = hnswlib.Index("ip", X.shape[1])
    index.init_index(WORDS, ef_construction=100, M=16, random_seed=0)
    index.add_items(X)
    built = time.perf_counter() - start
    for ef in (16, 32, 64, 128, 256):
        index.set_ef(ef)
        start = time.perf_counter()
        found = index.knn_query(X, NEAREST + 1)[0].astype(np.int64)
        seconds = built + time.perf_counter() - start
        yield {"system": f"hnswlib, ef = {ef}", "seconds": seconds, "recall": recall(without_self(found))}


PARTS = {"maps": judge_maps, "times": judge_times, "agreement": judge_agreement, "search": judge_search}

# The page


def shown(value: float) -> str:
    """Three digits."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def maps_table(found: list[dict[str, Any]]) -> str:
    """Means over the seeds with their spread, and who is ahead by more than half a point and two standard errors."""
    scores = ["kNN", "SVM", "random triplets", "centroid triplets"]
    rows, tally = [], {"wins": 0, "losses": 0, "ties": 0}
    keys = list(dict.fromkeys((one["set"], one["method"]) for one in found))
    for name, method in keys:
        here = [one for one in found if (one["set"], one["method"]) == (name, method)]
        systems = list(dict.fromkeys(one["system"] for one in here))
        if len(systems) < 2:
            continue  # the part was stopped here
        values = {
            s: {score: np.array([o[score] for o in here if o["system"] == s]) for score in scores} for s in systems
        }
        for system in systems:
            cells = [name, method, system]
            for score in scores:
                own = values[system][score]
                cell = f"{own.mean():.3f} ± {own.std(ddof=1) if len(own) > 1 else 0:.3f}"
                if system == "lowdim":
                    verdict = compared(own, values[systems[1]][score])
                    tally[verdict] += 1
                    cell += {"wins": " ▲", "losses": " ▼", "ties": " ="}[verdict]
                cells.append(cell)
            rows.append(cells)
    text = (
        f"{tally['wins']} ahead (▲), {tally['losses']} behind (▼), {tally['ties']} equal (=) of {sum(tally.values())}."
    )
    return f"{text}\n\n{table(['set', 'method', 'system', *scores], rows)}"


def compared(ours: NDArray, theirs: NDArray) -> str:
    """Whether a difference exceeds half a point and two standard errors.

    >>> compared(np.array([0.9, 0.9]), np.array([0.8, 0.8])), compared(np.array([0.9]), np.array([0.902]))
    ('wins', 'ties')
    """
    gap = float(ours.mean() - theirs.mean())
    error = float(np.sqrt(sum(one.var(ddof=1) / len(one) if len(one) > 1 else 0.0 for one in (ours, theirs))))
    return "ties" if abs(gap) <= max(LOSES, 2 * error) else "wins" if gap > 0 else "losses"


def times_table(found: list[dict[str, Any]]) -> str:
    """One line for each number of rows."""
    systems = list(dict.fromkeys(one["system"] for one in found))
    rows = []
    for n in dict.fromkeys(one["rows"] for one in found):
        here = {one["system"]: one for one in found if one["rows"] == n}
        times = [f"{here[s]['seconds']:.2f} s, {here[s]['recall']:.3f}" if s in here else "–" for s in systems]
        ratio = here[systems[1]]["seconds"] / here["lowdim"]["seconds"] if len(here) == len(systems) else float("nan")
        rows.append([f"{n:,}", *times, f"{ratio:.1f}"])
    return table(["rows", *(f"{s}: time, recall of 15" for s in systems), "ratio"], rows)


def versions() -> dict[str, str]:
    """Machine, and versions of ours and of the peers."""
    return describe() | {
        name: version_of(name) for name in ("openTSNE", "umap-learn", "pacmap", "hnswlib", "faiss-cpu", "zadu")
    }


def page(found: dict[str, list[dict[str, Any]]]) -> str:
    """The results as Markdown."""
    texts = [
        "# Outside judges",
        "",
        "Protocols of others, written anew from their papers; our losses stand beside our wins. "
        "`make judge` repeats them, before every release.",
        "",
        *(f"- {name}: {value}" for name, value in versions().items()),
        "",
    ]
    if "maps" in found:
        texts += [
            "## The protocol of PaCMAP", "",
            f"Means over {len(SEEDS)} seeds, ± their standard deviation; defaults of every package. kNN: leave-one-out "
            "accuracy on the map, the mean over 1 to 30 neighbours. SVM: five-fold accuracy. Triplets: share in which "
            "the order of two distances is kept, of random rows and of class centroids. Ahead and behind: by more than "
            f"{LOSES} and two standard errors. "
            f"{ROWS:,} random rows of each set at most; larger images along 100 principal components.", "",
            maps_table(found["maps"]), "",
        ]  # fmt: skip
    if "times" in found:
        texts += [
            "## t-SNE over sizes, as in openTSNE's paper", "",
            "MNIST along 50 principal axes, one fit each after a warm-up, on all cores: the ratio carries over to "
            "other machines, the seconds do not.", "",
            times_table(found["times"]), "",
        ]  # fmt: skip
    if "search" in found:
        rows = [[o["system"], f"{o['seconds']:.1f} s", shown(o["recall"])] for o in found["search"]]
        texts += [
            "## Recall against time, as in ann-benchmarks", "",
            f"The {NEAREST} nearest rows of all {WORDS:,} GloVe vectors by angle; the time includes the index.", "",
            table(["system", "seconds", "recall"], rows), "",
        ]  # fmt: skip
    if "agreement" in found:
        rows = [
            [o["measure"], f"{o['lowdim']:.6f}", f"{o['ZADU']:.6f}", f"{abs(o['lowdim'] - o['ZADU']):.1e}"]
            for o in found["agreement"]
        ]
        texts += ["## Agreement with ZADU", "", "One UMAP of 2,000 rows of optdigits, 15 neighbours.", "",
                  table(["measure", "lowdim", "ZADU", "difference"], rows), ""]  # fmt: skip
    return "\n".join(texts)


def main(wanted: list[str]) -> None:
    """Run the parts, and write the page from all that is kept."""
    if unknown := set(wanted) - set(PARTS):
        raise SystemExit(f"judge: parts are {', '.join(PARTS)}; got {', '.join(unknown)}.")
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in wanted or PARTS:
        found = []
        for one in PARTS[name]():
            print(one, flush=True)
            found.append(one)
            (KEPT / f"{name}.json").write_text(json.dumps(found))  # what is there if the rest is stopped
    kept = {name: KEPT / f"{name}.json" for name in PARTS}
    RESULTS.write_text(page({name: json.loads(path.read_text()) for name, path in kept.items() if path.is_file()}))
    print(RESULTS)


if __name__ == "__main__":
    main(sys.argv[1:])
