"""Islands are the planted ones, at the scale of the level, and named by what was planted."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import quality


@pytest.fixture
def blobs(rng):
    """Six round islands on a map, the last two close to each other."""
    centres = np.array([[0, 0], [20, 0], [0, 20], [20, 20], [40, 0], [42.5, 0]])
    codes = np.repeat(np.arange(6), 150)
    return centres[codes] + rng.normal(0, 0.5, (900, 2)), codes, centres


def test_every_island_is_found_where_it_is(blobs):
    Y, codes, centres = blobs
    found = quality.islands(Y, np.where(codes % 2, "odd", "even").astype(object), levels=1)
    assert {island.name for island in found} == {"odd", "even"}
    by_column = quality.islands(Y, (codes[:, None] == np.arange(6)).astype(float), levels=2)
    assert {island.name.split(" ")[0] for island in by_column} >= {"x0", "x1", "x2", "x3"}
    for island in by_column:
        if island.level == 0 and island.name in ("x0", "x1", "x2", "x3"):
            assert np.linalg.norm(np.array(island.position) - centres[int(island.name[1])]) < 0.5
            assert (codes[island.rows] == int(island.name[1])).all()


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_forms_of_a_table_give_the_same_names(blobs, form, rng):
    Y, codes, _ = blobs
    table = np.abs(rng.normal(0, 0.1, (900, 8)))
    table[np.arange(900), codes] += 2
    first = [island.name for island in quality.islands(Y, sp.csr_array(table))]
    assert first
    again = [island.name for island in quality.islands(Y, form(table))]
    expected = first if sp.issparse(form(table)) else [f"high {name.split(' · ')[0]}" for name in first]
    assert [name if sp.issparse(form(table)) else name.split(" · ")[0] for name in again] == expected


def test_texts_are_named_by_their_own_terms(blobs, rng):
    Y, codes, _ = blobs
    subjects = ["cell nucleus", "engine wheel", "verse rhyme", "court judge", "goal referee", "bread oven"]
    filler = ["report", "today", "found", "common"]
    texts = [f"{subjects[c]} {' '.join(rng.choice(filler, 3))}" for c in codes]
    found = quality.islands(Y, texts, levels=2)
    for island in found:
        code = np.bincount(codes[island.rows]).argmax()
        assert subjects[code].split()[0] in island.name
    assert len(found) >= 5


def test_names_of_single_rows_stand_for_their_neighbourhood(blobs):
    Y, codes, _ = blobs
    names = np.array([f"{'abcdef'[c]}{i}" for i, c in enumerate(codes)], dtype=object)
    for island in quality.islands(Y, names, levels=1):
        assert all(part[0] in "ef" if part[0] in "ef" else True for part in island.name.split(" · "))
        assert {part[0] for part in island.name.split(" · ")} <= {"abcdef"[c] for c in codes[island.rows]}


def test_frames_with_columns_of_text(blobs):
    pl = pytest.importorskip("polars")
    Y, codes, _ = blobs
    frame = pl.DataFrame({"kind": [f"k{c}" for c in codes], "size": codes.astype(float)})
    for table in (frame, frame.to_pandas() if hasattr(frame, "to_pandas") else frame):
        names = {island.name.split(" · ")[0] for island in quality.islands(Y, table, levels=1)}
        assert any("kind k" in name or "size" in name for name in names)


def test_noise_has_no_islands_to_speak_of(rng):
    Y = rng.uniform(0, 1, (2000, 2))
    assert len(quality.islands(Y, rng.normal(size=(2000, 3)), levels=1)) <= 3


def test_three_dimensions_and_outliers(rng):
    centres = np.array([[0, 0, 0], [10, 0, 0], [0, 10, 5.0]])
    codes = np.repeat([0, 1, 2], 200)
    Y = np.concatenate([centres[codes] + rng.normal(0, 0.4, (600, 3)), [[300.0, 0, 0]]])
    found = quality.islands(Y, np.append(codes, 0), levels=1)
    assert sorted(island.name for island in found) == ["0", "1", "2"]


def test_what_cannot_be_named_is_refused(blobs):
    Y, codes, _ = blobs
    for about, text in ((None, "need texts"), (codes[:5], "one label per row"), (np.ones((5, 2)), "of the 900 rows")):
        with pytest.raises(ValueError, match=text):
            quality.islands(Y, about)
    with pytest.raises(ValueError, match="finite positions"):
        quality.islands(Y * np.nan, codes)
    with pytest.raises(ValueError, match="one name per column"):
        quality.islands(Y, np.ones((900, 2)), names=["a"])
