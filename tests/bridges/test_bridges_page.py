"""docs/bridges.md, run as a notebook."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "bridges.md"
CELLS = """
def cells():
    import anndata, numpy, scipy.sparse
    numbers = numpy.random.default_rng(0)
    types = numpy.repeat([0, 1, 2], 80)
    rates = numbers.gamma(0.5, 1.0, (3, 150))
    counts = scipy.sparse.csr_matrix(numbers.poisson(rates[types]).astype("float32"))
    adata = anndata.AnnData(counts)
    adata.var_names = [f"gene{j}" for j in range(150)]
    return adata

def documents():
    import numpy
    numbers = numpy.random.default_rng(0)
    subjects = ["cell nucleus protein gene", "engine wheel brake gear", "goal referee match league"]
    codes = numpy.repeat([0, 1, 2], 80)
    texts = [" ".join(numbers.choice(subjects[c].split(), 6)) for c in codes]
    return texts, (numbers.normal(size=(3, 32))[codes] + 0.3 * numbers.normal(size=(240, 32))).astype("float32")
"""


def test_the_page_runs_as_a_notebook(tmp_path):
    for package in ("scanpy", "bertopic", "datamapplot", "duckdb", "nbclient"):
        pytest.importorskip(package)
    import nbformat
    from nbclient import NotebookClient

    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) == 5
    blocks[0] = blocks[0].replace("sc.datasets.pbmc3k()", "cells()")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in (CELLS, *blocks)])
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    shown = "".join(str(output.get("data", {}).get("text/plain", "")) for output in outputs)
    assert "umap_trust" in shown
    assert "array" in shown
