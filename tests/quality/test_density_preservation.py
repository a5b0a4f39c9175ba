"""Preservation of density."""

import numpy as np
import pytest

from lowdim import quality
from lowdim.relate.radii import rows_radii


def test_a_map_of_the_same_distances_is_perfect_in_any_unit(rng):
    X = rng.normal(size=(80, 2)) * rng.lognormal(size=(80, 1))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert quality.density_preservation(X, 7 * X @ turn + 3) == pytest.approx(1, abs=1e-4)


def test_it_is_the_correlation_of_log_radii(rng):
    X, Y = rng.normal(size=(100, 5)), rng.normal(size=(100, 2))
    found = quality.density_preservation(X, Y, n_neighbors=9)
    assert found == pytest.approx(np.corrcoef(rows_radii(X, 9), rows_radii(Y, 9))[0, 1], abs=1e-9)
    assert found.sampled is None
    assert found.error == 0


def test_distances_and_rows_of_length_one_agree(rng):
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(D, 0)
    assert quality.density_preservation(D, Y, metric="precomputed") == pytest.approx(
        quality.density_preservation(X, Y), abs=1e-4
    )
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert quality.density_preservation(X, Y, metric="cosine") == pytest.approx(
        quality.density_preservation(unit, Y), abs=1e-4
    )


def test_radii_that_are_all_alike_have_no_correlation(rng):
    angles = 2 * np.pi * np.arange(40) / 40
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    assert quality.density_preservation(ring, np.zeros((40, 2))) == 0.0


def test_bad_input_is_named(rng):
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="n_neighbors must be below .*got 30"):
        quality.density_preservation(X, Y, n_neighbors=30)
    with pytest.raises(ValueError, match="n_neighbors"):
        quality.density_preservation(X, Y, n_neighbors=1)
    with pytest.raises(ValueError, match="one row for each"):
        quality.density_preservation(X, Y[1:])
