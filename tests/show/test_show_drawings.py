"""Biplot, Shepard diagram, R_NX curves, distortion, reconstructions, graph, loss and selection."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection

from lowdim import PCA, TSNE, SequentialFeatureSelector, data, quality, show

X, Y_LABELS = data.load("iris")
MAP = PCA(2).fit_transform(X)
FRAME = pd.DataFrame(X, columns=["sl", "sw", "pl", "pw"])
CALLS = {
    "biplot": lambda **k: show.biplot(PCA(2).fit(X), X, Y_LABELS, **k),
    "shepard": lambda **k: show.shepard(X, MAP, **k),
    "rnx": lambda **k: show.rnx(X, {"pca": MAP}, **k),
    "distortion": lambda **k: show.distortion(X, MAP, **k),
    "reliability": lambda **k: show.reliability(PCA(2).fit(X), X, **k),
    "reconstructions": lambda **k: show.reconstructions(PCA(3).fit(X), X, image_shape=(2, 2), **k),
    "graph": lambda **k: show.graph(X, MAP, Y_LABELS, **k),
    "loss": lambda **k: show.loss([3.0, 2.0, 1.5], **k),
    "selection": lambda **k: show.selection(SequentialFeatureSelector().fit(X, Y_LABELS), **k),
}


@pytest.mark.parametrize("name", CALLS)
def test_given_axes_come_back_and_nothing_else_changes(name):
    before = dict(mpl.rcParams)
    _, axes = plt.subplots(1, 2, figsize=(8, 3))
    assert CALLS[name](ax=axes[0]) is axes[0]
    assert not axes[1].has_data()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("size", [(2.2, 1.8), (12, 7)])
def test_pictures_of_any_size_are_drawn_without_warnings(name, size):
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    CALLS[name](ax=ax)
    figure.canvas.draw()


def test_show_offers_what_it_promises():
    names = "biplot components distortion explanation film graph loss multiples reconstructions redundancy"
    assert show.__all__ == [*names.split(), "reliability", "rnx", "scatter", "scree", "selection", "shepard"]


def test_biplot_arrows_are_the_longest_loadings_to_one_scale():
    model = PCA(3).fit(FRAME)
    ax = show.biplot(model, FRAME, top=2, dims=(0, 2))
    loadings = model.components_[[0, 2]].T
    longest = np.argsort(-np.linalg.norm(loadings, axis=1))[:2]
    arrows = [text for text in ax.texts if text.get_text() == ""]
    tips = np.array([arrow.xy for arrow in arrows])
    ratio = tips / loadings[longest]
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert ratio[0, 0] > 0
    assert {text.get_text() for text in ax.texts} == {"", *(FRAME.columns[j] for j in longest)}
    scores = model.transform(FRAME)[:, [0, 2]]
    assert (np.abs(tips).max(axis=0) <= np.abs(scores).max(axis=0) + 1e-12).all()


def test_biplot_names_do_not_lie_on_each_other():
    ax = show.biplot(PCA(2).fit(FRAME), FRAME)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])


def test_shepard_counts_every_pair_of_few_rows():
    ax = show.shepard(X[:40], MAP[:40])
    D = np.linalg.norm(X[:40, None] - X[None, :40], axis=-1)[np.triu_indices(40, 1)]
    line = ax.lines[0]
    assert line.get_xdata().min() >= D.min()
    assert line.get_xdata().max() <= D.max()
    assert ax.get_title(loc="right") == f"rank correlation {quality.shepard_correlation(X[:40], MAP[:40]):.3f}"


def test_shepard_of_sparse_rows_is_that_of_dense_ones():
    sparse = sp.csr_array(np.where(X > 2, X, 0))
    titles = [show.shepard(rows, MAP).get_title(loc="right") for rows in (sparse, sparse.toarray())]
    assert titles[0] == titles[1]


def test_shepard_of_an_isometry_is_a_straight_line():
    ax = show.shepard(MAP, MAP @ [[0.6, -0.8], [0.8, 0.6]] * 3)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, 3 * x)
    assert ax.get_title(loc="right") == "rank correlation 1.000"


def test_rnx_draws_the_curve_and_tells_its_area():
    ax = show.rnx(X, {"map": MAP, "itself": X})
    curve = quality.rnx_curve(X, MAP)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["itself, 1.00", f"map, {quality.rnx_auc(X, MAP):.2f}"]
    K, drawn = ax.lines[1].get_data()
    np.testing.assert_allclose(drawn, curve[np.asarray(K, dtype=int) - 1])


def test_rnx_of_a_sample_has_a_band():
    ax = show.rnx(X, MAP, sample=40)
    assert len(ax.collections) == 1
    assert not show.rnx(X, MAP).collections


def test_distortion_colours_are_those_measured():
    ax = show.distortion(X, MAP, kind="missing", n_neighbors=5)
    bar = ax.figure.axes[1]
    worst = quality.distortion(X, MAP, 5).missing_neighbors.max()
    np.testing.assert_allclose(bar.get_ylim()[1], worst)
    assert bar.get_ylabel() == "missing neighbours"


def test_reconstructions_are_those_of_fewer_components():
    digits, _ = data.load("digits")
    ax = show.reconstructions(PCA(12).fit(digits), digits, image_shape=(8, 8), counts=(3, 12), n=4)
    image = np.asarray(ax.images[0].get_array())
    three = PCA(3).fit(digits)
    want = three.inverse_transform(three.transform(digits[:1])).reshape(8, 8)
    gap = image.shape[0] - 3 * 8
    np.testing.assert_allclose(image[:8, :8], digits[0].reshape(8, 8))
    np.testing.assert_allclose(image[8 + gap // 2 : 16 + gap // 2, :8], want, atol=1e-8)
    ax = show.reconstructions(PCA(12).fit(digits), digits, image_shape=(8, 8))
    assert [text.get_text() for text in ax.texts] == ["original", "1", "5", "10", "12"]


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, pd.DataFrame, np.asfortranarray])
def test_graph_takes_rows_of_every_form(form):
    rows = X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)  # no equal distances

    def lines(given):
        return sorted(map(np.ndarray.tolist, show.graph(given, MAP, n_neighbors=4).collections[-2].get_segments()))

    assert lines(form(rows)) == lines(rows)
    with pytest.raises(ValueError, match=r"the rows of X \(150\); got shape \(149, 2\)"):
        show.graph(form(rows), MAP[1:])


def test_graph_joins_neighbours_of_the_data_and_marks_what_is_torn():
    line = np.arange(60.0)[:, None]
    positions = np.column_stack([np.arange(60.0), np.zeros(60)])
    positions[30:, 0] += 40  # one tear between 29 and 30
    ax = show.graph(line, positions, n_neighbors=2)
    kept, torn = (c.get_segments() for c in ax.collections if isinstance(c, LineCollection))
    crossing = [s for s in (*kept, *torn) if (s[0][0] < 35) != (s[1][0] < 35)]
    assert len(torn) == len(crossing) == 1
    assert "2 neighbours" in ax.get_title(loc="right")


def test_loss_takes_models_and_arrays_and_marks_the_exaggeration():
    class Fitted:
        early_exaggeration_iter = 250
        loss_curve_ = np.column_stack([np.arange(0, 750, 50), np.linspace(5, 2, 15)])

        def fit(self):
            """Like an estimator."""

    ax = show.loss(Fitted())
    assert ax.get_xlabel() == "iteration"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(0, 750, 50))
    assert "exaggeration ends" in [text.get_text() for text in ax.texts]
    tsne = TSNE(max_iter=150, early_exaggeration_iter=100, random_state=0).fit(X)
    line = show.loss(tsne).lines[0]
    assert line.get_xdata().tolist() == tsne.loss_iterations_.tolist()
    assert line.get_xdata()[-1] > 100
    assert show.loss([1.0, 0.1], log=True).get_yscale() == "log"


def test_selection_names_the_steps_and_rings_the_choice():
    model = SequentialFeatureSelector(direction="backward").fit(X, Y_LABELS)
    ax = show.selection(model, names=list(FRAME.columns))
    texts = [tick.get_text() for tick in ax.get_xticklabels()]
    assert texts[0] == "start"
    assert all(text[0] == "−" and text[2:] in FRAME.columns for text in texts[1:])
    assert any("chosen: " in text.get_text() for text in ax.get_legend().get_texts())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.history_["score"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: show.biplot(PCA(2), X), r"fitted and linear.*PCA has none\. Call fit"),
        (lambda: show.biplot(PCA(2).fit(X), X, dims=(0, 2)), r"between 0 and 1; got \(0, 2\)\. Fit more"),
        (lambda: show.biplot(PCA(2).fit(X), X, top=0), "at least 1; got 0"),
        (lambda: show.shepard(X, MAP[:10]), r"same rows.*\(150, 4\) and \(10, 2\)\. Pass"),
        (lambda: show.rnx(X, {}), "empty mapping. Pass"),
        (lambda: show.distortion(X, MAP, kind="odd"), "got 'odd'. Choose"),
        (lambda: show.reconstructions(PCA(2).fit(X), X, image_shape=(3, 2)), r"4 pixels.*got \(3, 2\)\. Pass"),
        (lambda: show.reconstructions(PCA(2).fit(X), X, image_shape=(2, 2), counts=(3,)), r"the 2 components.*\(3,\)"),
        (lambda: show.reconstructions(object(), X, image_shape=(2, 2)), "inverse_transform is needed"),
        (lambda: show.graph(X, MAP[:, :1]), r"two columns.*\(150, 1\)\. Pick"),
        (lambda: show.graph(X, MAP, n_neighbors=150), "between 1 and 149; got 150. Change"),
        (lambda: show.loss(PCA()), "loss_curve_; PCA has none. Call fit"),
        (lambda: show.loss([[1.0, 2.0, 3.0]]), r"got shape \(1, 3\)\. Pass"),
        (lambda: show.loss([1.0, np.nan]), "must be finite"),
        (lambda: show.selection(PCA()), "history_ is needed; PCA has none. Call fit"),
    ],
)
def test_errors_say_what_was_needed_what_came_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_reliability_colours_by_a_part_and_rings_the_dubious_rows(rng):
    X = rng.normal(size=(80, 4))
    model = PCA(2).fit(X)
    found = quality.reliability(model, X, refits=1)
    ax = show.reliability(model, X, found=found, part="stability")
    assert ax.figure.axes[1].get_ylabel() == "stability"
    rings = [one for one in ax.collections if len(one.get_offsets()) == len(found.dubious)]
    assert len(found.dubious) == 0 or np.allclose(rings[-1].get_offsets(), model.transform(X)[found.dubious])
    assert show.reliability(model.transform(X), found=found, y=np.arange(80) % 3, mark=False)
    with pytest.raises(ValueError, match="found has no jump; it needs"):
        show.reliability(model, X, found=found, part="jump")
    with pytest.raises(ValueError, match="part must be one of"):
        show.reliability(model, X, part="luck")
    with pytest.raises(ValueError, match="X or found is needed"):
        show.reliability(model)
    with pytest.raises(ValueError, match="must be of the 40 rows of the map"):
        show.reliability(model.transform(X[:40]), found=found)
