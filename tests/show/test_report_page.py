"""The report of a comparison: whole, escaped, small, and alive in a real browser."""

import base64
import json
import re
import runpy
from dataclasses import replace
from datetime import datetime
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser import Browser, demand_chromium

import lowdim
from lowdim.data.categories import read_labels
from lowdim.show import computing
from lowdim.show.report import assembly, charts, encoded_maps
from lowdim.show.report.html_pieces import code, heading, paragraph, table
from lowdim.solve.procrustes import motion

EVIL = '</script><script>alert("x")</script> & co'
VOID = {"meta", "img", "br", "link"}


class Balance(HTMLParser):
    """Fails on a tag that closes what is not open."""

    def __init__(self):
        super().__init__()
        self.open, self.ids = [], []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def unpacked(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


@pytest.fixture(scope="module")
def comparison():
    X, y = lowdim.data.load("digits")
    chosen = np.arange(0, len(X), 6)
    return lowdim.compare(X[chosen], y[chosen], ["pca", "lda", "kl"], image_shape=(8, 8))


@pytest.fixture(scope="module")
def page(comparison, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    comparison.report(path, title="Digits", ids=[f"id {i}" for i in range(comparison.facts.rows)])
    return path


def test_the_page_is_well_formed_and_needs_nothing_but_itself(page):
    text = page.read_text(encoding="utf-8")
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert not re.search(r'https?:|url\(|@import|src="(?!data:)', re.sub(r"data:image[^\"]*", "", text))
    assert "default-src 'none'" in text
    assert 'name="viewport"' in text


def test_the_page_tells_all_that_was_found(page, comparison):
    text = unescape(page.read_text(encoding="utf-8"))
    for kind in comparison.kinds:
        assert kind.title in text
        assert kind.sentence[:40] in text
    for name, values in comparison.embeddings.items():
        assert f"Map by {name}, {len(values):,} rows" in text
    assert comparison.verdict[:30] in text
    assert "produces no map" not in text  # nothing was left out: methods were named


@pytest.mark.parametrize(
    ("methods", "options"),
    [
        (["pca", "lda"], {"parameters": {"pca": {"whiten": True}}, "by": "stress_kruskal", "n_components": 1}),
        ({"white": lowdim.PCA(2, whiten=True)}, {"scale": True, "image_shape": (2, 2), "random_state": 3}),
    ],
)
def test_the_code_on_the_page_makes_it_again(methods, options, tmp_path, monkeypatch):
    X, y = lowdim.data.load("iris")
    made = lowdim.compare(X, y, methods, **options)
    made.report(tmp_path / "first.html")
    text = unescape(re.search(r"<pre><code>(.*?)</code>", (tmp_path / "first.html").read_text("utf-8"), re.S)[1])
    monkeypatch.chdir(tmp_path)
    room = {"X": X, "y": y, "PCA": lowdim.PCA}
    exec(text, room)
    again = room["comparison"]
    assert (again.by, again.scale, again.image_shape) == (made.by, made.scale, made.image_shape)
    assert list(again.embeddings) == list(made.embeddings)
    for name, Y in made.embeddings.items():
        np.testing.assert_array_equal(again.embeddings[name], Y)
    assert data_of((tmp_path / "report.html").read_text("utf-8")) == data_of(
        (tmp_path / "first.html").read_text("utf-8")
    )


def test_coordinates_come_back_from_the_page(page, comparison):
    data = data_of(page.read_text(encoding="utf-8"))
    assert data["shown"] == comparison.facts.rows
    assert data["rows"] is None
    assert unpacked(data["labels"]["codes"], "<u2").tolist() == comparison.labels.codes.tolist()
    for described in data["methods"]:
        Y = comparison.embeddings[described["name"]]
        points = unpacked(described["xy"], "<i2").reshape(-1, 2).astype(float)
        for j in range(2):
            slope, offset = np.polyfit(points[:, j], Y[:, j], 1)
            assert np.abs(slope * points[:, j] + offset - Y[:, j]).max() < 2e-4 * np.ptp(Y)


def test_dubious_rows_are_marked_and_can_be_left_alone(browser, page, comparison):
    data, found = data_of(page.read_text(encoding="utf-8")), comparison.reliability
    for described in data["methods"]:
        doubts, one = unpacked(described["doubts"], "u1"), found[described["name"]]
        assert np.flatnonzero(doubts == 254).tolist() == sorted(one.dubious)
        ordinary = np.setdiff1d(np.arange(len(doubts)), one.dubious)
        np.testing.assert_allclose(doubts[ordinary] / 254, 0.4 * one.score[ordinary], atol=0.003)
        share = len(one.dubious) / len(doubts)
        assert f"<dt>dubious rows</dt><dd>{share:.1%}</dd>" in page.read_text(encoding="utf-8")
    browser.errors.clear()
    browser.open(page)
    browser.run("[...document.querySelectorAll('#colouring button')].find(b => /believe/.test(b.textContent)).click()")
    assert "dubious" in browser.run("document.querySelector('#legend').textContent")
    assert browser.run("maps.map(map => map.dubious)") == [len(found[o.name].dubious) for o in comparison.ranked]
    assert browser.run("Array.from({ length: n }, (_, i) => faded(maps[0], i)).some(Boolean)") is False
    browser.run("document.querySelector('#filter').click()")
    shown = browser.run("maps.map(map => Array.from({ length: n }, (_, i) => i).filter(i => !faded(map, i)))")
    assert shown == [sorted(found[one.name].dubious.tolist()) for one in comparison.ranked]
    browser.run("document.querySelector('#colouring button').click()")  # labels: the filter is of the other colouring
    assert browser.run("faded(maps[0], 0)") is False
    assert browser.errors == []


def test_few_rows_have_no_dubious_ones(tmp_path):
    X, _ = lowdim.data.load("iris")
    few = lowdim.compare(X[::4], methods=["pca"])
    few.report(tmp_path / "r.html")
    assert few.reliability == {}
    assert data_of((tmp_path / "r.html").read_text("utf-8"))["methods"][0]["doubts"] is None


def test_few_bits_keep_rows_in_place_and_pictures_of_some(browser, comparison, tmp_path, monkeypatch):
    monkeypatch.setattr(encoded_maps, "_BITS", (10,))
    monkeypatch.setattr(encoded_maps, "_PICTURED", (200, 100))
    comparison.report(tmp_path / "r.html")
    browser.open(tmp_path / "r.html")
    for i, outcome in enumerate(comparison.ranked):
        points, _ = encoded_maps.coordinates(outcome.embedding)
        drawn = np.array(browser.run(f"[...maps[{i}].xy]")).reshape(-1, 2)
        assert np.abs(drawn - points).max() <= 32767 / 1023 + 1
    data = data_of((tmp_path / "r.html").read_text("utf-8"))
    assert data["bits"] == 10
    assert len(unpacked(data["pictures"]["rows"], "<i4")) == 200
    assert "for some of them" in (tmp_path / "r.html").read_text("utf-8")
    assert browser.errors == []


def test_tiles_and_costs_are_short(comparison, tmp_path):
    small = [replace(one, memory=0) for one in comparison.outcomes]
    page = tmp_path / "r.html"
    replace(comparison, outcomes=small).report(page)
    assert "0 bytes" not in page.read_text()
    assert page.read_text().count("&lt; 1 MB") >= 2 * len(small)
    X = np.where(np.random.default_rng(0).random((60, 4)) < 0.1, np.nan, np.eye(60, 4) + np.arange(60)[:, None])
    lowdim.compare(X, methods=["pca"], missing="median").report(page)
    tiles = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page.read_text()))
    assert tiles["missing values filled by the median"] == str(np.isnan(X).sum())
    glance = page.read_text().partition('class="glance"')[2].partition("</dl>")[0]
    assert all(len(value) <= 9 for value in re.findall(r"<dd>([^<]*)</dd>", glance))


