"""Maps that grow, stay and compare: ``LOWDIM_DATA=… python -m benchmarks.growing [extend growing balance]``.

``extend``: three classes arrive that a map has not seen; are they islands, at what cost?
``growing``: a sample grows by a tenth five times; how far do the old rows move, and what is kept of neighbourhoods?
``balance``: t-SNE drawn to principal components with weights from 0 to 1: neighbours and distances kept.
Writes benchmarks/results_growing.md; weights were tuned on digits, none of the sets here.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import lowdim
from benchmarks.map_sets import labelled
from lowdim import quality
from lowdim.data import load

_RESULTS = Path(__file__).with_name("results_growing.md")
_BALANCED = ("optdigits", "satimage", "letter", "pbmc3k", "mnist", "wine_quality")
_GROWING = (("mnist", 4000), ("satimage", 4000))
_WEIGHTS = (0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 1.0)
_ROUNDS = 2


def table(title: str, head: list[str], lines: list[list[str]]) -> str:
    """A table in Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def timed(work: Any) -> tuple[float, Any]:
    start = perf_counter()
    found = work()
    return perf_counter() - start, found


def extend(n: int = 14_000) -> str:
    """Seven classes of MNIST are fitted, then three arrive."""
    X, y = load("mnist")
    X, y = X[:n], np.asarray(y)[:n].astype(int)
    old, new = np.flatnonzero(y < 7), np.flatnonzero(y >= 7)
    rows, classes = np.concatenate([X[old], X[new]]), np.concatenate([y[old], y[new]])
    arrived = np.arange(len(classes)) >= len(old)
    lines = []
    for cls in (lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP):
        first = cls(random_state=0).fit(X[old])
        extending, refitting = [], []
        for _ in range(_ROUNDS):
            seconds, larger = timed(lambda: first.extend(X[new]))  # noqa: B023
            extending.append(seconds)
            seconds, again = timed(lambda: cls(random_state=0).fit(rows))  # noqa: B023
            refitting.append(seconds)
        same = bool((larger.embedding_[: len(old)] == first.embedding_).all())
        scores = []
        for Y in (larger.embedding_, again.embedding_, np.concatenate([first.embedding_, first.transform(X[new])])):
            near = lowdim.parts.nearest(np.ascontiguousarray(Y, np.float32), 5).indices[arrived]
            votes = np.apply_along_axis(np.bincount, 1, classes[near], minlength=10).argmax(axis=1)
            scores.append(float((votes == classes[arrived]).mean()))
        ratio = median(extending) / median(refitting)
        lines.append(
            [
                cls.__name__,
                f"{median(extending):.1f} s",
                f"{median(refitting):.1f} s",
                f"{ratio:.2f}",
                *(f"{score:.3f}" for score in scores),
                "yes" if same else "NO",
            ]
        )
    head = ["method", "extend", "refit", "ratio", "5-NN extend", "refit", "transform alone", "old rows: same bits"]
    return table(f"Three new digits arrive ({len(old):,} rows of MNIST, then {len(new):,})", head, lines)


