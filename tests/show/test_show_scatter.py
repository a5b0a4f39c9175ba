import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb

from lowdim.data.categories import read_labels
from lowdim.show import scatter, style

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(300, 2))


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def n_drawn(ax):
    return sum(len(c.get_offsets()) for c in drawn(ax))


def test_showing_loads_matplotlib_only_when_it_draws():
    probe = "import sys, lowdim.show, lowdim.show.report; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@pytest.mark.parametrize("width", [1, 2, 3])
def test_every_sample_is_drawn_once_where_it_lies(width):
    Y = RNG.normal(size=(120, width))
    ax = scatter(Y, np.arange(120) % 3)
    assert n_drawn(ax) == 120
    points = drawn(ax)[0]
    found = np.column_stack(points._offsets3d) if width == 3 else np.asarray(points.get_offsets())
    order = np.argsort(found[:, 0])
    np.testing.assert_allclose(found[order][:, 0], np.sort(Y[:, 0]))
    if width == 2:
        np.testing.assert_allclose(found[order], Y[np.argsort(Y[:, 0])])


def test_colours_follow_the_labels_and_the_legend_agrees():
    y = np.arange(300) % 10
    ax = scatter(PLANE, y)
    points = drawn(ax)[0]
    where = {tuple(np.round(p, 9)): label for p, label in zip(PLANE, y, strict=True)}
    seen = {}
    for place, color in zip(points.get_offsets(), points.get_facecolors(), strict=True):
        seen.setdefault(where[tuple(np.round(place, 9))], set()).add(tuple(color[:3]))
    assert all(len(colors) == 1 for colors in seen.values())
    assert len({next(iter(colors)) for colors in seen.values()}) == 10
    for handle, label in zip(ax.get_legend().legend_handles, legend_texts(ax), strict=True):
        np.testing.assert_allclose(to_rgb(handle.get_color()), next(iter(seen[int(label)])))


@pytest.mark.parametrize("palette", [style.PALETTE, style.NIGHT])
def test_palettes_stay_distinct_under_every_colour_vision(palette):
    # Machado et al. (2009), full severity; distances in OKLab
    vision = [
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    ]
    to_lms = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
    to_lab = [
        [0.21045426, 0.79361778, -0.00407205],
        [1.9779985, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    rgb = np.array([to_rgb(color) for color in palette])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    assert len(rgb) >= 10
    for matrix in vision:
        seen = np.clip(linear @ np.transpose(matrix), 0, 1)
        lab = np.cbrt(seen @ np.transpose(to_lms)) @ np.transpose(to_lab)
        distance = np.linalg.norm(lab[:, None] - lab[None], axis=-1) + 9 * np.eye(len(lab))
        assert distance.min() > 0.1


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (np.arange(300) % 7, "categories"),
        (np.arange(300) % 50, "categories"),
        (np.arange(300) % 51, "values"),
        (np.linspace(0, 1, 300), "values"),
        ((np.arange(300) % 3).astype(float), "categories"),
        (np.arange(300) % 2 == 0, "categories"),
        (np.array(["a", "b", "c"] * 100), "categories"),
        (["x", None] * 150, "categories"),
        ([1.5, None, 2.25] * 100, "values"),
        (pd.Series(["u", "v", pd.NA] * 100, dtype="string"), "categories"),
        (pl.Series(["u", "v", None] * 100), "categories"),
        (pl.Series([1, 2, None] * 100), "categories"),
    ],
)
def test_labels_are_categories_or_values_by_the_documented_rule(y, kind):
    read = read_labels(y, 300)
    assert type(read).__name__.lower() == kind
    ax = scatter(PLANE, y)
    assert (ax.get_legend() is not None) == (kind == "categories")
    assert len(ax.get_figure().axes) == (1 if kind == "categories" else 2)  # the second holds the colour bar


def test_kind_overrules_the_rule():
    assert scatter(PLANE, np.arange(300) % 4, kind="values").get_legend() is None
    assert legend_texts(scatter(PLANE, np.arange(300) % 2 + 0.5, kind="categories")) == ["0.5", "1.5"]


def test_colour_bar_spans_the_values_and_carries_their_name():
    ax = scatter(PLANE, pd.Series(np.linspace(-2, 5, 300), name="height"))
    bar = ax.get_figure().axes[1]
    assert bar.get_ylabel() == "height"
    np.testing.assert_allclose(bar.get_ylim(), (-2, 5))


