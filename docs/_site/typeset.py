"""Mathematics is typeset by MathJax, a copy of which lies beside the pages: no network is needed to read them."""

from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from typing import Any

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


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", copied)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
