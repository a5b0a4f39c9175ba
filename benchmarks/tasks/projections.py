"""Partial least squares, truncated SVD and random projections beside scikit-learn."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load


@dataclass(frozen=True)
class Views:
    """Two views of the same rows."""

    X: np.ndarray
    Y: np.ndarray

    def __getitem__(self, part: Any) -> "Views":
        return Views(self.X[part], self.Y[part[0] if isinstance(part, tuple) else part])


def _views(_: Path) -> Views:
    """20,000 rows of 300 correlated features, and 20 targets of five hidden ones."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(20_000, 30)) * 0.9 ** np.arange(30)
    X = hidden @ random.normal(size=(30, 300)) + 0.5 * random.normal(size=(20_000, 300))
    return Views(X, hidden[:, :5] @ random.normal(size=(5, 20)) + random.normal(size=(20_000, 20)))


def _reuters(_: Path) -> Any:
    return load("reuters")[0]


def _made(library: str, name: str, **parameters: Any) -> Any:
    import sklearn.cross_decomposition
    import sklearn.decomposition
    import sklearn.random_projection

    import lowdim

    homes = [lowdim]
    if library == "scikit-learn":
        homes = [sklearn.cross_decomposition, sklearn.decomposition, sklearn.random_projection]
    home = next(home for home in homes if hasattr(home, name))
    return getattr(home, name)(**parameters)


def fit(data: Any, library: str, name: str, **parameters: Any) -> Any:
    model = _made(library, name, **parameters)
    return model.fit(data.X, data.Y) if isinstance(data, Views) else model.fit(data)


def scores(data: Any, library: str, name: str, **parameters: Any) -> Any:
    return _made(library, name, **parameters).fit_transform(data)


def r2(model: Any, _: Any) -> float | None:
    data = _views(Path())
    return None if model is None else float(model.score(data.X, data.Y))


def covariance(model: Any, _: Any) -> float | None:
    """Covariance of the first pair of scores."""
    if model is None:
        return None
    data = _views(Path())
    t, u = model.transform(data.X, data.Y)
    return float(abs(np.cov(t[:, 0], u[:, 0])[0, 1]))


def squares(model: Any, _: Any) -> float | None:
    """Sum of the squared singular values found."""
    return None if model is None else float(np.square(model.singular_values_).sum())


def distortion(found: Any, _: Any) -> float | None:
    """Largest relative error of squared distances among pairs of 300 rows."""
    if found is None:
        return None
    from scipy.spatial.distance import pdist

    X, Y = _reuters(Path())[:300].toarray(), found[:300]
    Y = Y.toarray() if hasattr(Y, "toarray") else Y
    true = np.square(pdist(X.astype(float)))
    kept = true > 0
    return float(np.abs(np.square(pdist(Y.astype(float)))[kept] / true[kept] - 1).max())


def _both(run: Any, name: str, own: dict[str, Any], theirs: dict[str, Any]) -> dict[str, System]:
    return {
        "lowdim": System(partial(run, library="lowdim", name=name, **own)),
        "scikit-learn": System(partial(run, library="scikit-learn", name=name, **theirs)),
    }


_TEN, _SEED = {"n_components": 10}, {"random_state": 0}
TASKS = [
    Task(
        "projections-pls",
        "PLSRegression, 20,000×300, 20 targets, k = 10",
        _views,
        _both(fit, "PLSRegression", _TEN, _TEN),
        r2,
        "R²",
        worst=min,
    ),
    Task(
        "projections-pls-canonical",
        "PLSCanonical, 20,000×300 and 20, k = 10",
        _views,
        _both(fit, "PLSCanonical", _TEN, _TEN),
        covariance,
        "covariance of the first pair",
        worst=min,
    ),
    Task(
        "projections-svd",
        "TruncatedSVD, Reuters tf-idf, CSR float32, 11,069×8,315, k = 50",
        _reuters,
        _both(fit, "TruncatedSVD", {"n_components": 50, **_SEED}, {"n_components": 50, **_SEED})
        | {
            "scikit-learn arpack": System(
                partial(fit, library="scikit-learn", name="TruncatedSVD", n_components=50, algorithm="arpack")
            )
        },
        squares,
        "sum of σ²",
        worst=min,
        needs="reuters",
        warm_up=1500,
        note="More is better: scikit-learn's default is approximate.",
    ),
    *(
        Task(
            f"projections-{kind.lower()}",
            f"{kind}RandomProjection, Reuters tf-idf, CSR float32, 11,069×8,315, k = 1,000",
            _reuters,
            _both(
                scores,
                f"{kind}RandomProjection",
                {"n_components": 1000, **_SEED},
                {"n_components": 1000, **_SEED} | ({"dense_output": True} if kind == "Sparse" else {}),
            ),
            distortion,
            "largest error of squared distances",
            needs="reuters",
            warm_up=1500,
        )
        for kind in ("Gaussian", "Sparse")
    ),
]
