"""What leaves the explorer can be read by whoever gets it."""

import base64
import gzip
import hashlib
import html
import io
import re
import struct
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from PIL import Image
from talking import Page

import lowdim
from lowdim.explorer.exports import rescue_labels, stem
from lowdim.explorer.message_format import Message, decode, encode
from lowdim.explorer.opening import open_session
from lowdim.explorer.page_source import join, joined, saved_page, static

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture
def page(rng):
    X = rng.normal(size=(50, 4))
    y = np.array(["a", HOSTILE])[np.arange(50) % 2]
    page = Page(open_session(X, y, table={"id": np.arange(50)}, title="blobs & co.csv"))
    page.number = page.ask("fit", method="pca", parameters={}).fields["map"]
    page.finish(page.number)
    page.select(np.arange(50) < 5)
    return page


def exported(page, what, format, **fields):
    answer = page.ask("export", what=what, format=format, map=page.number, **fields)
    assert answer.type == "export", answer.fields
    return answer.fields["filename"], answer.arrays["bytes"].tobytes()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_tables_hold_rows_labels_and_places(page, format):
    page.ask("label", column="mine", name="some")
    read = pl.read_csv if format == "csv" else pl.read_parquet
    name, content = exported(page, "selection", format)
    assert name == f"blobs_co-selection.{format}"
    frame = read(io.BytesIO(content))
    assert frame["row"].to_list() == [0, 1, 2, 3, 4]
    assert frame["label"].to_list() == ["a", HOSTILE, "a", HOSTILE, "a"]
    np.testing.assert_allclose(frame["x1"], page.session.X[:5, 1])
    np.testing.assert_allclose(frame["pca_y"], page.session.map(page.number).positions()[:5, 1], rtol=1e-5)
    labels = read(io.BytesIO(exported(page, "labels", format)[1]))
    assert labels.columns == ["row", "mine"]
    assert labels["mine"].to_list() == ["some"] * 5 + [None] * 45
    assert read(io.BytesIO(exported(page, "rows", format)[1])).height == 50


def test_labels_that_were_not_exported_are_rescued_once(page, tmp_path):
    page.ask("label", column="mine", name="some")
    assert page.session.unsaved
    (tmp_path / "blobs_co-labels.csv").write_text("mine")
    path = rescue_labels(page.session, tmp_path)
    assert path.name == "blobs_co-labels-2.csv"  # no file is overwritten
    assert pl.read_csv(path)["mine"].drop_nulls().to_list() == ["some"] * 5
    assert not page.session.unsaved


def test_a_model_file_loads_and_places(page, tmp_path):
    path = tmp_path / "map.lowdim"
    path.write_bytes(exported(page, "model", "lowdim")[1])
    Y = lowdim.load(path).transform(page.session.X)
    np.testing.assert_allclose(Y, page.session.map(page.number).positions(), atol=1e-5)


def test_the_model_of_a_map_that_began_at_another_is_saved_without_the_layout(page, tmp_path):
    number = page.ask("fit", method="tsne", parameters={"max_iter": 40}, start=page.number).fields["map"]
    page.finish(number)
    path = tmp_path / "map.lowdim"
    path.write_bytes(page.ask("export", what="model", format="lowdim", map=number).arrays["bytes"].tobytes())
    assert lowdim.load(path).init == "pca"


def test_pictures_are_drawn_by_show(page):
    image = Image.open(io.BytesIO(exported(page, "picture", "png", view={"colour": "x1"})[1]))
    assert image.size == (1200, 900)
    assert len(image.convert("RGB").getcolors(maxcolors=2**24)) > 50
    svg = exported(page, "picture", "svg")[1]
    assert ET.fromstring(svg).tag.endswith("svg")
    assert b"<script" not in svg


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"what": "selection", "format": "html"}, "is not available"),
        ({"what": "../../x", "format": "csv"}, "is not available"),
        ({"what": ["rows"], "format": "csv"}, "is not available"),
        ({"what": "labels", "format": "csv"}, "no labels yet"),
        ({"what": "model", "format": "lowdim", "map": None}, "Choose one"),
    ],
)
def test_what_cannot_be_exported_is_told(page, fields, words):
    assert words in page.refused("export", **{"map": page.number, **fields})


def test_names_of_files_are_plain():
    assert [stem(title) for title in ("../../etc/passwd", "a b.csv.gz", "C:\\x\\y.npy", "???", "…")] == [
        "passwd",
        "a_b",
        "y",
        "data",
        "data",
    ]


def messages_of(text):
    packed = re.search(r'id="messages">([^<]*)<', text)[1]
    blob, found = gzip.decompress(base64.b64decode(packed)), []
    while blob:
        (length,) = struct.unpack_from("<I", blob)
        found.append(decode(blob[4 : 4 + length]))
        blob = blob[4 + length :]
    return found


def test_a_saved_page_holds_maps_columns_and_view_and_asks_no_network(page):
    page.ask("label", column="mine", name="some")
    name, content = exported(page, "page", "html", view={"colour": "label", "note": HOSTILE})
    text = content.decode()
    assert name == "blobs_co.html"
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    held = 3 if 'id="engine"' in text else 2  # data, perhaps the core, and the module: nothing of the data closes one
    assert text.lower().count("</script>") == held
    found = messages_of(text)
    kinds = [message.type for message in found]
    assert kinds[0] == "hello"
    assert kinds[-1] == "view"
    assert found[-1].fields["view"] == {"colour": "label", "note": HOSTILE}
    assert [message.fields["name"] for message in found if message.type == "column"][:2] == ["label", "mine"]
    frame = next(message for message in found if message.type == "frame")
    assert frame.arrays["positions"].shape == (50, 2)
    assert found[0].fields["saved"]
    listed = {column["name"] for column in found[0].fields["columns"]}
    assert listed == {message.fields["name"] for message in found if message.type == "column"}


def test_the_policy_of_a_saved_page_names_its_own_script_and_style_only():
    text = saved_page([encode(Message("hello"))], HOSTILE)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for tag, content in (("script", re.search(r'<script type="module">(.*?)</script>', text, re.S)[1]),
                         ("style", re.search(r"<style>(.*?)</style>", text, re.S)[1])):  # fmt: skip
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "<title>&lt;/script&gt;" in text


def test_modules_are_joined_in_the_order_of_their_imports():
    sources = {
        "app.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";\nexport default { render() { a(); } };\n',
        "a.js": 'import { b } from "./b.js";\nexport function a() { return b; }\n',
        "b.js": "export const b = 1;\n// export stays in comments\n",
    }
    text = join(sources, "app.js")
    assert text.splitlines() == [
        "const b = 1;",
        "// export stays in comments",
        "function a() { return b; }",
        "export default { render() { a(); } };",
    ]
    with pytest.raises(ValueError, match="'c.js' is missing"):
        join({"app.js": 'import { c } from "./c.js";'}, "app.js")
    with pytest.raises(ValueError, match="imports itself"):
        join({"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}, "a.js")


def test_the_page_is_one_module_and_small():
    assert {"index.html", "app.css", "app.js", "start.js"} <= set(static())
    assert not re.search(r"^import ", joined(), re.M)
    assert sum(len(static()[name]) for name in ("index.html", "app.css", "app.js", "start.js")) < 300_000
