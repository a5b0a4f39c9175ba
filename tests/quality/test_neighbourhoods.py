"""Measures of neighbourhoods: scikit-learn's values, the definitions by brute force, ends and chance levels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from lowdim import quality

MEASURES = [quality.trustworthiness, quality.continuity, quality.neighborhood_recall, quality.lcmc]


def ranks(Z, metric="euclidean"):
    """Place of every row in the order from every other, from 1, of equal distances the lowest index first."""
    D = cdist(Z, Z, {"manhattan": "cityblock"}.get(metric, metric))
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(1, len(Z) + 1), D.shape), axis=1)
    return place


def trust_of(R, S, k):
    """Trustworthiness from ranks R in the data and S in the map, by its definition."""
    n = len(R)
    near = (k >= S) & ~np.eye(n, dtype=bool)
    return 1 - 2 / (n * k * (2 * n - 3 * k - 1)) * np.maximum(R - k, 0)[near].sum()


def q_of(R, S, K):
    far = np.eye(len(R), dtype=bool)
    return ((R <= K) & (S <= K) & ~far).sum() / (K * len(R))


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(120, 7)) * 2.0 ** -np.arange(7)
    return X, X[:, :2].copy()


@pytest.mark.parametrize("k", [1, 5, 30])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_trustworthiness_is_that_of_scikit_learn(pair, k, metric):
    X, Y = pair
    expected = sklearn_trustworthiness(X, Y, n_neighbors=k, metric=metric)
    assert quality.trustworthiness(X, Y, k, metric=metric) == pytest.approx(expected, abs=1e-12)
    D = cdist(X, X)
    exchanged = sklearn_trustworthiness(Y, X, n_neighbors=k)
    assert quality.continuity(X, Y, k) == pytest.approx(exchanged, abs=1e-12)
    assert quality.trustworthiness(D, Y, k, metric="precomputed") == quality.trustworthiness(X, Y, k)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(5, 40), d=st.integers(1, 4), levels=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_ties_and_duplicates_follow_the_definition(n, d, levels, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(levels, size=(n, d)).astype(float), rng.integers(levels, size=(n, 2)).astype(float)
    R, S, k = ranks(X), ranks(Y), int(rng.integers(1, (n + 1) // 2))
    assert quality.trustworthiness(X, Y, k) == pytest.approx(trust_of(R, S, k), abs=1e-12)
    assert quality.continuity(X, Y, k) == pytest.approx(trust_of(S, R, k), abs=1e-12)
    assert quality.neighborhood_recall(X, Y, k) == pytest.approx(q_of(R, S, k), abs=1e-12)
    K = np.arange(1, n - 1)
    curve = np.array([((n - 1) * q_of(R, S, size) - size) / (n - 1 - size) for size in K])
    np.testing.assert_allclose(quality.rnx_curve(X, Y), curve, atol=1e-12)
    assert quality.rnx_auc(X, Y) == pytest.approx((curve / K).sum() / (1 / K).sum(), abs=1e-12)


def test_a_perfect_map_has_all_of_it(pair, rng):
    X, _ = pair
    turn, _ = np.linalg.qr(rng.normal(size=(7, 7)))
    Y = 3 * X @ turn + 5
    assert quality.trustworthiness(X, Y[:, :2]) == quality.trustworthiness(X, Y[:, :2], 5)  # as scikit-learn's default
    assert quality.trustworthiness(X, Y) == quality.continuity(X, Y) == quality.neighborhood_recall(X, Y) == 1
    assert quality.rnx_auc(X, Y) == pytest.approx(1)
    assert quality.lcmc(X, Y) == pytest.approx(1 - 5 / 119)
    assert not quality.distortion(X, Y).false_neighbors.any()


def test_a_random_map_has_what_chance_gives(rng):
    X, Y = rng.normal(size=(1500, 5)), rng.normal(size=(1500, 2))
    assert quality.trustworthiness(X, Y) == pytest.approx(0.5, abs=0.02)
    assert quality.neighborhood_recall(X, Y) == pytest.approx(5 / 1499, abs=2e-3)
    assert quality.lcmc(X, Y) == pytest.approx(0, abs=2e-3)
    assert quality.rnx_auc(X, Y) == pytest.approx(0, abs=5e-3)


@pytest.mark.parametrize("measure", MEASURES)
def test_turning_and_scaling_either_side_changes_nothing(measure, pair, rng):
    X, Y = pair
    turn = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    assert measure(0.1 * X @ turn, -40 * Y[:, ::-1] + 3) == pytest.approx(measure(X, Y), abs=1e-12)


def test_distortion_averages_to_the_measures_and_finds_the_torn_sample(pair):
    X, Y = pair
    found = quality.distortion(X, Y)
    assert found.false_neighbors.mean() == pytest.approx(1 - quality.trustworthiness(X, Y))
    assert found.missing_neighbors.mean() == pytest.approx(1 - quality.continuity(X, Y))
    torn = X.copy()
    torn[17] += 100
    found = quality.distortion(X, torn)
    assert found.false_neighbors.argmax() == 17
    assert found.false_neighbors.max() <= 1


def test_samples_are_near_and_state_their_error(rng):
    X = rng.normal(size=(2000, 6))
    Y = X[:, :2] + 0
    for measure in [*MEASURES, quality.rnx_auc]:
        whole, part = measure(X, Y, sample=None), measure(X, Y, sample=400)
        assert whole.error == 0
        assert whole.sampled is None
        assert part.sampled == 400
        assert part.error > 0
        assert abs(part - whole) < 4 * part.error
        assert measure(X, Y, sample=400) == part
        assert measure(X, Y, sample=400, random_state=1) != part
    R, error = quality.rnx_curve(X, Y, sample=400, return_error=True)
    gap = np.abs(R - quality.rnx_curve(X, Y))
    assert np.mean(gap <= 2 * error + 1e-12) > 0.8


@pytest.mark.parametrize("measure", [*MEASURES, quality.rnx_auc])
def test_threads_types_and_layouts_do_not_change_a_bit(measure, pair):
    X, Y = (np.round(64 * A) for A in pair)  # exact in float32
    one = measure(X, Y, n_jobs=1)
    assert measure(X, Y, n_jobs=2) == one
    assert measure(X.astype(np.float32), np.asfortranarray(Y)) == one
    assert measure(pd.DataFrame(X), pd.DataFrame(Y)) == one
    assert measure(sp.csr_array(X), Y) == one


def test_sparse_rows_that_coincide_are_ordered_by_index(pair):
    X = np.repeat(pair[0][:40], 3, axis=0)
    Y = pair[1]
    for measure in (*MEASURES, quality.rnx_auc):
        assert measure(sp.csr_array(X), Y) == pytest.approx(measure(X, Y), abs=1e-12)


def test_tiny_rows_have_a_direction(pair):
    X = pair[0].astype(np.float32)
    tiny = quality.trustworthiness(np.float32(2.0**-90) * X, pair[1], metric="cosine")
    assert tiny == quality.trustworthiness(X, pair[1], metric="cosine")


def test_standard_errors_are_those_of_repeated_samples(rng):
    X = rng.normal(size=(400, 5)) * 2.0 ** -np.arange(5)
    Y = X[:, :2] + 0
    for measure in (quality.trustworthiness, quality.rnx_auc):
        whole = measure(X, Y, sample=None)
        found = [measure(X, Y, sample=100, random_state=seed) for seed in range(60)]
        off = [(part - whole) / part.error for part in found]
        assert 0.75 < np.std(off) < 1.3


def test_what_cannot_be_measured_is_told(pair):
    X, Y = pair
    with pytest.raises(ValueError, match=r"Y must have one row for each of the 120 rows of X; got 119\. Pass"):
        quality.trustworthiness(X, Y[1:])
    with pytest.raises(ValueError, match=r"n_neighbors must be below half of the rows \(60 for 120 rows\); got 60\. L"):
        quality.trustworthiness(X, Y, 60)
    with pytest.raises(ValueError, match=r"below the number of rows \(120 for 120 rows\); got 120"):
        quality.neighborhood_recall(X, Y, 120)
    with pytest.raises(ValueError, match="n_neighbors must be an integer ≥ 1; got 0"):
        quality.continuity(X, Y, 0)
    with pytest.raises(ValueError, match="metric must be one of .* got 'euclid'. Did you mean 'euclidean'"):
        quality.continuity(X, Y, metric="euclid")
    Y[3, 1] = np.nan
    with pytest.raises(ValueError, match="trustworthiness: Y must be finite; got NaN at row 3, column 1"):
        quality.trustworthiness(X, Y)
    with pytest.raises(ValueError, match="sample must be None, or 'auto', or an integer ≥ 1; got 0"):
        quality.rnx_curve(X, X, sample=0)
    with pytest.raises(ValueError, match="dense square array of distances"):
        quality.trustworthiness(X, X, metric="precomputed")
    with pytest.raises(ValueError, match="metric='cosine' needs rows that are not all zeros; row 0 is"):
        quality.trustworthiness(np.vstack([np.zeros(7), X[1:]]), X, metric="cosine")
    with pytest.raises(
        ValueError, match=r"Y must be two-dimensional, rows by columns; got shape \(120,\). Pass Y.resh"
    ):
        quality.trustworthiness(X, X[:, 0])
    for factor in (1e200, 1e-200):  # squares that overflow, or vanish, would leave no order
        with pytest.raises(ValueError, match=r"values must be within 1e-150 to 1e\+150.*squares"):
            quality.trustworthiness(factor * X, X)
    with pytest.raises(TypeError, match="dense rows are needed for metric='manhattan'"):
        quality.trustworthiness(sp.csr_array(X), X, metric="manhattan")
