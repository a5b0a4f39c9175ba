"""Random parameters, rows, labels and containers for them: ordinary, odd and wrong."""

import inspect
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

# Parameters whose large values take long, as they should.
_LONG = ("iter", "epoch", "patience", "refine", "degree", "n_init")
_NUMBERS = [0, 1, 2, 3, 5, 8, 13, 30, -1, 0.0, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 7.5, 100.0, -0.5]
_EXTREME = [10**9, 2**31 - 1, 2**63, 10**30, 1e-300, 5e-324, 1e-39, 1e-8, 1e20, 1e38, 1e39, 1e300, 1.7e308, -1e308]
_ODD = [
    None,
    True,
    False,
    "",
    "no such thing",
    float("nan"),
    float("inf"),
    np.float32(0.5),
    np.int64(2),
    1j,
    [],
    (),
    {},
]
_LISTS = [[2, 5], (3,), (8, 4), [1.5, 4.0], [0.5, 0.5], [0.25, 0.75], [[0, 1], [1, 0]], [[0.0, 2.0], [2.0, 0.0]]]


def pick(rng: np.random.Generator, values: Any) -> Any:
    """One of some values."""
    return values[int(rng.integers(len(values)))]


def parameters(rng: np.random.Generator, cls: Any, wild: float = 0.04) -> dict[str, Any]:
    """Some parameters of ``cls``, mostly ones that its rules accept; ``wild`` is the share of any others."""
    known = inspect.signature(cls).parameters
    chosen = {name: _parameter(rng, name, rule, wild) for name, rule in cls._rules.items() if rng.random() < 0.2}
    quick = {"max_iter": 60, "early_exaggeration_iter": 20, "max_epochs": 3, "random_state": 0, "n_jobs": 1}
    return {name: value for name, value in (quick | chosen).items() if name in known}


def _parameter(rng: np.random.Generator, name: str, rule: Any, wild: float) -> Any:
    if rule.options and rng.random() < 0.6:
        return pick(rng, rule.options)
    if name == "n_jobs":
        return pick(rng, [None, 1, 2, -1, 0, 2**31 - 1, "all"])
    if name == "verbose":
        return pick(rng, [0, 1, 2])
    free = rng.random() < wild
    for _ in range(40):
        value = pick(rng, pick(rng, [_NUMBERS, _NUMBERS, _NUMBERS, _EXTREME, _ODD, _LISTS]))
        if any(part in name for part in _LONG) and isinstance(value, int | float) and value > 40:
            value = 40
        if free or rule.accepts(value):
            return value
    return pick(rng, _NUMBERS)


def rows(rng: np.random.Generator, shape: tuple[int, int] | None = None) -> np.ndarray:
    """Finite numbers of some structure, scale and type."""
    n, d = shape or (int(pick(rng, [2, 3, 5, 8, 12, 25, 40, 60])), int(pick(rng, [1, 2, 3, 4, 7, 12, 30])))
    if shape is None and rng.random() < 0.01:
        n, d = 2100, int(pick(rng, [2, 3]))
    X = rng.normal(size=(n, d))
    for change in rng.choice(8, size=int(rng.integers(3)), replace=False):
        X = _CHANGES[change](rng, X)
    scale = pick(rng, [0] * 16 + [3, -3, 20, -20, 38, -39, 100, -100, 150, -150, 200, -200, 300, -300, 308])
    X = np.clip(X, -9.0, 9.0) * 10.0**scale if scale < 308 else X / (np.abs(X).max() or 1.0) * np.finfo(float).max
    if rng.random() < 0.1:
        X[:, int(rng.integers(d))] *= 1e-30
    if rng.random() < 0.1:
        X[int(rng.integers(n))] = pick(rng, [0.0, 1.0, np.finfo(float).max, np.finfo(np.float32).max / 2, 5e-324])
    return _typed(rng, X)


