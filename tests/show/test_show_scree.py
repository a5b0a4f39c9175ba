import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from lowdim.show import scree
from lowdim.solve.component_count import elbow

DIGITS = load_digits().data


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_bars_and_line_are_the_ratios_and_their_sum():
    values = np.array([5.0, 3.0, 1.0, 0.6, 0.4])
    ax = scree(values)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], values / 10)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.cumsum(values / 10))
    assert ax.get_ylim()[1] >= 1.0


@pytest.mark.parametrize("proportion", [0.5, 0.9, 0.99])
def test_mark_is_the_number_numpy_finds(proportion):
    model = PCA().fit(DIGITS)
    total = np.cumsum(model.explained_variance_ratio_)
    needed = int(np.argmax(total >= proportion)) + 1
    ax = scree(model, proportion=proportion)
    assert f"{needed} components explain {int(100 * total[needed - 1])} %" in legend_texts(ax)
    assert str(needed) in [text.get_text() for text in ax.texts]


def test_elbow_is_drawn_at_its_bar_and_named():
    values = np.array([9.0, 8.0, 7.0, 0.3, 0.2, 0.1])
    ax = scree(values)
    label = next(text for text in ax.texts if text.get_text().startswith("elbow"))
    assert elbow(values) == 3
    np.testing.assert_allclose(label.xy, (3, 7.0 / values.sum()))
    assert any(text.startswith("elbow: 3 components") for text in legend_texts(ax))


def test_a_straight_scree_has_no_elbow():
    assert not any("elbow" in text for text in legend_texts(scree([1.0, 1.0, 1.0, 1.0])))


def test_model_that_stops_early_says_how_much_it_holds():
    model = PCA(10).fit(DIGITS)
    ax = scree(model)
    held = int(100 * model.explained_variance_ratio_.sum())
    assert held < 90
    assert f"10 components explain {held} %" in legend_texts(ax)
    assert "90 %" not in [text.get_text() for text in ax.texts]


def test_hundreds_of_components_are_cut_and_the_cut_is_said():
    ax = scree(0.95 ** np.arange(784))
    assert 45 < len(ax.patches) < 200  # 90 % needs 45
    assert f"the first {len(ax.patches)} of 784" in ax.get_xlabel()
    assert len(scree(0.95 ** np.arange(784), n=784).patches) == 784


@pytest.mark.parametrize("values", [[1.0], [3.0, 1.0], np.ones(5)])
def test_few_components_are_drawn(values):
    ax = scree(values)
    ax.get_figure().canvas.draw()
    assert len(ax.patches) == len(values)


def test_given_axes_come_back_and_nothing_else_changes():
    values = np.array([3.0, 2.0, 1.0])
    before = dict(mpl.rcParams)
    _, ax = plt.subplots()
    assert scree(values, ax=ax) is ax
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(values, [3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scree(PCA()), r"fitted .* PCA has neither\. Call fit"),
        (lambda: scree([[1.0, 2.0]]), r"got shape \(1, 2\)"),
        (lambda: scree([]), r"got shape \(0,\)"),
        (lambda: scree([1.0, -0.5]), r"smallest is -0\.5"),
        (lambda: scree([0.0, 0.0]), r"not all zero"),
        (lambda: scree([1.0, 2.0]), r"must be in descending order; they are not\. Sort"),
        (lambda: scree([2.0, 1.0], proportion=90), r"between 0 and 1; got 90"),
        (lambda: scree([2.0, 1.0], n=0), r"n must be at least 1; got 0"),
    ],
)
def test_errors_say_what_was_needed_what_came_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
