import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA

from lowdim.show import components

DIGITS = PCA(20).fit(load_digits().data)
WINE = PCA(4).fit(load_wine(as_frame=True).data)


def test_pictures_hold_the_mean_and_the_loadings():
    ax = components(DIGITS, image_shape=(8, 8))
    assert len(ax.images) == 16
    np.testing.assert_allclose(ax.images[0].get_array(), DIGITS.mean_.reshape(8, 8))
    for image, loading in zip(ax.images[1:], DIGITS.components_, strict=False):
        np.testing.assert_allclose(image.get_array(), loading.reshape(8, 8))
        low, high = image.get_clim()
        assert low == -high == -np.abs(loading).max()


def test_pictures_do_not_overlap_and_stay_inside():
    ax = components(DIGITS, image_shape=(4, 16), n=7)
    boxes = [image.get_extent() for image in ax.images]  # left, right, lower, upper, with y downwards
    for i, (a, b, c, d) in enumerate(boxes):
        assert ax.get_xlim()[0] <= a < b <= ax.get_xlim()[1]
        assert ax.get_ylim()[1] <= d < c <= ax.get_ylim()[0]
        np.testing.assert_allclose((c - d) / (b - a), 4 / 16)
        for e, f, g, h in boxes[:i]:
            assert f <= a or b <= e or g <= d or c <= h


def test_captions_name_the_output_columns_and_their_share():
    ax = components(DIGITS, image_shape=(8, 8), n=2)
    share = 100 * DIGITS.explained_variance_ratio_[0]
    assert [text.get_text() for text in ax.texts][:2] == ["mean", f"pca0, {share:.1f} %"]
    assert len(components(DIGITS, image_shape=(8, 8), n=2, mean=False).images) == 2


def test_captions_are_no_wider_than_their_pictures():
    _, axes = plt.subplots(1, 3, figsize=(9, 3))
    ax = components(DIGITS, image_shape=(8, 8), ax=axes[1])
    ax.get_figure().canvas.draw()
    for image, text in zip(ax.images, ax.texts, strict=True):
        assert text.get_window_extent().width <= image.get_window_extent().width * 1.05


def test_bars_are_the_largest_loadings_in_order():
    ax = components(WINE, n=2, top=3)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(2, 3)
    for j, row in enumerate(WINE.components_[:2]):
        chosen = np.argsort(-np.abs(row))[:3]
        np.testing.assert_allclose(widths[j], row[chosen])
        assert names[3 * j : 3 * j + 3] == list(WINE.feature_names_in_[chosen])


def test_names_are_given_seen_or_numbered():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)) * [3, 2, 1], columns=["a", "b", "c"])
    assert components(PCA().fit(frame), n=1).get_yticklabels()[0].get_text() == "a"
    model = PCA().fit(frame.to_numpy())
    assert components(model, n=1).get_yticklabels()[0].get_text() == "x0"
    assert components(model, n=1, names=["u", "v", "w"]).get_yticklabels()[0].get_text() == "u"


def test_given_axes_come_back_and_nothing_else_changes():
    kept = DIGITS.components_.copy()
    before = dict(mpl.rcParams)
    for shape in ((8, 8), None):
        figure, ax = plt.subplots()
        assert components(DIGITS, image_shape=shape, ax=ax) is ax
        assert figure.axes == [ax]
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(DIGITS.components_, kept)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: components(PCA()), r"fitted .* PCA has none\. Call fit"),
        (lambda: components(DIGITS, image_shape=(8, 9)), r"64 pixels .* got \(8, 9\)\. Pass the shape"),
        (lambda: components(WINE, names=["a"]), r"one name per feature \(13\); got 1"),
        (lambda: components(WINE, n=0), r"at least 1; got n=0"),
    ],
)
def test_errors_say_what_was_needed_what_came_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("wrong", [{"image_shape": 8}, {"image_shape": (-8, -8)}, {"n": 2.5}, {"top": 0}])
def test_shapes_and_counts_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="components: .*; got .*"):
        components(PCA(2).fit(load_digits().data), **wrong)