def test_missing_labels_are_grey_and_beneath():
    y = np.array(["a", "b", None] * 100, dtype=object)
    ax = scatter(PLANE, y)
    assert legend_texts(ax) == ["a", "b", "no label"]
    lowest = min(drawn(ax), key=lambda c: c.get_zorder())
    assert len(lowest.get_offsets()) == 100
    np.testing.assert_allclose(lowest.get_facecolors()[:, :3], [to_rgb(style.MISSING)] * 100)
    assert n_drawn(ax) == 300


def test_beyond_twenty_categories_the_most_frequent_are_named():
    y = np.r_[np.repeat([f"c{i}" for i in range(25)], 10), ["c24"] * 50]
    ax = scatter(PLANE, y)
    texts = legend_texts(ax)
    assert len(texts) == 21
    assert texts[-1] == "… and 5 more"
    assert "c24" in texts
    assert texts[:3] == ["c0", "c1", "c2"]
    assert n_drawn(ax) == 300
    for axes in (ax, plt.subplots(2, 1)[1][0]):  # in small Axes it has two columns
        scatter(PLANE, y, ax=axes)
        axes.figure.canvas.draw()
        legend, box = axes.get_legend().get_window_extent(), axes.get_window_extent()
        assert legend.height < 1.4 * box.height


def test_order_of_categories_is_theirs_or_natural():
    assert legend_texts(scatter(PLANE, ["b10", "b2", "a"] * 100)) == ["a", "b2", "b10"]
    sizes = pd.Categorical(["low", "high", "mid"] * 100, categories=["low", "mid", "high"], ordered=True)
    assert legend_texts(scatter(PLANE, pd.Series(sizes))) == ["low", "mid", "high"]


def test_names_replace_labels():
    assert legend_texts(scatter(PLANE, np.arange(300) % 2, names={0: "cat", 1: "dog"})) == ["cat", "dog"]
    assert legend_texts(scatter(PLANE, np.arange(300) % 2, names=["cat", "dog"])) == ["cat", "dog"]
    with pytest.raises(ValueError, match=r"one name per category \(2\); got 3"):
        scatter(PLANE, np.arange(300) % 2, names=["a", "b", "c"])


def test_legend_lies_outside_the_axes_with_and_without_a_layout_engine():
    for layout in (None, "constrained"):
        figure, ax = plt.subplots(layout=layout)
        scatter(PLANE, np.arange(300) % 5, ax=ax)
        figure.canvas.draw()
        box = ax.get_legend().get_window_extent()
        assert box.x0 >= ax.get_window_extent().x1
        assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda a, columns: pl.DataFrame(a, schema=columns)])
