"""The explorer in a real browser: what is drawn, chosen, moved, dropped and saved."""

import base64
import json
import time
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from browser import NO_WEBGL, Browser, Moved, demand_chromium
from matplotlib.path import Path as Outline

import lowdim

pytest.importorskip("starlette", reason="the explorer's server needs lowdim[explore]")
pytest.importorskip("uvicorn", reason="the explorer's server needs lowdim[explore]")
pytest.importorskip("websockets", reason="the explorer's server needs lowdim[explore]")

EVIL = "<img src=x onerror=alert(1)>"
WAIT = 20  # seconds at most for anything to happen
PAGE = "document.getElementById('explorer')?.explorer"


class Tab:
    """A page of the explorer."""

    def __init__(self, browser, place, **window):
        self.browser = browser
        browser.errors.clear()
        browser.requests.clear()
        browser.open(place, **window)
        self.until("e !== undefined && e !== null")
        self.browser.run(f"{PAGE}.ready.then(() => true)")

    def run(self, script):
        """Value of an expression in which `e` is the explorer."""
        return self.browser.run(f"(() => {{ const e = {PAGE}; return {script}; }})()")

    def until(self, script, reason=""):
        end = time.monotonic() + WAIT
        while True:
            with suppress(Moved):
                if found := self.run(script):
                    return found
            assert time.monotonic() < end, reason or script
            time.sleep(0.03)

    def pixels(self, i=0, canvas="base"):
        """Colours of the lower or the upper canvas of a view, row by row."""
        width, height, text = self.run(
            f"(() => {{ const v = e.panes.list[{i}].view; v.resize(); const c = v.{canvas};"
            "const copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height });"
            "const pen = copy.getContext('2d', { willReadFrequently: true }); pen.drawImage(c, 0, 0);"
            "const d = pen.getImageData(0, 0, c.width, c.height).data; let t = '';"
            "for (let k = 0; k < d.length; k += 8192) t += String.fromCharCode(...d.subarray(k, k + 8192));"
            "return [c.width, c.height, btoa(t)]; })()"
        )
        return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)

    def positions(self, i=0):
        """Where each row is drawn in a view, in pixels of the page."""
        return np.array(
            self.run(
                f"(() => {{ const v = e.panes.list[{i}].view, b = v.root.getBoundingClientRect();"
                "return Array.from({ length: e.n }, (_, row) => { const [x, y] = v.at(row);"
                "return [b.left + x, b.top + y]; }); })()"
            )
        )

    def choose(self, outline):
        """Draw around rows with the mouse."""
        self.run("e.take('lasso')")
        self.browser.mouse("Moved", *outline[0])
        self.browser.mouse("Pressed", *outline[0])
        for x, y in outline[1:]:
            self.browser("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left", buttons=1)
        self.browser.mouse("Released", *outline[-1])

    def fit(self, method, **parameters):
        """Start a fit in the view in front and wait for its map."""
        before = self.run("e.maps.size")
        given = {name: value for name, value in parameters.items() if name not in ("dims", "rows", "start")}
        asked = {"method": method, "parameters": given, "dims": 2, "rows": "all", "start": None}
        asked |= {name: parameters[name] for name in ("dims", "rows", "start") if name in parameters}
        self.run(
            f"void e.line.ask('fit', {as_js(asked)}).then((r) => e.started(r, {as_js(asked)}), (x) => e.failed(x))"
        )
        self.until(f"e.maps.size > {before} && e.map.id === Math.max(...e.maps.keys())")


def as_js(value):
    return json.dumps(value)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    demand_chromium("the explorer was not looked at in a real browser")
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def rows():
    X, y = lowdim.data.load("digits")
    return X[:900], y[:900]


@pytest.fixture(scope="module")
def server(rows):
    from lowdim.explorer.opening import open_session
    from lowdim.explorer.server import serving

    X, y = rows
    names = np.array([EVIL, "other"], dtype=object)[y % 2]
    table = {"digit": y.astype(str), "parity": names, "ink": X.sum(axis=1)}
    with serving(open_session(X, table=table, image_shape=(8, 8), title=EVIL)) as made:
        yield made


@pytest.fixture(scope="module")
def tab(browser, server):
    made = Tab(browser, server.address)
    made.until("e.map && e.map.cloud.count && e.map.status === 'done'")
    return made


@pytest.fixture(autouse=True)
def _calm(request):
    """Every test of the shared page starts with one view, nothing chosen, and leaves no complaint."""
    if "tab" not in request.fixturenames:
        yield
        return
    tab = request.getfixturevalue("tab")
    tab.run("(e.panes.arrange(1), e.free(), e.active.camera.home(), e.take('move'), void e.choose(null))")
    tab.until("e.selection === null")
    yield
    assert tab.browser.errors == []


