"""What a page may ask of a session, without any socket."""

import io
import threading

import numpy as np
import polars as pl
import pytest
from talking import Page, wait_for

import lowdim
from lowdim.explorer.column_summaries import Column
from lowdim.explorer.message_format import pack_bits, unpack_bits
from lowdim.explorer.opening import open_session
from lowdim.explorer.session import Session
from lowdim.methods.registry import METHODS

HOSTILE = "<img src=x onerror=alert(1)></script>\"'&\u202e\x00"


@pytest.fixture
def data(rng):
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 6)) + 6.0 * np.eye(3, 6)[y]
    return X, y


@pytest.fixture
def page(data):
    session = open_session(*data, table={"name": [f"row {i}" for i in range(120)]}, title="blobs")
    yield Page(session)
    session.close()


def fitted(page, method="pca", **fields):
    number = page.ask("fit", method=method, **{"parameters": {}, **fields}).fields["map"]
    one = page.finish(number)
    assert one.status == "done", one.message
    return number


def test_hello_tells_what_a_page_needs(page):
    hello = page.ask("hello").fields
    assert (hello["n"], hello["title"], hello["version"]) == (120, "blobs", lowdim.__version__)
    kinds = {column["name"]: column["kind"] for column in hello["columns"]}
    assert kinds == {"label": "category", **{f"x{j}": "number" for j in range(6)}, "name": "text"}
    assert hello["colour"] == "label"
    assert hello["limits"]["upload_bytes"] > 2**20
    assert "tsne" in {method["name"] for method in hello["methods"]}


def test_forms_ask_for_what_the_classes_take(page):
    for method in page.ask("hello").fields["methods"]:
        cls = next(one for one in METHODS if one.name == method["name"]).load()
        for field in method["parameters"]:
            rule = cls._rules[field["name"]]
            for value in [field["default"], *field["choices"], *[None] * field["optional"]]:
                assert rule.accepts(value), (method["name"], field["name"], value)
            if field["kind"] in ("int", "float") and field["low"] is not None:
                assert not rule.accepts(field["low"] - 1)
            assert field["help"], (method["name"], field["name"])
    tsne = next(one for one in page.ask("hello").fields["methods"] if one["name"] == "tsne")
    perplexity = next(one for one in tsne["parameters"] if one["name"] == "perplexity")
    assert (perplexity["kind"], perplexity["choices"], perplexity["default"]) == ("float", ["auto"], "auto")
    assert tsne["live"]
    assert tsne["start"]


def test_columns_come_as_codes_and_values(page, data):
    label = page.ask("column", name="label")
    assert label.fields["categories"] == ["0", "1", "2"]
    np.testing.assert_array_equal(label.arrays["codes"], data[1])
    np.testing.assert_allclose(page.ask("column", name="x2").arrays["values"], data[0][:, 2], rtol=1e-6)
    assert "no column 'x9'" in page.refused("column", name="x9")
    assert "no column" in page.refused("column", name=["x1"])


def test_missing_values_are_all_ones_or_nan():
    columns = {"c": Column("c", ["a", None, "b", "a"]), "v": Column("v", np.array([0.5, np.nan, 1.25, 2.0]))}
    assert columns["c"].array()["codes"].tolist() == [0, 255, 1, 0]
    assert [column.missing for column in columns.values()] == [1, 1]
    many = Column("m", [None, *map(str, range(300)), *map(str, range(300))])
    assert many.array()["codes"].dtype == np.uint16
    assert many.array()["codes"][0] == 65535


def test_of_more_categories_than_16_bits_the_commonest_are_kept():
    values = np.concatenate([np.repeat(np.arange(70_000), 2), np.repeat(69_999, 3)])
    column = Column("c", [str(value) for value in values])
    assert len(column.categories) == 65_534
    assert column.categories[-1] == "other"
    assert column.categories[column.codes[-1]] == "69999"


