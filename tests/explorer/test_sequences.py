"""Maps of a sequence in the explorer: their rows, labels and numbers, and what is refused."""

import numpy as np
import pytest
from talking import Page

import lowdim
from lowdim.explorer.opening import explore, open_sequence


@pytest.fixture(scope="module")
def tables():
    return np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def maps(tables):
    parts = [tables[:30], tables[10:40], tables[10:60]]
    return lowdim.aligned(parts, [(range(20), range(10, 30)), (range(30), range(30))], "pacmap", max_iter=40)


def test_each_row_that_is_followed_is_a_row_of_the_session(maps, tables):
    y = [np.arange(30), np.arange(10, 40), np.arange(10, 60)]
    session = open_sequence(maps, y=y)
    np.testing.assert_array_equal(session.X, tables)
    np.testing.assert_array_equal(session.targets, np.arange(60))
    page = Page(session)
    hello = page.ask("hello").fields
    assert hello["sequence"] == [1, 2, 3]
    assert [one["title"] for one in hello["maps"]] == ["PaCMAP 1", "PaCMAP 2", "PaCMAP 3"]
    for number, (first, end) in zip(hello["sequence"], [(0, 30), (10, 40), (10, 60)], strict=True):
        positions = session.map(number).positions()
        np.testing.assert_array_equal(positions[first:end], np.float32(maps[number - 1]))
        assert np.isnan(positions).any(axis=1).sum() == 60 - (end - first)
        assert session.map(number).fitted is maps.models[number - 1]
    session.close()


def test_rows_and_labels_of_ones_own_are_taken(maps, tables):
    session = open_sequence(maps, tables + 1, [str(i % 3) for i in range(60)])
    np.testing.assert_array_equal(session.X, tables + 1)
    assert len(session.maps) == 3
    session.close()


def test_what_is_no_sequence_says_why(maps, tables):
    with pytest.raises(TypeError, match="what lowdim.aligned returns; got list"):
        explore(tables, sequence=[tables[:, :2]])
    with pytest.raises(ValueError, match="one row for each of the 60 lines"):
        open_sequence(maps, tables[:50])
    wider = lowdim.aligned([tables[:20], np.hstack([tables, tables])[:20]], None, "pacmap", max_iter=20)
    with pytest.raises(ValueError, match=r"the same columns; got \[4, 8\]. Pass one row for each of the 20 lines"):
        explore(wider)
    assert len(open_sequence(wider, tables[:20]).maps) == 2
    D = np.linalg.norm(tables[:20, None] - tables[:20], axis=2)
    given = lowdim.aligned([D, D], None, "umap", metric="precomputed", n_epochs=20)
    with pytest.raises(ValueError, match="maps of distances have no rows"):
        explore(given)
    deep = lowdim.aligned([tables[:20], tables[:20]], None, "pacmap", n_components=4, max_iter=20)
    with pytest.raises(ValueError, match="1 to 3 dimensions"):
        explore(deep)
