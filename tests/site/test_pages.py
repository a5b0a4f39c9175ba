"""Code blocks of the guide run as they are, in order, with the files that their text mentions."""

import re
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from scipy import sparse

import lowdim

DOCS = Path(__file__).parents[2] / "docs"
# The only blocks of Python in README and docs that no test runs, and why.
NOT_RUN = {
    ("cluster", 2): "needs a batch system (SLURM)",
    ("data", 0): "downloads data sets",
}
# What a test replaces, since it has no GPU, no scheduler and no large files; all else runs as it is.
REPLACED = {
    "cluster": {
        'Client("tcp://scheduler:8786")': "Client(processes=False, n_workers=1, dashboard_address=None)",
        'da.from_zarr("cells.zarr")': "da.random.default_rng(0).normal(size=(300, 60), chunks=(100, 60))",
        "100_000": "10",
        "784": "20",
    },
    "compare": {'load("digits")': 'load("digits"); X, y = X[:150], y[:150]'},
    "explorer": {"explorer.model(1)": "explorer._session.map(1).join(60); explorer.model(1); explorer.close()"},
    "faq": {"X[:500], y[:500]": "X[:160], y[:160]", "X[:400]": "X[:120]", "X[400:]": "X[120:]", "X[:300]": "X[:100]"},
    "grow": {'load("digits")': 'load("digits"); X, y = X[:320], y[:320]', "1000": "200", "1300": "260", "1600": "320"},
    "reliability": {'load("digits")': 'load("digits"); X, y = X[:200], y[:200]'},
    "gpu": {'load("digits")': 'load("digits"); rows = rows[:150]', '"cuda"': '"cpu"'},
}
ELSEWHERE = {"adding_a_method", "parts", "README"}  # run by tests/contract/test_house.py
BRIDGES = {"bridges"}  # run by tests/bridges with the packages it names
GUIDE = [
    "cite",
    "cluster",
    "coming_from",
    "compare",
    "embeddings",
    "explorer",
    "export",
    "faq",
    "gpu",
    "grow",
    "reading_a_map",
    "reliability",
    "versions",
]
NEEDED = {"cluster": "distributed", "explorer": "anywidget", "export": "onnxruntime", "gpu": "torch"}


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
    np.save("vectors.npy", rng.standard_normal((200, 40)).astype(np.float16))
    yield tmp_path
    plt.close("all")


def blocks(page: str) -> list[str]:
    """Code blocks of a page."""
    path = DOCS.parent / "README.md" if page == "README" else DOCS / f"{page}.md"
    found = re.findall(r"^ *```python\n.*?^ *```", path.read_text(), re.S | re.M)
    return [textwrap.dedent(block).removeprefix("```python\n").removesuffix("```") for block in found]


def run(page: str, names: dict | None = None, first: int = 0) -> dict:
    """Names that the code blocks of a page define, from the block ``first`` on."""
    names = {} if names is None else names
    for number, block in enumerate(blocks(page)[first:], first):
        if (page, number) in NOT_RUN:
            continue
        for given, instead in REPLACED.get(page, {}).items():
            block = block.replace(given, instead)
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


@pytest.mark.parametrize("page", GUIDE)
def test_pages_of_the_guide_run(page, folder, monkeypatch):
    pytest.importorskip(NEEDED.get(page, "lowdim"))
    if page == "gpu":  # tensors of the CPU by NumPy: whole fits take minutes in Triton's interpreter
        pytest.importorskip("triton")
        monkeypatch.setattr("lowdim.backends.torch.tensors.INTERPRETED", False)
    for given in REPLACED.get(page, {}):
        assert any(given in block for block in blocks(page)), given
    np.save(folder / "rows.npy", np.arange(1400, dtype=np.uint8).reshape(70, 20))
    names = run(page)
    if page == "cluster":
        assert np.isfinite(names["Z"].compute()).all()
        assert names["X"].sum().compute() == np.load("rows.npy").sum()
        names["client"].close()
    assert names


def test_the_last_blocks_of_the_readme_run(folder, rng):
    """On fewer rows; ``tests/contract/test_house.py`` runs the first two."""
    pl = pytest.importorskip("polars")
    X, y = lowdim.data.load("digits")
    columns = {f"x{j}": [None, *rng.normal(size=59)] for j in range(50)}
    table = pl.DataFrame(columns | {"size": rng.choice(["S", "M"], 60)})
    given = {"lowdim": lowdim, "PCA": lowdim.PCA, "TSNE": lowdim.TSNE, "X": X[:150], "y": y[:150], "table": table}
    names = run("README", given, first=2)
    assert names["c"].best in names["c"].embeddings
    assert {"report.html", "table.lowdim"} <= {path.name for path in folder.iterdir()}


def test_every_block_of_python_is_run_or_named_as_an_exception():
    pages = {path.stem for path in DOCS.glob("*.md")} | {"README"}
    assert not any("```python" in path.read_text() for path in DOCS.glob("maths/*.md"))
    found = {page for page in pages if blocks(page)}
    assert found == {*GUIDE, *ELSEWHERE, *BRIDGES, "start", "recipes"} | {page for page, _ in NOT_RUN}


def test_every_term_of_the_glossary_stands_once_and_in_order():
    terms = re.findall(r"^([^\n:].*)\n: ", (DOCS / "glossary.md").read_text(), re.M)
    assert len(terms) > 30
    assert terms == sorted(set(terms), key=str.lower)


def test_the_tests_that_keep_the_promises_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (DOCS / "promises.md").read_text())
    assert len(named) > 30
    for path, name in named:
        assert f"def {name}(" in (DOCS.parent / path).read_text(), f"{path}::{name}"


def test_command_lines_of_the_readme_run_on_an_ordinary_table(folder, rng, monkeypatch):
    """The blocks of the shell, on a table with units, answers, gaps and too few columns for PCA(50)."""
    from click.testing import CliRunner

    from lowdim.cli import main

    monkeypatch.chdir(folder)
    kinds = ["setosa", "virginica", "versicolor"] * 20
    rows = [
        f"{kind},{rng.normal():.3f},{'' if i % 9 == 0 else rng.integers(90)},${rng.lognormal(7):,.2f},{answer}"
        for i, (kind, answer) in enumerate(zip(kinds, ["agree", "disagree", "neutral"] * 20, strict=True))
    ]
    text = "species,width,age,price,mood\n" + "\n".join(_quoted(row) for row in rows) + "\n"
    Path("table.csv").write_text(text)
    Path("new.csv").write_text(text)
    source = (DOCS.parent / "README.md").read_text()
    lines = [line.partition("#")[0].split() for line in source.splitlines() if line.startswith("lowdim ")]
    assert {line[1] for line in lines} >= {"doctor", "inspect", "reduce", "transform", "compare", "select"}
    for line in lines:
        more = ["--prepare", "plan.toml"] if line[1] in ("reduce", "compare") else []
        more += ["--missing", "median"] if line[1] == "select" else []
        result = CliRunner().invoke(main, [*line[1:], *more])
        assert result.exit_code == 0, (line, result.output)
    table = pytest.importorskip("polars").read_csv("table.csv").drop("species")
    model = lowdim.chain(lowdim.Prepare(missing="median"), lowdim.PCA(50), lowdim.TSNE(random_state=0, max_iter=50))
    assert model.fit_transform(table).shape == (60, 2)


def _quoted(row: str) -> str:
    """A row whose amount, the fourth cell, holds commas."""
    first, amount = row.split("$")
    money, _, answer = amount.rpartition(",")
    return f'{first}"${money}",{answer}'
