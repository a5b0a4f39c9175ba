"""Code blocks of the guide run as they stand, in order, with the files that their text speaks of."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from scipy import sparse

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    """A folder with the files that the recipes read."""
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    for name in ("cats", "dogs"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for i in range(20):
            pixels = rng.integers(0, 100, (8, 8), dtype=np.uint8) + np.uint8(100 * (name == "cats"))
            Image.fromarray(pixels).save(tmp_path / "photos" / name / f"{i}.png")
    counts = sparse.csr_matrix(rng.poisson(np.repeat([[0.3], [1.5]], 60, axis=0), (120, 50)).astype(np.float32))
    with h5py.File("cells.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", counts.shape
        group["data"], group["indices"], group["indptr"] = counts.data, counts.indices, counts.indptr
        for name, length in (("obs", 120), ("var", 50)):
            file.create_group(name).attrs["_index"] = "_index"
            file[name]["_index"] = [f"{name}{i}" for i in range(length)]
        file["obs"].create_group("cell_type")["codes"] = np.repeat([0, 1], 60).astype(np.int8)
        file["obs/cell_type"]["categories"] = ["B", "T"]
    words = np.array(
        ["map", "row", "graph", "loss", "kernel", "tree", "grid", "point", "digit", "sum", "axis", "place"]
    )
    Path("texts.txt").write_text("\n".join(" ".join(rng.choice(words, 6)) for _ in range(80)))
    rows = [
        f"{rng.normal():.3f},{rng.choice(['S', 'M'])},2024-01-{1 + i % 28:02d},{'' if i == 3 else i},{i % 2}"
        for i in range(60)
    ]
    Path("people.csv").write_text("income,size,since,age,group\n" + "\n".join(rows))
    np.save("large.npy", rng.integers(0, 255, (3000, 20), dtype=np.uint8))
    yield tmp_path
    plt.close("all")


def run(page: str) -> dict:
    """Names that the code blocks of a page define."""
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.S):
        exec(compile(block, f"{page}.md", "exec"), names)
    return names


def test_the_first_five_minutes_run_and_find_what_they_say(folder):
    names = run("start")
    assert round(names["found"]["trustworthiness"], 2) == 0.99
    assert names["placed"].shape == (5, 2)
    assert {"digits.png", "digits.lowdim", "report.html"} <= {path.name for path in folder.iterdir()}


def test_recipes_run(folder):
    names = run("recipes")
    assert names["table"].image_shape == (8, 8)
    assert names["Y"].shape == (3000, 2)
    assert names["tsne"].n_iter_ > 0


@pytest.mark.parametrize("page", ["reading_a_map", "coming_from", "versions"])
def test_pages_of_the_guide_run(page, folder):
    assert run(page)


def test_every_term_of_the_glossary_stands_once_and_in_order():
    terms = re.findall(r"^([^\n:].*)\n: ", (DOCS / "glossary.md").read_text(), re.M)
    assert len(terms) > 30
    assert terms == sorted(set(terms), key=str.lower)


def test_the_tests_that_keep_the_promises_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (DOCS / "promises.md").read_text())
    assert len(named) > 30
    for path, name in named:
        assert f"def {name}(" in (DOCS.parent / path).read_text(), f"{path}::{name}"