def test_points_are_drawn_and_nothing_is_asked_of_others(tab, server):
    drawn = tab.pixels()
    assert 0.01 < (drawn[..., 3] > 0).mean() < 0.6
    assert len(np.unique(drawn[drawn[..., 3] > 200][:, :3], axis=0)) > 10  # ten classes
    own = f"http://127.0.0.1:{server.port}/"
    assert [url for url in tab.browser.requests if not url.startswith((own, "data:"))] == []
    assert tab.run("document.querySelector('h1').textContent").startswith(EVIL)
    assert tab.run("document.images.length") == 0  # text from the data stays text


def test_a_dragged_group_is_pinned_and_the_map_relaxes(tab, rows):
    _, y = rows
    assert tab.run("e.runs.parameters") == {}  # no anchors unasked
    tab.fit("umap", n_epochs=60)
    tab.until("e.map.method === 'umap' && e.map.status === 'done'")
    group = (y == 0).astype(int).tolist()
    tab.run(f"void e.choose(Uint8Array.from({group}))")
    tab.until("[...e.choice.querySelectorAll('button')].some((one) => one.textContent === 'Pin on the map')")
    before = tab.run("e.map.id")
    start = tab.positions()[y == 0].mean(axis=0)
    tab.run("e.take('drag')")
    tab.browser.mouse("Moved", *start)
    tab.browser.mouse("Pressed", *start)
    for step in (20, 60, 90):
        tab.browser(
            "Input.dispatchMouseEvent", type="mouseMoved", x=start[0] + step, y=start[1], button="left", buttons=1
        )
    assert (tab.pixels(canvas="over")[..., 3] > 0).sum() > 100  # the arrow
    tab.browser.mouse("Released", start[0] + 90, start[1])
    tab.until(f"e.map.id !== {before} && e.map.status === 'done'")
    assert tab.run("e.map.pins") == np.flatnonzero(y == 0).tolist()
    tab.until("e.runs.live.textContent.includes('90 pinned')")
    tab.run(f"(e.drop(e.map), void e.drop(e.maps.get({before})))")
    tab.until(f"!e.maps.has({before})")


def test_the_row_under_the_pointer_is_named_and_click_shows_its_neighbours(tab, rows):
    from sklearn.neighbors import NearestNeighbors

    X, y = rows
    positions = tab.positions()
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2) + 1e9 * np.eye(len(positions))
    row = int(apart.min(axis=1).argmax())  # one that stands alone
    tab.browser.mouse("Moved", *positions[row])
    tab.until(f"e.hover === {row}")
    assert f"row {row + 1}" in tab.run("e.tip.box.textContent")
    tab.until("e.tip.box.querySelector('canvas') !== null")  # its picture
    tab.browser.mouse("Pressed", *positions[row])
    tab.browser.mouse("Released", *positions[row])
    tab.until("e.links !== null && e.rowKnown.cells !== undefined")
    found = NearestNeighbors(n_neighbors=11).fit(X).kneighbors(X[[row]], return_distance=False)[0, 1:]
    assert set(tab.run("[...e.links.index]")) == set(found.tolist())
    assert str(y[row]) in tab.run("e.about.querySelector('.cells').textContent")
    lines = tab.pixels(canvas="over")
    assert (lines[..., 3] > 0).sum() > 200
    torn = tab.run("e.about.querySelectorAll('.torn').length")
    assert torn == 10 - sum(tab.run("[...e.links.kept[e.map.id]]"))
    tab.until("e.moves !== null && e.about.querySelector('.moves') !== null")  # what moves it, and arrows
    assert tab.run("e.about.querySelectorAll('.moves li').length") == 8
    lines = tab.pixels(canvas="over")
    tab.run("e.moves = null; e.panes.remark()")
    assert (tab.pixels(canvas="over")[..., 3] > 0).sum() < (lines[..., 3] > 0).sum()


