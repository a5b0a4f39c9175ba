"""Every method on the digits, side by side on one page; prints what was found, the page, and how to explore them."""

import sys
from pathlib import Path

import lowdim


def main(out: str = "demo/index.html", *methods: str) -> None:
    X, y = lowdim.data.load("digits")
    comparison = lowdim.compare(
        X,
        y,
        list(methods) or None,
        image_shape=(8, 8),
        on_result=lambda name, outcome: print(
            f"{name}: {outcome if isinstance(outcome, str) else f'{outcome.seconds:.2f} s'}",
            file=sys.stderr,
            flush=True,
        ),
    )
    path = Path(out).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    comparison.report(path, title="Handwritten digits, from 64 dimensions to 2")
    print(comparison.verdict)
    print(path)
    print(f"To explore them in the browser: {Path(sys.executable).with_name('lowdim')} explore digits")


if __name__ == "__main__":
    main(*sys.argv[1:])
