"""Principal component analysis: dense, integer, streamed, wide, sparse and small data."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from benchmarks.memory import Anonymous
from benchmarks.task import System, Task
from lowdim.data import load

_CHUNK = 10_000  # rows a time from files
_COPIES = 10  # of MNIST in the file
_ERROR = "eigenvalue error"


# Data


def _mnist(_: Path) -> np.ndarray:
    return load("mnist")[0]


def _mnist_float32(folder: Path) -> np.ndarray:
    return _unit(_mnist(folder))


def _mnist_roots(folder: Path) -> np.ndarray:
    """Floats that are no pixels any more."""
    return np.sqrt(_mnist_float32(folder))


def _unit(X: np.ndarray) -> np.ndarray:
    """Pixels as float32 in [0, 1]."""
    return np.divide(X, 255, dtype=np.float32)


def _mnist_file(folder: Path) -> np.ndarray:
    path = folder / "mnist_copies.npy"
    if not path.exists():
        X = _mnist(folder)
        out = np.lib.format.open_memmap(path, "w+", X.dtype, (_COPIES * len(X), X.shape[1]))
        for start in range(0, len(out), len(X)):
            out[start : start + len(X)] = X
        out.flush()
    return np.load(path, mmap_mode="r")


def _faces(_: Path) -> np.ndarray:
    return load("faces")[0].astype(np.float32)


def _reuters(_: Path) -> Any:
    return load("reuters")[0]


def _gaussian(_: Path) -> np.ndarray:
    """100,000 rows whose standard deviations fall by a tenth from direction to direction, in a random basis."""
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.standard_normal((100, 100)))[0]
    return (random.standard_normal((100_000, 100)) * 0.9 ** np.arange(100)) @ basis + 1.0


def _digits(_: Path) -> np.ndarray:
    return load("digits")[0]


# Quality


def variances(X: Any, k: int) -> np.ndarray:
    """Leading ``k`` eigenvalues of the covariance matrix (divisor n − 1) in float64, by way of the smaller side."""
    n, d = X.shape
    if sp.issparse(X):
        X = X.astype(np.float64)
        mean = np.asarray(X.mean(axis=0)).ravel()
        S = (X.T @ X).toarray() - n * np.outer(mean, mean)
    else:
        Z = X - X.mean(axis=0, dtype=np.float64)
        S = Z.T @ Z if d <= n else Z @ Z.T
    side = len(S)
    values = sl.eigh(S, eigvals_only=True, subset_by_index=[side - k, side - 1], overwrite_a=True)
    return values[::-1] / (n - 1)


def variances_of_copies(X: np.ndarray, k: int) -> np.ndarray:
    """The same for rows that repeat ``_COPIES`` times: only the divisor differs."""
    n = len(X) // _COPIES
    return variances(X[:n], k) * _COPIES * (n - 1) / (_COPIES * n - 1)


def eigenvalue_error(fitted: Any, reference: np.ndarray) -> float | None:
    """Largest relative error of the variances found, from an estimator or from scores; None where there are none."""
    if fitted is None:
        return None
    scores = isinstance(fitted, np.ndarray)
    found = fitted.var(axis=0, ddof=1, dtype=np.float64) if scores else fitted.explained_variance_
    return float(np.max(np.abs(found - reference) / reference))


# Systems


def lowdim(X: Any, k: int, **options: Any) -> Any:
    from lowdim import PCA

    return PCA(k, random_state=0, **options).fit(X)


def sklearn(X: Any, k: int, solver: str) -> Any:
    from sklearn.decomposition import PCA

    return PCA(k, svd_solver=solver, random_state=0).fit(X)


def intelex(X: Any, k: int, solver: str) -> Any:
    from sklearnex.decomposition import PCA

    fitted = PCA(k, svd_solver=solver, random_state=0).fit(X)
    if not hasattr(fitted, "_onedal_estimator"):
        raise RuntimeError("scikit-learn-intelex hands this case to scikit-learn")
    return fitted


def lowdim_scores(X: Any, k: int) -> np.ndarray:
    from lowdim import PCA

    return PCA(k).fit_transform(X)


def sklearn_scores(X: Any, k: int, solver: str) -> np.ndarray:
    from sklearn.decomposition import PCA

    return PCA(k, svd_solver=solver).fit_transform(X)


def intelex_scores(X: Any, k: int, solver: str) -> np.ndarray:
    from sklearnex.decomposition import PCA

    return PCA(k, svd_solver=solver).fit_transform(X)


def lowdim_chunks(X: np.ndarray, k: int) -> Any:
    from lowdim import PCA

    pca = PCA(k)
    for start in range(0, len(X), _CHUNK):
        pca.partial_fit(X[start : start + _CHUNK])
    _ = pca.components_  # solved when asked for
    return pca


def read_and_multiply(X: np.ndarray) -> None:
    """The least that any exact method does: read every row once and add up Xᵀ X, here in float32."""
    S = np.zeros((X.shape[1], X.shape[1]), np.float32)
    for start in range(0, len(X), _CHUNK):
        block = X[start : start + _CHUNK].astype(np.float32)
        S += block.T @ block


def _peers(k: int, sklearn_solvers: list[str], intelex_solvers: list[str], **options: Any) -> dict[str, System]:
    """lowdim's default beside solvers of scikit-learn and scikit-learn-intelex."""
    return {
        "lowdim": System(partial(lowdim, k=k)),
        **{f"scikit-learn {s}": System(partial(sklearn, k=k, solver=s), **options) for s in sklearn_solvers},
        **{f"scikit-learn-intelex {s}": System(partial(intelex, k=k, solver=s), **options) for s in intelex_solvers},
    }


