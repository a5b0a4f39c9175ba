"""The scatter kernel against NumPy in float64: every dtype, layout, tile edge, thread count and instruction set."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lowdim import _native

DTYPES = ["uint8", "float32", "float64"]
ISAS = ["default", "avx2", "avx512", "avx512vnni"]


def draw(n, d, dtype, seed=0):
    rng = np.random.default_rng([seed, n, d])
    if dtype == "uint8":
        return rng.integers(0, 256, (n, d), dtype=np.uint8)
    return (rng.standard_normal((n, d)) + 0.5).astype(dtype)


def reference(X, shift=None, labels=None, n_classes=1, weights=None):
    Z = X.astype(np.float64) - (0.0 if shift is None else shift)
    w = np.ones(len(Z)) if weights is None else weights
    labels = np.zeros(len(Z), np.int32) if labels is None else labels
    sums = np.zeros((n_classes, Z.shape[1]))
    np.add.at(sums, labels, w[:, None] * Z)
    return sums, (w[:, None] * Z).T @ Z


def assert_right(X, **terms):
    sums, scatter = _native.scatter(X, n_threads=2, **terms)
    expected_sums, expected = reference(X, **terms)
    assert sums.dtype == scatter.dtype == np.float64
    if X.dtype == np.uint8:
        np.testing.assert_array_equal(sums, expected_sums)
        np.testing.assert_array_equal(scatter, expected)
        return
    # Bounds on the terms: a sum of products may cancel.
    size_sums, size = reference(np.abs(X), **{**terms, "shift": None})
    if terms.get("shift") is not None:
        size_sums, size = reference(np.abs(X - terms["shift"]), **{**terms, "shift": None})
    assert np.all(np.abs(sums - expected_sums) <= 1e-13 * size_sums)
    assert np.all(np.abs(scatter - expected) <= (2e-6 if X.dtype == np.float32 else 1e-13) * size)
    np.testing.assert_array_equal(scatter, scatter.T)


# Panels are 4 to 48 columns wide and tiles 4 or 8, whatever the instruction set.
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 25, 31, 33, 47, 48, 49, 63, 65, 95, 97, 145])
def test_matches_numpy_at_tile_edges(dtype, d):
    for n in (1, 2, 3, 5, 31, 33, 127, 1025):
        assert_right(draw(n, d, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d"), [(5000, 20), (9001, 3), (2500, 256), (2500, 257), (1537, 300), (700, 401)])
def test_matches_numpy_over_many_chunks(dtype, n, d):
    assert_right(draw(n, d, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [53, 290])
def test_takes_any_strides(dtype, d):
    X = draw(1100, 2 * d, dtype)
    wide = draw(3 * 70, 4 * d, dtype)
    expected = X[:, :d]
    views = [
        np.asfortranarray(expected),
        np.asfortranarray(X)[:, :d],
        X[:, :d],
        X[:, ::2],
        X[::-1, :d],
        X[:, ::-1],
        X[::-3, d - 1 :: -1],
        X.T[:d].T,
        np.asfortranarray(X)[::2, ::-2],
        wide[::3, 3::4],
        np.broadcast_to(X[:1, :d], (40, d)),
        np.broadcast_to(X[:, :1], (1100, d)),
    ]
    for view in views:
        assert_right(view)


def test_takes_read_only_arrays():
    X = draw(20, 7, "float32")
    X.flags.writeable = False
    assert_right(X)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [11, 270])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_by_class_with_shift_and_weights(dtype, d, order):
    n = 1307
    X = np.asarray(draw(n, d, dtype), order=order)
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 5, n, dtype=np.int32)
    labels[labels == 3] = 0  # an empty class
    assert_right(X, labels=labels, n_classes=5)
    if dtype == "uint8":
        return
    shift, weights = rng.standard_normal(d), rng.random(n)
    weights[::7] = 0.0
    assert_right(X, shift=shift)
    assert_right(X, weights=weights)
    assert_right(X, shift=shift, weights=weights, labels=labels, n_classes=5)


def test_many_classes():
    X = draw(3000, 30, "float64")
    labels = np.arange(3000, dtype=np.int32)
    sums, _ = _native.scatter(X, labels=labels, n_classes=3000)
    np.testing.assert_array_equal(sums, X)


@pytest.mark.parametrize("d", [3, 260])
def test_uint8_does_not_overflow(d):
    n = 70_100 if d == 3 else 66_000  # 255 · 128 · 66,000 exceeds 2^31
    X = np.broadcast_to(np.array([[255]], np.uint8), (n, d))
    sums, scatter = _native.scatter(X, n_threads=2)
    assert np.all(sums == 255 * n)
    assert np.all(scatter == 255 * 255 * n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d"), [(9000, 40), (3300, 290), (10, 300)])
def test_same_bits_for_any_number_of_threads(dtype, n, d):
    X = draw(n, d, dtype)
    labels = np.random.default_rng(2).integers(0, 3, n, dtype=np.int32)
    terms = {"labels": labels, "n_classes": 3}
    if dtype != "uint8":
        terms |= {"shift": X[0].astype(np.float64), "weights": np.random.default_rng(3).random(n)}
    one = _native.scatter(X, n_threads=1, **terms)
    for n_threads in (2, 3, 5):
        for a, b in zip(one, _native.scatter(X, n_threads=n_threads, **terms), strict=True):
            np.testing.assert_array_equal(a.view(np.uint64), b.view(np.uint64))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_reach_their_sums_and_no_others(dtype, bad):
    for d, column in [(5, 2), (300, 0), (300, 299), (48, 47)]:
        for terms in ({}, {"shift": np.ones(d)}, {"weights": np.linspace(0, 1, 700)}):
            X = draw(700, d, dtype)
            X[0, column] = bad
            finite = np.isfinite(_native.scatter(X, n_threads=2, **terms)[0][0])
            assert not finite[column]
            assert finite.sum() == d - 1


def test_refuses_what_it_cannot_take():
    X, X8 = draw(10, 4, "float64"), draw(10, 4, "uint8")
    labels = np.zeros(10, np.int32)
    cases = [
        (X.astype(np.int64), {}, "uint8, float32 or float64"),
        (X[0], {}, r"two dimensions.*\(4,\)"),
        (X[:0], {}, r"\(0, 4\)"),
        (X, {"labels": labels + 1}, "0 to n_classes - 1.*got 1 at row 0"),
        (X, {"labels": labels - 1}, "got -1"),
        (X, {"labels": labels.astype(np.int64)}, "int32"),
        (X, {"labels": labels[:9]}, r"\(10,\); got \(9,\)"),
        (X, {"labels": np.zeros(20, np.int32)[::2]}, "contiguous"),
        (X, {"labels": labels, "n_classes": 0}, "n_classes"),
        (X, {"shift": np.zeros(5)}, r"\(4,\); got \(5,\)"),
        (X, {"shift": np.zeros(4, np.float32)}, "float64"),
        (X, {"weights": -np.ones(10)}, "0 or more"),
        (X, {"weights": np.full(10, np.nan)}, "0 or more"),
        (X, {"weights": np.ones((10, 1))}, r"\(10, 1\)"),
        (X, {"n_threads": 0}, "n_threads"),
        (X8, {"shift": np.zeros(4)}, "neither shift nor weights"),
        (X8, {"weights": np.ones(10)}, "neither shift nor weights"),
    ]
    for data, terms, message in cases:
        with pytest.raises(ValueError, match=message):
            _native.scatter(data, **terms)
    with pytest.raises(TypeError):
        _native.scatter([[1.0, 2.0]])


CHECK_ISA = """
import numpy as np, sys
from lowdim import _native
rng = np.random.default_rng(0)
for d in (1, 5, 13, 50, 100, 261):
    for n in (1, 30, 1030, 2500):
        X8 = rng.integers(0, 256, (n, d), dtype=np.uint8)
        for X in (X8, X8.astype(np.float32) / 255, X8 / 255):
            labels = rng.integers(0, 3, n, dtype=np.int32)
            Z = X.astype(np.float64)
            for order in "CF":
                sums, scatter = _native.scatter(np.asarray(X, order=order), labels=labels, n_classes=3, n_threads=2)
                rtol = 0 if X is X8 else 1e-5 if X.dtype == np.float32 else 1e-12
                np.testing.assert_allclose(scatter, Z.T @ Z, rtol=rtol)
                np.testing.assert_allclose(sums, [Z[labels == c].sum(0) for c in range(3)], rtol=1e-12)
