"""Model files, damaged and forged: loading one refuses, or gives a model whose results are finite."""

import io
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.methods import registry
from torture import draws
from torture.inputs import METHODS, _pairs
from torture.judge import Failure, Refused, demand_finite, judged

_VARIANTS = 6  # models of each method, of different parameters
_TRIES = 60
_LEAVES = [None, True, 0, 1, -1, 2, 3, 10**6, 2**31, 2**63, 10**30, 0.5, -1.0, 1e-320, 1e39, 1e308, "", "x", "rbf",
           "precomputed", "cosine", [], [1, 2], {"$float": "nan"}, {"$float": "inf"}, {"$array": "0"},
           {"$array": "77"}, {"$tuple": [1, 2]}, {"$dict": []}, {"$text": ["a"], "shape": [1]},
           {"$scalar": {"$array": "0"}}, {"$csr": {}}]  # fmt: skip
_VALUES = [np.nan, np.inf, -np.inf, -1, 0, 1e308, -1e308, 1e39, 2**31 - 1, 10**9, 5e-324, -5]
_DTYPES = ["f4", "f8", ">f8", "f2", "i4", "i8", "u1", "?", "c16", "U3", "M8[s]", ">i4", "g"]


def run(rng: np.random.Generator, only: str = "") -> str:
    """One case: a file changed in one to three positions, loaded and used."""
    name = only or draws.pick(rng, METHODS)
    kept = model_file(name, int(rng.integers(_VARIANTS)))
    if kept is None:
        return "no model"
    data, X = kept
    told = []
    if rng.random() < 0.15:
        data = _bytes_changed(rng, data)
        told.append("bytes")
    else:
        members = members_of(data)
        for _ in range(int(draws.pick(rng, [1, 1, 1, 2, 3]))):
            told.append(_changed(rng, members))
        data = archive_of(members)
    try:
        return _used(rng, data, X)
    except Failure as failure:
        raise Failure(failure.word, f"{name}, {'; '.join(told)}\n{failure.details}") from None


@cache
def model_file(name: str, variant: int) -> tuple[bytes, np.ndarray] | None:
    """A fitted model of a method as the bytes of its file, and the rows it was fitted on."""
    rng = np.random.default_rng([*name.encode(), variant])
    cls = registry.find(name).load()
    X, y = rng.normal(size=(30, 4)).astype(draws.pick(rng, ["f4", "f8"])), rng.integers(3, size=30)
    for _ in range(_TRIES):
        params = draws.parameters(rng, cls, wild=0.0) | {"n_jobs": 1}
        square = "precomputed" in (params.get("metric"), params.get("kernel"))
        rows = _pairs(X, params.get("metric") == "precomputed").astype(X.dtype) if square else X
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            try:
                cls(**params).fit(rows, y).save(Path(folder, "model"))
            except (ValueError, TypeError, MemoryError, ImportError):  # a device without PyTorch
                continue
            return Path(folder, "model").read_bytes(), rows
    return None


def members_of(data: bytes) -> dict[str, Any]:
    """Members of a model file: the manifest as JSON, arrays as arrays."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    return {
        name: json.loads(body) if name.endswith(".json") else np.load(io.BytesIO(body)) for name, body in found.items()
    }


def archive_of(members: dict[str, Any]) -> bytes:
    """The file of such members, with checksums that fit."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in members.items():
            if isinstance(body, np.ndarray):
                stream = io.BytesIO()
                np.lib.format.write_array(stream, body, allow_pickle=False)
                archive.writestr(name, stream.getvalue())
            else:
                archive.writestr(name, json.dumps(body, default=float))
    return buffer.getvalue()


def _bytes_changed(rng: np.random.Generator, data: bytes) -> bytes:
    which, broken = int(rng.integers(4)), bytearray(data)
    if which == 0:
        return data[: int(rng.integers(len(data)))]
    for _ in range(int(rng.integers(1, 6))):
        broken[int(rng.integers(len(broken)))] = int(rng.integers(256))
    if which == 1:
        place = int(rng.integers(len(broken)))
        broken[place:place] = rng.bytes(int(rng.integers(1, 50)))
    return bytes(broken)


def _changed(rng: np.random.Generator, members: dict[str, Any]) -> str:
    arrays = [name for name in members if name.startswith("arrays/")]
    if arrays and rng.random() < 0.6:
        name = draws.pick(rng, arrays)
        members[name], how = _array_changed(rng, members[name])
        return f"{name}: {how}"
    if len(arrays) > 1 and rng.random() < 0.1:
        a, b = draws.pick(rng, arrays), draws.pick(rng, arrays)
        members[a], members[b] = members[b], members[a]
        return f"{a} and {b} swapped"
    return _leaf_changed(rng, members["manifest.json"])


def _array_changed(rng: np.random.Generator, array: np.ndarray) -> tuple[np.ndarray, str]:
    if array.dtype.kind not in "biuf" or not array.size:
        return np.zeros(3), "zeros"
    which = int(rng.integers(9))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if which <= 3:
            array, value = np.array(array), draws.pick(rng, _VALUES)
            positions = rng.integers(array.size, size=int(draws.pick(rng, [1, 1, 3, array.size])))
            array.reshape(-1)[positions] = np.float64(value).astype(array.dtype)
            return array, f"{value} at {positions[0]}"
        if which == 4:
            dtype = draws.pick(rng, _DTYPES)
            return array.astype(dtype), f"as {dtype}"
        if which == 5:
            return array.T.copy(), "transposed"
        if which == 6:
            return array[: len(array) // 2] if array.ndim else np.zeros(2), "halved"
        if which == 7:
            return np.concatenate([array, array]) if array.ndim else np.zeros((0,)), "doubled"
        return rng.permutation(array) if array.ndim else array * 2, "shuffled"


def _leaf_changed(rng: np.random.Generator, manifest: Any) -> str:
    """Replace or remove a value somewhere in the manifest."""
    node: Any = manifest
    place: list[Any] = []
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return "nothing"
        key = draws.pick(rng, keys)
        place.append(key)
        inner = node[key]
        if not isinstance(inner, dict | list) or (rng.random() < 0.1 and len(place) > 3):
            break
        node = inner
    if rng.random() < 0.1:
        del node[key]
        return f"{place} removed"
    node[key] = deepcopy(draws.pick(rng, _LEAVES))
    return f"{place} (was {str(inner)[:40]}) = {node[key]!r}"


def _used(rng: np.random.Generator, data: bytes, X: np.ndarray) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lowdim")
        path.write_bytes(data)
        try:
            model = judged(lambda: lowdim.load(path))
        except Refused:
            return "refused"
    calls: list[Callable[[], Any]] = [
        lambda: repr(model),
        lambda: model.transform(X),
        lambda: model.transform(X[:3] + X.dtype.type(0.25)),
        lambda: model.transform(draws.changed(rng, X)),
        lambda: model.get_feature_names_out(),
    ]
    if hasattr(model, "inverse_transform"):
        calls.append(lambda: model.inverse_transform(np.zeros((2, len(model.get_feature_names_out())))))
    if hasattr(model, "partial_fit"):
        calls.append(lambda: model.partial_fit(X).transform(X))
    for number, call in enumerate(calls):
        try:
            result = judged(call)
        except Refused:
            continue
        if number not in (0, 4):
            demand_finite(result, f"call {number}")
    return "used"
