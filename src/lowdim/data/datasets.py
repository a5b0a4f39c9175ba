"""Example data sets: small real ones, generated shapes, and larger ones from a folder that the user names."""

import os
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.data.options import Rule, integer, none, real
from lowdim.work.archive_errors import ARCHIVE_ERRORS
from lowdim.work.random import seed_of, stream

VARIABLE = "LOWDIM_DATA"  # names the folder of the stored sets

Draw = tuple[NDArray[np.float64], NDArray[Any]]


def _rings(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """Two circles around the origin, of radius 1 and 3; y is the ring."""
    y = np.arange(n) % 2
    angle = rng.uniform(0, 2 * np.pi, n)
    X = (1.0 + 2.0 * y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal((n, 2)), y


def _xor(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """Four clusters at (±1, ±1); y is 1 where the signs differ."""
    corner = np.arange(n) % 4
    signs = np.column_stack([corner // 2, corner % 2]) * 2.0 - 1.0
    return signs + noise * rng.standard_normal((n, 2)), (corner // 2) ^ (corner % 2)


def _swissroll(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """A sheet rolled up in 3-D; y is the angle t along the roll."""
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    X = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])
    return X + noise * rng.standard_normal((n, 3)), t


def _spiral(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """Archimedes' spiral r = t of three turns in the plane, evenly dense; y is the arc length."""
    grid = np.linspace(np.pi / 2, 6.5 * np.pi, 4096)
    length = (grid * np.sqrt(1 + grid**2) + np.arcsinh(grid)) / 2
    s = rng.uniform(length[0], length[-1], n)
    t = np.interp(s, length, grid)
    X = t[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    return X + noise * rng.standard_normal((n, 2)), s - length[0]


def _s_curve(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """A sheet bent into an S in 3-D; y is the angle t along the bend."""
    t = 3 * np.pi * (rng.random(n) - 0.5)
    X = np.column_stack([np.sin(t), 2 * rng.random(n), np.sign(t) * (np.cos(t) - 1)])
    return X + noise * rng.standard_normal((n, 3)), t


def _blobs(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """Six Gaussian clusters in 10-D; y is the cluster."""
    y = np.arange(n) % 6
    centres = rng.uniform(-10, 10, (6, 10))
    return centres[y] + noise * rng.standard_normal((n, 10)), y


def _two_planes(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """Two wide parallel squares in 3-D, close together: PCA finds directions along them, LDA across; y is the plane."""
    y = np.arange(n) % 2
    along = rng.uniform(-3, 3, (n, 2))
    across = 2.0 * y - 1.0 + noise * rng.standard_normal(n)
    tilt = np.array([[1, -1, 0], [1, 1, -2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])
    return np.column_stack([along, across]) @ tilt, y


def _tree(rng: np.random.Generator, n: int, noise: float) -> Draw:
    """Ten branches of random walks in 100-D, each grown from a point of an earlier one; y is the branch."""
    branches, steps, d = 10, 100, 100
    paths: list[NDArray[np.float64]] = []
    for b in range(branches):
        start = paths[rng.integers(b)][rng.integers(steps)] if b else np.zeros(d)
        paths.append(start + np.cumsum(rng.uniform(-1, 1, (steps, d)), axis=0))
    y, at = np.arange(n) % branches, rng.uniform(0, steps - 1, n)
    low = at.astype(np.intp)
    both = np.array(paths)
    X = both[y, low] + (at - low)[:, None] * (both[y, low + 1] - both[y, low])
    return X + noise * rng.standard_normal((n, d)), y


_BUNDLED = ("digits", "iris", "wine", "breast_cancer")  # with scikit-learn
# name -> (draw, n_samples, noise)
_GENERATED: dict[str, tuple[Callable[[np.random.Generator, int, float], Draw], int, float]] = {
    "rings": (_rings, 500, 0.1),
    "xor": (_xor, 400, 0.2),
    "swissroll": (_swissroll, 1000, 0.05),
    "spiral": (_spiral, 600, 0.1),
    "s_curve": (_s_curve, 1000, 0.02),
    "blobs": (_blobs, 600, 1.0),
    "two_planes": (_two_planes, 400, 0.05),
    "tree": (_tree, 1000, 4.0),
}
# name -> stem of its file
_STORED = {
    "faces": "olivetti_faces",
    "mnist": "mnist",
    "fashion_mnist": "fashion_mnist",
    "coil20": "coil20",
    "pbmc3k": "pbmc3k",
    "glove": "glove_100d_100k",
    "flow_cytometry": "flow_cytometry_1m6",
    "reuters": "reuters_tfidf_sparse",
    "kddcup99": "kddcup99_10pct",
    "letter": "letter",
    "satimage": "satimage",
    "shuttle": "shuttle",
    "optdigits": "optdigits",
    "spambase": "spambase",
    "wine_quality": "wine_quality",
    "mammoth": "mammoth_50k",
}
KNOWN = (*_BUNDLED, *_GENERATED, *_STORED)

IMAGE_SHAPES = {
    "digits": (8, 8),
    "optdigits": (8, 8),
    "faces": (64, 64),
    "mnist": (28, 28),
    "fashion_mnist": (28, 28),
    "coil20": (128, 128),
}


def load(
    name: str, *, n_samples: int | None = None, noise: float | None = None, random_state: Any = 0
) -> tuple[Any, NDArray[Any] | None]:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of :func:`names`. ``digits``, ``iris``, ``wine`` and ``breast_cancer`` come with scikit-learn;
        ``rings``, ``xor``, ``swissroll``, ``spiral``, ``s_curve``, ``blobs``, ``two_planes`` and
        ``tree`` are generated; ``faces``, ``mnist`` and others are npz files in the folder that ``LOWDIM_DATA`` names.
    n_samples : int, optional
        Number of samples to draw; generated sets only.
    noise : float, optional
        Standard deviation of the noise added to each coordinate; generated sets only.
    random_state : int, Generator, RandomState or None, default 0
        Seed of a generated set. Stored and bundled sets have nothing random.

    Returns
    -------
    X : array or CSR matrix of shape (n_samples, n_features)
        The data, in the numeric type it is stored in.
    y : array of shape (n_samples,) or None
        Classes, or the position along the curve or sheet; None where there are no labels.

    Examples
    --------
    >>> X, y = load("spiral", n_samples=300)
    >>> X.shape, y.shape
    ((300, 2), (300,))
    """
    if name in _GENERATED:
        draw, default_n, default_noise = _GENERATED[name]
        n = default_n if n_samples is None else n_samples
        sigma = default_noise if noise is None else noise
        _demand(name, "n_samples", n, integer(2))
        _demand(name, "noise", sigma, real(0, closed="left"))
        return draw(stream(seed_of(random_state), name), int(n), float(sigma))
    if name not in KNOWN:
        close = get_close_matches(str(name).lower(), KNOWN, n=1)
        advice = f"Did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"load: a known data set is needed; got {name!r}. {advice}There are {', '.join(names())}.")
    for option, value in (("n_samples", n_samples), ("noise", noise)):
        _demand(name, option, value, none)
    return _bundled(name) if name in _BUNDLED else _stored(name)


def names() -> list[str]:
    """Names of the data sets that can be loaded.

    Stored sets are listed when their file is in the folder that the variable ``LOWDIM_DATA`` names.

    Returns
    -------
    names : list of str
        What :func:`load` takes.

    Examples
    --------
    >>> "digits" in names() and "swissroll" in names()
    True
    """
    folder = os.environ.get(VARIABLE)
    stored = [name for name in _STORED if folder and _path(folder, name).is_file()]
    return [*_BUNDLED, *_GENERATED, *stored]


def image_shape(name: str) -> tuple[int, int] | None:
    """Height and width of the images that are the rows of a data set; None if rows are not images.

    Parameters
    ----------
    name : str
        A data set.

    Returns
    -------
    shape : (int, int) or None
        ``X[i].reshape(shape)`` is an image.

    Examples
    --------
    >>> image_shape("digits")
    (8, 8)
    """
    return IMAGE_SHAPES.get(name)


def feature_names(name: str) -> list[str] | None:
    """Feature names of a data set, None where it has none.

    Parameters
    ----------
    name : str
        A data set.

    Returns
    -------
    names : list of str or None
        One name for each column of X.

    Examples
    --------
    >>> feature_names("iris")[0]
    'sepal length (cm)'
    """
    if name not in _BUNDLED:
        return None
    from sklearn import datasets

    return [str(feature) for feature in getattr(datasets, f"load_{name}")().feature_names]


def _demand(name: str, option: str, value: Any, rule: Rule) -> None:
    if rule is none and value is not None:
        raise ValueError(
            f"load: {option} is for generated sets ({', '.join(_GENERATED)}); "
            f"got {option}={value!r} with {name!r}, whose samples are fixed. Leave {option} out."
        )
    if not rule.accepts(value):
        raise ValueError(f"load: {option} must be {rule.needs}; got {value!r}. Change {option}.")


def _bundled(name: str) -> tuple[Any, NDArray[Any]]:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y


def _path(folder: str, name: str) -> Path:
    return Path(folder).expanduser() / f"{_STORED[name]}.npz"


def _stored(name: str) -> tuple[Any, NDArray[Any] | None]:
    folder = os.environ.get(VARIABLE)
    if not folder or not (path := _path(folder, name)).is_file():
        found = f"it is not in '{folder}'" if folder else "the variable is not set"
        raise FileNotFoundError(
            f"load: {name!r} needs the file {_STORED[name]}.npz in the folder that {VARIABLE} names; "
            f"{found}. Set {VARIABLE} to the folder that holds it, or take one of {', '.join(names())}."
        )
    try:
        # Opened here, because NumPy leaves a file open that is not an archive.
        with open(path, "rb") as file:
            with np.load(file, allow_pickle=False) as arrays:
                y = arrays["y"] if "y" in arrays.files else None
                if "X" in arrays.files:
                    return arrays["X"], y
            return sparse.load_npz(file).tocsr(), y
    except ARCHIVE_ERRORS as error:
        raise ValueError(
            f"load: {name!r} needs a file with X (and y); '{path}' cannot be read ({error}). Replace the file."
        ) from None
