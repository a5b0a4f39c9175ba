"""Measures with labels against scikit-learn and by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from lowdim import quality


@pytest.fixture
def labelled(rng):
    y = np.repeat(["a", "b", "c"], [40, 60, 35])
    return rng.normal(size=(135, 3)) + 1.5 * np.unique(y, return_inverse=True)[1][:, None], y


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_silhouette_is_that_of_scikit_learn(labelled, metric):
    Y, y = labelled
    expected = silhouette_score(Y, y, metric=metric)
    assert quality.silhouette(Y, y, metric=metric) == pytest.approx(expected, abs=1e-10)
    D = pairwise_distances(Y, metric=metric)
    assert quality.silhouette(D, y, metric="precomputed") == pytest.approx(expected, abs=1e-7)


def test_silhouette_of_lone_rows_duplicates_and_sparse_rows(labelled):
    Y, y = labelled
    y = y.astype("U9")
    y[5] = "alone"
    Y[10:20] = Y[10]
    assert quality.silhouette(Y, y) == pytest.approx(silhouette_score(Y, y), abs=1e-10)
    assert quality.silhouette(sp.csr_array(Y), y) == pytest.approx(silhouette_score(Y, y), abs=1e-10)
    assert quality.silhouette(sp.csc_matrix(Y), y, metric="cosine") == pytest.approx(
        silhouette_score(Y, y, metric="cosine"), abs=1e-10
    )


@pytest.mark.parametrize("k", [1, 4, 9])
def test_accuracy_of_neighbours_is_that_of_scikit_learn(labelled, k):
    Y, y = labelled
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    expected = cross_val_score(KNeighborsClassifier(k), Y, y, cv=folds)
    found = quality.knn_accuracy(Y, y, k, random_state=3)
    assert found == pytest.approx(expected.mean())
    assert found.error == pytest.approx(expected.std(ddof=1) / 5**0.5)
    D = pairwise_distances(Y)
    assert quality.knn_accuracy(D, y, k, random_state=3, metric="precomputed") == found


def test_neighbor_hit_counts_equal_labels(labelled):
    Y, y = labelled
    near = NearestNeighbors(n_neighbors=7).fit(Y).kneighbors(return_distance=False)
    expected = (y[near] == y[:, None]).mean()
    assert quality.neighbor_hit(Y, y, 7) == pytest.approx(expected)
    part = quality.neighbor_hit(Y, y, 7, sample=60)
    assert abs(part - expected) < 4 * part.error


def test_labels_that_mean_nothing_score_what_chance_gives(rng):
    Y, y = rng.normal(size=(1200, 2)), rng.integers(4, size=1200)
    assert quality.neighbor_hit(Y, y) == pytest.approx(0.25, abs=0.03)
    assert quality.knn_accuracy(Y, y) == pytest.approx(0.25, abs=0.06)
    assert quality.silhouette(Y, y) == pytest.approx(0, abs=0.03)


def test_samples_and_threads(labelled):
    Y, y = labelled
    part = quality.silhouette(Y, y, sample=70)
    assert part.sampled == 70
    assert abs(part - quality.silhouette(Y, y)) < 4 * part.error
    for measure in (quality.silhouette, quality.knn_accuracy, quality.neighbor_hit):
        assert measure(Y, y, n_jobs=1) == measure(Y, y, n_jobs=2)


def test_what_cannot_be_measured_is_told(labelled):
    Y, y = labelled
    with pytest.raises(ValueError, match="silhouette: the labels y of the rows are needed; got None"):
        quality.silhouette(Y, None)
    with pytest.raises(ValueError, match="at least two classes are needed"):
        quality.neighbor_hit(Y, np.zeros(135))
    with pytest.raises(ValueError, match="one label for each of the 135 rows"):
        quality.knn_accuracy(Y, y[:9])
    with pytest.raises(ValueError, match=r"cv must be at most the number of rows of the largest class \(60\); got 61"):
        quality.knn_accuracy(Y, y, cv=61)
    with pytest.raises(ValueError, match="n_neighbors must be below the training rows of a fold"):
        quality.knn_accuracy(Y, y, 120)
    with pytest.raises(ValueError, match="fewer classes than rows"):
        quality.silhouette(Y[:20], np.arange(20))
