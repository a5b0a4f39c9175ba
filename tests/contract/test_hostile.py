"""Finite but hostile rows: refused in words or answered in numbers, never in NaN."""

import numpy as np
import pytest
import scipy.sparse as sp

import lowdim
from lowdim.methods import registry

LARGEST = np.finfo(float).max
SPARSE = [method for method in registry.METHODS if method.load()._sparse]


@pytest.mark.parametrize("method", SPARSE, ids=lambda method: method.name)
@pytest.mark.parametrize("column", [-1, 4, 2**30])
def test_sparse_rows_with_an_entry_outside_are_refused(method, column, rng):
    X = sp.csr_array(rng.random((30, 4)))
    X.indices[7] = column
    with pytest.raises(ValueError, match=f"an entry in column {column} of 4 columns"):
        method.load()().fit(X, np.arange(30) % 3)


def test_row_starts_that_fall_are_refused(rng):
    X = sp.csr_array(rng.random((30, 4)))
    X.indptr[3] = 100
    with pytest.raises(ValueError, match="starts of rows that do not increase"):
        lowdim.PCA(2).fit(X)


@pytest.mark.parametrize("cls", [lowdim.Isomap, lowdim.TSNE])
def test_whitening_that_overflows_is_refused(cls, rng):
    X = rng.random((50, 5))
    far = X[:3].copy()
    far[1] = LARGEST
    model = cls(metric="mahalanobis", random_state=0).fit(X)
    with pytest.raises(ValueError, match="[Ss]cale|Multiply|multiply"):
        model.transform(far)


@pytest.mark.parametrize("cls", [lowdim.PCA, lowdim.LDA, lowdim.KernelPCA, lowdim.KLExpansion])
def test_scores_that_overflow_are_refused(cls, rng):
    X, y = rng.random((40, 5)), np.arange(40) % 3
    params = {"kernel": "poly"} if cls is lowdim.KernelPCA else {}
    model = cls(2, **params).fit(X, y)
    far = np.vstack([X[:1], np.full((1, 5), LARGEST)])
    with pytest.raises(ValueError, match="results must fit in float64; that of row 1 does not"):
        model.transform(far)


@pytest.mark.filterwarnings("ignore:.*Raise max_iter")  # 30 iterations need not be enough
@pytest.mark.parametrize("scale", [1e-39, 1e-30, 1e30, 1e38])
@pytest.mark.parametrize("method", [m for m in registry.METHODS if not m.needs_torch], ids=lambda m: m.name)
def test_fits_of_any_scale_are_finite_or_refused(method, scale, rng):
    X, y = (rng.random((24, 4)) * scale).astype(np.float32), np.arange(24) % 2
    params = {"max_iter": 30} if "max_iter" in method.load()._rules else {}
    model = method.load()(**params | ({"n_components": 1} if method.components == 1 else {}))
    try:
        model.fit(X, y)
    except ValueError as error:
        blamed = any(word in str(error) for word in ("data", "X", "Scale"))
        assert blamed, f"should name the data: {error}"  # noqa: PT017
        return
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), name