@pytest.mark.parametrize("dims", [2, 3])
def test_frames_hold_the_places_of_the_map(page, data, dims):
    number = fitted(page, dims=dims)
    frame = page.ask("map", map=number)
    low, high = np.array(frame.fields["box"]).T
    positions = low + frame.arrays["positions"] / 65535 * (high - low)
    expected = lowdim.PCA(dims).fit_transform(data[0])
    np.testing.assert_allclose(positions, expected, atol=(high - low).max() / 65535)
    assert frame.fields["final"]
    pushed = [message for message in page.pushed if message.type == "frame"]
    assert len(pushed) == 1
    np.testing.assert_array_equal(pushed[0].arrays["positions"], frame.arrays["positions"])


def test_a_row_is_explained_by_the_columns_that_move_it(page):
    number = page.ask("fit", method="pca", parameters={}).fields["map"]
    one = page.finish(number)
    told = page.ask("explain", row=3, map=number).fields["columns"]
    X = np.asarray(page.session.X, np.float64)
    sizes = np.linalg.norm(one.fitted.components_, axis=0) * X.std(axis=0)
    assert [entry["column"] for entry in told[:3]] == [f"x{j}" for j in np.argsort(-sizes)[:3]]
    first = int(told[0]["column"][1:])
    np.testing.assert_allclose(told[0]["toward"], one.fitted.components_[:, first] * X[:, first].std(), rtol=1e-5)
    assert told[0]["value"] == pytest.approx(X[3, first])
    assert "row from 0" in page.refused("explain", row=-1, map=number)


def test_islands_are_named_by_the_colour_or_the_columns(page):
    number = page.ask("fit", method="umap", parameters={"n_epochs": 100}).fields["map"]
    one = page.finish(number)
    named = page.ask("names", map=number, column=page.ask("hello").fields["colour"]).fields["names"]
    assert named
    low, high = one.positions().min(0), one.positions().max(0)
    assert all((low <= entry["at"]).all() and (entry["at"] <= high).all() for entry in named)
    by_columns = page.ask("names", map=number, column=None).fields["names"]
    assert all("high " in entry["name"] or "low " in entry["name"] for entry in by_columns), by_columns


def test_groups_become_a_column_of_labels(page):
    offered = page.ask("hello").fields["groupings"]
    assert "hdbscan" in offered
    column = page.ask("group", method="hdbscan").fields["column"]
    assert column["name"] == "hdbscan"
    assert column["label"]
    page.ask("group", method="hdbscan")  # again replaces it
    assert len(page.session.labels) == 1
    assert "a method of" in page.refused("group", method="k-means")


def test_every_method_offered_makes_a_map(page):
    for method in page.ask("hello").fields["methods"]:
        if not next(m for m in METHODS if m.name == method["name"]).needs_torch:  # learns for seconds
            few = {name: 30 for name in ("max_iter", "n_epochs") if name in {p["name"] for p in method["parameters"]}}
            number = page.ask("fit", method=method["name"], parameters=few, dims=2).fields["map"]
            one = page.finish(number)
            if method["name"] == "nmf":  # some values here are negative
                assert (one.status, "must not be negative" in one.message) == ("failed", True)
                continue
            assert (one.status, one.positions().shape) == ("done", (120, 2)), (method["name"], one.message)
            page.ask("drop", map=number)


def test_live_frames_wait_for_the_page_and_the_newest_wins(page):
    number = page.ask("fit", method="tsne", parameters={"max_iter": 200}).fields["map"]
    one = page.finish(number)
    assert one.frame > 3
    frames = [message for message in page.read() + page.read() if message.type == "frame"]
    shown = [message.fields["frame"] for message in page.pushed if message.type == "frame"]
    assert len(frames) <= 1  # the next only after the page's answer
    page.tell("ack", map=number, frame=max(shown, default=0))
    page.read()
    shown = [message.fields["frame"] for message in page.pushed if message.type == "frame"]
    assert shown == sorted(shown)
    page.tell("ack", map=number, frame=shown[-1])
    assert shown[-1] == one.frame
    assert not [message for message in page.read() if message.type == "frame"]


