"""Rows for the tables on the quality of maps: surfaces of known shape, and samples of real data."""

from collections.abc import Callable

import numpy as np

from lowdim.data import load

REAL = (
    "optdigits",
    "satimage",
    "letter",
    "pbmc3k",
    "mnist",
    "fashion_mnist",
    "coil20",
    "spambase",
    "wine_quality",
    "shuttle",
)
_SCALED = ("spambase", "wine_quality", "shuttle")  # columns of different units


def _on_curve(s: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """An S drawn out in depth."""
    return np.column_stack([np.sin(s), depth, np.sign(s) * (np.cos(s) - 1)])


def plane(n: int, random: np.random.Generator) -> np.ndarray:
    return random.uniform(size=(n, 2))


def s_curve(n: int, random: np.random.Generator) -> np.ndarray:
    return _on_curve(3 * np.pi * random.uniform(-0.5, 0.5, n), random.uniform(0, 2, n))


def s_curve_hole(n: int, random: np.random.Generator) -> np.ndarray:
    X = s_curve(2 * n, random)
    return X[np.square(X - [0, 1, 0]).sum(axis=1) > 0.3][:n]


def torus(n: int, random: np.random.Generator) -> np.ndarray:
    around, along = random.uniform(0, 2 * np.pi, (2, n))
    ring = 3 + np.cos(around)
    return np.column_stack([ring * np.cos(along), ring * np.sin(along), np.sin(around)])


def sphere_cap(n: int, random: np.random.Generator) -> np.ndarray:
    height, along = random.uniform(0.2, 1, n), random.uniform(0, 2 * np.pi, n)
    ring = np.sqrt(1 - height**2)
    return np.column_stack([ring * np.cos(along), ring * np.sin(along), height])


def swiss_roll(n: int, random: np.random.Generator) -> np.ndarray:
    s = 1.5 * np.pi * (1 + 2 * random.uniform(size=n))
    return np.column_stack([s * np.cos(s), 21 * random.uniform(size=n), s * np.sin(s)])


SURFACES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    one.__name__: one for one in (plane, s_curve, s_curve_hole, torus, sphere_cap, swiss_roll)
}


def rows(name: str, n: int, seed: int = 0) -> np.ndarray:
    """``n`` rows of the set in float32, in random order: of a surface, or of real data read through LOWDIM_DATA."""
    random = np.random.default_rng(seed)
    if name in SURFACES:
        return SURFACES[name](n, random).astype(np.float32)
    return labelled(name, n, seed)[0]


def labelled(name: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """``n`` rows of a real set and their classes."""
    X, y = load(name)
    some = np.random.default_rng(seed).permutation(len(X))[:n]
    X = np.ascontiguousarray(X[some], dtype=np.float32)
    if name in _SCALED:
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)
    if X.shape[1] > 100:  # pictures: along their leading axes
        from lowdim import PCA

        X = np.ascontiguousarray(PCA(50).fit_transform(X), dtype=np.float32)
    return X, None if y is None else y[some]