def test_lasso_selects_the_rows_inside_and_greys_the_others(tab):
    positions = tab.positions()
    middle, reach = np.median(positions, axis=0), 0.6 * positions.std(axis=0).mean()
    outline = [tuple(middle + reach * np.array([np.cos(t), 0.7 * np.sin(t)])) for t in np.linspace(0, 2 * np.pi, 40)]
    before = tab.pixels()
    tab.choose(outline)
    tab.until("e.selected > 0 && !e.choice.hidden")
    chosen = np.array(tab.run("[...e.selection]"), dtype=bool)
    path = Outline([*outline, outline[0]])
    inside, far_in, far_out = (path.contains_points(positions, radius=r) for r in (0, -1.5, 1.5))
    clear = (inside == far_in) & (inside == far_out)  # not within a pixel or two of the line
    assert 20 < chosen.sum() < len(positions)
    assert (chosen == inside)[clear].all()
    colourful = [
        (np.ptp(one[..., :3].astype(int), axis=2)[one[..., 3] > 100] > 40).sum() for one in (before, tab.pixels())
    ]
    assert colourful[1] < 0.8 * colourful[0]
    assert tab.run("e.choice.querySelector('h2').textContent") == f"{chosen.sum()} rows"
    tab.run("e.table.toggle()")
    tab.until(f"e.table.told.textContent.endsWith('of {chosen.sum()}')")
    tab.run("e.table.toggle()")
    tab.run("e.root.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))")
    assert tab.run("e.selection") is None


def test_live_frames_move_the_points_and_a_fit_pauses_and_goes_on(tab):
    tab.fit("umap", n_epochs=40_000)  # too long to end by itself
    tab.until("e.map.method === 'umap' && e.map.frames >= 1")
    first = tab.pixels()[..., 3] > 0
    frames = tab.run("e.map.frames")
    tab.until(f"e.map.frames >= {frames + 3}")
    assert (first != (tab.pixels()[..., 3] > 0)).mean() > 0.005
    tab.run("void e.line.ask('stop', { map: e.map.id })")
    tab.fit("umap", n_epochs=40_000)
    tab.until("e.map.frames >= 2 && e.map.iteration > 0")
    press = "(words) => [...e.runs.live.querySelectorAll('button')].find((b) => b.textContent === words).click()"
    tab.run(f"({press})('Pause')")
    tab.until("e.map.status === 'paused'")
    tab.until("e.status.textContent === `${e.map.title} is paused`")
    at = tab.run("e.map.iteration")
    tab.run(f"({press})('Continue')")
    tab.until(f"e.map.iteration > {at} && e.map.status === 'running' && e.map.loss && e.map.loss.values.length > 1")
    assert tab.run("document.querySelector('.loss polyline') !== null")
    tab.run(f"({press})('Stop')")
    tab.until("e.map.status === 'stopped'")