def test_frames_of_a_map_are_a_tenth_of_a_second_apart(page):
    number = page.ask("fit", method="tsne", parameters={"max_iter": 50}).fields["map"]
    one = page.finish(number)
    for _ in range(2):  # the last frame of the fit may come after its end; the second of these is certain
        page.read()
        page.tell("ack", map=number, frame=one.frame)
        page.session.tell("frame", one)
    assert not [message for message in page.read(0.05) if message.type == "frame"]
    assert [message for message in page.read(0.06) if message.type == "frame"]


def test_a_frame_that_was_never_answered_does_not_hold_the_map_for_ever(page):
    number = page.ask("fit", method="pca", parameters={}).fields["map"]
    one = page.finish(number)
    page.read()
    page.session.tell("frame", one)
    assert not [message for message in page.read(20) if message.type == "frame"]
    assert [message for message in page.read(20) if message.type == "frame"]


def test_a_fit_pauses_goes_on_and_stops(page):
    number = page.ask("fit", method="tsne", parameters={"max_iter": 1_000_000}).fields["map"]
    one = page.session.map(number)
    wait_for(lambda: one.frame > 1)
    assert page.ask("pause", map=number).fields["status"] == "paused"
    wait_for(lambda: not one._wish._is_owned())
    held = one.iteration
    wait_for(lambda: one.iteration - held <= 10)
    page.ask("resume", map=number)
    wait_for(lambda: one.iteration > held + 20)
    page.ask("stop", map=number)
    one = page.finish(number)
    assert one.status == "stopped"
    assert one.fitted is not None  # the map it had is kept, and can place rows
    assert one.fitted.n_iter_ == one.iteration
    page.read()
    done = [message for message in page.pushed if message.type == "done"]
    assert [message.fields["map"] for message in done] == [number]


def test_a_paused_fit_can_be_stopped(page):
    number = page.ask("fit", method="tsne", parameters={"max_iter": 1_000_000}).fields["map"]
    page.ask("pause", map=number)
    page.ask("stop", map=number)
    assert page.finish(number).status == "stopped"


def test_a_map_goes_on_from_another_with_a_new_perplexity(page):
    first = fitted(page, "tsne", parameters={"perplexity": 10, "max_iter": 300})
    before = page.session.map(first).positions()
    second = fitted(page, "tsne", parameters={"perplexity": 20, "max_iter": 1}, start=first)
    after = page.session.map(second).positions()
    assert np.abs(after - before).max() < 0.2 * np.ptp(before)
    assert np.corrcoef(before[:, 0], after[:, 0])[0, 1] > 0.99
    assert not page.session.map(second).fitted.warm_start


def test_a_map_of_another_method_or_dimension_can_be_a_start(page):
    first = fitted(page)
    one = page.session.map(fitted(page, "tsne", parameters={"max_iter": 60}, start=first, dims=3))
    assert one.positions().shape == (120, 3)
    assert one.fitted.init == "pca"  # the layout is no part of the model
    assert "cannot start from another map" in page.refused("fit", method="isomap", parameters={}, start=first)
    assert "no map 99" in page.refused("fit", method="tsne", parameters={}, start=99)


def test_a_selection_is_embedded_again_from_where_it_stands(page):
    first = fitted(page, "tsne", parameters={"max_iter": 250})
    rows = np.arange(120) < 50
    page.select(rows)
    number = fitted(page, "tsne", parameters={"max_iter": 20}, rows="selection", start=first)
    frame = page.ask("map", map=number)
    np.testing.assert_array_equal(unpack_bits(frame.arrays["present"], 120), rows)
    assert (frame.arrays["positions"][~rows] == 65535).all()
    assert page.session.map(number).described()["rows"] == 50
    positions = page.session.map(number).positions()
    assert np.isnan(positions[~rows]).all()
    assert "lacks 70 of the rows" in page.refused("fit", method="tsne", parameters={}, start=number)