def _task(name: str, title: str, data: Any, k: int, systems: dict[str, System], **options: Any) -> Task:
    reference = options.pop("reference", partial(variances, k=k))
    return Task(f"pca-{name}", f"PCA, {title}, k = {k}", data, systems, eigenvalue_error, _ERROR, reference, **options)


_EXACT = ["covariance_eigh"]
_SCORES = {
    "lowdim": System(partial(lowdim_scores, k=50)),
    "scikit-learn covariance_eigh": System(partial(sklearn_scores, k=50, solver="covariance_eigh")),
    "scikit-learn-intelex covariance_eigh": System(partial(intelex_scores, k=50, solver="covariance_eigh")),
}

TASKS = [
    _task(
        "mnist-float32",
        "MNIST float32, 70,000×784",
        _mnist_float32,
        50,
        _peers(50, ["covariance_eigh", "auto"], _EXACT),
        needs="mnist",
        note="Pixels divided by 255, which lowdim multiplies as the bytes that they are.",
    ),
    _task(
        "mnist-roots",
        "square roots of MNIST float32, 70,000×784",
        _mnist_roots,
        50,
        _peers(50, _EXACT, _EXACT),
        needs="mnist",
        note="Floats of any value.",
    ),
    _task(
        "mnist-uint8",
        "MNIST uint8, 70,000×784",
        _mnist,
        50,
        _peers(50, _EXACT, _EXACT, prepare=lambda X: X.astype(np.float32)),
        needs="mnist",
        note="lowdim fits the integers. The peers are given a float32 copy, whose making and memory are not counted.",
    ),
    _task(
        "mnist-scores",
        "MNIST float32, 70,000×784, fit_transform",
        _mnist_float32,
        50,
        _SCORES,
        needs="mnist",
        note="The error is that of the variances of the scores.",
    ),
    _task(
        "mnist-roots-scores",
        "square roots of MNIST float32, 70,000×784, fit_transform",
        _mnist_roots,
        50,
        _SCORES,
        needs="mnist",
        note="Floats of any value. The error is that of the variances of the scores.",
    ),
    _task(
        "mnist-file",
        "ten copies of MNIST in a uint8 file, 700,000×784 (549 MB)",
        _mnist_file,
        50,
        {
            "lowdim fit": System(partial(lowdim, k=50)),
            "lowdim partial_fit": System(partial(lowdim_chunks, k=50)),
            "read and multiply once": System(read_and_multiply),
        },
        reference=partial(variances_of_copies, k=50),
        needs="mnist",
        memory=Anonymous,
        note="Memory-mapped, in the page cache; memory is anonymous memory, so the file's own pages do not count. "
        f"*Read and multiply once* is plain NumPy: blocks of {_CHUNK:,} rows to float32 and Xᵀ X, no eigenvectors. "
        "partial_fit takes the same blocks. scikit-learn's IncrementalPCA, which solves an SVD for every block, is "
        "left out.",
    ),
    _task(
        "faces",
        "faces float32, 400×4096",
        _faces,
        50,
        {
            **_peers(50, ["full", "arpack", "randomized"], ["full"]),
        },
        needs="faces",
        warm_up=200,
        note="Compare times at the same error: randomized is approximate by design.",
    ),
    _task(
        "reuters",
        "Reuters tf-idf, CSR float32, 11,069×8,315",
        _reuters,
        50,
        {
            "lowdim": System(partial(lowdim, k=50)),
            "scikit-learn arpack": System(partial(sklearn, k=50, solver="arpack")),
        },
        needs="reuters",
        warm_up=1500,
        note="scikit-learn-intelex hands sparse data to scikit-learn. TruncatedSVD does not centre, so it is not PCA.",
    ),
    _task(
        "gaussian",
        "generated float64, 100,000×100",
        _gaussian,
        10,
        _peers(10, _EXACT, _EXACT),
    ),
    _task(
        "digits",
        "digits float64, 1,797×64",
        _digits,
        10,
        _peers(10, ["covariance_eigh", "full"], _EXACT),
        warm_up=300,
    ),
]
