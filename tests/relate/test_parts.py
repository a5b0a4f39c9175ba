"""The parts of a map refuse what they cannot use, as the estimators do, and take what these take."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lowdim import parts

STUDENT = parts.Falloff("student")
EXACT = parts.Divergence(STUDENT, "exact")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture(scope="module")
def made(rows):
    """Neighbours, their probabilities, and affinities."""
    near = parts.nearest(rows, 15)
    p, _ = parts.likelihoods(near.distances, [5.0])
    return near, p, parts.affinities(near.indices, p)


def changed(A, at, value):
    A = A.copy()
    A[at] = value
    return A


def one_way(P):
    """The relations with one direction of one pair changed."""
    return P._replace(values=changed(P.values, 0, P.values[0] * 2))


REFUSED = {  # what is called with a frame of rows, neighbours, probabilities and affinities, and the words of the error
    "no k": (lambda X, near, p, P: parts.nearest(X, 0), "nearest: k must be an integer ≥ 1; got 0"),
    "k": (lambda X, near, p, P: parts.nearest(X, 60), "nearest: k must be at most 59, the number of other rows; got"),
    "metric": (lambda X, near, p, P: parts.nearest(X, 3, metric="euclid"), "Did you mean 'euclidean'"),
    "how": (lambda X, near, p, P: parts.nearest(X, 3, how="tree"), "nearest: how must be one of"),
    "seed": (lambda X, near, p, P: parts.nearest(X, 3, seed=None), "nearest: seed must be an integer ≥ 0"),
    "NaN": (lambda X, near, p, P: parts.nearest(changed(X, (3, 1), np.nan), 3), "got NaN at row 3, column 1"),
    "text": (lambda X, near, p, P: parts.nearest(X.astype(str), 3), "nearest: X must be numeric"),
    "a list": (lambda X, near, p, P: parts.nearest(X[0], 3), "Expected 2D array"),
    "queries": (lambda X, near, p, P: parts.nearest(X, 3, X[:, :2]), "queries must have the 4 columns of X; got 2"),
    "not distances": (lambda X, near, p, P: parts.nearest(X, 3, metric="precomputed"), "a square matrix"),
    "radius": (lambda X, near, p, P: parts.within(X, -1.0), "within: radius must be a number"),
    "perplexity": (lambda X, near, p, P: parts.likelihoods(near.distances, [16.0]), r"from 1 to 15, .* got \[16.0\]"),
    "a number": (lambda X, near, p, P: parts.likelihoods(near.distances, 5.0), "must be a list of numbers from 1"),
    "none": (lambda X, near, p, P: parts.likelihoods(near.distances, []), "must be a list of numbers from 1"),
    "order": (lambda X, near, p, P: parts.likelihoods(near.distances[:, ::-1], [5.0]), "ascend in each row; got those"),
    "negative": (lambda X, near, p, P: parts.memberships(-near.distances), "distances must be 0 or more"),
    "sigma": (lambda X, near, p, P: parts.likelihoods(near.distances, [5.0], 0.0), "likelihoods: sigma must be None"),
    "neighbors for": (lambda X, near, p, P: parts.neighbors_for(0, 10), "neighbors_for: perplexity must be"),
    "an index": (lambda X, near, p, P: parts.affinities(near.indices + 60, p), "integers from 0 to 59; got int32 from"),
    "twice": (
        lambda X, near, p, P: parts.affinities(changed(near.indices, (7, 1), near.indices[7, 0]), p),
        "each neighbour once and not the row itself; got row 7 with one twice",
    ),
    "itself": (lambda X, near, p, P: parts.affinities(changed(near.indices, (7, 1), 7), p), "got row 7 as its own"),
    "shapes": (lambda X, near, p, P: parts.affinities(near.indices, p[:, 1:]), r"of the shape \(60, 15\) of indices"),
    "weights": (lambda X, near, p, P: parts.fuzzy_union(near.indices, p * 100), "fuzzy_union: v must be from 0 to 1"),
    "mix": (lambda X, near, p, P: parts.fuzzy_union(near.indices, p, 2.0), "fuzzy_union: mix must be a number in"),
    "no columns": (lambda X, near, p, P: parts.by_pca(X, 0, 0), "by_pca: k must be an integer ≥ 1"),
    "no rows": (lambda X, near, p, P: parts.by_chance(0, 2, 0), "by_chance: n must be an integer ≥ 1"),
    "one way": (lambda X, near, p, P: parts.by_spectrum(one_way(P), 2, 0), "by_spectrum: P must be symmetric"),
    "P": (lambda X, near, p, P: parts.by_spectrum(X, 2, 0), "by_spectrum: P must be a square matrix"),
    "no P": (lambda X, near, p, P: parts.by_spectrum([], 2, 0), "by_spectrum: P must be a square matrix"),
    "every": (lambda X, near, p, P: parts.descend(P, X, EXACT, iterations=5, every=0), "every must be an integer ≥ 1"),
    "loss": (lambda X, near, p, P: parts.descend(P, X, "kl", iterations=5, every=5), "descend: loss must be a loss"),
    "Y": (lambda X, near, p, P: parts.descend(P, X[:9], EXACT, iterations=5, every=5), "each of the 60 rows; got 9"),
    "repulsion": (
        lambda X, near, p, P: parts.descend(P, X, parts.Divergence(STUDENT, "fourier"), iterations=5, every=5),
        "descend, Divergence: repulsion must be one of 'exact'",
    ),
    "dimensions": (
        lambda X, near, p, P: parts.descend(P, X, parts.Divergence(STUDENT, "fft"), iterations=5, every=5),
        "repulsion='fft' needs a map of at most 2 dimensions; got 4",
    ),
    "curve": (
        lambda X, near, p, P: parts.descend(P, X, parts.CrossEntropy(-1.0, 1.0, 5.0), iterations=5, every=5),
        "descend, CrossEntropy: a must be a number",
    ),
    "falloff": (lambda X, near, p, P: parts.divergence(P, X, parts.Falloff("cauchy")), "Falloff: name must be one of"),
    "no falloff": (lambda X, near, p, P: parts.gradient(P, X, "student"), "gradient: a Falloff is needed; got"),
    "places": (lambda X, near, p, P: parts.place(near.indices, p, X[:9], EXACT), "neighbors must hold numbers of rows"),
    "infinite": (lambda X, near, p, P: parts.place(near.indices, p, X * np.inf, EXACT), "place: Y must be finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_part_refuses_in_words_what_it_cannot_use(case, rows, made):
    call, words = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=words):
        call(rows, *made)


def test_parts_take_what_the_estimators_take(rows, made):
    (near, p, P), X = made, rows
    frame, rows = pd.DataFrame(X), sp.csr_array(X)
    assert np.array_equal(parts.nearest(frame, 15).indices, near.indices)
    assert np.array_equal(parts.nearest(rows, 15).indices, near.indices)
    assert np.array_equal(parts.by_pca(frame, 2, 0), parts.by_pca(X, 2, 0))
    again = parts.affinities(pd.DataFrame(near.indices), pd.DataFrame(p))
    assert all(map(np.array_equal, again, P))
    assert np.array_equal(parts.likelihoods(near.distances.tolist(), [5.0])[0].argsort(), p.argsort())
    matrix = sp.csr_array((P.values, P.indices, P.indptr))
    Y = parts.by_spectrum(P, 2, 0)
    assert np.allclose(parts.by_spectrum(matrix, 2, 0), Y, atol=1e-9)
    value = parts.divergence(matrix, pd.DataFrame(Y), STUDENT).value
    assert value == pytest.approx(parts.divergence(P, Y, STUDENT).value, rel=1e-6)


def test_a_metric_may_be_a_function_and_distances_may_be_given(rows):
    X = rows
    near, D = parts.nearest(X, 5), np.linalg.norm(X[:, None] - X, axis=2)
    assert np.array_equal(parts.nearest(X, 5, metric=lambda a, b: np.linalg.norm(a - b)).indices, near.indices)
    assert np.array_equal(parts.nearest(D, 5, metric="precomputed").indices, near.indices)
    assert np.array_equal(parts.nearest(D, 5, D[:3] + 1.0, metric="precomputed").indices[:, 1:], near.indices[:3, :4])