print(_native.isa())
"""


def run_with_isa(isa, code):
    environment = {**os.environ, "LOWDIM_ISA": isa}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("isa", ISAS)
def test_every_instruction_set_is_right(isa):
    done = run_with_isa(isa, CHECK_ISA)
    assert done.returncode == 0, done.stderr
    assert ISAS.index(done.stdout.strip()) <= ISAS.index(isa)


def test_refuses_an_unknown_instruction_set():
    done = run_with_isa("avx9", "from lowdim import _native; _native.isa()")
    assert "ValueError: LOWDIM_ISA must be default" in done.stderr


# Broadcasting makes a long job out of little memory.
LONG = {"wide": (400_000, 1500), "narrow": (20_000_000, 60)}


@pytest.mark.parametrize("shape", LONG.values(), ids=LONG.keys())
def test_tick_sees_growing_progress_and_can_stop_the_work(shape):
    X = np.broadcast_to(np.ones((1, shape[1])), shape)
    seen = []

    def tick(done):
        seen.append(done)
        if done > seen[0]:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        _native.scatter(X, n_threads=2, tick=tick)
    assert seen == sorted(seen)
    assert 0 <= seen[0] < seen[-1] <= shape[0]


INTERRUPTED = """
import numpy as np, sys
from lowdim import _native
X = np.broadcast_to(np.ones((1, {d})), ({n}, {d}))
print("ready", flush=True)
try:
    _native.scatter(X, n_threads=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a child alone")
@pytest.mark.parametrize("shape", LONG.values(), ids=LONG.keys())
def test_ctrl_c_interrupts(shape):
    code = INTERRUPTED.format(n=shape[0], d=shape[1])
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.2)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"  # and not after the whole job, which prints nothing
