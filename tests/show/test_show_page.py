import base64
import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from lowdim.show.page import code, figure, heading, page, paragraph, row, table

EVIL = '<script>alert("x")</script> & co'
VOID = {"meta", "img", "br", "link"}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


class Balance(HTMLParser):
    """Fails on a tag that closes what is not open."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.images = []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(tmp_path, blocks, title="A title"):
    path = tmp_path / "index.html"
    page(title, blocks, path)
    text = path.read_text(encoding="utf-8")
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    return text, parser


def picture():
    _, ax = plt.subplots(figsize=(2, 1))
    ax.plot([0, 1])
    return ax


def test_everything_given_is_escaped(tmp_path: Path):
    blocks = [
        heading(EVIL),
        paragraph(EVIL),
        code(EVIL),
        table([(EVIL, EVIL)], header=(EVIL, EVIL), caption=EVIL),
        figure(picture(), alt=EVIL, caption=EVIL),
    ]
    text, parser = read(tmp_path, blocks, title=EVIL)
    assert "<script" not in text
    assert parser.images[0]["alt"] == EVIL


def test_the_page_needs_nothing_but_itself(tmp_path: Path):
    text, parser = read(tmp_path, [row(figure(picture(), alt="a line"), paragraph("beside it"))])
    assert not re.search(r"https?:|//[a-z]|url\(|@import|<link|<script", re.sub(r'src="data:[^"]*"', "", text))
    kind, _, data = parser.images[0]["src"].partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert "prefers-color-scheme: dark" in text
    assert "viewport" in text


def test_a_page_is_the_same_whenever_it_is_written(tmp_path: Path):
    first, _ = read(tmp_path, [figure(picture(), alt="a line")])
    second, _ = read(tmp_path, [figure(picture(), alt="a line")])
    assert first == second


def test_numbers_are_set_right_and_under_their_heading():
    text = table([("pca", 0.123456, "fast"), ("tsne", 12345, "slow")], header=("method", "error", "note"))
    assert '<td class="number">0.1235</td><td>fast</td>' in text
    assert '<td class="number">12,345</td>' in text
    assert '<th scope="col" class="number">error</th><th scope="col">note</th>' in text


def test_figure_demands_words_and_heading_a_level():
    with pytest.raises(ValueError, match="alt must say in words"):
        figure(picture(), alt=" ")
    with pytest.raises(ValueError, match=r"level must be 2 or 3 .* got 1"):
        heading("x", level=1)


def test_an_interrupted_page_leaves_the_old_one(tmp_path: Path):
    def broken():
        yield paragraph("half")
        raise RuntimeError

    read(tmp_path, [paragraph("whole")])
    with pytest.raises(RuntimeError):
        page("A title", broken(), tmp_path / "index.html")
    assert "whole" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 1


def test_demo_writes_its_page_and_prints_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    script = Path(__file__).parents[2] / "examples" / "demo.py"
    spec = importlib.util.spec_from_file_location("demo", script)
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    demo.main(str(tmp_path / "demo" / "index.html"))
    printed = Path(capsys.readouterr().out.splitlines()[-1])
    assert printed.is_absolute()
    assert printed.read_text(encoding="utf-8").count("<img") == 3
