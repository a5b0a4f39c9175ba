"""Pages that compute: the core in a browser gives what Python gives, and tells what it cannot do."""

import json
import re
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser import NO_WEBGL, Browser, Moved, demand_chromium

import lowdim
from lowdim import quality
from lowdim.data.in_memory import table_of
from lowdim.explorer import computing_pages
from lowdim.explorer.page_source import joined
from lowdim.methods.prepared_table import Preparation, prepared
from lowdim.relate.neighbors import nearest
from lowdim.show import computing

WAIT = 60  # seconds at most for anything to happen
PAGE = "document.getElementById('page')?.page"
N_NEW = 6


def demand_module():
    """Skip where the core was not compiled for browsers."""
    try:
        computing.module()
    except computing.NoModuleError as error:
        pytest.skip(str(error))


class Tab:
    """The page "Try it", or one that was saved."""

    def __init__(self, browser, place):
        self.browser = browser
        browser.errors.clear()
        browser.requests.clear()
        browser.open(place)

    def run(self, script):
        """Value of an expression in which `p` is the page and `e` its explorer; a promise is awaited."""
        return self.browser.run(
            f"(async () => {{ const p = {PAGE}, e = document.getElementById('explorer')?.explorer;"
            f"return {script}; }})()"
        )

    def until(self, script):
        end = time.monotonic() + WAIT
        while True:
            with suppress(Moved):
                if found := self.run(script):
                    return found
            assert time.monotonic() < end, (script, self.browser.errors)
            time.sleep(0.05)

    def open(self, name, text):
        """Choose a file; returns what the page refused it with."""
        content = text if isinstance(text, str) else text.decode("latin-1")
        how = "[t]" if isinstance(text, str) else "[Uint8Array.from(t, (c) => c.charCodeAt(0))]"
        self.run(f"(async (t) => {{ await p.open(new File({how}, {json.dumps(name)})); }})({json.dumps(content)})")
        return self.run("p.explorer ? '' : p.status.textContent")

    def placed(self, text):
        """Positions of the rows of a file on the current map."""
        self.run(
            f"(e.got = null, void e.line.ask('place', {{ name: 'new.csv', map: e.map.id }},"
            f"{{ bytes: new TextEncoder().encode({json.dumps(text)}) }})"
            ".then((r) => { e.got = [...r.arrays.positions]; }, (x) => { e.got = x.message; }), 1)"
        )
        return self.until("e.got")

    def slide(self, value):
        """Move the slider of the current map, or let it go where it is."""
        move = "" if value is None else f"i.value = '{value}';"
        self.run(
            f"(() => {{ const i = e.root.querySelector('.slide input'); {move}"
            "i.dispatchEvent(new Event('change')); })()"
        )

    def finished(self):
        return self.until("e && e.map && e.map.status === 'done' && e.map.quality?.trustworthiness && e.map.title")


def csv_of(X, names=None, **more):
    names = names or [f"x{j}" for j in range(X.shape[1])]
    frame = pl.DataFrame({name: X[:, j].astype(float) for j, name in enumerate(names)} | more)
    return frame.write_csv()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    demand_module()
    demand_chromium("no page has computed in a real browser")
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    demand_module()
    path = tmp_path_factory.mktemp("page") / "try.html"
    path.write_text(computing_pages.try_page(), encoding="utf-8")
    return path


@pytest.fixture
def tab(browser, page):
    made = Tab(browser, page)
    yield made
    assert browser.errors == []
    outside = [url for url in browser.requests if not url.startswith(("file:", "blob:", "data:"))]
    assert outside == []


@pytest.fixture(scope="module")
def rows():
    X, y = lowdim.data.load("digits")
    return X[:500].astype(np.float32), y[:500]


