"""Rows pinned by a person: moved, held while the map is computed again, let go, and kept by page and model."""

import numpy as np
import pytest
from talking import Page

import lowdim
from lowdim.explorer.opening import open_session


@pytest.fixture
def page(rng):
    y = np.repeat([0, 1, 2], 30)
    session = open_session(rng.normal(size=(90, 5)) + 6.0 * np.eye(3, 5)[y], y)
    yield Page(session)
    session.close()


def fitted(page, **fields):
    number = page.ask("fit", **{"method": "umap", "parameters": {"n_epochs": 40}, **fields}).fields["map"]
    one = page.finish(number)
    assert one.status == "done", one.message
    return one


@pytest.mark.parametrize("method", ["umap", "tsne", "pacmap", "mds"])
def test_a_group_is_dragged_and_the_map_relaxes_around_it(page, method, tmp_path):
    one = fitted(page, method=method, parameters={})
    before = one.positions().copy()
    rows = np.arange(90) < 30
    page.select(rows)
    told = page.ask("pin", map=one.number, shift=[5.0, -2.0]).fields
    assert told["pins"] == list(range(30))
    np.testing.assert_allclose(one.positions()[rows], before[rows] + np.float32([5, -2]), rtol=1e-6)
    np.testing.assert_array_equal(one.positions()[~rows], before[~rows])
    made = page.finish(page.ask("relax", map=one.number).fields["map"])
    assert made.status == "done", made.message
    np.testing.assert_array_equal(made.positions()[rows], one.positions()[rows])
    assert np.abs(made.positions() - one.positions())[~rows].max() > 1e-3
    assert made.described()["pins"] == list(range(30))
    made.fitted.save(tmp_path / "pinned.lowdim")
    model = lowdim.load(tmp_path / "pinned.lowdim")
    np.testing.assert_array_equal(model.anchor_weight, rows.astype(float))
    np.testing.assert_array_equal(np.float32(model.embedding_[rows]), np.float32(model.anchors[rows]))


def test_a_relaxed_map_is_replaced_by_the_next_one(page):
    one = fitted(page)
    page.select(np.arange(90) < 10)
    page.ask("pin", map=one.number)
    first = page.finish(page.ask("relax", map=one.number).fields["map"])
    second = page.finish(page.ask("relax", map=first.number).fields["map"])
    assert sorted(page.session.maps) == [one.number, second.number]


def test_rows_are_let_go(page):
    one = fitted(page)
    page.select(np.arange(90) < 10)
    page.ask("pin", map=one.number)
    page.select(np.arange(90) < 4)
    assert page.ask("unpin", map=one.number).fields["pins"] == list(range(4, 10))
    page.select(np.zeros(90, bool))
    assert page.ask("unpin", map=one.number).fields["pins"] == []
    assert "no pinned rows" in page.refused("relax", map=one.number)


def test_what_cannot_be_pinned_says_why(page):
    one = fitted(page)
    assert "no rows are selected" in page.refused("pin", map=one.number)
    page.select(np.ones(90, bool))
    assert "2 finite numbers" in page.refused("pin", map=one.number, shift=[1.0])
    page.ask("pin", map=one.number)
    assert "all rows" in page.refused("relax", map=one.number)
    pca = fitted(page, method="pca", parameters={})
    assert "cannot be pinned" in page.refused("pin", map=pca.number)
    page.select(np.arange(90) < 50)
    some = fitted(page, rows="selection")
    assert "a selection of the rows" in page.refused("pin", map=some.number)
