"""Columns that set a group apart: found where they are planted, at the rate of chance where none is."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import quality


def test_planted_columns_are_found_with_their_effects(rng):
    X = rng.normal(size=(600, 30))
    group = rng.random(600) < 0.3
    X[group, 4] += 1.5
    X[group, 9] -= 1.0
    found = quality.drivers(X, group, top=5)
    assert found.table["column"][:2].to_list() == ["x4", "x9"]
    gaps = np.abs(found.table["effect"][:2].to_numpy() - [1.5, -1.0])
    assert (gaps < 3 * found.table["error"][:2].to_numpy()).all()
    assert "high x4, low x9" in str(found)


def test_a_random_group_is_set_apart_at_the_rate_of_chance():
    """The column chosen among 200 for its difference has none on the held-out rows: 5 % are beyond two errors."""
    rng = np.random.default_rng(0)
    alarms = []
    for seed in range(200):
        X = rng.normal(size=(60, 200))
        row = quality.drivers(X, rng.random(60) < 0.5, top=1, random_state=seed).table.row(0, named=True)
        alarms.append(abs(row["effect"]) > 1.96 * row["error"])
    assert 0.01 < np.mean(alarms) < 0.11  # 0.05 ± 4 standard errors of 200 draws


def test_forms_of_rows_and_groups_agree(rng):
    X = rng.normal(size=(80, 6)).round(1)
    group = X[:, 2] > 0
    first = quality.drivers(X, group)
    for rows in (sp.csr_array(X), np.asfortranarray(X), X.astype(np.float32)):
        again = quality.drivers(rows, np.flatnonzero(group))
        np.testing.assert_allclose(again.table["effect"], first.table["effect"], rtol=1e-4)


def test_rows_of_the_caller_measure_the_effects(rng):
    X = rng.normal(size=(100, 4))
    group = np.arange(100) % 2 == 0
    X[:50][group[:50], 1] += 3  # only where the columns are chosen
    found = quality.drivers(X, group, held_out=np.arange(50, 100), top=1)
    assert found.held_out == 50
    assert found.table["column"][0] == "x1"
    assert abs(found.table["effect"][0]) < 3 * found.table["error"][0]


def test_what_cannot_be_compared_is_refused(rng):
    X = rng.normal(size=(30, 3))
    for group, text in (
        (np.arange(2), "at least 4 rows"),
        ([40], "row numbers from 0 to 29"),
        (["a"] * 30, "booleans"),
    ):
        with pytest.raises(ValueError, match=text):
            quality.drivers(X, group)
    with pytest.raises(ValueError, match="must be held out"):
        quality.drivers(X, np.arange(10), held_out=np.arange(10))
    with pytest.raises(ValueError, match="one name per column"):
        quality.drivers(X, np.arange(10), names=["a"])