def test_a_fit_that_fails_says_why_and_the_session_lives_on(page):
    number = page.ask("fit", method="tsne", parameters={"perplexity": 500}).fields["map"]
    assert page.finish(number).status == "failed"
    page.read()
    error = next(message for message in page.pushed if message.type == "error")
    assert error.fields["map"] == number
    assert "perplexity must be between 1 and n_samples - 1 = 119" in error.fields["message"]
    fitted(page)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"method": "nothing"}, "method must be one of"),
        ({"method": ["pca"]}, "must be a name"),
        ({"method": "cca"}, "cannot map these data"),
        ({"method": "pca", "dims": 4}, "1, 2 or 3"),
        ({"method": "pca", "dims": "2"}, "1, 2 or 3"),
        ({"method": "tsne", "parameters": {"perplexity": "none"}}, "perplexity must be"),
        ({"method": "tsne", "parameters": {"callback": 1}}, "callback"),
        ({"method": "tsne", "parameters": {"n_components": 50}}, "n_components"),
        ({"method": "tsne", "parameters": [1]}, "by name"),
        ({"method": "pca", "rows": "selection"}, "no rows are selected"),
    ],
)
def test_fits_that_cannot_be_are_refused_before_they_start(page, fields, words):
    assert words in page.refused("fit", **{"parameters": {}, **fields})
    assert not page.session.maps


def test_sixty_fits_in_a_row_wait_for_their_turn_up_to_a_limit(page):
    endless = {"method": "tsne", "parameters": {"max_iter": 10**6}}
    answers = [page.ask("fit", **endless) for _ in range(60)]
    taken = [answer.fields["map"] for answer in answers if answer.type == "fit"]
    assert [page.session.map(number).status for number in taken] == ["running"] * 4 + ["waiting"] * 12
    assert {a.fields["message"] for a in answers[16:]} == {
        "fit: at most 4 fits run and 12 wait for their turn. Stop one, or wait."
    }
    assert "has not begun" in page.refused("pause", map=taken[5])
    page.ask("stop", map=taken[4])
    assert page.session.map(taken[4]).status == "stopped"
    page.ask("drop", map=taken[5])
    page.ask("stop", map=taken[0])  # the next in the queue that was not stopped begins
    page.finish(taken[0])
    wait_for(lambda: page.session.map(taken[6]).status == "running")
    assert [page.session.map(number).status for number in taken[7:]] == ["waiting"] * 9
    page.session.close()
    for number in taken[:4] + taken[6:]:
        page.finish(number)
    assert all(one.status == "stopped" for one in page.session.maps.values())
    fitted(page)


@pytest.mark.parametrize("method", ["tsne", "umap"])
def test_until_the_descent_begins_the_start_is_shown(page, data, method, monkeypatch):
    held, real = threading.Event(), Session._fitted
    monkeypatch.setattr(Session, "_fitted", lambda *args: held.wait(30) and real(*args))
    number = page.ask("fit", method=method, parameters={}).fields["map"]
    one = page.session.map(number)
    wait_for(lambda: one.picture() is not None)
    first = one.picture()
    assert first.fields["start"]
    assert one.Y is None  # it is not the map: neither exported nor judged
    want = lowdim.PCA(2).fit_transform(data[0])
    low, high = np.array(first.fields["box"]).T
    got = low + first.arrays["positions"] / 65535 * (high - low)
    np.testing.assert_allclose(got, want, atol=(high - low).max() / 65535)
    held.set()
    page.finish(number)
    assert not one.picture().fields["start"]


def test_a_fit_stopped_before_its_descent_has_no_map(page, monkeypatch):
    held, real = threading.Event(), Session._fitted
    monkeypatch.setattr(Session, "_fitted", lambda *args: held.wait(30) and real(*args))
    number = page.ask("fit", method="tsne", parameters={}).fields["map"]
    wait_for(lambda: page.session.map(number).picture() is not None)
    page.ask("stop", map=number)
    held.set()
    one = page.finish(number)
    assert one.message == "Stopped before there was a map."
    assert "no positions yet" in page.refused("export", what="picture", format="png", map=number)


