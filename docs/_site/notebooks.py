"""Runs every notebook that the site offers for download, each in a fresh folder: ``python docs/_site/notebooks.py``."""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SITE = Path(__file__).parents[2] / "build" / "site" / "_downloads"
LIMIT = 600  # seconds of a cell


def main() -> None:
    """Exit with an error if one fails or shows no picture."""
    found = {path.name: path for path in sorted(SITE.glob("*/*.ipynb"))}
    if not found:
        raise SystemExit(f"notebooks: {SITE} has none. Run make docs first.")
    wrong = []
    for name, path in found.items():
        notebook = nbformat.read(path, 4)
        with tempfile.TemporaryDirectory() as folder:
            try:
                NotebookClient(notebook, timeout=LIMIT, resources={"metadata": {"path": folder}}).execute()
            except CellExecutionError as error:
                wrong.append(name)
                print(f"{name}: {error}", file=sys.stderr)
                continue
        pictures = sum("image/png" in out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", []))
        print(f"{name}: {pictures} picture" + "s" * (pictures != 1), flush=True)
        if not pictures:
            wrong.append(name)
    if wrong:
        raise SystemExit(f"notebooks: {', '.join(wrong)} failed or showed nothing.")


if __name__ == "__main__":
    main()