def test_views_are_linked(tab):
    tab.run("e.panes.arrange(2)")
    tab.until("e.panes.list.length === 2 && e.panes.list.every((p) => p.view.map && p.view.map.cloud.count)")
    assert tab.run("e.panes.list[0].view.map !== e.panes.list[1].view.map || e.maps.size === 1")
    before = tab.pixels(1)
    middle = tab.positions(0).mean(axis=0)
    tab.choose([tuple(middle + 60 * np.array(d)) for d in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    tab.until("e.selected > 0")
    assert (tab.pixels(1) != before).any(axis=2).mean() > 0.002  # greyed there as well
    row = tab.run("e.selection.indexOf(1)")
    tab.browser.mouse("Moved", 3, 3)
    tab.run(f"e.hovered(e.panes.list[0].view, {row}, 10, 10)")
    assert all((tab.pixels(i, "over")[..., 3] > 0).sum() > 50 for i in range(2))


def test_colours_legend_and_search_filter(tab, rows):
    _, y = rows
    tab.run("void e.colourBy('parity')")
    tab.until("e.legend.name === 'parity'")
    assert tab.run("e.legend.list.textContent").startswith(EVIL)
    assert tab.run("e.root.querySelectorAll('.legend img').length") == 0
    tab.run("e.legend.list.querySelector('button').click()")
    assert tab.run("e.inkOfColumn.filtered")
    assert tab.run("e.legend.list.querySelector('button').getAttribute('aria-pressed')") == "true"
    tab.run("void e.colourBy('ink')")
    tab.until("e.legend.name === 'ink' && e.root.querySelector('.legend .ramp') !== null")
    tab.run("void e.colourBy('digit')")
    tab.until("e.legend.name === 'digit' && !e.inkOfColumn.filtered")
    tab.run("void e.search('onerror')")
    tab.until(f"e.selected === {int((y % 2 == 0).sum())}")
    tab.run("void e.misplaced(e.map, 'missing')")
    tab.until("e.map.overlay && !e.panes.list[0].key.hidden")
    tab.run("void e.misplaced(e.map, null)")


def test_islands_have_names_that_do_not_cover_each_other(tab):
    before = (tab.pixels(canvas="over")[..., 3] > 0).sum()
    tab.run("void e.nameIslands(e.map)")
    tab.until("e.map.names && e.map.names.length > 1 && e.panes.active.view.named > 0")
    assert (tab.pixels(canvas="over")[..., 3] > 0).sum() > before + 100
    tab.run("e.nameIslands(e.map)")
    tab.until("!e.map.names")


def test_labels_become_a_column(tab):
    mask = "Uint8Array.from({ length: e.n }, (_, i) => (i < 40 ? 1 : 0))"
    tab.run(f"void e.choose({mask}).then(() => e.label('mine', '{EVIL}'))")
    tab.until("e.legend.name === 'mine'")
    assert tab.run("[...e.legend.counts]") == [40, 860]


def drop(tab, name, text):
    tab.run(
        f"(() => {{ const held = new DataTransfer(); held.items.add(new File([{as_js(text)}], {as_js(name)}));"
        "e.root.dispatchEvent(new DragEvent('drop', { dataTransfer: held, bubbles: true, cancelable: true })); })()"
    )


def test_a_dropped_file_is_placed_and_a_wrong_one_is_refused(tab, rows):
    X, _ = rows
    head = ",".join(f"x{j}" for j in range(64))
    tab.run("e.panes.show(0, [...e.maps.values()].find((m) => m.method === 'pca'))")
    drop(tab, "new.csv", "\n".join([head, *(",".join(f"{v:g}" for v in row) for row in X[:6])]))
    tab.until("e.map.placed.length === 1 || e.notices.textContent", "the file was not placed")
    assert tab.run("e.notices.textContent") == ""
    placed = np.array(tab.run("[...e.map.placed[0].positions]")).reshape(6, 2)
    own = np.array(tab.run("[0, 1, 2, 3, 4, 5].map((i) => e.map.cloud.at(i, 1).slice(0, 2))"))
    np.testing.assert_allclose(placed, own, atol=2e-3 * np.abs(own).max())
    assert "6 placed" in tab.run("e.panes.list[0].told.textContent")
    tab.run("e.map.placed.splice(0)")
    tab.run(  # the same by a button, which needs no menu
        "(() => { const held = new DataTransfer(); held.items.add(new File(["
        + as_js("\n".join([head, ",".join(f"{v:g}" for v in X[9])]))
        + "], 'one.csv')); const shown = [...e.root.querySelectorAll('.top > span > button')];"
        "const input = shown.find((one) => one.offsetWidth > 0).nextElementSibling;"
        "input.files = held.files; input.dispatchEvent(new Event('change')); })()"
    )
    tab.until("e.map.placed.length === 1 && e.map.placed[0].trust.length === 1")
    drop(tab, "wrong.csv", "a,b\n1,2\n")
    assert tab.until("e.notices.textContent")
    assert tab.run("e.status.textContent") == "wrong.csv was not placed"
    drop(tab, "what.exe", "x")
    tab.until("e.notices.textContent.includes('csv, parquet or npy')")
    tab.run("e.notices.replaceChildren()")
    tab.run("e.map.placed.splice(0)")


def test_a_fit_that_fails_is_told_and_the_page_lives_on(tab):
    tab.run("e.notices.replaceChildren()")
    asked = as_js({"method": "tsne", "parameters": {"perplexity": -5}, "dims": 2, "rows": "all", "start": None})
    tab.run(f"void e.line.ask('fit', {asked}).then((r) => e.started(r, {asked}), (x) => e.failed(x))")
    tab.until("e.notices.textContent.includes('perplexity') || (e.map.message || '').includes('perplexity')")
    tab.run("e.notices.replaceChildren()")
    tab.fit("pca", dims=3)
    tab.until("e.map.dims === 3 && e.map.cloud.count")
    first = tab.pixels()[..., 3] > 0
    assert first.mean() > 0.01
    tab.run("(e.active.camera.turn(120, 0), e.active.changed())")
    assert (first != (tab.pixels()[..., 3] > 0)).mean() > 0.002
    assert tab.run("e.active.pick(...e.active.at(5).slice(0, 2), 3) >= 0")


def test_maps_are_named_by_their_parameters(tab):
    tab.fit("isomap", n_neighbors=7)
    tab.until("e.map.status === 'done'")
    assert tab.run("e.map.title") == "Isomap n neighbors 7"
    assert "n neighbors 7" in tab.run("e.runs.live.textContent")
    tab.fit("isomap", n_neighbors=7)
    tab.until("e.map.status === 'done'")
    assert tab.run("e.map.title") == "Isomap n neighbors 7 (2)"
    tab.run("[...e.maps.values()].filter((m) => m.method === 'isomap').forEach((m) => e.drop(m))")
    tab.until("[...e.maps.values()].filter((m) => m.method === 'isomap').length === 0")


def test_colours_of_numbers_by_logarithm_and_by_quantiles(tab, rows):
    ink = np.asarray(rows[0].sum(axis=1), np.float32)
    tab.run("void e.colourBy('ink')")
    tab.until("e.legend.name === 'ink'")
    assert tab.run("[...e.legend.list.querySelectorAll('select option')].map((o) => o.value)") == [
        "linear", "log", "quantiles",
    ]  # fmt: skip
    low, high = ink.min(), ink.max()
    want = {"linear": (ink - low) / (high - low), "log": np.log(ink / low) / np.log(high / low)}
    for scale, share in want.items():
        tab.run(f"e.legend.rescale('{scale}')")
        shades = np.array(tab.run("[...e.legend.shades]"))
        np.testing.assert_allclose(shades, 254 * share, atol=0.51)
        middle = tab.run("e.legend.value(127)")
        np.testing.assert_allclose(middle, (low + high) / 2 if scale == "linear" else np.sqrt(low * high), rtol=1e-3)
    tab.run("e.legend.rescale('quantiles')")
    shades = np.array(tab.run("[...e.legend.shades]"))
    assert np.abs(np.quantile(shades, [0.25, 0.5, 0.75]) - [63.5, 127, 190.5]).max() < 3
    assert (np.diff(shades[np.argsort(ink, kind="stable")]) >= 0).all()
    np.testing.assert_allclose(tab.run("e.legend.value(127)"), np.median(ink), rtol=5e-3)
    assert tab.run("e.state().scale") == "quantiles"
    tab.run("e.legend.rescale('linear')")


def test_facts_of_a_selection_are_not_cut(tab):
    tab.run("void e.choose(Uint8Array.from({ length: e.n }, (_, i) => (i % 3 === 0 ? 1 : 0)))")
    tab.until("e.choice.querySelector('.quality') !== null")
    assert tab.run("e.maps.size") > 3
    heads = tab.run("[...e.choice.querySelectorAll('.quality tbody th')].map((one) => one.textContent)")
    assert heads == ["trustworthiness", "continuity", "neighbors kept"]
    side, box = tab.run(
        "['.side', '.wide'].map((name) => e.root.querySelector(name)).map((b) => [b.scrollWidth, b.clientWidth])"
    )
    assert side[0] == side[1]
    assert tab.run("getComputedStyle(e.choice.querySelector('.wide')).overflowX") == "auto"  # all of them in reach
    assert box[1] > 200


def test_long_names_that_begin_alike_stay_apart(browser, rows):
    from lowdim.explorer.opening import open_session
    from lowdim.explorer.server import serving

    X, y = rows
    names = np.array([f"a population of cells with a very long name, of donor {i}" for i in range(10)])[y[:200]]
    with serving(open_session(X[:200], names)) as made:
        tab = Tab(browser, made.address)
        tab.until("e.map && e.map.cloud.count && e.legend.name === 'label'")
        ends = tab.run(
            "[...e.legend.list.querySelectorAll('.name')].map((one) => { const end = one.querySelector('.end'), "
            "start = one.querySelector('.start'), room = one.closest('button').getBoundingClientRect();"
            "const inside = end.getBoundingClientRect().right <= room.right;"
            "return [end.textContent, inside, start.scrollWidth > start.clientWidth]; })"
        )
        assert len({end for end, _, _ in ends}) == 10
        assert all(inside and cut for _, inside, cut in ends)
        assert tab.run("e.legend.list.querySelector('.name').textContent") == names[y[:200] == 0][0]  # for readers


def test_on_a_phone_nothing_lies_over_anything_else(browser, server):
    tab = Tab(browser, server.address, width=390, height=844)
    tab.until("e.map && e.map.cloud.count")
    tab.run("void e.choose(Uint8Array.from({ length: e.n }, (_, i) => (i % 3 === 0 ? 1 : 0)))")
    tab.until("!e.choice.hidden")
    boxes = tab.run(
        "['.top', '.stage', '.rows', '.side', '.status'].map((name) => "
        "{ const b = e.root.querySelector(name).getBoundingClientRect(); return [b.top, b.bottom]; })"
    )
    assert all(above[1] <= below[0] + 1 for above, below in pairwise(boxes[:4]))
    assert tab.run("getComputedStyle(e.status).backgroundColor") not in ("rgba(0, 0, 0, 0)", "transparent")
    assert boxes[4][1] <= 844  # in sight
    tab.run("e.root.scrollTop = 1e6")
    end, status = tab.run(
        "[e.root.querySelector('.side').lastChild.getBoundingClientRect().bottom, e.status.getBoundingClientRect().top]"
    )
    assert end <= status + 1
    assert tab.run("e.root.scrollWidth === e.root.clientWidth")


def test_keys_walk_the_map_and_night_falls(tab):
    tab.run("e.panes.show(0, [...e.maps.values()].find((m) => m.method === 'pca' && m.dims === 2))")
    tab.run("e.panes.list[0].plot.focus()")
    tab.browser.key("ArrowRight")
    first = tab.until("e.hover >= 0 && e.hover + 1") - 1
    tab.browser.key("ArrowRight")
    second = tab.run("e.hover")
    assert tab.run(f"e.active.at({second})[0] > e.active.at({first})[0]")
    assert f"row {second + 1}" in tab.run("e.status.textContent")
    tab.browser.key("Enter")
    tab.until(f"e.pinned === {second}")
    tab.browser.key("Escape")
    assert tab.run("e.pinned") == -1
    tab.run("e.root.querySelector('.theme').click()")
    assert tab.run("getComputedStyle(e.root).backgroundColor") == "rgb(18, 21, 26)"
    assert (tab.pixels()[..., 3] > 0).mean() > 0.01
    tab.run("e.root.querySelector('.theme').click()")


def test_a_saved_page_works_from_disk_and_without_a_server(browser, server, tmp_path):
    tab = Tab(browser, server.address)
    tab.until("e.map && e.map.cloud.count")
    tab.fit("pca", standardize=True)
    tab.until("e.map.status === 'done'")
    head = ",".join(f"x{j}" for j in range(64))
    drop(tab, "new.csv", "\n".join([head, ",".join(["1"] * 64), ",".join(["2"] * 64)]))
    tab.until("e.map.placed.length === 1")
    tab.run("void e.choose(Uint8Array.from({ length: e.n }, (_, i) => (i % 3 === 0 ? 1 : 0)))")
    tab.until("e.selected === 300")
    tab.run("void e.label('kept', 'every third')")
    tab.until("e.legend.name === 'kept'")
    placed = tab.run("[...e.map.placed[0].positions, ...e.map.placed[0].trust]")
    tab.run("void e.colourBy('parity')")
    tab.run("void e.misplaced(e.map, 'false')")
    tab.until("e.map.overlay && e.legend.name === 'parity'")
    tab.run(
        "void e.line.ask('export', { what: 'page', format: 'html', map: e.map.id, view: e.state() })"
        ".then((r) => { e.page = new TextDecoder().decode(r.arrays.bytes); }, (x) => e.failed(x))"
    )
    tab.until("e.page || e.notices.textContent")
    assert tab.run("e.notices.textContent") == ""
    path = tmp_path / "kept.html"
    path.write_text(tab.run("e.page"), encoding="utf-8")
    kept = Tab(browser, path)
    kept.until("e.map && e.map.cloud.count && e.selected === 300")
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert (kept.pixels()[..., 3] > 0).mean() > 0.005
    assert kept.run("e.map.overlay.kind") == "false"
    kept.run("void e.misplaced(e.map, null)")
    kept.run("void e.misplaced(e.map, 'missing')")  # both that Python computed are kept
    assert kept.run("e.map.overlay.kind") == "missing"
    assert kept.run("e.notices.textContent") == ""
    assert kept.run("e.map.title") == "PCA standardize true"
    assert kept.run("[...e.map.placed[0].positions, ...e.map.placed[0].trust]") == placed
    assert "2 placed" in kept.run("e.panes.list[0].told.textContent")
    before = (kept.pixels(canvas="over")[..., 3] > 0).sum()
    kept.run("[...e.root.querySelectorAll('.pane button')].find((one) => one.textContent === 'Names').click()")
    kept.until("e.map.names && e.map.names.length > 1 && e.panes.active.view.named > 0")
    assert (kept.pixels(canvas="over")[..., 3] > 0).sum() > before + 100
    assert kept.run("e.map.names.some((one) => one.name === 'other')")  # of the colours it was saved with
    kept.run("e.nameIslands(e.map)")
    kept.run("void e.colourBy('kept')")
    kept.until("e.legend.name === 'kept'")
    assert kept.run("e.legend.list.textContent").startswith("every third300")
    assert kept.run("e.choice.querySelector('h2').textContent") == "300 rows"
    kept.run("void e.search('other')")
    kept.until("e.selected > 0 && e.selected !== 300")
    kept.run("void e.hold(7)")
    kept.until("e.rowKnown && e.rowKnown.cells")
    assert kept.run("e.root.querySelector('.making').hidden === !e.computes")
    assert browser.errors == []


def saved_page(tab, path):
    """The page as it is now, written to a file and opened from there."""
    tab.run(
        "void e.line.ask('export', { what: 'page', format: 'html', map: e.map.id, view: e.state() })"
        ".then((r) => { e.page = new TextDecoder().decode(r.arrays.bytes); }, (x) => e.failed(x))"
    )
    tab.until("e.page || e.notices.textContent")
    assert tab.run("e.notices.textContent") == ""
    path.write_text(tab.run("e.page"), encoding="utf-8")
    kept = Tab(tab.browser, path)
    kept.until("e.map && e.map.cloud.count")
    return kept


@pytest.mark.parametrize("computes", [True, False])
def test_pins_are_kept_by_a_saved_page(browser, server, tmp_path, computes, monkeypatch):
    if not computes:
        monkeypatch.setattr("lowdim.explorer.computing_pages.compute_message", lambda *_: (None, "it does not"))
    tab = Tab(browser, server.address)
    tab.until("e.map && e.map.cloud.count && e.map.status === 'done'")
    tab.fit("umap", n_epochs=30)
    tab.until("e.map.method === 'umap' && e.map.status === 'done'")
    tab.run("void e.choose(Uint8Array.from({ length: e.n }, (_, i) => (i % 9 === 0 ? 1 : 0)))")
    tab.until("e.selected === 100 && !e.choice.hidden")
    before = tab.run("e.map.cloud.at(0, 1)[0]")
    tab.run("void e.pinning('pin', e.map, [3, -1])")
    tab.until(f"e.map.pins.length === 100 && e.map.cloud.at(0, 1)[0] > {before} + 2.9")
    tab.run("void e.choose(null)")
    rows = tab.run("e.map.pins")
    assert rows == list(range(0, 900, 9))
    places = tab.run("[...e.map.cloud.at(0, 1), ...e.map.cloud.at(1, 1)]")
    drawn = (tab.pixels(canvas="over")[..., 3] > 0).sum()
    kept = saved_page(tab, tmp_path / "pinned.html")
    assert kept.run("Boolean(e.computes)") == computes
    assert kept.run("e.map.pins") == rows
    assert kept.run("[...e.map.cloud.at(0, 1), ...e.map.cloud.at(1, 1)]") == pytest.approx(places, abs=1e-3)
    assert (kept.pixels(canvas="over")[..., 3] > 0).sum() > 0.5 * drawn > 100
    assert browser.errors == []


@pytest.fixture(scope="module")
def sequence(rows):
    X, y = rows
    tables = [X[:400], X[100:500], X[100:600]]
    relations = [(range(300), range(100, 400)), (range(400), range(400))]
    maps = lowdim.aligned(tables, relations, "umap", n_epochs=60)
    return maps, [y[:400], y[100:500], y[100:600]]


def test_a_slider_moves_through_a_sequence_and_rows_in_common_glide(browser, sequence, tmp_path):
    from lowdim.explorer.opening import open_sequence
    from lowdim.explorer.server import serving

    maps, y = sequence
    session = open_sequence(maps, y=y, image_shape=(8, 8), title="days")
    assert session.n == 600
    with serving(session) as server:
        tab = Tab(browser, server.address)
        tab.until("e.map && e.map.cloud.count && e.sequence().every((map) => map.cloud.count)")
        assert tab.run("e.map.title") == "UMAP 1"
        assert tab.run("e.root.querySelector('.walk output').textContent") == "1 of 3"
        assert tab.run("[e.map.cloud.has(99), e.map.cloud.has(500)]") == [True, False]
        tab.run("e.panes.active.view.refresh(true)")
        first = tab.positions()
        lively = [{"name": "prefers-reduced-motion", "value": "no-preference"}]
        browser("Emulation.setEmulatedMedia", features=lively)
        slow = "function (map) { e.slow.call(this, map, 9); }"
        tab.run(f"(e.slow = e.panes.active.view.glide, e.panes.active.view.glide = {slow})")
        walk = "e.root.querySelector('.walk input')"
        tab.run(f"({walk}.value = '1', {walk}.dispatchEvent(new Event('input')))")
        assert tab.run("e.map.title") == "UMAP 2"
        tab.run("(e.panes.active.view.pace.start = performance.now() - 4500, e.panes.active.view.draw())")
        middle = tab.positions()
        tab.run("(e.panes.active.view.pace.start = -1e9, e.panes.active.view.refresh(true))")
        browser("Emulation.setEmulatedMedia", features=[lively[0] | {"value": "reduce"}])
        last = tab.positions()
        common = slice(100, 400)
        far = np.linalg.norm(last - first, axis=1)[common]
        assert np.median(far) > 1
        expected = (first + last)[common] / 2
        np.testing.assert_allclose(middle[common], expected, atol=0.15 * far.max() + 2)
        both = lowdim.procrustes(last[common], like=maps[1][:300])
        assert both.residual < 1e-3  # what is shown is the second map
        tab.run(f"({walk}.focus())")
        tab.browser.key("ArrowRight")
        tab.until("e.map.title === 'UMAP 3'")
        assert tab.run("[e.map.cloud.has(99), e.map.cloud.has(599)]") == [False, True]
        tab.browser.shoot(tmp_path / "days.png")
        kept = saved_page(tab, tmp_path / "days.html")
    assert kept.run("e.map.title") == "UMAP 3"
    assert kept.run("e.root.querySelector('.walk output').textContent") == "3 of 3"
    kept.run(f"({walk}.value = '0', {walk}.dispatchEvent(new Event('input')))")
    assert kept.run("e.map.title") == "UMAP 1"
    assert kept.run("[e.map.cloud.has(99), e.map.cloud.has(500)]") == [True, False]
    assert browser.errors == []


def test_without_webgl_there_is_a_message_and_a_picture(browser, server):
    script = browser("Page.addScriptToEvaluateOnNewDocument", source=NO_WEBGL)["identifier"]
    try:
        tab = Tab(browser, server.address)
        tab.until("e.root.querySelector('.plot img')?.naturalWidth > 100 || e.notices.textContent")
        assert tab.run("e.notices.textContent") == ""
        assert "WebGL2" in tab.run("e.root.querySelector('.plot').textContent")
        assert browser.errors == []
    finally:
        browser("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def test_a_closed_server_is_told(browser, rows):
    from lowdim.explorer.opening import open_session
    from lowdim.explorer.server import serving

    with serving(open_session(rows[0][:50])) as made:
        tab = Tab(browser, made.address)
        tab.until("e.map && e.map.cloud.count")
    tab.until("e.notices.textContent.includes('closed')")
    tab.run("e.line.ask('hello').catch((x) => { e.refused = x.message; })")
    tab.until("e.refused")


def test_the_page_is_small_and_wears_the_colours_of_the_house():
    from lowdim.explorer.page_source import static
    from lowdim.show import style

    page = {name: static()[name] for name in ("index.html", "start.js", "app.js", "app.css")}
    assert sum(map(len, page.values())) < 300_000
    css = page["app.css"].decode()
    for i, (day, night) in enumerate(zip(style.PALETTE, style.NIGHT, strict=True)):
        assert f"--c{i}: light-dark({day}, {night});" in css


def test_the_widget_speaks_through_the_model_of_a_notebook(browser, server):
    tab = Tab(browser, server.address)
    browser.run(
        "import('/app.js').then(({ default: widget }) => {"
        "const socket = new WebSocket(location.href.replace('http', 'ws') + 'ws'); socket.binaryType = 'arraybuffer';"
        "const model = { send: (content, _, buffers) => socket.send(buffers[0]), on: (name, heard) =>"
        "socket.addEventListener('message', (event) => heard({}, [new DataView(event.data)])) };"
        "const el = document.body.appendChild(document.createElement('div'));"
        "return new Promise((open) => { socket.onopen = () => { widget.render({ model, el });"
        "window.cell = el.firstChild; open(window.cell.explorer.ready.then(() => true)); }; }); })"
    )
    tab.until("window.cell.explorer.map && window.cell.explorer.map.cloud.count === 900")
    assert tab.run("window.cell.querySelector('.plot canvas').width > 100")
    assert browser.errors == []


@pytest.mark.parametrize("kernel", [True, False])
def test_a_widget_without_a_kernel_is_the_picture_that_python_drew(kernel, browser, server):
    tab = Tab(browser, server.address)
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    browser.run(
        "import('/app.js').then(({ default: widget }) => {"
        "const socket = new WebSocket(location.href.replace('http', 'ws') + 'ws'); socket.binaryType = 'arraybuffer';"
        f"const model = {{ get: () => '{pixel}', send: (_, __, parts) => {as_js(kernel)} && socket.send(parts[0]),"
        "on: (name, heard) => socket.addEventListener('message', (event) => heard({}, [new DataView(event.data)])) };"
        "const el = document.body.appendChild(document.createElement('div'));"
        "return new Promise((open) => { socket.onopen = () => { widget.render({ model, el }); "
        "window.kept = el; open(el.querySelector('img').decode().then(() => true)); }; }); })"
    )
    if kernel:
        tab.until("window.kept.querySelector('.plot canvas')?.width > 100")
        tab.until("window.kept.querySelector('img') === null")
        assert tab.run("window.kept.firstChild.explorer.map.cloud.count") == 900
    else:
        time.sleep(0.3)
        assert tab.run("window.kept.querySelector('img').naturalWidth") == 1
        assert tab.run("window.kept.firstChild.offsetHeight") == 0
    assert browser.errors == []