def test_rows_are_paged_and_their_texts_are_as_they_came():
    session = open_session(np.eye(4), table={"text": [HOSTILE, "b", None, "d"]})
    page = Page(session)
    answer = page.ask("rows", of="all", start=0, count=2).fields
    assert (answer["index"], answer["total"]) == ([0, 1], 4)
    assert answer["rows"][0][answer["columns"].index("text")] == HOSTILE
    page.select(np.array([False, False, True, True]))
    assert page.ask("rows", of="selection", start=1, count=9).fields["index"] == [3]
    assert page.ask("rows", of=[3, 0], start=0, count=9).fields["index"] == [3, 0]
    assert "row numbers" in page.refused("rows", of=[4])
    assert "row numbers" in page.refused("rows", of="../../etc/passwd")


def test_search_finds_text_in_any_case_and_compares_numbers(page, data):
    found = page.ask("search", text="ROW 11", column=None)
    assert np.flatnonzero(unpack_bits(found.arrays["mask"], 120)).tolist() == [11, *range(110, 120)]
    assert page.ask("search", text="2", column="label").fields["count"] == 40
    more = page.ask("search", text=">3", column="x0")
    np.testing.assert_array_equal(unpack_bits(more.arrays["mask"], 120), data[0][:, 0] > 3)
    assert page.ask("search", text="nonsense", column="x0").fields["count"] == 0
    assert "text is needed" in page.refused("search", text=" ")


def test_neighbours_are_the_true_ones_and_the_torn_are_marked(page, data):
    number = fitted(page)
    answer = page.ask("neighbours", row=7, k=5, map=number)
    apart = np.linalg.norm(data[0] - data[0][7], axis=1)
    order = np.argsort(apart)[1:6]
    assert answer.arrays["index"].tolist() == order.tolist()
    np.testing.assert_allclose(answer.arrays["distance"], apart[order], rtol=1e-5)
    Y = page.session.map(number).positions()
    there = np.argsort(np.linalg.norm(Y - Y[7], axis=1))[1:6]
    assert answer.arrays["kept"].tolist() == np.isin(order, there).tolist()
    assert "a row from 0 to 119" in page.refused("neighbours", row=120, k=5, map=number)
    assert "from 1 to 1000" in page.refused("neighbours", row=0, k=0, map=number)


def test_distortion_counts_neighbours_out_of_place(page, data):
    number = fitted(page)
    k, answer = 5, page.ask("distortion", map=number, k=5)
    X, Y = data[0], page.session.map(number).positions()
    orders = [np.argsort(np.linalg.norm(A[:, None] - A, axis=2) + np.diag([np.inf] * 120), axis=1) for A in (X, Y)]
    for name, here, there in (("false", orders[1], orders[0]), ("missing", orders[0], orders[1])):
        expected = [1 - np.isin(here[i, :k], there[i, : 2 * k]).mean() for i in range(120)]
        np.testing.assert_allclose(answer.arrays[name], expected, atol=1e-6)
    page.select(np.arange(120) < 30)
    part = fitted(page, rows="selection")
    answer = page.ask("distortion", map=part, k=3)
    assert np.isnan(answer.arrays["false"][30:]).all()
    assert not np.isnan(answer.arrays["false"][:30]).any()


def test_a_selection_is_described(page, data):
    number = fitted(page)
    answer = page.select(data[1] == 1).fields
    assert answer["count"] == 40
    assert answer["counts"] == [{"column": "label", "category": "1", "count": 40, "of": 40}]
    first, second = answer["telling"][:2]
    assert (first["column"], first["inside"], first["outside"]) == ("label", "100% 1", "0% 1")
    assert first["score"] == pytest.approx(1)
    assert second["column"] == "x1"  # along which the class lies apart
    x = data[0][:, 1]
    assert second["score"] == pytest.approx(abs(np.corrcoef(x, data[1] == 1)[0, 1]))
    assert second["inside"] == pytest.approx(x[data[1] == 1].mean())
    assert second["outside"] == pytest.approx(x[data[1] != 1].mean())
    assert [quality["map"] for quality in answer["quality"]] == [number]
    assert 0.5 < answer["quality"][0]["trustworthiness"] <= 1


