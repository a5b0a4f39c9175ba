"""The report holds what the measures say one by one."""

import copy
import json

import numpy as np
import pytest

from lowdim import PCA, data, quality


def test_the_report_agrees_with_the_measures():
    X, y = data.load("iris")
    pca = PCA(2).fit(X)
    Y = pca.transform(X)
    back = pca.inverse_transform(Y)
    found = quality.report(X, Y, y, X_back=back)
    for name in ("trustworthiness", "continuity", "neighborhood_recall", "lcmc", "rnx_auc", "shepard_correlation"):
        assert found[name] == pytest.approx(getattr(quality, name)(X, Y), abs=1e-12)
    for kind in ("normalised", "kruskal", "sammon"):
        assert found[f"stress_{kind}"] == pytest.approx(quality.stress(X, Y, kind), abs=1e-12)
    for name in ("knn_accuracy", "neighbor_hit", "silhouette"):
        assert found[name] == getattr(quality, name)(Y, y)
    assert found["residual_variance"] == quality.residual_variance(X, Y)
    assert found["reconstruction_error"] == quality.reconstruction_error(X, back)
    np.testing.assert_array_equal(found.distortion.false_neighbors, quality.distortion(X, Y).false_neighbors)
    np.testing.assert_array_equal(found.rnx, quality.rnx_curve(X, Y))
    assert found.rows is None
    assert "trustworthiness" in str(found)


def test_without_labels_there_are_no_measures_of_them():
    X, _ = data.load("iris")
    assert not {"silhouette", "reconstruction_error"} & set(quality.report(X, X[:, :2]))


def test_few_rows_and_small_classes_are_reported_too():
    X, _ = data.load("iris")
    found = quality.report(X[::17], X[::17, :2], list("aabbbcacb"), n_neighbors=2)
    assert 0 <= found["knn_accuracy"] <= 1
    with pytest.raises(ValueError, match="silhouette: fewer classes than rows"):
        quality.report(X[::17], X[::17, :2], list("abcdefghi"), n_neighbors=2)
    with pytest.raises(ValueError, match="report: y must have one label for each of the 9 rows"):
        quality.report(X[::17], X[::17, :2], list("abc"), n_neighbors=2)


def test_a_sampled_report_says_so():
    X, y = data.load("digits")
    found = quality.report(X, PCA(2).fit_transform(X), y, sample=300, pairs=300)
    assert found["trustworthiness"].sampled == found["silhouette"].sampled == 300
    assert found["stress_normalised"].sampled == 300
    assert len(found.rows) == len(found.distortion.false_neighbors) == 300
    assert "(sample of 300)" in str(found)
    assert found.rnx_error.max() > 0


def test_measures_are_floats_that_survive_copies_and_json():
    value = quality.Measure(0.25, 0.01, 7)
    again = copy.copy(value)
    assert (again, again.error, again.sampled) == (0.25, 0.01, 7)
    assert json.dumps({"x": value}) == '{"x": 0.25}'
    assert f"{value:.1f}" == "0.2"
    assert repr(value) == "0.25 ± 0.01"
