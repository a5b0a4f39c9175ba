import numpy as np
import pytest

import lowdim
from lowdim import CCA, KernelCCA


def related(rng, n=120):
    t = rng.uniform(-1, 1, n)
    X = np.column_stack([t, rng.normal(size=n)])
    Y = np.column_stack([t**2 + 0.05 * rng.normal(size=n), rng.normal(size=n)])
    return X, Y


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_the_linear_kernel_is_cca(rng, ridge):
    Z = rng.normal(size=(80, 2))
    X, Y = (
        Z @ rng.normal(size=(2, 5)) + rng.normal(size=(80, 5)),
        Z @ rng.normal(size=(2, 3)) + rng.normal(size=(80, 3)),
    )
    plain, kernel = CCA(ridge=ridge).fit(X, Y), KernelCCA(kernel="linear", ridge=ridge).fit(X, Y)
    np.testing.assert_allclose(kernel.correlations_, plain.correlations_, atol=1e-9)
    new = rng.normal(size=(7, 5)), rng.normal(size=(7, 3))
    for a, b in zip(kernel.transform(*new), plain.transform(*new), strict=True):
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-8)


def test_curves_are_found_that_lines_miss(rng):
    X, Y = related(rng)
    new_X, new_Y = related(rng)
    kernel = KernelCCA(1, ridge=0.05).fit(X, Y)
    a, b = kernel.transform(new_X, new_Y)
    assert np.corrcoef(a[:, 0], b[:, 0])[0, 1] > 0.85  # on rows it has not seen
    a, b = CCA(1).fit(X, Y).transform(new_X, new_Y)
    assert abs(np.corrcoef(a[:, 0], b[:, 0])[0, 1]) < 0.4


def test_a_full_rank_kernel_without_ridge_warns(rng):
    X, Y = rng.normal(size=(25, 3)), rng.normal(size=(25, 2))
    with pytest.warns(UserWarning, match="got 24 and 24, so 24 of the correlations are 1 .*Pass a ridge"):
        cca = KernelCCA(3, gamma=1.0, ridge=0.0).fit(X, Y)
    np.testing.assert_allclose(cca.correlations_, 1.0, atol=1e-6)
    assert KernelCCA(3, gamma=1.0, ridge=0.1).fit(X, Y).correlations_[0] < 0.999


def test_views_that_must_overlap_warn(rng):
    X, Y = rng.normal(size=(30, 25)), rng.normal(size=(30, 6))
    for name, cca in (("KernelCCA", KernelCCA(kernel="linear", ridge=0.0)), ("CCA", CCA())):
        with pytest.warns(UserWarning, match=f"^{name}: .* = 29; got 25 and 6, so 2 of the correlations are 1") as told:
            cca.fit(X, Y)
        assert told[0].filename == __file__
        np.testing.assert_allclose(cca.correlations_[:2], 1.0, atol=1e-6)
        assert cca.correlations_[2] < 0.9999
        type(cca)(ridge=0.1).fit(X, Y)
        cca.fit(X[:, :23], Y)  # 29 in all: nothing is forced


def test_lists_are_views_too(rng):
    X, Y = related(rng)
    cca = KernelCCA(2).fit(X.tolist(), Y.tolist())
    for a, b in zip(cca.transform(X.tolist(), Y.tolist()), cca.transform(X, Y), strict=True):
        np.testing.assert_array_equal(a, b)
    cca = KernelCCA(1).fit(X, Y[:, :1])  # one column is a view, not a mistake
    np.testing.assert_array_equal(cca.transform(X, Y[:, :1])[1], cca.transform(X, Y[:, 0])[1])


def test_correlations_fall_and_lie_between_0_and_1(rng):
    cca = KernelCCA().fit(*related(rng))
    assert (np.diff(cca.correlations_) <= 1e-12).all()
    assert 0 <= cca.correlations_[-1] <= cca.correlations_[0] <= 1


def test_saved_models_keep_both_views(rng, tmp_path):
    X, Y = related(rng)
    cca = KernelCCA(2).fit(X, Y)
    cca.save(tmp_path / "cca.lowdim")
    for a, b in zip(cca.transform(X, Y), lowdim.load(tmp_path / "cca.lowdim").transform(X, Y), strict=True):
        np.testing.assert_array_equal(a, b)


def test_wrong_views_and_parameters_are_refused(rng):
    X, Y = related(rng)
    with pytest.raises(ValueError, match=r"n_samples - 1 = 119; got 120"):
        KernelCCA(120).fit(X, Y)
    with pytest.raises(ValueError, match="the 2 columns that fit saw; got 1"):
        KernelCCA(1).fit(X, Y).transform(X, Y[:, 0])
    with pytest.raises(ValueError, match="kernel must be"):
        KernelCCA(kernel="precomputed").fit(X, Y)
