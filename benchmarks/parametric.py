"""Parametric maps of MNIST: ``LOWDIM_DATA=… python -m benchmarks.parametric [ROWS] [COLUMNS] [--peer PYTHON]``.

The first ROWS (60,000) of the training rows are fitted, along COLUMNS principal axes (784: the pixels), and the 10,000
test rows placed. Reported are the time of the fit, rows placed in a second, multiplications and additions for each, and
the accuracy of 5 nearest neighbours on the map, of test rows among those fitted. PYTHON is an interpreter that has
umap-learn and TensorFlow, for its ParametricUMAP.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import lowdim

_PEER = """
import sys, time
import numpy as np
from umap.parametric_umap import ParametricUMAP
from pathlib import Path
folder = Path(sys.argv[1])
X, Q = np.load(folder / "X.npy"), np.load(folder / "Q.npy")
model = ParametricUMAP(random_state=0, verbose=False)
start = time.perf_counter()
Y = model.fit_transform(X)
fitted = time.perf_counter()
model.transform(Q[:1000])
middle = time.perf_counter()
Z = model.transform(Q)
placed = time.perf_counter() - middle
np.savez(folder / "found.npz", Y=Y, Z=Z, times=[fitted - start, placed])
"""


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows to fit and to place, and their digits."""
    X, y = lowdim.data.load("mnist")
    X = X.reshape(len(X), -1)
    train, test = (part.astype(np.float32) / 255 for part in (X[:n], X[60_000:]))
    if d < X.shape[1]:
        axes = lowdim.PCA(d).fit(train)
        train, test = axes.transform(train), axes.transform(test)
    return train, test, y[:n], y[60_000:]


def ours(cls: Any, X: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float, str]:
    """Positions, seconds of the fit and of placing, and the operations for each row."""
    model = cls(random_state=0)
    start = perf_counter()
    model.fit(X)
    fitted = perf_counter()
    model.transform(Q[:1000])
    middle = perf_counter()
    Z = model.transform(Q)
    flops = f"{2 * sum(W.size for W in model.weights_):,}" if hasattr(model, "weights_") else "–"
    return model.embedding_, Z, fitted - start, perf_counter() - middle, flops


def peer(python: str, X: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float, str]:
    """The same by umap-learn."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "Q.npy", Q)
        subprocess.run([python, "-W", "ignore", "-c", _PEER, folder], check=True, capture_output=True)
        with np.load(Path(folder) / "found.npz") as found:
            return found["Y"], found["Z"], *map(float, found["times"]), "–"


def main(*words: str) -> None:
    """Print the table."""
    given = [int(word) for word in words if word.isdigit()]
    n, d = [*given, *(60_000, 50)[len(given) :]][:2]
    X, Q, y, digit = rows(n, d)
    systems = {cls.__name__: (ours, cls) for cls in (lowdim.ParametricUMAP, lowdim.UMAP)}
    if "--peer" in words:
        systems["umap-learn ParametricUMAP"] = (peer, words[words.index("--peer") + 1])
    else:
        systems |= {cls.__name__: (ours, cls) for cls in (lowdim.ParametricTSNE, lowdim.TSNE)}
    print(f"## {n:,} rows of MNIST, {d} columns\n")
    heads = ["system", "fit", "rows placed per second", "operations per row", "5-NN of 10,000 test rows"]
    print(f"| {' | '.join(heads)} |\n|---{'|---:' * 4}|")
    for name, (run, by) in systems.items():
        Y, Z, fitted, placed, flops = run(by, X, Q)
        score = KNeighborsClassifier(5).fit(Y, y).score(Z, digit)
        print(f"| {name} | {fitted:.1f} s | {len(Q) / placed:,.0f} | {flops} | {score:.4f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
