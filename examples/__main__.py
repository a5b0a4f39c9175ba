"""Render every picture of docs/gallery.md: ``python -m examples``. Scripts whose data are not here are skipped."""

import runpy
import sys
from pathlib import Path

OTHERS = {"__main__", "__init__", "demo"}  # no pictures


def main() -> None:
    skipped = 0
    for script in sorted(Path(__file__).parent.glob("*.py")):
        if script.stem in OTHERS:
            continue
        try:
            runpy.run_path(str(script), run_name="__main__")
        except (FileNotFoundError, ImportError) as reason:
            skipped += 1
            print(f"skipped {script.name}: {reason}", file=sys.stderr)
    if skipped:
        print(f"{skipped} skipped, their pictures are as they were.", file=sys.stderr)


if __name__ == "__main__":
    main()
