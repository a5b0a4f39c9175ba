"""Random rows, labels and parameters through every method: fit, transform, inverse, save and load."""

import tempfile
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.methods import registry
from torture import draws
from torture.judge import Failure, Refused, demand_finite, demand_finite_state, judged

METHODS = tuple(method.name for method in registry.METHODS)


def run(rng: np.random.Generator, only: str = "") -> str:
    """One case; returns what came of it ("fitted" or "refused") or raises Failure."""
    cls = registry.find(only or draws.pick(rng, METHODS)).load()
    params, X = draws.parameters(rng, cls), draws.rows(rng)
    square = "precomputed" in (params.get("metric"), params.get("kernel"))
    if square and rng.random() < 0.8:
        X = _pairs(X, params.get("metric") == "precomputed")
    data, y = draws.contained(rng, X), draws.targets(rng, len(X), cls._two_views)
    told = f"{cls.__name__}(**{_short(params)}) on {_describe(data)}, y {_describe(y)}"
    try:
        return _through(rng, cls, params, data, X, y)
    except Failure as failure:
        raise Failure(failure.word, f"{told}\n{failure.details}") from None


def _through(rng: np.random.Generator, cls: Any, params: dict[str, Any], data: Any, X: np.ndarray, y: Any) -> str:
    model, before = cls(**params), _bytes(data)
    try:
        try:
            judged(lambda: model.fit(data, y))
        except Refused:
            if set(vars(model)) != set(params) | set(model.get_params()):
                raise Failure("changed object", "a refused fit left attributes behind") from None
            return "refused"
    finally:
        if _bytes(data) != before:
            raise Failure("changed input", "fit changed X")
    demand_finite_state(model)
    calls = [lambda: model.transform(data), lambda: model.transform(draws.changed(rng, X))]
    if hasattr(model, "inverse_transform"):
        calls.append(lambda: model.inverse_transform(model.transform(data)))
        calls.append(lambda: model.inverse_transform(draws.rows(rng, (3, len(model.get_feature_names_out())))))
    if hasattr(model, "reconstruction_error") and "X" in signature(model.reconstruction_error).parameters:
        calls.append(lambda: model.reconstruction_error(draws.changed(rng, X)))
    if rng.random() < 0.2:
        calls.append(lambda: _again(model).transform(data))
    for number, call in enumerate(calls):
        with suppress(Refused):  # far rows, for example, whose scores overflow
            demand_finite(judged(call), f"call {number}")
    return "fitted"


def _again(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lowdim")
        model.save(path)
        return lowdim.load(path)


def _pairs(X: np.ndarray, distances: bool) -> np.ndarray:
    """Distances or inner products between rows."""
    with np.errstate(all="ignore"):
        Z = np.nan_to_num(X.astype(np.float64), posinf=1e300, neginf=-1e300)
        if not distances:
            K = Z @ Z.T
            return np.nan_to_num((K + K.T) / 2, posinf=1e300, neginf=-1e300)
        D = np.abs(Z[:, None] - Z[None]).max(axis=2)
        return np.nan_to_num(D, posinf=1e300)


def _bytes(data: Any) -> bytes:
    return data.tobytes() if isinstance(data, np.ndarray) and data.dtype.kind != "O" else b""


def _describe(value: Any) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return type(value).__name__ + (f" {shape} {dtype}" if shape is not None else f" {str(value)[:40]}")


def _short(params: dict[str, Any]) -> str:
    return str({key: value for key, value in params.items() if key not in ("random_state", "n_jobs")})