@pytest.fixture(scope="module")
def computed(browser, page, rows):
    """What the core in the page says of the digits."""
    X, _ = rows
    tab = Tab(browser, page)
    new = X[:N_NEW] + (np.arange(N_NEW * 64).reshape(N_NEW, 64) * 37 % 11 / 10).astype(np.float32)
    tab.run(
        f"(globalThis.X = Float32Array.from({X.ravel().tolist()}),"
        f"globalThis.Q = Float32Array.from({new.ravel().tolist()}), 1)"
    )
    script = """(async () => {
      const engine = p.newEngine(), out = {};
      engine.table(X, 500, 64);
      const near = await engine.ask("near", { k: 20 }), scores = await engine.ask("scores", { k: 3 });
      Object.assign(out, { indices: [...near.indices], distances: [...near.distances],
        scores: [...scores.scores], shares: [...scores.shares] });
      for (const method of ["tsne", "umap", "pacmap"]) {
        const made = await engine.ask("embed", { method }), map = made.positions;
        const again = await engine.ask("embed", { method });
        const kept = await engine.ask("kept", { map, k: 5, rows: Int32Array.from({ length: 500 }, (_, i) => i) });
        const placed = await engine.ask("place", { method, map, rows: Q });
        const wrong = await engine.ask("misplaced", { map, k: 5 });
        out[method] = { Y: [...map], again: [...again.positions], loss: made.loss, kept,
          placed: [...placed.positions], trust: [...placed.trust],
          wrong: [...wrong.false], missing: [...wrong.missing] };
      }
      const curve = await engine.ask("curve", { min_dist: 0.25 });
      engine.end(new Error("done"));
      return { ...out, curve: [...curve.curve] };
    })()"""
    found = tab.run(script)
    assert browser.errors == []
    return found, new


def test_neighbours_and_principal_scores_are_those_of_python(computed, rows):
    X, found = rows[0], computed[0]
    near = nearest(X, 20)
    np.testing.assert_array_equal(np.reshape(found["indices"], (500, 20)), near.indices)
    np.testing.assert_array_equal(np.reshape(found["distances"], (500, 20)).astype(np.float32), near.distances)
    pca = lowdim.PCA(3).fit(X)
    np.testing.assert_allclose(np.reshape(found["scores"], (500, 3)), pca.transform(X), atol=1e-4)
    np.testing.assert_allclose(found["shares"], pca.explained_variance_ratio_, rtol=1e-6)


@pytest.mark.parametrize(("name", "cls", "tolerance"), [
    ("tsne", lowdim.TSNE, 0.005), ("umap", lowdim.UMAP, 0.015), ("pacmap", lowdim.PaCMAP, 0.03),
])  # fmt: skip
def test_maps_reach_the_loss_of_python_and_their_measures_are_equal(computed, rows, name, cls, tolerance):
    X, found = rows[0], computed[0][name]
    Y = np.reshape(found["Y"], (500, 2)).astype(np.float32)
    np.testing.assert_array_equal(found["Y"], found["again"])  # the same seed, the same map
    model = cls(random_state=0).fit(X)
    loss = model.kl_divergence_ if name == "tsne" else model.loss_
    assert found["loss"] == pytest.approx(loss, rel=tolerance)
    kept = found["kept"]
    assert kept["trustworthiness"] == pytest.approx(quality.trustworthiness(X, Y), abs=1e-12)
    assert kept["continuity"] == pytest.approx(quality.continuity(X, Y), abs=1e-12)
    assert kept["recall"] == pytest.approx(quality.neighborhood_recall(X, Y), abs=1e-12)
    there, near = nearest(Y, 10).indices, nearest(X, 10).indices
    for few, all_, got in ((there, near, found["wrong"]), (near, there, found["missing"])):
        lost = [1 - len(set(a[:5]) & set(b)) / 5 for a, b in zip(few, all_, strict=True)]
        np.testing.assert_allclose(got, lost, atol=1e-6)


@pytest.mark.parametrize(("name", "cls"), [("tsne", lowdim.TSNE), ("umap", lowdim.UMAP), ("pacmap", lowdim.PaCMAP)])
def test_new_rows_are_placed_and_trusted_as_by_transform(computed, rows, name, cls):
    from lowdim.relate.trust import NEAREST, familiar

    X, (found, new) = rows[0], computed
    Y = np.reshape(found[name]["Y"], (500, 2)).astype(np.float32)
    model = cls(random_state=0).fit(X)
    model.embedding_ = Y  # the page's map in place of its own
    near = model._near_each(500)
    close = nearest(X, min(near, NEAREST))
    model._spacings, model._loosenesses, model._spreads, model._worse = familiar(close.indices, close.distances, Y)
    extent = np.ptp(Y, axis=0).max()
    np.testing.assert_allclose(np.reshape(found[name]["placed"], (-1, 2)), model.transform(new), atol=2e-3 * extent)
    np.testing.assert_allclose(found[name]["trust"], model.trust(new), atol=1e-6)


