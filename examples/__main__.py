"""Render the pictures of docs/gallery.md: ``python -m examples [NAME …]``; scripts without their data are skipped."""

import runpy
import sys
import warnings
from pathlib import Path

import matplotlib

OTHERS = {"__main__", "__init__", "demo"}  # no pictures
IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main(*names: str) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
    skipped = 0
    for script in sorted(Path(__file__).parent.glob("*.py")):
        if script.stem in OTHERS or (names and script.stem not in names):
            continue
        try:
            runpy.run_path(str(script), run_name="__main__")
        except (FileNotFoundError, ImportError) as reason:
            skipped += 1
            print(f"skipped {script.name}: {reason}", file=sys.stderr)
        else:
            out = IMAGES / f"{script.stem}.png"
            plt.gcf().savefig(out, dpi=80)
            print(out)
        plt.close("all")
    if skipped:
        print(f"{skipped} skipped, their pictures are unchanged.", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
