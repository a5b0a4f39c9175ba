"""The API reference: a page for every public name, written from the package itself before Sphinx reads the sources."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import lowdim
from lowdim.methods import registry

MODULES = {
    "lowdim.data": "Data",
    "lowdim.quality": "Quality measures",
    "lowdim.show": "Plots",
    "lowdim.parts": "Parts of t-SNE and UMAP",
}
GROUPS = {  # headings of the methods in the order of the page; those of the registry that are not named come last
    "Linear methods": [
        "PCA",
        "RobustPCA",
        "SparsePCA",
        "KLExpansion",
        "LDA",
        "NCA",
        "CCA",
        "PLSRegression",
        "PLSCanonical",
        "TruncatedSVD",
        "GaussianRandomProjection",
        "SparseRandomProjection",
    ],
    "Parts, factors and sources": ["NMF", "FastICA", "FactorAnalysis"],
    "Kernel methods": ["KernelPCA", "KernelLDA", "KernelCCA"],
    "Neighbour embeddings": ["TSNE", "SNE", "UMAP", "PaCMAP"],
    "Manifolds and distances": ["Isomap", "LLE", "LaplacianEigenmaps", "DiffusionMap", "PHATE", "MDS"],
    "Networks": ["Autoencoder", "ParametricUMAP", "ParametricTSNE"],
    "Preparation and selection": ["Prepare", "SequentialFeatureSelector", "RankFeatures"],
}


def sections() -> Iterator[tuple[str, list[str]]]:
    """Heading and full names of each group of public names."""
    own = {name for name in lowdim.__all__ if f"lowdim.{name}" not in MODULES and name != "__version__"}
    for heading, names in GROUPS.items():
        yield heading, [f"lowdim.{name}" for name in names if name in own]
    grouped = {name for names in GROUPS.values() for name in names}
    estimators = {method.class_name for method in registry.METHODS}
    more = sorted(own & estimators - grouped)
    if more:
        yield "Further methods", [f"lowdim.{name}" for name in more]
    yield "Models, comparison and files", [f"lowdim.{name}" for name in sorted(own - estimators - grouped)]
    for module, heading in MODULES.items():
        yield heading, [f"{module}.{name}" for name in sorted(import_module(module).__all__)]


def stem(full: str, names: list[str]) -> str:
    """Name of the page's file; a class that differs from a function only in capitals gets a suffix."""
    short = full.removeprefix("lowdim.")
    namesakes = sum(other.lower() == full.lower() for other in names)
    return f"{short}-class" if namesakes > 1 and full.rpartition(".")[2][0].isupper() else short


def resolved(full: str) -> Any:
    """The object of a full name."""
    module, _, name = full.rpartition(".")
    return getattr(import_module(module), name)


def members(cls: type) -> list[str]:
    """Public methods and properties that lowdim itself defines, in order; scikit-learn's own are documented there."""
    found = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("lowdim"):
            found |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    usual = ["fit", "fit_transform", "partial_fit", "transform", "inverse_transform"]
    found = {name: found[name] for name in usual if name in found} | found
    return [
        name
        for name, member in found.items()
        if (inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod))
        and (getattr(cls, name).__doc__ or "").strip()
    ]


def page(full: str) -> str:
    """Source of the page of one public name."""
    thing, short = resolved(full), full.removeprefix("lowdim.")
    lines = [short, "=" * len(short), ""]
    if inspect.isclass(thing):
        lines += [f".. autoclass:: {full}", ""]
        if not issubclass(thing, Exception):
            for name in members(thing):
                kind = "autoproperty" if isinstance(inspect.getattr_static(thing, name), property) else "automethod"
                lines += [f"   .. {kind}:: {name}", ""]
    elif callable(thing):
        lines += [f".. autofunction:: {full}", ""]
    else:
        lines += [f".. autodata:: {full}", ""]
    return "\n".join(lines)


def summary(thing: Any) -> str:
    """First sentence of a docstring, on one line."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def write(app: Any) -> None:
    """Write ``api/``, touching only what changed, so that Sphinx reads no more than it must."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    index = ["API reference", "=============", "", "Every public name. Estimators follow scikit-learn: ``fit``, "]
    index += ["``transform``, ``get_params``, ``set_params`` and ``set_output`` mean what they mean there.", ""]
    files, tree = {}, []
    for heading, names in sections():
        index += [heading, "-" * len(heading), "", ".. list-table::", "   :widths: 30 70", ""]
        for full in names:
            name = stem(full, names)
            files[f"{name}.rst"] = page(full)
            tree.append(name)
            index += [f"   * - :doc:`{full.removeprefix('lowdim.')} <{name}>`", f"     - {summary(resolved(full))}"]
        index.append("")
    index += [".. toctree::", "   :hidden:", "", *(f"   {name}" for name in tree), ""]
    files["index.rst"] = "\n".join(index)
    for stale in set(folder.glob("*.rst")) - {folder / name for name in files}:
        stale.unlink()
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def escape(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep fitted attributes (``n_components_``) in plain text from being read as references."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        name_, colon, rest = line.partition(" : ")  # numpydoc takes care of the names of parameters
        parts = re.split(r"(`+[^`]*`+)", rest if colon else line)
        parts[::2] = [re.sub(r"\b([A-Za-z]\w*)_(?![\w`\\])", r"\1\\_", part) for part in parts[::2]]
        lines[i] = name_ + colon + "".join(parts) if colon else "".join(parts)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
