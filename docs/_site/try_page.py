"""The page "Try it" beside the others of the site: one file with the core in it."""

from pathlib import Path
from typing import Any

NAME = "try.html"


def write(app: Any, error: Exception | None) -> None:
    """Write the page once the site is built."""
    from lowdim.explorer.computing_pages import try_page
    from lowdim.show.computing import NoModuleError

    if error is not None or app.builder.name != "html":
        return
    try:
        Path(app.outdir, NAME).write_text(try_page(), encoding="utf-8")
    except NoModuleError as lacking:
        raise SystemExit(f"docs: the page to try needs the module for browsers; {lacking}.") from None


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
