"""The site shows every public name, and the links of its pages lead to pages. Building it is ``make docs``."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import lowdim

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(monkeypatch):
    """Import a module of the site."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_site")
    yield import_module
    for name in ("reference", "repository", "charts", "links", "assistants"):
        sys.modules.pop(name, None)


def test_the_reference_has_every_public_name(site):
    listed = [name for _, names in site("reference").sections() for name in names]
    assert len(listed) == len(set(listed))
    rooms = ("data", "parts", "quality", "show")
    wanted = {f"lowdim.{name}" for name in lowdim.__all__ if name not in (*rooms, "__version__")}
    wanted |= {f"lowdim.{room}.{name}" for room in rooms for name in getattr(lowdim, room).__all__}
    assert set(listed) == wanted


def test_assistants_find_every_public_name_and_page_in_text(site):
    module = site("assistants")
    listed = [name for _, names in site("reference").sections() for name in names]
    lines = module.names().splitlines()
    for name in listed:
        assert any(line.startswith(f"- {name}(") or line.startswith(f"- {name}:") for line in lines), name
    text = module.pages()
    for page in (ROOT / "docs").glob("*.md"):
        if page.read_text().startswith("# "):
            assert f"]({page.stem}.html)" in text
    assert len(text) < 12_000


def test_words_that_are_searched_are_on_the_pages():
    for word, page in (
        ("Excel", "faq"),
        ("BERTopic", "bridges"),
        ("scanpy", "bridges"),
        ("batch", "faq"),
        ("bibtex", "cite"),
    ):
        assert word in (ROOT / "docs" / f"{page}.md").read_text()


def test_pages_of_the_reference_differ_in_more_than_capitals(site):
    reference = site("reference")
    files = [reference.stem(name, names).lower() for _, names in reference.sections() for name in names]
    assert len(files) == len(set(files))


def test_methods_of_lowdim_are_on_the_page_and_those_of_scikit_learn_are_not(site):
    page = site("reference").page("lowdim.PCA")
    for name in ("fit", "transform", "inverse_transform", "partial_fit", "save"):
        assert f".. automethod:: {name}\n" in page
    assert "set_output" not in page


def test_links_out_of_the_folder_lead_to_pages(site):
    rewritten = site("repository").rewritten
    assert rewritten("[a](../examples/two_rings.py)", "docs") == "[a](/auto_examples/two_rings.rst)"
    assert rewritten("[a](../../CONTRIBUTING.md#words)", "docs/maths") == "[a](/contributing.md#words)"
    assert rewritten("[a](docs/gpu.md)", ".") == "[a](/gpu.md)"
    assert rewritten("[a](https://example.org/docs/gpu.md)", ".") == "[a](https://example.org/docs/gpu.md)"


def test_charts_have_a_bar_for_every_row_of_a_results_file(site):
    module = site("charts")
    for name in ("results.md", "results_gpu.md"):
        charts = list(module.charts((ROOT / "benchmarks" / name).read_text()))
        assert charts
        for chart in charts:
            assert module.drawn(chart).count('class="lowdim-bar') == len(chart.rows) > 0
    assert module.seconds("307 ms") == pytest.approx(0.307)
    assert module.seconds("0.145 s (0.142 to 0.146)") == 0.145
    assert module.seconds("–") is None


def test_a_link_that_leads_nowhere_is_found(site, tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#there">1</a><a href="b.html#not">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<h1 id="there">4</h1>')
    assert [line.rpartition(": ")[2] for line in site("links").broken(tmp_path)] == ["no such anchor", "no such file"]