def test_names_in_the_data_cannot_break_out(tmp_path):
    X, y = lowdim.data.load("iris")
    labels = np.array([EVIL, "b", "c"], dtype=object)[y]
    frame = pl.DataFrame({EVIL: np.where(X[:, 0] > 5, EVIL, "b"), "x": X[:, 1], "y": X[:, 2]})
    made = lowdim.compare(frame, labels, ["pca"])
    assert EVIL in made.prepared.names[0]
    made.report(tmp_path / "r.html", title=EVIL, ids=[EVIL] * 150, commands=[EVIL])
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.count("<script") == 2  # the data and our own
    assert EVIL not in text
    assert data_of(text)["labels"]["names"][0] == EVIL


def test_many_rows_are_sampled_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(encoded_maps, "MAPS_BYTES", 100 * 2 * 9 / 8 * 4 / 3)  # 100 rows at the fewest bits
    X, y = lowdim.data.load("iris")
    lowdim.compare(X, y, ["pca"]).report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The maps show 100 of the 150 rows" in text
    rows = unpacked(data_of(text)["rows"], "<i4")
    assert len(np.unique(rows)) == 100
    np.testing.assert_array_equal(unpacked(data_of(text)["labels"]["codes"], "<u2"), y[rows])


def test_values_and_single_components_have_maps(tmp_path):
    X, t = lowdim.data.load("swissroll", n_samples=200)
    made = lowdim.compare(X, t, ["pca"], n_components=1)
    made.report(tmp_path / "r.html")
    data = data_of((tmp_path / "r.html").read_text(encoding="utf-8"))
    values = unpacked(data["labels"]["values"], np.uint8)
    np.testing.assert_allclose(data["labels"]["low"] + values / 254 * np.ptp(t), t, atol=np.ptp(t) / 250)
    points = unpacked(data["methods"][0]["xy"], "<i2").reshape(-1, 2).astype(int)
    assert np.ptp(points[:, 0]) == 2 * 32767
    assert 0 < np.ptp(points[:, 1]) < np.ptp(points[:, 0])


