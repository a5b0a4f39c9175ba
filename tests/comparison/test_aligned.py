"""Maps of a sequence, and maps brought onto each other."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import pdist

import lowdim
from lowdim import TSNE, UMAP, quality, show

mpl.use("Agg")


@pytest.fixture(scope="module")
def rows():
    return lowdim.data.load("digits")[0][:400].astype(np.float32)


PAIRS = [(np.arange(250), np.arange(50, 300)), (np.arange(250), np.arange(50, 300))]


@pytest.fixture(scope="module")
def tables(rows):
    return [rows[:300], rows[50:350], rows[100:400]]


@pytest.mark.parametrize("reflect", [1, -1])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_moved_map_is_brought_back(k, reflect, rng):
    A = rng.normal(size=(40, k))
    Q = np.linalg.qr(rng.normal(size=(k, k)))[0]
    Q[0] *= reflect * np.sign(np.linalg.det(Q))
    found = lowdim.procrustes(3 * A @ Q + 5, like=A)
    np.testing.assert_allclose(found.embedding, A, atol=1e-9)
    np.testing.assert_allclose(found.scale, 1 / 3)
    np.testing.assert_allclose(found.rotation, Q.T, atol=1e-9)
    assert found.residual < 1e-20
    rigid = lowdim.procrustes(3 * A @ Q + 5, like=A, scale=False)
    assert rigid.scale == 1
    np.testing.assert_allclose(np.linalg.norm(rigid.embedding[0] - rigid.embedding[1]), 3 * np.linalg.norm(A[0] - A[1]))


def test_the_residual_is_that_of_scipy(rng):
    A, B = rng.normal(size=(2, 50, 2))
    np.testing.assert_allclose(lowdim.procrustes(A, like=B).residual, scipy_procrustes(B, A)[2], rtol=1e-9)


def test_shared_rows_alone_decide(rng):
    A = rng.normal(size=(40, 2))
    B = np.concatenate([rng.normal(size=(7, 2)), 2 * A[::-1] - 1])
    found = lowdim.procrustes(B, like=A, shared=(np.arange(7, 47), np.arange(39, -1, -1)))
    np.testing.assert_allclose(found.embedding[7:], A[::-1], atol=1e-9)
    frames = pd.DataFrame(B[7:], index=range(39, -1, -1)), pd.DataFrame(A)
    np.testing.assert_allclose(lowdim.procrustes(frames[0], like=frames[1], shared=frames[1]).embedding, A[::-1])


@pytest.mark.parametrize(
    ("Y", "like", "words"),
    [
        (np.zeros((5, 2)), np.zeros((5, 3)), "as many columns; got 2 and 3"),
        (np.zeros((5, 2)), np.zeros((6, 2)), "pass shared="),
        (np.full((5, 2), np.nan), np.zeros((5, 2)), "Y must be finite"),
        (TSNE(), np.zeros((5, 2)), "Fit it first"),
    ],
)
def test_maps_that_do_not_fit_are_refused(Y, like, words):
    with pytest.raises(ValueError, match=words):
        lowdim.procrustes(Y, like=like)


@pytest.mark.parametrize("method", ["umap", "tsne", "pacmap", "mds"])
def test_shared_rows_stay_near_and_neighbours_are_kept(method, tables):
    maps = lowdim.aligned(tables, PAIRS, method)
    assert len(maps) == 3
    assert max(maps.displacement) < 0.1
    free = [type(model)(random_state=0).fit(X) for model, X in zip(maps.models, tables, strict=True)]
    apart = [
        np.median(np.linalg.norm(b.embedding_[:250] - a.embedding_[50:], axis=1)) / np.ptp(a.embedding_, axis=0).max()
        for a, b in pairwise(free)
    ]
    if method != "mds":  # whose maps of like rows are alike
        assert max(maps.displacement) < 0.5 * min(apart)
    for X, Y, one in zip(tables, maps, free, strict=True):
        assert float(quality.rnx_auc(X, Y)) > float(quality.rnx_auc(X, one.embedding_)) - 0.03
        assert np.isfinite(Y).all()
    np.testing.assert_array_equal(maps.models[1].transform(tables[1]), maps[1])


def test_more_weight_and_sweeps_move_rows_less(tables):
    def moved(**how):
        return np.mean(lowdim.aligned(tables, PAIRS, TSNE(max_iter=200), **how).displacement)

    assert moved(weight=0.9) < 0.7 * moved(weight=0.1)
    assert moved(sweeps=1) < moved(sweeps=0)


def test_relations_are_pairs_numbers_dicts_or_labels(tables):
    quick = {"n_epochs": 20, "sweeps": 0}
    expected = lowdim.aligned(tables, PAIRS, **quick)
    numbers = np.where(np.arange(300) < 250, np.arange(300) + 50, -1)
    for relations in ([numbers] * 2, [{a: a - 50 for a in range(50, 300)}] * 2):
        np.testing.assert_array_equal(lowdim.aligned(tables, relations, **quick)[2], expected[2])
    frames = [pd.DataFrame(X, index=range(50 * t, 50 * t + 300)) for t, X in enumerate(tables)]
    np.testing.assert_array_equal(lowdim.aligned(frames, **quick)[2], expected[2])
    same = lowdim.aligned([tables[0], tables[0][:, :20]], method="umap", **quick)  # row by row
    assert same.relations[0].tolist() == list(range(300))


def test_the_bits_do_not_depend_on_threads(tables):
    one, two = (lowdim.aligned(tables, PAIRS, n_epochs=20, n_jobs=n_jobs) for n_jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_are_followed_through_the_sequence(tables):
    maps = lowdim.aligned(tables, PAIRS, n_epochs=5, sweeps=0)
    lines = maps.tracks()
    assert lines.shape == (400, 3)
    np.testing.assert_array_equal(lines[:300, 0], np.arange(300))
    np.testing.assert_array_equal(lines[100], [100, 50, 0])
    np.testing.assert_array_equal(lines[0], [0, -1, -1])
    np.testing.assert_array_equal(lines[-1], [-1, -1, 299])


def test_maps_are_saved_and_continue(tables, tmp_path):
    maps = lowdim.aligned(tables, PAIRS, n_epochs=10)
    files = maps.save(tmp_path / "maps")
    assert [file.name for file in files] == ["map-1.lowdim", "map-2.lowdim", "map-3.lowdim"]
    again = lowdim.load(files[2])
    np.testing.assert_array_equal(again.embedding_, maps[2])
    assert again.warm_start is False
    assert again.anchors is None


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"tables": 1}, "two tables or more"),
        ({"relations": [None]}, "one less than the tables"),
        ({"method": "pca"}, "a method with anchors is needed; got PCA"),
        ({"method": UMAP(anchors="pca")}, "each other's anchors"),
        ({"weight": 1.0}, "from 0 to below 1"),
        ({"sweeps": -1}, "integer of 0 or more"),
        ({"relations": [([0], [900]), None]}, "table 2: shared must name rows of the anchors"),
    ],
)
def test_sequences_that_cannot_be_aligned_are_refused(how, words, tables):
    given = {"relations": PAIRS, "n_epochs": 5} | how
    some = tables[: given.pop("tables", 3)]
    with pytest.raises(ValueError, match=words):
        lowdim.aligned(some, **given)


def test_tables_of_other_lengths_need_relations(tables):
    with pytest.raises(ValueError, match="relations are needed where tables have different numbers"):
        lowdim.aligned([tables[0], tables[1][:90]])


def test_maps_are_drawn_side_by_side_and_as_a_film(tables, tmp_path):
    maps = lowdim.aligned(tables, PAIRS, n_epochs=10, sweeps=0)
    labels = [np.arange(300) % 3] * 3
    figure = show.multiples(maps, labels, titles=["a", "b", "c"])
    drawn = [ax for ax in figure.axes if ax.get_title()]
    assert [ax.get_title() for ax in drawn] == ["a", "b", "c"]
    assert len({ax.get_xlim() for ax in drawn}) == 1
    assert len(figure.legends[0].get_texts()) == 3
    file = show.film(maps, tmp_path / "film.gif", labels, seconds=0.2, rate=10)
    with Image.open(file) as film:
        assert film.n_frames == 5
        first = np.asarray(film.convert("RGB"))
        film.seek(4)
        assert (np.asarray(film.convert("RGB")) != first).mean() > 0.01
    with pytest.raises(ValueError, match=r"must end in \.gif"):
        show.film(maps, tmp_path / "film.avi")
    with pytest.raises(ValueError, match="maps of two columns"):
        show.multiples([np.zeros((5, 3))])
    with pytest.raises(ValueError, match="maps with relations"):
        show.film(list(maps), tmp_path / "film.gif")


def test_maps_of_a_comparison_are_turned_alike():
    X, y = lowdim.data.load("iris")
    found = lowdim.compare(X, y, methods=["pca", "tsne", "mds", "lda"])
    for name in ("pca", "lda"):
        np.testing.assert_array_equal(found.turned[name], found.embeddings[name])
    for name in ("tsne", "mds"):
        A, B = found.turned[name], found.embeddings[name]
        np.testing.assert_allclose(pdist(A), pdist(B), rtol=1e-3, atol=1e-3)
        best = lowdim.procrustes(A, like=found.embeddings["pca"], scale=False)
        np.testing.assert_allclose(best.rotation, np.eye(2), atol=1e-5)
    figure = show.multiples(found.turned, y)
    assert [ax.get_title() for ax in figure.axes if ax.get_title()] == list(found.turned)