def test_the_curve_of_umap_is_that_of_python(computed):
    from lowdim.solve.cross_entropy import curve

    np.testing.assert_allclose(computed[0]["curve"], curve(0.25, 1.0), rtol=1e-6)


def all_kinds():
    """Decimal commas, dates, answers, categories, codes, gaps, units, scales, options, spellings, row numbers."""
    rng = np.random.default_rng(0)
    n = 60
    return pl.DataFrame({
        "nr": np.arange(n) + 1,
        "size": [f"{v:.2f}".replace(".", ",") for v in rng.normal(10, 3, n)],
        "weight": [None if i % 9 == 0 else f"{v:.3f}".replace(".", ",") for i, v in enumerate(rng.normal(5, 2, n))],
        "city": [None if i == 4 else ["Rome", "Oslo", "Bern"][i * i % 3] for i in range(n)],
        "member": [["yes", "no"][int(i % 3 == 0)] for i in range(n)],
        "since": [f"{1 + i % 28}.{1 + i % 12}.20{10 + i % 9}" for i in range(n)],
        "post": [f"0{i % 4}12" for i in range(n)],
        "same": ["x"] * n,
        "height": [f"{v:.1f} cm" if i % 7 else "" for i, v in enumerate(rng.normal(170, 9, n))],
        "balance": [f"(${abs(v):,.2f})" if v < 0 else f"${v:,.2f}" for v in rng.normal(500, 2000, n)],
        "opinion": [["agree", "Strongly-agree", "disagree", "strongly disagree"][i * 7 % 4] for i in range(n)],
        "often": [None if i % 11 == 3 else ["1 – never", "2", "3", "5 – always"][i * i % 4] for i in range(n)],
        "größe": [["klein", "mittel", "groß"][i * i % 3] for i in range(n)],
        "travels": [None if i == 7 else ["bus", "bus|train", "car|bike", "train", "bike"][i * 3 % 5] for i in range(n)],
        "sex": [["Male", "male", "FEMALE", "Female"][(i * i + i // 3) % 4] for i in range(n)],
        "label": [["a", "b"][i % 2] for i in range(n)],
    })  # fmt: skip


def test_a_table_of_all_kinds_is_prepared_as_by_python(tab, tmp_path, monkeypatch):
    frame = all_kinds()
    text = frame.write_csv(separator=";")
    assert tab.open("mixed.csv", text) == ""
    told = tab.run(
        "({ rows: [...p.told.rows], d: p.told.d, plan: p.told.plan, aside: p.told.aside, code: p.code.textContent })"
    )
    path = tmp_path / "mixed.csv"
    path.write_text(text)
    table = lowdim.data.read(path, label="label", mixed=True)
    prepare = lowdim.Prepare(missing="mean")
    X = prepare.fit_transform(table.X)
    assert told["aside"] == ["label"]
    assert told["d"] == X.shape[1]
    np.testing.assert_allclose(np.reshape(told["rows"], X.shape), X, atol=1e-5)
    kinds = dict(zip(prepare.plan_["column"], prepare.plan_["kind"], strict=True))
    assert {one["name"]: one["kind"] for one in told["plan"] if one["name"] != "label"} == kinds
    assert 'missing="mean"' in told["code"]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(told["code"].rsplit("\n", 1)[0], names)
    np.testing.assert_allclose(names["X"], X)


def test_new_rows_become_features_by_the_recipes_of_python(tab, tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(all_kinds().write_csv(separator=";"))
    made = prepared(lowdim.data.read(path, mixed=True, missing="keep"), Preparation(missing="mean"))
    recipes, refused = computing.recipes_of(made)
    assert refused == ""
    kinds = {one["action"] for one in recipes}
    assert kinds == {"drop", "number", "yes/no", "date", "ordinal", "onehot", "options"}
    assert tab.open("mixed.csv", path.read_text()) == ""
    new = all_kinds()[5:9].with_columns(sex=pl.lit(" MALE"), opinion=pl.lit("Strongly Disagree"), height=pl.lit("171"))

    def features(text):
        return tab.run(
            f"p.reader.ask({{ place: new TextEncoder().encode({json.dumps(text)}), name: 'new.csv',"
            f"recipes: {json.dumps(recipes)}, d: {made.X.shape[1]} }})"
            ".then((found) => [...found.rows], (error) => error.message)"
        )

    for frame in (all_kinds(), new):
        path.write_text(text := frame.write_csv(separator=";"))
        X = made.chain.transform(lowdim.data.read(path, mixed=True, missing="keep").X)
        np.testing.assert_allclose(np.reshape(features(text), X.shape), X, atol=1e-5)
    for column, cell, needs in (
        ("height", "171 kg", "must hold numbers in 'cm'"),
        ("opinion", "perhaps", "must hold one of 'strongly disagree', 'disagree', 'neutral' and 2 more"),
        ("member", "perhaps", "must hold yes or no"),
        ("since", "soon", "must hold dates"),
    ):
        assert needs in features(new.with_columns(**{column: pl.lit(cell)}).write_csv(separator=";"))


def test_the_lines_that_the_page_shows_make_its_features(tab, tmp_path, monkeypatch):
    X, y = lowdim.data.load("wine")
    text = csv_of(X, species=[f"s{v}" for v in y])
    assert tab.open("wine.csv", text) == ""
    tab.finished()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wine.csv").write_text(text)
    names = {}
    exec(tab.run("p.code.textContent"), names)
    np.testing.assert_allclose(np.reshape(tab.run("[...p.told.rows]"), names["X"].shape), names["X"], atol=1e-5)
    loss = tab.run("e.map.loss.values.at(-1)")
    assert loss == pytest.approx(
        lowdim.TSNE(random_state=0).fit(names["X"].astype(np.float32)).kl_divergence_, rel=0.01
    )
    assert "--label species" in tab.run("p.command.textContent")


def test_wide_rows_are_reduced_by_principal_axes_and_new_ones_too(tab):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 110)) + 4 * rng.integers(0, 3, (120, 1))
    assert tab.open("wide.csv", csv_of(X)) == ""
    assert tab.run("[p.told.d, p.width]") == [110, 50]
    tab.finished()
    got = tab.placed(csv_of(X[:3]))
    assert len(got) == 6
    assert np.isfinite(got).all()


def test_very_wide_tables_of_few_rows_are_mapped(tab):
    X = np.random.default_rng(0).integers(0, 9, (12, 20_000)) + 5 * (np.arange(12) % 2)[:, None]
    assert tab.open("genes.csv", csv_of(X)) == ""
    tab.finished()
    assert "20,000 features reduced to 11 principal scores" in tab.run("e.root.querySelector('.side').textContent")
    got = np.reshape(tab.placed(csv_of(X[:3] + 0.1)), (3, 2))  # by axes of 20,000 columns
    assert np.linalg.norm(got[0] - got[2]) < np.linalg.norm(got[0] - got[1])  # rows 0 and 2 are of one group


def test_every_method_runs_and_a_slider_computes_the_map_again_in_its_place(tab):
    X, y = lowdim.data.load("iris")
    assert tab.open("iris.csv", csv_of(X, kind=[f"k{v}" for v in y])) == ""
    assert tab.finished() == "TSNE"
    for method, title in (("umap", "UMAP"), ("pacmap", "PaCMAP"), ("pca", "PCA (2)")):
        tab.run(f"(e.runs.choice.value = '{method}', e.runs.offer(), e.runs.run(null), 1)")
        tab.until(
            f"e.map.title.startsWith('{title}') && e.map.status === 'done' && e.map.quality?.trustworthiness > 0.9"
        )
    maps = tab.run("e.maps.size")
    tab.run("(e.panes.show(0, e.maps.get(2)), 1)")
    tab.until("e.map.title === 'TSNE' && e.root.querySelector('.slide input') !== null")
    tab.slide(10)
    tab.until("/perplexity/.test(e.map.title) && e.map.status === 'done' && e.map.loss.values.length > 1")
    assert tab.run("e.maps.size") == maps
    assert tab.run("e.notices.textContent") == ""


def test_stop_works_at_once_and_the_page_computes_on(tab):
    X = np.random.default_rng(0).normal(size=(3000, 40))
    assert tab.open("many.csv", csv_of(X)) == ""
    tab.until("e && e.map && e.map.iteration > 5")
    assert tab.run("e.root.querySelector('.slow')") is None
    start = time.monotonic()
    tab.run("e.line.ask('stop', { map: e.map.id }).then(() => 1)")
    tab.until("e.map.status === 'stopped'")
    assert time.monotonic() - start < 5
    assert tab.run("e.map.cloud.count") == 3000  # the last frame stays
    tab.run("(e.runs.choice.value = 'pca', e.runs.offer(), e.runs.run(null), 1)")
    tab.until("e.map.title === 'PCA (2)' && e.map.status === 'done'")


def test_many_rows_are_drawn_at_random_with_a_warning_and_stopped(tab):
    X = np.random.default_rng(0).normal(size=(51_000, 3)).round(3)
    assert tab.open("many.csv", csv_of(X)) == ""
    assert tab.run("[p.told.n, p.told.total]") == [50_000, 51_000]
    assert "50,000 rows of 51,000, drawn at random" in tab.run("document.querySelector('.table-facts').textContent")
    assert tab.run("e.root.querySelector('.slow').textContent").startswith("50,000 rows take long in a page")
    tab.until("e.map?.title === 'TSNE' && e.map.status === 'running'")
    start = time.monotonic()
    tab.run("e.line.ask('stop', { map: e.map.id }).then(() => 1)")
    tab.until("e.map.status === 'stopped'")
    assert time.monotonic() - start < 5
    assert tab.open("good.csv", csv_of(X[:20])) == ""


def test_reading_a_file_is_stopped_too(tab):
    X = np.random.default_rng(0).normal(size=(1600, 700)).round(3)
    tab.run(f"(globalThis.wide = new File([{json.dumps(csv_of(X))}], 'wide.csv'), 1)")
    tab.run("(void p.open(wide), p.status.querySelector('button').click())")
    assert tab.run("p.status.textContent") == "Stopped."
    time.sleep(1)
    assert tab.run("[p.status.textContent, Boolean(p.explorer)]") == ["Stopped.", False]


def test_reducing_a_wide_table_is_stopped_and_of_two_files_the_last_is_shown(tab):
    rng = np.random.default_rng(0)
    slow, quick = csv_of(rng.normal(size=(1500, 600)).round(2)), csv_of(rng.normal(size=(30, 3)))
    for name, text in (("slow", slow), ("quick", quick)):
        tab.run(f"(globalThis.{name} = new File([{json.dumps(text)}], '{name}.csv'), 1)")
    tab.run("void p.open(slow)")
    tab.until("/1,500 rows of 600 features/.test(p.status.textContent)")
    tab.run("p.status.querySelector('button').click()")
    time.sleep(1)
    assert tab.run("[p.status.textContent, Boolean(p.explorer)]") == ["Stopped.", False]
    for wait in ("/reading/.test(p.status.textContent)", "/1,500 rows of 600 features/.test(p.status.textContent)"):
        tab.run("void p.open(slow)")
        tab.until(wait)
        tab.run("void p.open(quick)")
        tab.until("p.explorer && e && e.map && e.map.status === 'done'")
        time.sleep(0.5)
        assert tab.run("[p.told.n, p.told.d, document.querySelectorAll('.table-facts').length]") == [30, 3, 1]
        tab.run("(p.leave(), 1)")
    assert tab.run("p.status.textContent") == ""


def test_files_and_tables_that_are_too_large_are_refused_in_a_sentence(tab):
    tab.run(
        "(async () => { await p.open(Object.defineProperty(new File(['a'], 'huge.csv'), 'size', { value: 3e8 })); })()"
    )
    assert "files of up to 250 MB; huge.csv has 300 MB. Use fewer" in tab.run("p.status.textContent")
    wide = np.random.default_rng(0).integers(0, 10, (1510, 1510))
    assert "up to 1,500 columns; this table has 1510" in tab.open("wide.csv", csv_of(wide))


def test_what_needs_too_much_memory_is_refused_before_it_is_allocated(tab):
    said = tab.run(
        "(async () => { const engine = p.newEngine(); engine.rows = { rows: new Float32Array(1), n: 100000, d: 20000 };"
        "try { await engine.ask('near', { k: 5 }); return ''; } catch (error) { return error.message; } })()"
    )
    assert re.match(r"This needs 25 GB of memory; a page has 4 at most\. Use fewer", said)
    said = tab.run(
        "(async () => { const engine = p.newEngine(), n = 40000;"
        "engine.table(Float32Array.from({ length: 2 * n }, (_, i) => Math.sin(i * i)), n, 2);"
        "try { await engine.ask('embed', { method: 'tsne', parameters: { perplexity: 5000 } }); return ''; }"
        "catch (error) { return error.message; } })()"
    )
    assert "a lower perplexity" in said


def test_a_column_is_taken_out_of_the_map_and_a_map_is_removed_while_it_runs(tab):
    X = np.random.default_rng(0).normal(size=(2500, 20))
    assert tab.open("many.csv", csv_of(X)) == ""
    for used in (19, 18):
        tab.until("e && e.map && e.map.iteration > 0")
        tab.run(f"p.change('x{used}', false).then(() => 1)")
        assert tab.run("p.told.d") == used
    tab.until("e.map.iteration > 0")
    tab.run("(e.runs.choice.value = 'umap', e.runs.offer(), e.runs.run(null), 1)")
    tab.until("e.maps.size === 3")
    tab.run("(e.drop(e.maps.get(3)), 1)")
    tab.until("e.maps.size === 2")
    time.sleep(0.5)
    assert tab.run("e.maps.size") == 2
    assert tab.run("e.notices.textContent") == ""
    tab.browser.errors[:] = [one for one in tab.browser.errors if "CONTEXT_LOST" not in one]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("empty.csv", "", "is empty"),
        ("names.csv", "a,b\n", "no rows below"),
        ("one.csv", "a,b\n1,2\n", "at least 4 rows"),
        ("words.csv", "a,b\n" + "".join(f"w{i} {i * 7},v{i}\n" for i in range(30)), "numbers or categories"),
        ("ragged.csv", "a,b\n1,2\n3,4,5\n6,7\n8,9\n", "line 3 of ragged.csv has 3"),
        ("quote.csv", 'a,b\n1,"2\n3,4\n', "not closed"),
        ("twice.csv", "a,a\n1,2\n3,4\n5,6\n7,8\n", "more than once"),
        ("table.xlsx", "PK", "Save it as csv"),
        ("bytes.csv", b"\x00\x01\x02\x03a,b\n", "holds other data"),
        ("page.csv", "<!doctype html>\n<p>a,b\n", "this file holds a web page or XML. Save it as csv"),
        ("rows.json", '[{"a": 1, "b": 2}]', "this file holds JSON. Save it as csv"),
        ("wide.csv", csv_of(np.add.outer(np.arange(4), np.arange(2000)) % 7.0 + np.arange(2000)), ""),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_a_sentence(tab, name, text, words):
    said = tab.open(name, text)
    if not words:  # many columns of few rows can be mapped
        assert said == ""
        return
    assert words in said
    assert re.fullmatch(r"[\w-].* [^.]*\.", said), said
    assert tab.run("document.querySelector('.refused').getAttribute('role')") == "alert"
    assert tab.open("good.csv", csv_of(np.random.default_rng(0).normal(size=(20, 3)))) == ""  # and the next is read


@pytest.fixture(scope="module")
def saved(rows, tmp_path_factory):
    """A page saved by the explorer, with a map by UMAP."""
    from lowdim.explorer import exports
    from lowdim.explorer.opening import open_session
    from lowdim.explorer.protocol import Visitor

    demand_module()
    X, y = rows
    session = open_session(X, table={"digit": y.astype(str)}, title="digits")
    made = session.fit("umap", {"n_epochs": 50})
    while made.alive:
        time.sleep(0.02)
    other = session.fit("tsne", {"metric": "cosine", "max_iter": 50})
    while other.alive:
        time.sleep(0.02)
    path = tmp_path_factory.mktemp("saved") / "saved.html"
    path.write_bytes(exports._page(Visitor(session, lambda: None, lambda work: work()), {"colour": "digit"}))
    return path, made.fitted


def test_a_saved_page_computes_its_maps_again_and_places_new_rows(browser, saved, rows):
    X, (path, model) = rows[0], saved
    assert path.stat().st_size < computing.PAGE_BYTES
    tab = Tab(browser, path)
    tab.until("e && e.map && e.map.cloud.count")
    tab.run("(e.panes.show(0, e.maps.get(1)), void e.misplaced(e.map, 'score'))")  # nobody had looked at it before
    shades = np.array(tab.until("e.map.overlay?.kind === 'score' && [...e.map.shares.score]"))
    found = lowdim.quality.reliability(model, X)
    assert set(np.flatnonzero(shades == 0.5)) == set(found.dubious)
    tab.run("[...e.root.querySelectorAll('.key button')].find((one) => one.textContent.startsWith('Select')).click()")
    tab.until(f"e.selected === {len(found.dubious)}")
    tab.run("void e.choose(new Uint8Array(e.n))")
    np.testing.assert_allclose(np.delete(shades, found.dubious), 0.2 * np.delete(found.score, found.dubious), atol=1e-6)
    offered = "[...e.root.querySelectorAll('option[value=score]')].map((o) => o.hidden)[0]"
    assert tab.run(offered) is False
    tab.run("(e.panes.show(0, e.maps.get(2)), 1)")
    tab.slide(None)
    assert "metric=cosine" in tab.until("e.notices.textContent")  # not ignored
    tab.run("(e.notices.replaceChildren(), e.panes.show(0, e.maps.get(1)), 1)")
    new = csv_of(X[:3] + 0.25)
    there, extent = model.transform(X[:3] + 0.25), np.ptp(model.embedding_, axis=0).max()
    np.testing.assert_allclose(np.reshape(tab.placed(new), (3, 2)), there, atol=0.03 * extent)
    tab.slide(40)
    tab.until("/n neighbors/.test(e.map.title) && e.map.status === 'done' && e.map.quality?.trustworthiness > 0.9")
    assert tab.run("e.maps.size") == 2
    assert tab.run(offered) is True  # known of the map as it was saved
    placed = np.reshape(tab.placed(new), (3, 2))
    box = np.array(tab.run("e.map.cloud.boxes[1]"))
    assert ((placed > box[:, 0]) & (placed < box[:, 1])).all()
    tab.run("void e.misplaced(e.map, 'false')")
    tab.until("e.map.overlay?.kind === 'false'")
    tab.run("void e.hold(3)")
    index = tab.until("e.links && [...e.links.index]")
    assert len(set(index) & set(nearest(X, 10).indices[3])) >= 9  # by 50 quantised scores
    assert "on 50 principal scores" in tab.run("e.root.querySelector('.summary').textContent")
    assert tab.run("e.notices.textContent") == ""
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("file:", "blob:", "data:"))] == []