def test_columns_of_a_table_name_the_axes(frame):
    ax = scatter(frame(PLANE, columns=["pca0", "pca1"]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("pca0", "pca1")
    assert len(ax.get_xticks()) == 0


def test_dims_pick_columns():
    Y = RNG.normal(size=(50, 6))
    found = np.asarray(drawn(scatter(Y, dims=(4, 1)))[0].get_offsets())
    np.testing.assert_allclose(found[np.argsort(found[:, 0])], Y[np.argsort(Y[:, 4])][:, [4, 1]])


def test_strips_give_each_category_a_row_of_its_own():
    y = np.array(["a", "b", "c"] * 100)
    ax = scatter(PLANE[:, :1], y)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "c"]
    place = np.asarray(drawn(ax)[0].get_offsets())
    row_of = dict(zip(np.round(PLANE[:, 0], 9), np.arange(300) % 3, strict=True))
    rows = np.array([row_of[x] for x in np.round(place[:, 0], 9)])
    assert np.abs(place[:, 1] + rows).max() < 0.5


def test_given_axes_come_back_and_nothing_else_changes():
    Y, y = PLANE.copy(), np.arange(300) % 3
    before = dict(mpl.rcParams)
    _, (left, right) = plt.subplots(1, 2)
    assert scatter(Y, y, ax=left) is left
    assert not right.collections
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(Y, PLANE)
    assert left.get_aspect() == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scatter(PLANE[:, 0]), r"two dimensions .* got shape \(300,\)\. Reshape"),
        (lambda: scatter(np.zeros((4, 5))), r"1, 2 or 3 columns; got 5\. Pick .* dims=\(0, 1\)"),
        (lambda: scatter(PLANE, dims=(0, 2)), r"between 0 and 1; got \(0, 2\)"),
        (lambda: scatter(PLANE, [1, 2]), r"one label per row of Y \(300\); got shape \(2,\)"),
        (lambda: scatter([[np.nan, 1.0]]), r"finite coordinates; 1 rows hold NaN"),
        (lambda: scatter(np.zeros((0, 2))), r"Y has no rows"),
        (lambda: scatter(PLANE, ["a"] * 300, kind="values"), r"needs numbers"),
        (lambda: scatter(PLANE, [1] * 300, kind="colour"), r"kind must be .* got 'colour'"),
        (lambda: scatter(np.zeros((4, 3)), ax=plt.figure().subplots()), r"3 columns need 3-D Axes; got .*'rectil"),
    ],
)  # fmt: skip
def test_errors_say_what_was_needed_what_came_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_many_points_become_one_small_image(tmp_path: Path, suffix: str):
    Y = RNG.normal(size=(300_000, 2))
    ax = scatter(Y, np.arange(300_000) % 4)
    assert len(ax.images) == 1
    assert n_drawn(ax) == 0
    ax.get_figure().savefig(tmp_path / f"map.{suffix}", dpi=100)
    assert (tmp_path / f"map.{suffix}").stat().st_size < 500_000
    assert legend_texts(ax) == ["0", "1", "2", "3"]


def test_shading_shows_lone_samples_in_their_own_colour_and_covers_all_of_them():
    Y = np.r_[RNG.normal(size=(60_000, 2)), [[20.0, 0.0]]]
    y = np.r_[np.zeros(60_000, dtype=int), 1]
    ax = scatter(Y, y)
    image = ax.images[0]
    left, right, bottom, top = image.get_extent()
    assert left <= Y[:, 0].min() < Y[:, 0].max() <= right
    assert bottom <= Y[:, 1].min() < Y[:, 1].max() <= top
    pixels = np.asarray(image.get_array())
    row = int((0.0 - bottom) / (top - bottom) * pixels.shape[0])
    column = int((20.0 - left) / (right - left) * pixels.shape[1])
    lone = pixels[row, column]
    np.testing.assert_allclose(lone[:3] / 255, to_rgb(style.PALETTE[1]), atol=0.01)
    assert lone[3] > 80
    opaque = pixels[..., 3] > 0
    assert opaque[:, int(pixels.shape[1] * 0.6) : column].sum() == 0  # nothing is drawn where nothing lies


def test_shading_of_values_uses_their_mean_in_each_cell():
    Y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 30_000, axis=0)
    ax = scatter(Y, np.r_[np.tile([0.0, 1.0], 15_000), np.full(30_000, 0.25)])
    pixels = np.asarray(ax.images[0].get_array())
    for corner, value in ((pixels[0, 0], 0.5), (pixels[-1, -1], 0.25)):
        np.testing.assert_allclose(corner[:3] / 255, mpl.colormaps["viridis"](value)[:3], atol=0.01)


def test_many_points_in_space_become_few_markers():
    ax = scatter(RNG.normal(size=(100_000, 3)), np.arange(100_000) % 2)
    assert 0 < len(drawn(ax)[0]._offsets3d[0]) <= 50_000


def test_a_given_size_keeps_markers_at_any_number():
    ax = scatter(RNG.normal(size=(60_000, 2)), size=1.0)
    assert n_drawn(ax) == 60_000


def test_markers_shrink_as_samples_grow():
    sizes = [drawn(scatter(RNG.normal(size=(n, 2))))[0].get_sizes()[0] for n in (100, 1800, 20_000)]
    assert sizes[0] > sizes[1] > sizes[2] > 0.5


def test_degenerate_maps_are_drawn():
    for Y in (np.zeros((1, 2)), np.zeros((5, 1)), np.zeros((3, 3)), np.full((60_000, 2), 7.0)):
        scatter(Y).get_figure().canvas.draw()
    scatter(PLANE, [None] * 300).get_figure().canvas.draw()
    scatter(PLANE, np.full(300, np.nan), kind="values").get_figure().canvas.draw()
