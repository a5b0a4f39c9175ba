"""``python -m benchmarks.cluster pca|kill|loss|curve [--out FILE]``: Dask, with the data of LOWDIM_DATA.

``pca``    PCA(50) of ten copies of MNIST on a LocalCluster of two workers, beside dask-ml, the covariance scheme of
           plain dask.array, and one process that reads a memory map.
``kill``   the same fit, with a worker killed half-way.
``loss``   maps of 10 % of the rows with the others placed, against maps of all rows.
``curve``  1, 2, 4, 8 and 16 workers, for machines of that many cores: PCA, LDA and the transform of t-SNE.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, KilledWorker, LocalCluster

import lowdim

_COPIES, _ROWS, _K = 10, 35_000, 50  # copies of MNIST, rows of a block, components
_LIMIT = "4GiB"  # memory of a worker


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster")
    parser.add_argument("task", choices=["pca", "kill", "loss", "curve"])
    parser.add_argument("--only", default="", help="beginning of the names to run")
    parser.add_argument("--out", type=Path, help="file that the lines are added to")
    args = parser.parse_args(argv)
    for line in {"pca": _pca, "kill": _kill, "loss": _loss, "curve": _curve}[args.task](args.only):
        print(line, flush=True)
        if args.out:
            with args.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    return 0


def _load(name: str) -> dict[str, Any]:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz") as stored:
        return {key: stored[key] for key in stored.files}


@contextmanager
def _copies() -> Iterator[Path]:
    """File of 700,000 × 784 uint8 rows."""
    X = _load("mnist")["X"].reshape(70_000, -1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(_COPIES * len(X), X.shape[1]))
        for copy in range(_COPIES):
            rows[copy * len(X) : (copy + 1) * len(X)] = X
        rows.flush()
        del rows
        yield path


def _read(block_info: Any = None, path: str = "") -> Any:
    start, stop = block_info[None]["array-location"][0]
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def from_npy(path: Path, rows: int = _ROWS) -> Any:
    """Dask array whose blocks the workers read; a memory map in the graph would be sent whole."""
    mapped = np.load(path, mmap_mode="r")
    n, d = mapped.shape
    lengths = tuple(min(rows, n - start) for start in range(0, n, rows))
    meta = np.empty((0, d), mapped.dtype)
    return da.map_blocks(_read, path=str(path), chunks=(lengths, (d,)), dtype=mapped.dtype, meta=meta)


@contextmanager
def _workers(n: int = 2) -> Iterator[Client]:
    with (
        LocalCluster(n, threads_per_worker=1, dashboard_address=":0", memory_limit=_LIMIT) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n)
        client.run(_import)
        yield client


def _import() -> None:
    import lowdim.backends.dask.moments  # noqa: F401  # its time is no part of the fit


class _Peak:
    """Most anonymous memory that a worker had while something ran, asked for ten times a second."""

    def __init__(self, client: Client) -> None:
        import psutil

        self.processes = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        self.highest = 0

    def __enter__(self) -> "_Peak":
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            for process in self.processes:
                try:
                    used = process.memory_info()
                except Exception:  # it was killed, or has ended
                    continue
                self.highest = max(self.highest, used.rss - used.shared)

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def _exact(path: Path) -> np.ndarray:
    """Variances from sums of whole numbers."""
    X = np.load(path, mmap_mode="r")[:70_000].astype(np.int64)
    n, sums = len(X), X.sum(axis=0)
    products = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, n, 10_000):
        block = X[start : start + 10_000].astype(np.float64)
        products += block.T @ block  # below 2**53, so exact
    S = (products - np.outer(sums, sums) / n) * _COPIES / (_COPIES * n - 1)
    return np.linalg.eigvalsh(S)[::-1][:_K]


def _pca(only: str) -> Iterator[str]:
    yield "| PCA(50) of 700,000 × 784 uint8 | seconds | largest relative error of a variance | peak of a worker |"
    yield "|---|---|---|---|"
    with _copies() as path:
        exact = _exact(path)

        def line(name: str, call: Callable[[Any], Any], client: Client | None) -> str:
            _timed(lambda: np.load(path, mmap_mode="r")[::7].max())  # the file is in the cache for all
            if client is None:
                values, seconds = _timed(lambda: call(np.load(path, mmap_mode="r")))
                return f"| {name} | {seconds:.2f} | {_error(values, exact):.1e} | – |"
            try:
                with _Peak(client) as peak:
                    values, seconds = _timed(lambda: call(from_npy(path)))
            except KilledWorker:
                return f"| {name} | – | workers of {_LIMIT} died of it | over {_LIMIT} |"
            return f"| {name} | {seconds:.2f} | {_error(values, exact):.1e} | {peak.highest / 2**20:.0f} MB |"

        chosen = {name: call for name, call in _ways().items() if name.startswith(only)}
        for name, call in chosen.items():
            if name.endswith("one process"):
                yield line(name, call, None)
            else:
                with _workers() as client:
                    yield line(name, call, client)


def _error(values: Any, exact: np.ndarray) -> float:
    return float(np.abs(np.asarray(values, np.float64) / exact - 1).max())


def _ways() -> dict[str, Callable[[Any], Any]]:
    return {
        "lowdim, one process": lambda X: _variances(lowdim.PCA(_K).fit(X)),
        "lowdim, Dask": lambda X: _variances(lowdim.PCA(_K).fit(X)),
        "covariance in dask.array, as scanpy's": _plain,
        "dask-ml, auto": lambda X: _dask_ml(X),
        "dask-ml, tsqr": lambda X: _dask_ml(X, svd_solver="tsqr"),
        "dask-ml, randomized, iterated_power=4": lambda X: _dask_ml(X, svd_solver="randomized", iterated_power=4),
    }


def _variances(model: Any) -> Any:
    """Variances in float64, from the moments that the model keeps: the attributes are float32 for uint8."""
    M = model._moments
    return np.linalg.eigvalsh(M[2] / (M[0] - 1))[::-1][:_K]


def _plain(X: Any) -> Any:
    """``E[xxᵀ] − mmᵀ`` by products of chunks in float64, and eigenvectors on the client."""
    Z = X.astype(np.float64)
    n = X.shape[0]
    import dask

    products, mean = dask.compute(Z.T @ Z, Z.mean(axis=0))
    return np.linalg.eigvalsh((products / n - np.outer(mean, mean)) * n / (n - 1))[::-1][:_K]


def _dask_ml(X: Any, **options: Any) -> Any:
    from dask_ml.decomposition import PCA

    return PCA(_K, random_state=0, **options).fit(X.astype(np.float32)).explained_variance_


def _kill(only: str) -> Iterator[str]:  # noqa: ARG001
    yield "| the same fit, 2 workers | seconds | same bits |"
    yield "|---|---|---|"
    with _copies() as path, _workers() as client:
        X = from_npy(path)
        lowdim.PCA(_K).fit(X)  # the file is in the cache, and code is loaded
        first, undisturbed = _timed(lambda: lowdim.PCA(_K).fit(X))
        yield f"| undisturbed | {undisturbed:.2f} | – |"
        victim = sorted(client.run(os.getpid).values())[0]
        timer = threading.Timer(undisturbed / 2, os.kill, (victim, signal.SIGKILL))
        timer.start()
        second, disturbed = _timed(lambda: lowdim.PCA(_K).fit(X))
        timer.join()
        same = second.components_.tobytes() == first.components_.tobytes()
        yield f"| one worker killed half-way | {disturbed:.2f} | {'yes' if same else 'NO'} |"


def _loss(only: str) -> Iterator[str]:
    yield "| data, method | rows fitted | seconds | trustworthiness | neighbour recall | R_NX area | label accuracy |"
    yield "|---|---|---|---|---|---|---|"
    digits = _load("mnist")
    cells = _load("flow_cytometry_1m6")
    drawn = np.sort(np.random.default_rng(0).choice(len(cells["X"]), 120_000, replace=False))
    sets = {
        "MNIST 70,000 × 50": (lowdim.PCA(50).fit_transform(digits["X"].reshape(70_000, -1)), digits["y"]),
        "flow cytometry 120,000 × 13": (cells["X"][drawn].astype(np.float32), cells["y"][drawn]),
    }
    methods = {
        "TSNE": partial(lowdim.TSNE, random_state=0),
        "UMAP": partial(lowdim.UMAP, random_state=0),
        "Isomap, 1,000 landmarks": partial(lowdim.Isomap, landmarks=1000, random_state=0),
        "LLE": partial(lowdim.LLE, random_state=0),
    }
    for called, method in methods.items():
        for name, (X, y) in sets.items():
            title = f"{name}, {called}"
            if not title.startswith(only):
                continue
            whole, seconds = _timed(lambda X=X, method=method: method().fit_transform(X))
            yield _kept(title, "all", seconds, X, y, whole)
            some = lowdim.data.sample(X, len(X) // 10, random_state=0)
            model, fitting = _timed(lambda some=some, method=method: method().fit(some))
            placed, placing = _timed(lambda X=X, model=model: model.transform(X))
            yield _kept(title, "10 %, others placed", fitting + placing, X, y, placed)


def _kept(title: str, rows: str, seconds: float, X: Any, y: Any, Y: Any) -> str:
    given = {"sample": 3000, "random_state": 0}
    measures = [
        lowdim.quality.trustworthiness(X, Y, 30, **given),
        lowdim.quality.neighborhood_recall(X, Y, 30, **given),
        lowdim.quality.rnx_auc(X, Y, **given),
        lowdim.quality.knn_accuracy(Y, y, random_state=0),
    ]
    shown = " | ".join(f"{float(one):.3f} ± {one.error:.3f}" for one in measures)
    return f"| {title} | {rows} | {seconds:.0f} | {shown} |"


def _curve(only: str) -> Iterator[str]:
    yield "| workers | PCA(50) | LDA | t-SNE transform of 70,000 rows |"
    yield "|---|---|---|---|"
    labels = _load("mnist")["y"]
    with _copies() as path:
        model = lowdim.TSNE(random_state=0).fit(np.load(path, mmap_mode="r")[:7000])
        for n in (1, 2, 4, 8, 16):
            if n > (os.cpu_count() or 1) or not str(n).startswith(only):
                continue
            with _workers(n):
                X = from_npy(path)
                y = da.from_array(np.tile(labels, _COPIES), chunks=X.chunks[0])
                times = [
                    _timed(lambda X=X: lowdim.PCA(_K).fit(X))[1],
                    _timed(lambda X=X, y=y: lowdim.LDA().fit(X, y))[1],
                    _timed(lambda: model.transform(from_npy(path, 2500)[:70_000]).compute())[1],
                ]
            yield f"| {n} | " + " | ".join(f"{seconds:.2f} s" for seconds in times) + " |"


if __name__ == "__main__":
    sys.exit(main())
