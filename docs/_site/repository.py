"""Links of the Markdown pages to files outside ``docs/`` work in the repository; here they lead to the site's pages."""

import re
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
# what a page links to, seen from the root of the repository -> the page of the site
MOVED = {
    "examples": "auto_examples/index.rst",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "README.md": "index.md",
}
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)]*)?\)")


def target(path: str) -> str | None:
    """Page that stands for ``path`` of the repository, both relative to their roots; None where it is no page."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if re.fullmatch(r"examples/\w+\.py", path) and not path.endswith("demo.py"):
        return f"auto_examples/{Path(path).stem}.rst"
    if re.fullmatch(r"benchmarks/results\w*\.md", path):
        return path
    return MOVED.get(path)


def rewritten(text: str, folder: str) -> str:
    """``text`` of a page whose source lies in ``folder`` of the repository, with its links as the site has them."""

    def replace(match: re.Match[str]) -> str:
        path = (REPOSITORY / folder / match[1]).resolve()
        if not path.is_relative_to(REPOSITORY):
            return match[0]
        page = target(path.relative_to(REPOSITORY).as_posix())
        return match[0] if page is None else f"](/{page}{match[2] or ''})"

    return LINK.sub(replace, text)


def read(app: Any, docname: str, source: list[str]) -> None:
    """Give Sphinx the page with its links rewritten, or the file of the repository that the page shows."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    borrowed = re.match(r"<!-- from (\S+) -->\n", source[0])  # the page shows a file of the repository
    if borrowed:
        app.env.note_dependency(str(REPOSITORY / borrowed[1]))
        text = (REPOSITORY / borrowed[1]).read_text(encoding="utf-8")
        source[0] = rewritten(text, Path(borrowed[1]).parent.as_posix())
    else:
        source[0] = rewritten(source[0], page.parent.relative_to(REPOSITORY).as_posix())


def show_results(app: Any) -> None:
    """Write a page for each results file of the benchmarks, which shows it; pages of former files go."""
    folder = Path(app.srcdir) / "benchmarks"
    folder.mkdir(exist_ok=True)
    paths = sorted(REPOSITORY.glob("benchmarks/results*.md"))
    for page in folder.glob("results*.md"):
        if page.name not in [path.name for path in paths]:
            page.unlink()
    for path in paths:
        page, text = folder / path.name, f"<!-- from benchmarks/{path.name} -->\n"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", show_results)
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