def test_rows_far_out_stand_at_the_edge_and_the_others_fill_the_frame():
    Y = np.random.default_rng(0).normal(size=(1000, 2))
    calm, none = encoded_maps.coordinates(Y)
    assert none == 0
    Y[:3] = [[90.0, 0.0], [0.0, 80.0], [-70.0, -70.0]]
    wild, beyond = encoded_maps.coordinates(Y)
    assert 3 <= beyond <= 10
    assert np.std(wild[3:], axis=0).min() > 0.8 * np.std(calm[3:], axis=0).min()
    assert np.abs(wild.astype(int)).max() == 32767


def test_the_footer_dates_the_page_by_directives_that_every_system_knows(monkeypatch):
    class OnWindows(datetime):
        def strftime(self, form):
            if "%-" in form:
                raise ValueError("Invalid format string")
            return super().strftime(form)

        @classmethod
        def now(cls, tz=None):
            return cls(2026, 3, 5, tzinfo=tz)

    monkeypatch.setattr(assembly, "datetime", OnWindows)
    assert assembly._footer().endswith(" · 5 March 2026")


def test_the_sheet_of_pictures_stays_within_its_room():
    rng = np.random.default_rng(0)
    sheet = encoded_maps.sheet(rng.random((3000, 28 * 28)), (28, 28))
    assert sheet["height"] == sheet["width"] <= 28
    assert len(sheet["src"]) < 1.4 * 900_000
    wide = encoded_maps.sheet(rng.random((10, 40)), (4, 10))
    assert (wide["height"], wide["width"]) == (4, 10)


def test_wrong_arguments_are_refused_before_a_file_is_there(comparison, tmp_path):
    with pytest.raises(ValueError, match=r"one id for each of the 300 rows; got shape \(2,\)"):
        comparison.report(tmp_path / "r.html", ids=["a", "b"])
    assert list(tmp_path.iterdir()) == []


def test_charts_tell_what_they_show_and_keep_names_apart():
    x = np.arange(1.0, 200.0)
    text = charts.curves([(f"m<{i}", x, 0.5 + 0 * x) for i in range(12)], title="a & b", across="K", up="kept")
    assert "<title>a &amp; b</title>" in text
    heights = [float(v) for v in re.findall(r'class="name" x="\d+" y="([\d.]+)"', text)]
    assert len(heights) == 12
    assert np.diff(sorted(heights)).min() >= 14.9
    scree = charts.scree(np.array([0.6, 0.35, 0.05]), 2, 1, whole=True)
    assert "2 for 90 %" in scree
    assert "elbow 1" in scree