def test_the_quality_of_all_rows_is_that_of_the_map(page, data):
    number = fitted(page)
    found = page.select(np.ones(120, bool)).fields["quality"][0]
    Y = page.session.map(number).positions()
    assert found["trustworthiness"] == pytest.approx(lowdim.quality.trustworthiness(data[0], Y))
    assert found["neighbors_kept"] == pytest.approx(lowdim.quality.neighborhood_recall(data[0], Y))
    assert page.session.map(number).quality["continuity"] == pytest.approx(found["continuity"])


def test_an_empty_selection_and_a_wrong_one(page):
    assert page.select(np.zeros(120, bool)).fields == {"count": 0, "counts": [], "telling": [], "quality": []}
    assert "15 bytes" in page.refused("select", {"mask": np.zeros(3, np.uint8)})
    assert "mask" in page.refused("select")


def test_labels_are_shared_by_all_pages_and_outlive_them(page):
    other = Page(page.session)
    page.select(np.arange(120) < 10)
    assert page.ask("label", column="mine", name=HOSTILE).fields["column"]["categories"] == [HOSTILE]
    page.visitor.close()
    listed = next(message for message in other.read() if message.type == "columns").fields["columns"]
    assert listed[0]["name"] == "mine"
    codes = other.ask("column", name="mine").arrays["codes"]
    assert (codes[:10] == 0).all()
    assert (codes[10:] == 255).all()
    assert "no rows are selected" in other.refused("label", column="mine", name="b")  # selections are a page's own
    other.select(np.arange(120) < 4)
    other.ask("label", column="mine", name=None)
    assert (other.ask("column", name="mine").arrays["codes"][:4] == 255).all()
    assert "cannot be changed" in other.refused("label", column="x1", name="b")
    assert "a name of 1 to 200" in other.refused("label", column="", name="b")


def test_maps_are_shared_by_all_pages_and_a_closed_one_stops_nothing(page):
    other = Page(page.session)
    number = page.ask("fit", method="tsne", parameters={"max_iter": 300}).fields["map"]
    page.visitor.close()
    one = other.finish(number)
    assert one.status == "done"
    messages = other.read()
    assert {message.fields["map"] for message in messages if message.type == "status"} == {number}
    assert other.ask("map", map=number).fields["frame"] == one.frame
    other.ask("drop", map=number)
    assert {"map": number} in [message.fields for message in other.pushed if message.type == "dropped"]
    assert "no map" in other.refused("map", map=number)


def test_unknown_requests_and_noise_are_answered_with_an_error(page):
    assert "request '__init__' is unknown" in page.refused("__init__")
    assert "request 'close' is unknown" in page.refused("close")
    page.visitor.receive(b"noise")
    assert page.read()[-1].type == "error"
    page.visitor.receive(b"")
    assert "4 bytes" in page.read()[-1].fields["message"]


def test_thumbnails_are_tiles_of_one_picture():
    X, y = lowdim.data.load("digits")
    page = Page(open_session(X[:50], y[:50], image_shape=(8, 8)))
    assert page.ask("hello").fields["images"] == {"height": 8, "width": 8, "channels": 1}
    answer = page.ask("thumbs", rows=[4, 9, 2])
    assert answer.fields == {"width": 8, "height": 8, "channels": 4, "columns": 2}
    tile = answer.arrays["atlas"][:8, 8:16, 0]  # the second image, right of the first
    np.testing.assert_array_equal(tile, (X[9].reshape(8, 8) * (255 / 16)).astype(np.uint8))
    assert (answer.arrays["atlas"][..., 3] == 255).all()
    assert "not images" in Page(open_session(X[:9])).refused("thumbs", rows=[1])


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_dropped_rows_are_placed_with_their_trust(page, data, method):
    number = fitted(page, method, parameters={})
    new = np.vstack([data[0][:3] + 1e-3, np.full((1, 6), 60.0)])
    names = [f"x{j}" for j in range(6)]
    content = pl.DataFrame(new, schema=names).write_csv().encode()
    answer = page.ask(
        "place", {"bytes": np.frombuffer(content, np.uint8)}, name="a/b/new.csv", format="csv", map=number
    )
    assert answer.fields == {"placed": "new.csv", "count": 4, "map": number}
    one = page.session.map(number)
    np.testing.assert_allclose(answer.arrays["positions"], one.fitted.transform(new), rtol=1e-4, atol=1e-3)
    trust = answer.arrays["trust"]
    assert trust[:3].min() > 0.02
    assert trust[3] == 0


