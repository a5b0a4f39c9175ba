"""Intrinsic dimension of data whose dimension is known."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import data, quality

KINDS = ["two_nn", "mle"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_flat_data_have_their_dimension(kind, d, rng):
    X = rng.normal(size=(2500, d)) @ rng.normal(size=(d, 9))
    found = quality.intrinsic_dimension(X, kind)
    assert found == pytest.approx(d, rel=0.12)
    assert 0 < found.error < 0.1 * d


@pytest.mark.parametrize("kind", KINDS)
def test_a_roll_is_a_sheet(kind):
    X, _ = data.load("swissroll")
    assert quality.intrinsic_dimension(X, kind) == pytest.approx(2, abs=0.25)


@pytest.mark.parametrize("kind", KINDS)
def test_units_turns_copies_and_threads_change_nothing(kind, rng):
    X = rng.normal(size=(400, 3))
    found = quality.intrinsic_dimension(X, kind)
    assert quality.intrinsic_dimension(100 * X[:, ::-1], kind, n_jobs=2) == pytest.approx(found)
    assert quality.intrinsic_dimension(np.repeat(X, 3, axis=0), kind) == pytest.approx(found)
    assert quality.intrinsic_dimension(sp.csr_array(X), kind) == pytest.approx(found)
    assert quality.intrinsic_dimension(sp.csc_matrix(X), kind) == pytest.approx(found)
    part = quality.intrinsic_dimension(X, kind, sample=100)
    assert part.sampled == 100
    assert abs(part - found) < 4 * part.error


@pytest.mark.parametrize("sample", [None, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_is_the_spread_over_draws(kind, sample):
    """Rows share neighbours: an error that took them as independent would be a fifth too small."""
    draws = np.random.default_rng(0).uniform(size=(120, 300, 3))
    found = [quality.intrinsic_dimension(X, kind, n_neighbors=8, sample=sample) for X in draws]
    ratio = np.sqrt(np.mean([d.error**2 for d in found])) / np.std(found, ddof=1)
    assert 0.87 < ratio < 1.3, ratio  # of 120 draws the spread itself is known to 6 %


def test_what_cannot_be_measured_is_told(rng):
    with pytest.raises(ValueError, match="kind must be one of 'two_nn', 'mle'; got 'two-nn'. Did you mean 'two_nn'"):
        quality.intrinsic_dimension(np.eye(5), "two-nn")
    with pytest.raises(ValueError, match="n_neighbors must be below the number of rows"):
        quality.intrinsic_dimension(rng.normal(size=(15, 2)), "mle")
    with pytest.raises(ValueError, match="at least 3 distinct rows are needed"):
        quality.intrinsic_dimension(sp.csr_array(np.ones((9, 2))))
    with pytest.raises(ValueError, match="at least 3 distinct rows are needed"):
        quality.intrinsic_dimension(np.ones((9, 2)))


def test_an_even_line_is_told_to_have_no_estimate():
    with pytest.warns(UserWarning, match="as on a grid.*infinite"):
        assert quality.intrinsic_dimension(np.arange(50.0)[1:-1, None]) == np.inf