def test_blocks_escape_and_set_numbers_right():
    assert "<script" not in heading(EVIL) + paragraph(EVIL) + code(EVIL) + table([(EVIL, EVIL)], header=(EVIL, EVIL))
    text = table([("pca", 0.123456, "fast"), ("tsne", 12345, "slow")], header=("method", "error", "note"), caption="c")
    assert '<td class="number">0.1235</td><td>fast</td>' in text
    assert '<td class="number">12,345</td>' in text
    with pytest.raises(ValueError, match=r"level must be 2 or 3 .* got 1"):
        heading("x", level=1)


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_browser_ci_fails_where_others_skip(monkeypatch, ci, outcome):
    monkeypatch.setattr("browser.CHROMIUM", None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no chromium on this machine: the page was not seen"):
        demand_chromium("the page was not seen")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    demand_chromium("the page was not looked at in a real browser")
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


def inked(browser, i, canvas):
    """Share of the pixels of a map's lower (0) or upper (1) canvas that are drawn on."""
    return browser.run(
        f"(() => {{ const c = document.querySelectorAll('.map')[{i}].querySelectorAll('canvas')[{canvas}];"
        "const copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height });"
        "const pen = copy.getContext('2d', { willReadFrequently: true }); pen.drawImage(c, 0, 0);"
        "const p = pen.getImageData(0, 0, c.width, c.height).data;"
        "let n = 0; for (let k = 3; k < p.length; k += 4) n += p[k] > 0; return n / (p.length / 4); })()"
    )


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (390, False)])
def test_the_page_loads_without_complaint_and_fits_its_window(browser, page, width, dark):
    browser.errors.clear()
    browser.requests.clear()
    browser.open(page, width=width, dark=dark)
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(18, 21, 26)" if dark else "rgb(250, 249, 246)")
    assert all(inked(browser, i, 0) > 0.01 for i in range(3))


def test_a_row_under_the_pointer_is_marked_in_every_map(browser, page):
    browser.open(page)
    browser.run("document.getElementById('maps').scrollIntoView()")
    assert all(inked(browser, i, 1) == 0 for i in range(3))
    x, y, row = browser.run(
        "(() => { const box = maps[1].root.getBoundingClientRect(), i = 17;"
        "return [box.left + maps[1].x(i), box.top + maps[1].y(i), maps[1].nearest(maps[1].x(i), maps[1].y(i), 5)]; })()"
    )
    browser.mouse("Moved", x, y)
    assert browser.run("state.hover") == row
    assert all(0 < inked(browser, i, 1) < 0.01 for i in range(3))
    told = browser.run("tip.textContent")
    assert f"id {row}" in told
    assert browser.run("tip.querySelector('canvas') !== null")  # its picture
    assert f"row {row + 1}" in browser.run("document.getElementById('status').textContent")
    browser.mouse("Moved", 2, 2)
    assert browser.run("state.hover") == -1
    assert browser.run("tip.hidden")
    assert browser.errors == []


def test_names_are_written_on_the_maps_by_a_button(browser, page):
    browser.open(page)
    browser.run("document.getElementById('maps').scrollIntoView()")
    assert browser.run("maps.some((map) => map.islands.length > 1)")
    assert all(inked(browser, i, 1) == 0 for i in range(3))
    browser.run("document.getElementById('names').click()")
    named = [i for i in range(3) if browser.run(f"maps[{i}].islands.length > 0")]
    assert all(inked(browser, i, 1) > 0.001 for i in named)
    assert browser.run("document.getElementById('names').getAttribute('aria-pressed')") == "true"
    browser.run("document.getElementById('names').click()")
    assert all(inked(browser, i, 1) == 0 for i in range(3))
    assert browser.errors == []


def test_the_whole_table_is_in_sight_and_rows_without_label_are_named(browser, comparison, tmp_path):
    labels = comparison.labels.codes.astype(object)
    labels[:5] = None
    made = replace(comparison, labels=read_labels(labels, len(labels)))
    made.report(tmp_path / "r.html")
    browser.open(tmp_path / "r.html", width=1400)
    assert browser.run("(w => w.scrollWidth <= w.clientWidth)(document.querySelector('#measures .wide'))")
    assert browser.run("document.getElementById('legend').textContent").endswith("no label, in light grey")
    assert browser.errors == []


def test_an_area_chosen_in_one_map_fades_the_rest_in_all(browser, page):
    browser.open(page)
    browser.run("document.getElementById('maps').scrollIntoView()")
    left, top, side = browser.run(
        "(() => { const b = maps[0].root.getBoundingClientRect(); return [b.left, b.top, b.width]; })()"
    )
    browser.drag((left + 0.1 * side, top + 0.1 * side), (left + 0.6 * side, top + 0.6 * side))
    chosen = browser.run("state.brushed.reduce((a, b) => a + b, 0)")
    assert 0 < chosen < browser.run("n")
    assert f"{chosen} rows selected in " in browser.run("document.getElementById('status').textContent")
    browser.key("Escape")
    assert browser.run("state.brushed") is None


