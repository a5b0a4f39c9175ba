"""Names on a map cover neither each other nor the frame."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lowdim import show
from lowdim.show.names_on_map import broken


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_names_do_not_overlap_and_stay_inside(rng):
    centres = rng.uniform(0, 30, (30, 2))
    codes = np.repeat(np.arange(30), 30)
    Y = centres[codes] + rng.normal(0, 0.4, (900, 2))
    ax = show.scatter(Y, [f"a rather long name {c}" for c in codes], labels="auto", legend=False)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) > 8
    frame = ax.get_window_extent()
    for i, box in enumerate(boxes):
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_names_are_of_labels_texts_or_columns(rng):
    codes = np.repeat([0, 1, 2], 100)
    Y = np.array([[0, 0], [10, 0], [0, 10]])[codes] + rng.normal(0, 0.4, (300, 2))
    shown = {text.get_text() for text in show.scatter(Y, codes, labels="auto").texts}
    assert shown == {"0", "1", "2"}
    texts = [f"{['red apple', 'fast engine', 'old verse'][c]} row {i}" for i, c in enumerate(codes)]
    ax = show.scatter(Y, codes, labels="auto", about=texts)
    assert any("apple" in text.get_text() for text in ax.texts)
    solid = show.scatter(np.column_stack([Y, codes]), codes, labels="auto")
    assert solid.texts


def test_islands_are_coloured_by_their_direction_unless_labels_are(rng):
    codes = np.repeat([0, 1, 2, 3], 100)
    Y = np.array([[10, 0], [0, 10], [-10, 0], [0, -10]])[codes] + rng.normal(0, 0.4, (400, 2))
    texts = [f"{['red apple', 'fast engine', 'old verse', 'wet road'][c]} row {i}" for i, c in enumerate(codes)]

    def colors(ax):
        drawn = np.concatenate(
            [np.column_stack([part.get_offsets(), part.get_facecolors()]) for part in ax.collections]
        )
        return drawn[np.lexsort(drawn[:, :2].T)][np.argsort(np.lexsort(Y.T)), 2:5]

    ink = colors(show.scatter(Y, labels="auto", about=texts))
    assert len(np.unique(ink.round(6), axis=0)) == 4
    assert all(len(np.unique(ink[codes == c].round(6), axis=0)) == 1 for c in range(4))
    assert ((ink >= 0) & (ink <= 1)).all()
    by_label = colors(show.scatter(Y, codes % 2, labels="auto", about=texts))
    np.testing.assert_array_equal(by_label, colors(show.scatter(Y, codes % 2)))


def test_what_has_no_names_is_refused(rng):
    Y = rng.normal(size=(30, 2))
    with pytest.raises(ValueError, match="needs y or about; got no y and no about"):
        show.scatter(Y, labels="auto")
    with pytest.raises(ValueError, match="True, False or 'auto'"):
        show.scatter(Y, np.arange(30), labels="all")
    with pytest.raises(ValueError, match="two or three columns"):
        show.scatter(Y[:, :1], np.arange(30) % 2, labels="auto")


def test_long_names_are_broken_between_terms():
    assert broken("one · two") == "one · two"
    assert "\n" in broken("neural · network · training · optimisation")