def test_a_page_of_many_rows_says_why_it_does_not_compute(browser, saved, rows, tmp_path, monkeypatch):
    from lowdim.explorer import exports
    from lowdim.explorer.opening import open_session
    from lowdim.explorer.protocol import Visitor

    monkeypatch.setattr(computing, "MOST_ROWS", 100)
    session = open_session(rows[0], title="digits")
    made = session.fit("pca", {})
    while made.alive:
        time.sleep(0.02)
    path = tmp_path / "many.html"
    path.write_bytes(exports._page(Visitor(session, lambda: None, lambda work: work()), {}))
    assert path.stat().st_size < saved[0].stat().st_size
    tab = Tab(browser, path)
    tab.until("e && e.map && e.map.cloud.count")
    assert "computes no maps: it has 500 rows" in tab.run("e.root.querySelector('.side').textContent")
    assert tab.run("e.runs === undefined")


def test_a_browser_without_vectors_is_told(browser, page):
    browser("Page.enable")
    added = browser("Page.addScriptToEvaluateOnNewDocument", source="WebAssembly.validate = () => false;")
    try:
        tab = Tab(browser, page)
        assert "SIMD" in tab.run("document.querySelector('.refused').textContent")
        assert tab.run("document.querySelector('.drop')") is None
    finally:
        browser("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_without_webgl_the_page_draws_and_finds_rows_all_the_same(browser, page, rows):
    browser("Page.enable")
    added = browser("Page.addScriptToEvaluateOnNewDocument", source=NO_WEBGL)
    try:
        tab = Tab(browser, page)
        assert tab.open("digits.csv", csv_of(rows[0][:200])) == ""
        tab.finished()
        tab.run("(e.active.refresh(true), 1)")
        drawn = (
            "(() => { const { base } = e.active, data = base.getContext('2d').getImageData(0, 0, base.width,"
            " base.height).data; let count = 0; for (let i = 3; i < data.length; i += 4) count += data[i] > 0;"
            " return count; })()"
        )
        assert tab.run(drawn) > 2000
        found = tab.run("[...Array(200).keys()].filter((i) => e.active.pick(...e.active.at(i)) === i).length")
        assert found > 190  # others lie below a neighbour
        tab.run("e.choose(Uint8Array.from({ length: 200 }, (_, i) => i === 7 ? 1 : 0))")
        assert tab.run("e.active.pick(...e.active.at(8), 3)") == -1  # greyed
        assert tab.run("e.notices.textContent") == ""
        assert browser.errors == []
    finally:
        browser("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_pages_say_why_they_do_not_compute(monkeypatch):
    demand_module()
    X, made = (
        np.random.default_rng(0).normal(size=(30, 3)),
        prepared(table_of(np.zeros((30, 3)), caller="test"), Preparation()),
    )
    assert computing.computing(X, made, 1e6).scores.shape == (30, 3)
    assert "at least 4" in computing.computing(X[:3], made, 1e6)
    assert "larger than 6 MB" in computing.computing(X, made, 1000)
    monkeypatch.setattr(computing, "MOST_ROWS", 20)
    assert computing.computing(X, made, 1e6) == "it has 30 rows, and pages that compute hold up to 20"

    def lacking():
        raise computing.NoModuleError("none")

    monkeypatch.setattr(computing, "MOST_ROWS", 100)
    monkeypatch.setattr(computing, "packed_module", lacking)
    assert computing.computing(X, made, 1e6) == "none"


@pytest.fixture
def isolated(page):
    """The page from the server of the documentation, which isolates it from others."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_site"))
    try:
        import serve
    finally:
        sys.path.pop(0)
    with serve.server(str(page.parent)) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}/{page.name}"
        made.shutdown()


def test_an_isolated_page_uses_threads_with_the_same_bits_and_pauses(browser, isolated, rows):
    X, _ = rows
    tab = Tab(browser, isolated)
    assert tab.run("crossOriginIsolated")
    script = """(async () => {
      const X = Float32Array.from(%s), out = [];
      for (const threads of [1, 3]) {
        const engine = p.newEngine();
        engine.threads = threads;
        engine.table(X, 500, 64);
        const near = await engine.ask("near", { k: 20 }), made = await engine.ask("embed", { method: "tsne" });
        out.push([[...near.indices], [...made.positions], (engine.helpers ?? []).length]);
        engine.end(new Error("done"));
      }
      return out;
    })()"""
    one, three = tab.run(script % X.ravel().tolist())
    assert (one[2], three[2]) == (0, 2)
    assert one[:2] == three[:2]
    assert tab.open("many.csv", csv_of(np.random.default_rng(0).normal(size=(2500, 20)))) == ""
    tab.until("e && e.map && e.map.iteration > 5")
    tab.run("e.line.ask('pause', { map: e.map.id }).then(() => 1)")
    tab.until("e.map.status === 'paused'")
    time.sleep(0.3)
    at = tab.run("e.map.iteration")
    time.sleep(0.5)
    assert tab.run("e.map.iteration") == at
    tab.run("e.line.ask('resume', { map: e.map.id }).then(() => 1)")
    tab.until(f"e.map.iteration > {at}")
    tab.run("e.line.ask('stop', { map: e.map.id }).then(() => 1)")
    tab.until("e.map.status === 'stopped'")
    assert tab.run("p.engine.worker !== null")  # it stopped by itself, and keeps the neighbours
    assert browser.errors == []


def test_the_policy_allows_no_connection_and_only_the_page_s_own_script(page):
    text = page.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src &#x27;none&#x27;")
    for word in ("connect-src", "unsafe-inline", "unsafe-eval&#x27; ", "http"):
        assert word not in policy.replace("wasm-unsafe-eval", "")
    assert len(text) < 1_000_000
    assert "wasm-unsafe-eval" in policy
    assert not re.search(r"^import ", joined("try.js"), re.M)
