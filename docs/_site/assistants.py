"""``llms.txt`` lists the pages, ``llms-api.txt`` every public name in a line: for assistants and scripts."""

import inspect
import re
from pathlib import Path
from typing import Any

from reference import resolved, sections

DOCS = Path(__file__).parents[1]
FIRST = ("start", "faq", "recipes", "bridges", "which_method", "reading_a_map", "reliability", "coming_from")


def pages() -> str:
    """Text of ``llms.txt``: what lowdim is, and its pages with their first sentences."""
    lines = [
        "# lowdim",
        "",
        "> Dimensionality reduction for Python, from PCA to t-SNE and UMAP: scikit-learn's interface, a native core, "
        "and measures of what each map kept.",
        "",
        "Estimators have fit, transform, fit_transform, save; new rows have places on every map; random_state gives "
        "the same bits for any n_jobs. [Every public name in a line](llms-api.txt).",
        "",
        "## Pages",
        "",
    ]
    names = sorted((path.stem for path in DOCS.glob("*.md")), key=lambda name: (name not in FIRST, _order(name), name))
    for name in names:
        title, first = _opening((DOCS / f"{name}.md").read_text(encoding="utf-8"))
        if title:
            lines.append(f"- [{title}]({name}.html)" + (f": {first}" if first else ""))
    lines += ["", "## Mathematics", ""]
    for path in sorted(DOCS.glob("maths/*.md")):
        title, _ = _opening(path.read_text(encoding="utf-8"))
        lines.append(f"- [{title}](maths/{path.stem}.html)")
    return "\n".join(lines) + "\n"


def _order(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _opening(text: str) -> tuple[str, str]:
    """Title of a page, and the first sentence below it."""
    title = re.search(r"^# (.+)$", text, re.M)
    if title is None:
        return "", ""
    rest = re.sub(r"```.*?```|:::.*?:::", "", text[title.end() :], flags=re.S)
    paragraph = next((part for part in rest.split("\n\n") if re.match(r"\s*[A-Z*`]", part)), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", " ".join(paragraph.split()))
    return title[1], re.split(r"(?<=[.:?]) ", plain)[0]


def names() -> str:
    """Text of ``llms-api.txt``: signature and first sentence of every public name, and of the methods of models."""
    lines = ["# lowdim: every public name", ""]
    for heading, full_names in sections():
        lines += [f"## {heading}", ""]
        lines += [f"- {_line(full)}" for full in full_names]
        lines.append("")
    lines += ["## Methods of every model", ""]
    from lowdim import TSNE

    for name in (
        "fit",
        "fit_transform",
        "transform",
        "trust",
        "explain",
        "save",
        "to_onnx",
        "get_params",
        "set_output",
    ):
        lines.append(f"- .{name}{_signature(getattr(TSNE, name))}")
    return "\n".join(lines) + "\n"


def _line(full: str) -> str:
    thing = resolved(full)
    text = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return f"{full}{_signature(thing)}: {' '.join(text.split())}"


def _signature(thing: Any) -> str:
    """Parameters with defaults, without types and ``self``."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    plain = [
        one.replace(annotation=inspect.Parameter.empty) for name, one in signature.parameters.items() if name != "self"
    ]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def write(app: Any, error: Exception | None) -> None:
    """Put both files beside the pages."""
    if error is None and app.builder.format == "html":
        for name, text in (("llms.txt", pages()), ("llms-api.txt", names())):
            (Path(app.outdir) / name).write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