def test_keys_walk_the_map_and_buttons_change_it(browser, page):
    browser.open(page)
    browser.run("maps[0].root.focus()")
    browser.key("ArrowRight")
    first = browser.run("state.hover")
    browser.key("ArrowRight")
    second = browser.run("state.hover")
    assert first >= 0
    assert browser.run(f"maps[0].x({second}) > maps[0].x({first})")
    browser.key("Escape")
    assert browser.run("state.hover") == -1
    browser.run("document.querySelector('#legend button').click()")
    assert browser.run("document.querySelector('#legend button').getAttribute('aria-pressed')") == "true"
    assert browser.run("state.classes.size") == 1
    browser.run("document.querySelectorAll('#colouring button')[1].click()")
    assert browser.run("document.querySelector('#legend .ramp') !== null")
    browser.run("document.getElementById('theme').click()")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 26)"
    at = "[document.querySelector('#measures th[aria-sort]').cellIndex]"
    rows = f"[...document.querySelectorAll('#measures tbody tr')].map(r => parseFloat(r.cells{at}.textContent))"
    before = browser.run(rows)
    browser.run("document.querySelector('#measures th[aria-sort] button').click()")
    assert browser.run(rows) == before[::-1]
    assert browser.errors == []


def test_the_demo_writes_its_page_and_prints_where_it_is(tmp_path, capsys):
    script = Path(__file__).parents[2] / "examples" / "demo.py"
    demo = runpy.run_path(str(script))
    demo["main"](str(tmp_path / "demo" / "index.html"), "pca", "lda")
    verdict, printed, explore = capsys.readouterr().out.splitlines()
    assert "preserves neighbourhoods best" in verdict
    assert Path(printed).is_absolute()
    assert explore.endswith("lowdim explore digits")
    assert len(data_of(Path(printed).read_text(encoding="utf-8"))["methods"]) == 2


@pytest.fixture(scope="module")
def computing_page(tmp_path_factory):
    """The page of a comparison with a map that it can compute again, and the comparison."""
    try:
        computing.module()
    except computing.NoModuleError as error:
        pytest.skip(str(error))
    X, y = lowdim.data.load("digits")
    made = lowdim.compare(X[:300], y[:300], ["pca", "umap"], parameters={"umap": {"n_epochs": 60}})
    path = tmp_path_factory.mktemp("computing") / "report.html"
    made.report(path)
    return path, made


def test_a_slider_computes_a_map_of_the_report_again_and_a_file_is_placed_on_it(browser, computing_page):
    path, made = computing_page
    browser.requests.clear()
    browser.open(path)
    umap = browser.run("maps.findIndex((map) => map.method === 'umap')")
    assert browser.run("maps.filter((map) => map.method).length") == 1  # PCA has no number of neighbours
    X = lowdim.data.load("digits")[0][:2] + 0.25
    text = "\n".join(",".join(str(v) for v in row) for row in [[f"x{j}" for j in range(64)], *X.tolist()])
    script = f"placeFile(new File([{json.dumps(text)}], 'new.csv'), say).then(() => maps[{umap}].placed)"
    placed = browser.run(script)
    Y, turn = made.turned["umap"], motion(made.embeddings["umap"], made.turned["umap"], scaled=False)
    extent = np.ptp(Y, axis=0).max()
    there = turn.of(made.models["umap"].transform(X)) - (Y.max(axis=0) + Y.min(axis=0)) / 2  # the page's middle is at 0
    np.testing.assert_allclose([[one["x"], one["y"]] for one in placed], there, atol=0.03 * extent)
    before = browser.run(f"[...maps[{umap}].xy]")
    told = browser.run(
        "(() => { const input = document.querySelector('.slide input'); input.value = '20';"
        f"return recompute(maps[{umap}], 'umap', {{ n_neighbors: 8, n_epochs: 60 }},"
        "document.querySelector('.card .told'), document.createElement('button'))"
        ".then(() => document.querySelector('.card .told').textContent); })()"
    )
    assert re.match(r"computed here in .* trustworthiness 0\.9", told)
    assert browser.run(f"[...maps[{umap}].xy]") != before
    assert browser.run("statusLine.textContent").startswith("2 rows of new.csv placed")
    assert "lacks 'x1'" in browser.run(
        "placeFile(new File(['x0\\n1\\n'], 'few.csv'), say).then(() => statusLine.textContent)"
    )
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_report_that_does_not_compute_says_why_and_is_small(computing_page, tmp_path, monkeypatch):
    path, made = computing_page
    assert "sliders compute a map again" in path.read_text()
    monkeypatch.setattr(computing, "MOST_ROWS", 100)
    made.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "computes no maps again: it has 300 rows, and pages that compute hold up to 100" in text
    assert 'id="engine"' not in text
    assert "wasm" not in re.search(r"Content-Security-Policy[^>]*", text)[0]
    assert len(text) < path.stat().st_size - 300_000
