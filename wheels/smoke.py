"""Smoke test of an installed lowdim: every method fits, places rows and survives its file. No test tools needed.

``python smoke.py`` runs it in the environment at hand and prints one line.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import lowdim
from lowdim import quality, show
from lowdim.methods import registry

KEPT = Path(__file__).parents[1] / "tests" / "persist" / "files" / "format_1"
PAIRS = ("CCA", "KernelCCA", "PLSCanonical")  # methods of two views


def fitted(method: registry.Method, X: np.ndarray, y: np.ndarray) -> object:
    """The method fitted to the rows, by the arguments it needs."""
    cls = method.load()
    if method.class_name == "SequentialFeatureSelector":
        from sklearn.neighbors import KNeighborsClassifier

        return cls(KNeighborsClassifier(3), n_features_to_select=2).fit(X, y)
    if method.class_name in PAIRS:
        return cls().fit(rows_for(method, X), X[:, 5:])
    return cls().fit(rows_for(method, X), y if method.supervised else None)


def rows_for(method: registry.Method, X: np.ndarray) -> np.ndarray:
    """The rows as the method takes them."""
    if method.class_name in PAIRS:
        return X[:, :5]
    return X - X.min(axis=0) if method.class_name == "NMF" else X


def main() -> None:
    """Fit, apply, save and load every method, then draw and compare."""
    start = time.perf_counter()
    for tool in ("cc", "gcc", "g++", "clang", "cmake", "ninja"):
        if "--without-compiler" in sys.argv and shutil.which(tool):
            sys.exit(f"smoke: a compiler is on the path: {shutil.which(tool)}")
    X, y = lowdim.data.load("wine")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ran, left_out = [], []
    with tempfile.TemporaryDirectory() as folder:
        for method in registry.METHODS:
            try:
                model = fitted(method, X, y)
            except ImportError:  # needs an optional package to fit, and none to apply
                kept = KEPT / f"{method.name}.lowdim"
                rows = pl.DataFrame({name: np.zeros(3) for name in "abcd"})
                assert np.isfinite(lowdim.load(kept).transform(rows)).all(), method.name
                left_out.append(method.class_name)
                continue
            given = rows_for(method, X)[:20]
            Y = np.asarray(model.transform(given), dtype=float)
            path = Path(folder) / f"{method.name}.lowdim"
            model.save(path)
            again = np.asarray(lowdim.load(path).transform(given), dtype=float)
            assert Y.shape[0] == 20, method.name
            assert np.isfinite(Y).all(), method.name
            assert np.array_equal(Y, again), method.name
            ran.append(method.class_name)
        comparison = lowdim.compare(X, y, ["pca", "tsne", "umap"])
        comparison.report(Path(folder) / "report.html")
        show.scatter(comparison.embeddings["tsne"], y).figure.savefig(Path(folder) / "map.png")
        assert quality.trustworthiness(X, comparison.embeddings["tsne"]) > 0.9
    print(
        f"lowdim {lowdim.__version__}, Python {sys.version.split()[0]}: {len(ran)} methods work"
        + (f"; {', '.join(left_out)} applied from a file, not fitted (optional package)" if left_out else "")
        + f" ({time.perf_counter() - start:.0f} s)"
    )


if __name__ == "__main__":
    main()
