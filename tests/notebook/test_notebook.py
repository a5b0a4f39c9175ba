"""In a notebook: models tell what they found, pictures appear, and progress bars leave nothing behind."""

import base64
import io
import re

import nbformat
import numpy as np
import pytest
from matplotlib.image import imread
from nbclient import NotebookClient

from lowdim import PCA, TSNE, Isomap
from lowdim.methods import registry
from lowdim.methods.html_summary import facts, with_facts
from lowdim.work.notebook import NotebookBars, _line

CELLS = """
import lowdim
from lowdim import TSNE, quality, show
X, y = lowdim.data.load("iris")
---
tsne = TSNE(max_iter=120, random_state=0, verbose=1).fit(X)
---
TSNE(perplexity=1000, verbose=1).fit(X)
---
tsne
---
%matplotlib inline
show.scatter(tsne.embedding_, y)
---
quality.report(X, tsne.embedding_)
---
lowdim.compare(X, y, ["pca", "lda"])
---
from lowdim.explorer import widget
widget._PATIENCE = 100
lowdim.explore(X, y)
"""


@pytest.fixture(scope="module")
def notebook():
    """A notebook that a kernel has run."""
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.split("---")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    return notebook


@pytest.fixture(scope="module")
def outputs(notebook):
    """Outputs of each of its cells."""
    return [cell.outputs for cell in notebook.cells]


def html(outputs):
    return "".join(output.data.get("text/html", "") for output in outputs if "data" in output)


def test_progress_bars_are_gone_after_the_fit(outputs):
    assert [output.output_type for output in outputs[1]] == ["display_data"]
    assert html(outputs[1]) == ""


def test_progress_bars_are_gone_after_an_error_too(outputs):
    *shown, error = outputs[2]
    assert error.ename == "ValueError"
    assert html(shown) == ""


def test_a_fitted_model_tells_what_it_found(outputs):
    (output,) = outputs[3]
    text = re.search(r'<div class="lowdim-facts"[^>]*>(.*?)</div>', output.data["text/html"])[1]
    assert "150 rows in 2 dimensions · KL divergence" in text
    assert re.search(r"\d+ iterations", text)
    assert output.data["text/html"].count("lowdim-facts") == 1


def test_pictures_reports_and_comparisons_are_displayed(outputs):
    assert any("image/png" in output.data for output in outputs[4] if "data" in output)
    assert "trustworthiness" in html(outputs[5])
    assert "<table" in html(outputs[6])
    assert "pca" in html(outputs[6])


def test_an_explorer_is_a_picture_where_there_is_no_kernel(notebook, outputs):
    pytest.importorskip("anywidget", reason="the widget needs lowdim[widget]")
    (output,) = outputs[7]
    shown = base64.b64decode(output.data["image/png"])  # for exports without the state of widgets
    assert imread(io.BytesIO(shown)).std() > 0.02
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"].state.values()
    assert [one.state["_picture"] for one in states if "_picture" in one.state] == [output.data["image/png"]]


def test_a_model_that_is_not_fitted_has_no_facts():
    for method in registry.METHODS:
        assert facts(method.load()()) == []
    assert with_facts("page", PCA()) == "page"


def test_facts_are_escaped_and_name_broken_graphs(rng):
    X = np.concatenate([rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 1000])
    with pytest.warns(UserWarning, match="connect"):
        model = Isomap(n_neighbors=4).fit(X)
    assert "neighbour graph of 2 connected components" in facts(model)
    model.solver_ = "<b>"
    assert "&lt;b&gt;" in with_facts("", model)


def test_bars_tell_the_share_and_the_time_left():
    bars = NotebookBars()  # outside of a kernel nothing is displayed
    with bars:
        task = bars.add_task("TSNE: <descent>", total=100)
        bars.update(task, completed=25, note="KL 1.2")
        assert list(bars.task_ids) == [0]
    entry = bars.tasks[0] | {"start": 0.0}
    line = _line(entry, 10.0)
    assert 'value="25" max="100"' in line
    assert "30 s left KL 1.2" in line
    assert "&lt;descent&gt;" in line
    assert _line(entry | {"end": 12.0}, 99.0).endswith("12.0 s KL 1.2</div>")


def test_html_is_left_out_where_scikit_learn_is_told_to(rng):
    from sklearn import config_context

    model = TSNE(max_iter=20, random_state=0).fit(rng.normal(size=(30, 3)))
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
    assert "lowdim-facts" in model._repr_mimebundle_()["text/html"]
    assert "lowdim-facts" in model._repr_html_()
