"""Mathematics is typeset by MathJax, a copy of which lies beside the pages: no network is needed to read them.

Formulas of the pages on mathematics are written in Unicode; here they become formulas of the site.
"""

from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from typing import Any

from docutils import nodes
from notation import display, latex
from sphinx.transforms import SphinxTransform

FOLDER = "maths/"
FILE = "tex-svg.js"  # the fonts are in it
CARRIER = "sphinx-mathjax-offline"  # package of PyPI that holds MathJax


def source() -> Path:
    """MathJax in the environment."""
    spec = find_spec(CARRIER)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{CARRIER} is needed for the site. Run pip install --group docs.")
    return Path(spec.origin).parent / "static" / "mathjax" / FILE


def copied(app: Any, error: Exception | None) -> None:
    """Put MathJax beside the pages."""
    if error is None and app.builder.format == "html":
        copyfile(source(), Path(app.outdir) / "_static" / FILE)


class Typeset(SphinxTransform):
    """Turns code spans and blocks of the pages on mathematics that are formulas into formulas."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        """Of one page."""
        if not self.env.docname.startswith(FOLDER):
            return
        for node in list(self.document.findall(nodes.literal)):
            made = latex(node.astext())
            if made is not None:
                node.replace_self(nodes.math(made, made))
        for node in list(self.document.findall(nodes.literal_block)):
            made = display(node.astext()) if node.get("language", "default") in ("default", "none", "text") else None
            if made is not None:
                node.replace_self(nodes.math_block(made, made, nowrap=False, number=None))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_transform(Typeset)
    app.connect("build-finished", copied)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
