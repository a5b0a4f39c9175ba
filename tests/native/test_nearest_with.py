"""The kernel that adds or takes features from distances, against NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lowdim import _native


def table(q, n, d, dtype, seed=0):
    rng = np.random.default_rng(seed)
    queries, points = rng.integers(0, 9, (d, q)).astype(dtype), rng.integers(0, 9, (d, n)).astype(dtype)
    if dtype == "float64":
        queries += rng.random((d, q))
    base = np.square(queries[:, :, None] - points[:, None, :]).sum(axis=0).astype(dtype)
    return base, queries, points


def by_hand(base, queries, points, units, k, joining):
    for unit in units:
        step = np.square(queries[unit][:, :, None] - points[unit][:, None, :]).sum(axis=0)
        D = base + step if joining else np.maximum(base - step, 0)
        order = np.argsort(D, axis=1, kind="stable")[:, :k]  # of equal ones the first
        yield order, np.take_along_axis(D, order, axis=1)


def packed(units):
    return np.concatenate(units).astype(np.int32), np.cumsum([0, *map(len, units)], dtype=np.int32)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("joining", [True, False])
@pytest.mark.parametrize(("q", "n", "k"), [(1, 1, 1), (5, 31, 3), (9, 64, 64), (20, 333, 7)])
def test_neighbours_are_those_by_hand(dtype, joining, q, n, k):
    base, queries, points = table(q, n, 6, dtype)
    units = [[0], [3], [1, 2], [5, 4, 0]]
    found = _native.nearest_with(base, queries, points, *packed(units), k=k, joining=joining, n_threads=2)
    for u, (order, near) in enumerate(by_hand(base, queries, points, units, k, joining)):
        np.testing.assert_allclose(found[1][u], near, atol=1e-12 if dtype == "float64" else 0)
        if dtype == "float32":  # whole numbers: ties are ties
            np.testing.assert_array_equal(found[0][u], order)


def test_threads_and_instruction_sets_change_no_bit():
    arguments = (*table(40, 500, 5, "float64", seed=1), *packed([[0], [1], [2, 3]]))
    one, two = (_native.nearest_with(*arguments, k=4, n_threads=n) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from test_nearest_with import _native, packed, table\n"
        "i, d = _native.nearest_with(*table(40, 500, 5, 'float64', seed=1), *packed([[0], [1], [2, 3]]), k=4)\n"
        "print(i.tobytes().hex() + d.tobytes().hex())"
    )
    plain = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"LOWDIM_ISA": "default"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert plain.stdout.strip() == one[0].tobytes().hex() + one[1].tobytes().hex()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 11}, "between 1 and the 10 points"),
        ({"n_threads": 0}, "n_threads"),
        ({"members": np.array([9], np.int32)}, "members"),
        ({"offsets": np.array([0, 0, 1], np.int32)}, "offsets"),
        ({"queries": np.zeros((3, 5))}, "queries and points"),
    ],
)
def test_impossible_arguments_are_refused(change, words):
    base, queries, points = table(4, 10, 3, "float64")
    arguments = {"base": base, "queries": queries, "points": points, "k": 2}
    arguments |= {"members": np.array([0], np.int32), "offsets": np.array([0, 1], np.int32)} | change
    with pytest.raises(ValueError, match=words):
        _native.nearest_with(**arguments)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distances_move_by_a_feature_in_place(isa, dtype):
    base, queries, points = table(7, 37, 3, dtype)
    moved = base.copy()
    _native.move_distances(moved, queries[1], points[1], n_threads=2)
    step = np.square(queries[1][:, None] - points[1])
    np.testing.assert_array_equal(moved, base + step)
    _native.move_distances(moved, queries[1], points[1], joining=False)
    np.testing.assert_array_equal(moved, np.maximum((base + step) - step, 0))
    with pytest.raises(ValueError, match=r"base \(q, n\); got \(7,\), \(7,\), \(7, 37\)"):
        _native.move_distances(moved, queries[1], queries[1])