def test_files_of_other_columns_are_refused_with_their_name(page, data):
    number = fitted(page)
    buffer = io.BytesIO()
    np.save(buffer, data[0][:, :4])
    words = page.refused(
        "place", {"bytes": np.frombuffer(buffer.getvalue(), np.uint8)}, name="new.npy", format="npy", map=number
    )
    assert "6 columns are needed; new.npy has 4" in words
    assert "tmp" not in words
    junk = {"bytes": np.frombuffer(b"\x93NUMPY junk", np.uint8)}
    assert "wrong.npy" in page.refused("place", junk, name="wrong.npy", format="npy", map=number)
    assert "one of the kinds" in page.refused("place", junk, name="x", format="../../x", map=number)


def test_rows_of_a_mixed_table_are_prepared_before_they_are_placed(rng):
    n = 60
    towns = [["Oslo", "Rome", HOSTILE][i % 3] for i in range(n)]
    frame = pl.DataFrame({"size": rng.normal(size=n), "town": towns, "age": rng.normal(size=n)})
    page = Page(open_session(frame))
    number = fitted(page)
    few = frame.head(4).select("age", "town", "size").with_columns(extra=1)
    buffer = io.BytesIO()
    few.write_parquet(buffer)
    answer = page.ask(
        "place", {"bytes": np.frombuffer(buffer.getvalue(), np.uint8)}, name="n.parquet", format="parquet", map=number
    )
    np.testing.assert_allclose(answer.arrays["positions"], page.session.map(number).positions()[:4], atol=1e-5)
    words = page.refused(
        "place", {"bytes": np.frombuffer(b"size,town\n1,Oslo\n", np.uint8)}, name="n.csv", format="csv", map=number
    )
    assert "age" in words
    assert page.ask("column", name="town").fields["categories"] == sorted(["Oslo", "Rome", HOSTILE])


def test_sparse_rows_are_explored_too(rng):
    from scipy import sparse

    X = sparse.random(80, 30, 0.3, random_state=0, format="csr")
    page = Page(open_session(X))
    number = fitted(page)
    page.select(np.arange(80) < 20)
    np.testing.assert_allclose(page.ask("column", name="x3").arrays["values"], X.toarray()[:, 3], rtol=1e-6)
    assert len(page.ask("neighbours", row=0, k=4, map=number).arrays["index"]) == 4
    assert page.ask("distortion", map=number, k=4).arrays["false"].shape == (80,)


def test_masks_of_a_page_are_not_changed_by_its_bytes(page):
    bits = pack_bits(np.arange(120) < 5)
    page.ask("select", {"mask": bits})
    assert page.visitor.selected.sum() == 5


def test_an_answer_that_fails_in_any_way_is_told(page, monkeypatch):
    from lowdim.explorer import selection_analysis

    def break_down(*_):
        raise ArithmeticError("of some library")

    monkeypatch.setattr(selection_analysis, "neighbours", break_down)
    assert page.refused("neighbours", row=0, k=3, map=None) == "of some library"


def test_doubts_are_those_of_quality_for_any_frame_and_samples(page, data):
    number = fitted(page)
    one, found = page.session.map(number), page.ask("reliability", map=number)
    expected = lowdim.quality.reliability(one.fitted, data[0])
    np.testing.assert_allclose(found.arrays["score"], expected.score, atol=0.02)
    assert found.fields["count"] == found.arrays["dubious"].sum() == one.dubious.sum()
    moved = page.ask("reliability", map=number, refits=1)
    assert moved.fields["refits"] == 1
    assert np.nanmax(moved.arrays["moves"]) <= 1
    page.select(np.arange(120) < 30)
    assert "a number of refits from 0 to 20" in page.refused("reliability", map=number, refits=99)
