"""Scales of features: what is told at fit, and what is not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine

import lowdim
from lowdim.relate.feature_scales import one_unit, scales
from lowdim.work.user_warnings import ScaleWarning


def wild(factor=676.0):
    X = np.random.default_rng(0).normal(size=(60, 4))
    return X * np.array([1.0, 1.0, 1.0, factor]) / X.std(axis=0)


def test_the_ratio_is_that_of_standard_deviations_of_columns_that_vary():
    X = np.column_stack([wild(), np.full(60, 3.0)])
    assert scales(X).ratio == pytest.approx(676)
    assert scales(X[:, 3:]) is None  # one column varies


def test_pixels_bytes_and_sparse_counts_have_one_unit():
    pixels = load_digits().data / 16
    deviations = pixels.std(axis=0)
    assert deviations.max() > 10 * deviations[deviations > 0].min()  # though they differ
    assert one_unit(pixels)
    assert one_unit(wild().astype(np.uint8))
    assert one_unit(sp.csr_array(wild()))
    assert not one_unit(load_wine().data)
    mixed = np.hstack([np.eye(20)[np.arange(60) % 20], wild(1e5)[:, 3:]])  # indicators beside an income
    assert not one_unit(mixed)


@pytest.mark.parametrize(
    "model",
    [
        lowdim.PCA(2),
        lowdim.KernelPCA(2),
        lowdim.Isomap(2),
        lowdim.LLE(2, n_neighbors=20),
        lowdim.TSNE(2, max_iter=10),
        lowdim.SNE(2, max_iter=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_methods_that_depend_on_scales_tell_of_them(model):
    name = type(model).__name__
    with pytest.warns(ScaleWarning, match=f"{name}: features should .* differ 676-fold, from 1 to 676"):
        model.fit(wild())


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (lowdim.PCA(2), wild(50.0)),
        (lowdim.PCA(2), load_digits().data[:200]),
        (lowdim.PCA(2, standardize=True), wild()),
        (lowdim.Isomap(2, metric="mahalanobis"), wild()),
    ],
)
def test_nothing_is_told_without_need(model, X):
    pytest.importorskip("polars", reason="compare reads tables by it")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        model.fit(X)
        lowdim.LDA().fit(wild(), np.arange(60) % 2)
        lowdim.compare(wild(), methods=["pca"])  # its verdict tells it


def test_a_comparison_does_not_take_pixels_for_scales():
    pytest.importorskip("polars", reason="compare reads tables by it")
    X = load_digits().data[:300]
    assert "fold in scale" not in lowdim.compare(X, methods=["pca"]).verdict
    assert "676-fold in scale" in lowdim.compare(wild(), methods=["pca"]).verdict


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "randomized", "streaming"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_tell_the_scales_that_the_rows_tell(solver, dtype):
    X = np.column_stack([wild(), np.full(60, 1e3 / 3)]).astype(dtype)  # a constant has no scale
    with pytest.warns(ScaleWarning, match="differ 676-fold, from 1 to 676"):
        lowdim.PCA(2, svd_solver=solver, random_state=0).fit(X)
