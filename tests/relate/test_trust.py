"""Trust in new rows: calibrated on rows like the training rows, low off them, whatever the density."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import lowdim
from lowdim.relate.neighbors import nearest
from lowdim.relate.trust import spacings, trust


def test_rows_like_the_training_rows_have_any_trust_and_others_none(rng):
    X, new = rng.normal(size=(2000, 4)), rng.normal(size=(2000, 4))
    of = spacings(*nearest(X, 15)[:2])
    found = trust(of, *nearest(X, 15, new)[:2])
    for level in (0.02, 0.1, 0.5):  # as rare as they say, up to what a sample of 2000 and the asymmetry allow
        assert 0.5 * level < np.mean(found <= level) < 1.3 * level
    assert (trust(of, *nearest(X, 15, new + 20)[:2]) == 0).all()


def test_density_does_not_matter(rng):
    dense, loose = rng.normal(size=(500, 3)) * 0.01, rng.normal(size=(500, 3)) * 10 + 100
    X = np.concatenate([dense, loose])
    of = spacings(*nearest(X, 15)[:2])
    beside = dense[:20] + 0.5  # 50 widths off the dense rows, yet nearer than loose rows are to each other
    assert trust(of, *nearest(X, 15, beside)[:2]).max() < 0.01
    assert np.median(trust(of, *nearest(X, 15, rng.normal(size=(300, 3)) * 10 + 100)[:2])) > 0.3


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
