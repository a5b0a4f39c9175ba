"""Affinities of rows, against NumPy."""

import numpy as np
import pytest

from lowdim import _native


def distances(n, k, dtype="float32", seed=0):
    return np.sort(np.random.default_rng(seed).gamma(5.0, size=(n, k)), axis=1).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("k", "perplexity"), [(90, 30.0), (17, 5.0), (1, 1.0), (40, 1.5), (33, 32.5)])
@pytest.mark.usefixtures("isa")
def test_rows_have_the_perplexity_asked_for(dtype, k, perplexity):
    D = distances(300, k, dtype)
    p, reached = _native.perplexity(D, [perplexity], n_threads=2)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(reached, perplexity, rtol=1e-3)
    # each row is a Gaussian of the distances: its logarithm is linear in their squares
    some = p > 1e-6
    for row, d, keep in zip(p.astype(float), D.astype(float), some, strict=True):
        if keep.sum() > 2:
            fit = np.polyfit(d[keep] ** 2, np.log(row[keep]), 1)
            np.testing.assert_allclose(np.polyval(fit, d[keep] ** 2), np.log(row[keep]), atol=2e-3)


@pytest.mark.parametrize("scale", [1e-15, 1e-4, 1e6, 1e15])
def test_units_do_not_matter(scale):
    D = distances(50, 30)
    np.testing.assert_allclose(
        _native.perplexity((D * scale).astype("float32"), [10.0])[0], _native.perplexity(D, [10.0])[0], atol=1e-4
    )


def test_far_rows_keep_their_differences():
    D = distances(40, 30, "float64")
    far = np.sqrt(D**2 + 1e6)  # the same differences of squares beside a large one
    np.testing.assert_allclose(_native.perplexity(far, [10.0])[0], _native.perplexity(D, [10.0])[0], atol=1e-4)


def test_several_perplexities_are_averaged():
    D = distances(60, 45)
    both = _native.perplexity(D, [5.0, 15.0])[0]
    mean = (_native.perplexity(D, [5.0])[0] + _native.perplexity(D, [15.0])[0]) / 2
    np.testing.assert_allclose(both, mean, atol=1e-7)


def test_one_width_is_a_gaussian_of_that_width():
    D = distances(20, 12, "float64")
    W = np.exp(-(D**2) / (2 * 2.5**2))
    p, reached = _native.bandwidth(D, 2.5)
    np.testing.assert_allclose(p, W / W.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-8)
    H = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1)
    np.testing.assert_allclose(reached, np.exp(H), rtol=1e-4)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0, 0, 0, 0], [0.25] * 4),  # duplicates alone
        ([7, 7, 7, 7], [0.25] * 4),  # all alike
        ([0, 0, 0, 5], [1 / 3, 1 / 3, 1 / 3, 0]),  # more duplicates than the perplexity
        ([0, 1e-30, 1, 1e15], [1 / 3, 1 / 3, 1 / 3, 0]),  # beside 1e15 float32 tells the others not apart
    ],
)
def test_degenerate_rows_have_probabilities(row, expected):
    p, reached = _native.perplexity(np.array([row], np.float32), [2.0])
    np.testing.assert_allclose(p[0], expected, atol=1e-5)
    np.testing.assert_allclose(reached, np.exp(-sum(q * np.log(q) for q in expected if q)), rtol=1e-5)


def test_rows_become_symmetric_as_in_numpy():
    rng = np.random.default_rng(1)
    n, k = 200, 9
    indices = np.stack([rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)]).astype(np.int32)
    p = rng.random((n, k)).astype(np.float32)
    dense = np.zeros((n, n))
    np.put_along_axis(dense, indices.astype(int), p, axis=1)
    for threads in (1, 2, 3):
        starts, columns, values = _native.symmetrize(indices, p, n_threads=threads)
        P = np.zeros((n, n))
        rows = np.repeat(np.arange(n), np.diff(starts))
        P[rows, columns] = values
        assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == len(columns)
        np.testing.assert_allclose(P, (dense + dense.T) / (2 * n), rtol=1e-6)
        np.testing.assert_array_equal(P, P.T)


def test_threads_change_no_bit():
    D = distances(1000, 30)
    indices = np.stack([np.random.default_rng(i).permutation(999)[:30] for i in range(1000)]).astype(np.int32)
    indices += indices >= np.arange(1000)[:, None]
    one, two = ((p := _native.perplexity(D, [9.0], n_threads=n)[0], *_native.symmetrize(indices, p)) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: _native.perplexity(distances(3, 3), [0.5]), "1 or more"),
        (lambda: _native.perplexity(distances(3, 3), []), "1 or more"),
        (lambda: _native.perplexity(distances(3, 3), [2.0], n_threads=0), "n_threads"),
        (lambda: _native.bandwidth(distances(3, 3), 0.0), "sigma"),
        (lambda: _native.symmetrize(np.full((2, 1), 2, np.int32), np.ones((2, 1), np.float32)), "below"),
        (lambda: _native.symmetrize(np.zeros((2, 2), np.int32), np.ones((2, 1), np.float32)), "same shape"),
    ],
)
def test_impossible_arguments_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