def _sequence(X: np.ndarray) -> list[np.ndarray]:
    sizes = [len(X) * tenth // 10 for tenth in range(5, 11)]
    return [X[:size] for size in sizes]


def _moved(maps: list[np.ndarray]) -> float:
    """Median distance of old rows from where they were, mean over the steps, as a share of the width."""
    return float(
        np.mean(
            [
                np.median(np.linalg.norm(after[: len(before)] - before, axis=1)) / np.ptp(before, axis=0).max()
                for before, after in pairwise(maps)
            ]
        )
    )


def _one_by_one(cls: Any, tables: list[np.ndarray]) -> list[np.ndarray]:
    """Each map anchored to the one before."""
    model = cls(random_state=0).fit(tables[0])
    maps = [model.embedding_]
    for X in tables[1:]:
        model = cls(anchors=model, random_state=0).fit(X)
        maps.append(model.embedding_)
    return maps


def _systems() -> Iterator[tuple[str, Any]]:
    for cls, name in ((lowdim.TSNE, "tsne"), (lowdim.UMAP, "umap"), (lowdim.PaCMAP, "pacmap")):
        yield f"{cls.__name__}, free", lambda tables, cls=cls: [cls(random_state=0).fit_transform(X) for X in tables]
        yield f"{cls.__name__}, anchors", lambda tables, cls=cls: _one_by_one(cls, tables)
        yield f"aligned, {cls.__name__}", lambda tables, name=name: lowdim.aligned(tables, _pairs(tables), name)[:]
    try:
        from umap import AlignedUMAP
    except ImportError:
        return

    def peer(tables: list[np.ndarray]) -> list[np.ndarray]:
        relations = [{row: row for row in range(len(before))} for before in tables[:-1]]
        return AlignedUMAP(random_state=0).fit(tables, relations=relations).embeddings_

    yield "umap-learn AlignedUMAP", peer


def _pairs(tables: list[np.ndarray]) -> list[Any]:
    return [(np.arange(len(before)), np.arange(len(before))) for before in tables[:-1]]


def growing() -> str:
    """A growing sample."""
    parts = []
    for name, n in _GROWING:
        tables = _sequence(labelled(name, n)[0])
        lines, free = [], {}
        for system, work in _systems():
            seconds, maps = timed(lambda: work(tables))  # noqa: B023
            kept = float(np.mean([float(quality.rnx_auc(X, Y)) for X, Y in zip(tables, maps, strict=True)]))
            base = free.setdefault(system.split(",")[0], kept) if "free" in system else free.get(_base(system), kept)
            lines.append(
                [system, f"{seconds:.1f} s", f"{100 * _moved(maps):.2f} %", f"{kept:.3f}", f"{kept - base:+.3f}"]
            )
        head = ["maps", "time of six", "median displacement", "area under R_NX", "beside the free maps"]
        parts.append(table(f"A sample that grows from half to all of {len(tables[-1]):,} rows of {name}", head, lines))
    return "\n".join(parts)


def _base(system: str) -> str:
    return "UMAP" if "AlignedUMAP" in system else system.removeprefix("aligned, ").split(",")[0]


def balance() -> str:
    """Between t-SNE and principal components."""
    lines = []
    for name in _BALANCED:
        X, _ = labelled(name, 3000)
        kept, alike = [], []
        for weight in _WEIGHTS:
            Y = lowdim.TSNE(anchors="pca", anchor_weight=weight, random_state=0).fit_transform(X)
            kept.append(float(quality.neighborhood_recall(X, Y, n_neighbors=15)))
            alike.append(float(quality.shepard_correlation(X, Y)))
        lines.append([name, "recall of 15", *(f"{one:.3f}" for one in kept)])
        lines.append(["", "correlation of distances", *(f"{one:.3f}" for one in alike)])
    head = ["3000 rows of", "anchor_weight", *(f"{weight:g}" for weight in _WEIGHTS)]
    return table("Between t-SNE and principal components", head, lines)


PARTS = {"extend": extend, "growing": growing, "balance": balance}


def main(names: list[str]) -> None:
    """Run the parts and replace their tables in the file of results."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "2")
    found = {}
    if _RESULTS.is_file():
        for block in _RESULTS.read_text(encoding="utf-8").split("\n<!-- ")[1:]:
            part, text = block.split(" -->\n", 1)
            found[part] = text
    for name in names or PARTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = PARTS[name]()
        print(found[name], flush=True)
    intro = (
        "# Maps that grow\n\nWritten by `python -m benchmarks.growing`, on two cores shared with other work: times are "
        "rough, and those of AlignedUMAP have its compilation in them. Displacement is that of rows in "
        "both maps, as a share of the width of the first, mean over the steps.\n"
    )
    _RESULTS.write_text(
        intro + "".join(f"\n<!-- {name} -->\n{found[name]}" for name in PARTS if name in found), encoding="utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