_CHANGES = [
    lambda rng, X: np.zeros_like(X) + rng.normal(),
    lambda rng, X: X[rng.integers(max(1, len(X) // 3), size=len(X))],  # equal rows
    lambda rng, X: np.outer(X[:, 0], X[0]),  # rank 1
    lambda rng, X: np.round(X),
    lambda rng, X: X + 1e6,
    lambda rng, X: X * 10.0 ** rng.integers(-8, 8, size=X.shape[1]),
    lambda rng, X: np.where(rng.random(X.shape) < 0.8, 0.0, X),
    lambda rng, X: np.linspace(0, 1, len(X))[:, None] * np.ones(X.shape[1]),
]


def _typed(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    kind = pick(rng, ["f8"] * 6 + ["f4"] * 4 + [">f8", ">f4", "f2", "i4", "u1", "i8", "?", "g"])
    with np.errstate(all="ignore"):
        largest = float(np.finfo(kind).max) if np.dtype(kind).kind == "f" else 100.0
        return np.clip(X, -largest, largest).astype(kind)


def contained(rng: np.random.Generator, X: np.ndarray) -> Any:
    """The same rows in some container, at times one that must be refused."""
    which = int(rng.integers(40))
    if which == 0:
        return X.tolist()
    if which == 1:
        return pd.DataFrame(X.astype(X.dtype.newbyteorder("=")), columns=[f"c{j}" for j in range(X.shape[1])])
    if which == 2 and X.dtype.kind in "fiu" and X.dtype.itemsize in (4, 8):
        return pl.DataFrame(X.astype(X.dtype.newbyteorder("=")), schema=[f"c{j}" for j in range(X.shape[1])])
    if which == 3:
        return np.asfortranarray(X)
    if which == 4:
        return np.repeat(X, 2, axis=1)[:, ::2]
    if which in (5, 6, 7, 8) and X.dtype.kind in "fiu" and X.dtype.itemsize in (4, 8):
        return pick(rng, [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])(X.astype(X.dtype.newbyteorder("=")))
    if which == 9 and X.dtype.kind in "fiu" and X.dtype.itemsize in (4, 8):
        return _broken_csr(rng, X.astype(X.dtype.newbyteorder("=")))
    if which == 10:
        return _wrong(rng, X)
    if which == 11:
        return X.astype(object)
    return X


def _broken_csr(rng: np.random.Generator, X: np.ndarray) -> Any:
    """Matrix in CSR form whose arrays do not belong together."""
    matrix = sp.csr_array(np.where(X == 0, 1, X))
    where = int(rng.integers(5))
    if where == 0:
        matrix.indices[int(rng.integers(len(matrix.indices)))] = pick(rng, [-1, X.shape[1], 2**30])
    elif where == 1:
        matrix.indptr[int(rng.integers(len(matrix.indptr)))] = pick(rng, [-1, 10**6, 0])
    elif where == 2:
        matrix.indices = matrix.indices[::-1].copy()
    elif where == 3:
        matrix.data = matrix.data[: len(matrix.data) // 2]
    else:
        matrix.indices[:] = 0  # duplicates
    return matrix


def _wrong(rng: np.random.Generator, X: np.ndarray) -> Any:
    """What no method can take."""
    Z = np.clip(X.astype(np.float64), -1e9, 1e9)
    hole = Z.copy()
    hole[int(rng.integers(len(Z))), 0] = pick(rng, [np.nan, np.inf, -np.inf])
    masked = np.ma.masked_array(Z, mask=np.median(Z) < Z)
    structured = np.zeros(len(Z), [("a", "f8"), ("b", "i4")])
    return pick(
        rng,
        [hole, sp.csr_array(hole), masked, structured, Z.astype(str), Z.astype("datetime64[s]"), Z + 1j, Z[0], Z[:0],
         Z[:, :0], Z[None], np.empty((0, 0), "U3"), np.empty((len(Z), 0), "U3"), pd.DataFrame(), pl.DataFrame(),
         pd.DataFrame(index=range(3)), None,
         "rows", 3, [], [[]], [[1, 2], [3]], np.array(["a", None], object), {"a": 1}, pd.DataFrame({"a": ["x", "y"]}),
         np.array([[1, None], [2, 3]], object), pd.Series([1.0, 2.0]), np.float64(3), b"bytes", iter([1, 2])],
    )  # fmt: skip


def targets(rng: np.random.Generator, n: int, two_views: bool) -> Any:
    """Labels, numbers or a second view of ``n`` rows, or what is none of these."""
    classes = int(pick(rng, [1, 2, 2, 3, 3, 5]))
    codes = rng.integers(classes, size=n)
    which = int(rng.integers(20))
    if which < 16:
        return rows(rng, (n, int(pick(rng, [1, 2, 4])))) if two_views or which == 0 else codes
    some = [
        np.array(["a", "b", "c", "d", "e"])[codes],
        np.array(["a", "b", "c", "d", "e"], object)[codes],
        codes.astype(float),
        rng.normal(size=n) * 10.0 ** pick(rng, [0, 30, 200, -200, 300]),
        codes.tolist(),
        pd.Series(codes),
        pd.Categorical(codes),
        codes.astype("datetime64[D]"),
        codes.astype(bool),
        np.arange(n),
        codes[: n // 2],
        None,
        np.where(codes > 0, codes, np.nan),
        np.array([1, "a"] * n, object)[:n],
        np.array([None] * n),
        np.zeros(n, [("a", "i4"), ("b", "f8")]),
        codes.astype("S1"),
        codes.astype(complex),
        codes[:, None],
        np.stack([codes, codes], axis=1),
        np.empty((n, 0)),
        "labels",
        7,
        [[1, 2], [3]],
        np.full(n, np.inf),
        np.array([object()] * n),
        pd.DataFrame({"a": codes, "b": list("xy" * n)[:n]}),
        sp.csr_array(codes[:, None]),
        {"a": 1},
    ]
    return pick(rng, some)


def changed(rng: np.random.Generator, X: np.ndarray) -> Any:
    """New rows for a model fitted on ``X``: some of the old, others nearby, far or of another type."""
    Q = np.array(X[rng.integers(len(X), size=int(pick(rng, [1, 2, 3, 6])))])
    which = int(rng.integers(8))
    if which == 0 and Q.dtype.kind == "f":
        Q[int(rng.integers(len(Q)))] = np.finfo(Q.dtype).max * pick(rng, [1.0, -1.0, 0.5])
    elif which == 1:
        return _typed(rng, rng.normal(size=Q.shape) * 10.0 ** pick(rng, [0, 0, 5, 30, 200, 300]))
    elif which in (2, 3) and Q.dtype.kind == "f":
        with np.errstate(over="ignore"):
            Q = (Q * (1 + 0.01 * rng.normal(size=Q.shape))).astype(Q.dtype)
        Q[~np.isfinite(Q)] = 0
    elif which == 4:
        Q = np.zeros_like(Q)
    elif which == 5:
        return contained(rng, _typed(rng, Q.astype(np.float64)))
    return contained(rng, Q) if rng.random() < 0.3 else Q
