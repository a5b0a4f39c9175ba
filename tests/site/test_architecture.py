"""The pages for maintainers say what the code says."""

import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_architecture_is_one_page():
    assert len(PAGE.split()) < 1000


def test_the_layers_of_the_page_are_those_that_are_checked():
    table = PAGE[PAGE.index("| package |") : PAGE.index("matplotlib, torch")]
    named = [re.findall(r"`([\w/]+)`", line.split("|")[1]) for line in table.splitlines()[2:] if "|" in line]
    with open(ROOT / "pyproject.toml", "rb") as file:
        layers = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]["layers"]
    checked = [re.findall(r"lowdim\.([\w.]+)", layer) for layer in layers]
    checked = [[name.replace(".", "/") for name in line if name != "parts"] for line in checked]
    assert [set(line) for line in named] == [set(line) for line in checked if line]


def test_modules_and_files_that_the_page_names_exist():
    for name in re.findall(r"`((?:methods|relate|solve|compose|data|work|persist)\.[\w.]+)`", PAGE):
        module, _, rest = name.partition(".")
        first, _, attribute = rest.partition(".")
        found = import_module(f"lowdim.{module}.{first}")
        assert not attribute or hasattr(found, attribute), name
    for name in re.findall(r"`(\w+\.hpp)`", PAGE):
        assert (ROOT / "cpp" / "include" / "lowdim" / name).is_file(), name
    for name in re.findall(r"`((?:tests|backends|cpp)/[\w/.]+)`", PAGE):
        assert (ROOT / name).exists() or (ROOT / "src" / "lowdim" / name).exists(), name


@pytest.mark.skipif(
    not all(map(find_spec, ("torch", "triton", "dask"))), reason="the table names what PyTorch, Triton and Dask have"
)
def test_the_list_of_operations_is_that_of_the_code(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_site")
    import operations

    text = operations.PAGE.read_text(encoding="utf-8")
    assert operations.tables().strip() in text, "run python docs/_site/operations.py"
