"""The tables of docs/operations.md: every operation, what it computes, and the backends that implement it.

``python docs/_site/operations.py`` writes them again from the docstrings; it needs PyTorch, Triton and Dask.
"""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import lowdim
from lowdim import backends
from lowdim.work.dispatch import OPERATIONS, full_name

PAGE = Path(__file__).parents[1] / "operations.md"
START, END = "<!-- operations:start -->", "<!-- operations:end -->"
LAYERS = {  # packages in which operations are defined, in the order of the page
    "relate": "how rows and features relate",
    "solve": "what is minimised or diagonalised",
    "compose": "what joins the two",
    "data": "validation and sampling",
    "work": "arrays of any backend",
}


def every_operation() -> dict[str, list]:
    """Operations of each layer, in the order of their names."""
    for layer in LAYERS:
        for module in pkgutil.walk_packages([str(Path(lowdim.__file__).parent / layer)], f"lowdim.{layer}."):
            import_module(module.name)
    found = sorted(OPERATIONS, key=full_name)
    return {layer: [one for one in found if one.__module__.startswith(f"lowdim.{layer}.")] for layer in LAYERS}


def backend_names(operation) -> str:
    """Backends that implement an operation, by the names of their libraries."""
    named = {"torch": backends.TORCH, "Dask": backends.DASK}
    return ", ".join(name for name, backend in named.items() if backend.find(operation)) or "–"


def line(operation) -> str:
    """A row of a table."""
    names = [name for name in inspect.signature(operation).parameters if name != "self"]
    summary = re.sub(r"\s+", " ", inspect.getdoc(operation).partition("\n\n")[0]).replace("|", r"\|")
    summary = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", summary).replace("``", "`")
    return f"| `{full_name(operation)}({', '.join(names)})` | {summary} | {backend_names(operation)} |"


def tables() -> str:
    """The text between the marks of the page."""
    parts = []
    for layer, found in every_operation().items():
        parts += [f"## `{layer}`: {LAYERS[layer]}", "", "| operation | what it computes | also for |", "|---|---|---|"]
        parts += [*map(line, found), ""]
    return "\n".join(parts)


def main() -> None:
    """Write the page again."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(START) + len(START)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n\n{tables()}\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
