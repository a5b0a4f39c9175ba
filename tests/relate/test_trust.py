"""Trust in new rows: calibrated on rows like the training rows, low off them, whatever the density."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import lowdim
from lowdim.relate.neighbors import nearest
from lowdim.relate.trust import familiar, trust


def test_rows_like_the_training_rows_have_any_trust_and_others_none(rng):
    X, new = rng.normal(size=(2000, 4)), rng.normal(size=(2000, 4))
    of = familiar(*nearest(X, 15)[:2], X[:, :2])
    found = trust(of, *nearest(X, 15, new)[:2], X[:, :2])
    for level in (0.02, 0.1, 0.5):  # as rare as they say, up to what a sample of 2000 and the asymmetry allow
        assert 0.5 * level < np.mean(found <= level) < 1.6 * level
    assert (trust(of, *nearest(X, 15, new + 20)[:2], X[:, :2]) == 0).all()


def test_density_does_not_matter(rng):
    dense, loose = rng.normal(size=(500, 3)) * 0.01, rng.normal(size=(500, 3)) * 10 + 100
    X = np.concatenate([dense, loose])
    Y = rng.normal(size=(1000, 2))
    of = familiar(*nearest(X, 15)[:2], Y)
    beside = dense[:20] + 0.5  # 50 widths off the dense rows, yet nearer than loose rows are to each other
    assert trust(of, *nearest(X, 15, beside)[:2], Y).max() < 0.01
    assert np.median(trust(of, *nearest(X, 15, rng.normal(size=(300, 3)) * 10 + 100)[:2], Y)) > 0.3


@pytest.mark.parametrize("cls", [lowdim.TSNE, lowdim.UMAP, lowdim.PaCMAP])
def test_rows_between_parts_that_the_map_puts_apart_are_not_trusted(cls, rng):
    """Two flat clouds nearly touch: rows in the gap are no outliers, yet belong to neither part of the map."""
    X = rng.normal(size=(600, 8)) * [0.3, *np.ones(7)]
    X[:300, 0] += 6
    model = cls(random_state=0).fit(X)
    inside, between = rng.normal(size=(100, 8)) * [0.3, *np.ones(7)], rng.normal(size=(100, 8)) * [0.01, *np.ones(7)]
    between[:, 0] += 3
    assert np.median(model.trust(between)) < 0.02
    assert np.mean(model.trust(inside) < 0.02) < 0.1


@pytest.mark.parametrize("cls", [lowdim.TSNE, lowdim.SNE, lowdim.UMAP, lowdim.PaCMAP])
def test_maps_tell_it_for_each_new_row(cls, tmp_path, rng):
    X = rng.normal(size=(300, 5))
    steps = {"n_epochs": 20} if cls is lowdim.UMAP else {"max_iter": 20}
    model = cls(random_state=0, **steps).fit(X[:250])
    new = np.concatenate([X[250:], X[250:] + 30, X[:3]])
    found = model.trust(new)
    assert found.shape == (103,)
    assert np.median(found[:50]) > 0.3
    assert (found[50:100] == 0).all()
    assert found[100:].min() > 0
    model.save(tmp_path / "map.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "map.lowdim").trust(new), found)
    np.testing.assert_allclose(model.trust(sp.csr_array(new)), found, atol=0.01)


def test_given_distances_and_equal_rows(rng):
    X, new = rng.normal(size=(80, 3)), rng.normal(size=(10, 3))
    rows = lowdim.TSNE(max_iter=20, init="random", random_state=0).fit(X)
    given = lowdim.TSNE(max_iter=20, metric="precomputed", init="random", random_state=0).fit(cdist(X, X))
    np.testing.assert_allclose(given.trust(cdist(new, X)), rows.trust(new), atol=0.02)
    alike = lowdim.TSNE(max_iter=20, random_state=0).fit(np.ones((30, 3)))
    np.testing.assert_array_equal(alike.trust(np.array([[1.0, 1, 1], [2, 1, 1]])), [1, 0])
