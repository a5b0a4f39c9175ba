"""The figures as a page of Markdown."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine

Figures = dict[str, dict[str, Any]]  # task → system → {"seconds": …, "error": …}

_READING = """\
Kernels that the core writes itself, beside libraries that do the same (`make bench-libraries`). Programs run in turn,
for several rounds; a cell has the median and, in brackets, the smallest and largest of the rounds. What follows from
the figures is in [By hand or by a library](../docs/libraries.md).
"""
_FFT = """\
A convolution as each iteration of t-SNE has it: forward transforms, the multiplier, and back, in float32 (maps are
float32 throughout). Periods are those of maps of MNIST: 60 × 50 early in the descent, 1152 × 900 at the end with 5,000
rows, 1440 × 1200 with 10,000, 1500 × 1440 with 70,000, 2304 × 2250 with the finer grid of its last iterations; maps
of up to 2,000 rows use no grid. Only rows that hold points are transformed along themselves, by every system, and the
copy of the nodes into place is included. Milliseconds.
"""
_FUNCTIONS = (
    "Nanoseconds per value, arrays of 2,048 values, one thread, and the largest error in units of the last place.\n"
)
_DISPATCH = """\
Σ e, Σ e d and Σ e d² with e = exp(−β d), as the search for a perplexity computes them, for rows of 96 and of 16
distances; the kernel is chosen anew at every call. Nanoseconds per call, and the relative error.
"""
_OTHERS = "Two threads unless noted; milliseconds.\n"


def _debian(package: str) -> str:
    try:
        out = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return out.stdout


def _versions() -> dict[str, str]:
    of_debian = {"FFTW": "libfftw3-dev", "SLEEF": "libsleef-dev", "Highway": "libhwy-dev", "glibc (libmvec)": "libc6"}
    versions = {name: _debian(package) for name, package in of_debian.items()}
    versions |= {name: machine.version_of(package) for name, package in {"MKL": "mkl", "faiss": "faiss-cpu"}.items()}
    sources = Path(__file__).resolve().parents[2] / "build" / "libraries" / "ducc0"
    versions["ducc0"] = ", ".join(folder.name.removeprefix("ducc0-") for folder in sources.glob("ducc0-*"))
    return {name: version or "not installed" for name, version in versions.items()}


def _cell(row: dict[str, Any] | None, unit: float) -> str:
    if row is None:
        return "–"
    low, high = min(row["seconds"]) * unit, max(row["seconds"]) * unit
    return f"{median(row['seconds']) * unit:.3g} ({low:.3g}–{high:.3g})"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def _fft(figures: Figures) -> str:
    systems = list(dict.fromkeys(s for rows in figures.values() for s in rows if "planning" not in s))
    systems.sort(key=lambda s: (not s.startswith("lowdim"), s))
    parts = [_FFT]
    for threads in ("1", "2"):
        rows = [
            [task.removeprefix("fft ").split(",")[0], *(_cell(found.get(s), 1e3) for s in systems)]
            for task, found in figures.items()
            if task.endswith(f"threads {threads}")
        ]
        parts.append(_table([f"{threads} thread{'s' * (threads != '1')}", *systems], rows))
    worst = {s: max(found[s]["error"] for found in figures.values() if s in found) for s in systems}
    parts.append("Largest relative error: " + ", ".join(f"{s} {e:.1e}" for s, e in worst.items()) + ".\n")
    if planned := [found["FFTW, planning"]["seconds"][0] for found in figures.values() if "FFTW, planning" in found]:
        parts.append(
            f"FFTW takes {min(planned):.2g} to {max(planned):.2g} s to plan one size; a descent has about 40.\n"
        )
    return "\n".join(parts)


def _plain(figures: Figures, unit: float, error: str) -> str:
    rows = []
    for task, found in figures.items():
        for system, row in sorted(
            found.items(), key=lambda item: (item[0].split(", ")[-1], not item[0].startswith("lowdim"))
        ):
            rows.append([task, system, _cell(row, unit), f"{row['error']:.2g}" if row["error"] >= 0 else "–"])
    return _table(["task", "system", "time", error], rows)


def _others(figures: Figures) -> str:
    rows = []
    for task, found in figures.items():
        ours = median(next(iter(found.values()))["seconds"])
        for system, row in found.items():
            rows.append([task, system, _cell(row, 1e3), f"{median(row['seconds']) / ours:.2f}"])
    return _table(["task", "system", "time", "ratio to lowdim"], rows)


def write(figures: dict[str, Figures], sizes: dict[str, int], missing: list[str], out: Path) -> None:
    """The page of all groups that were measured."""
    facts = {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"} | machine.describe() | _versions()
    parts = [f"# By hand and by libraries\n\n{_READING}", _table(["", ""], [[k, v] for k, v in facts.items()])]
    if missing:
        parts.append("Skipped: " + "; ".join(missing) + ".\n")
    if "fft" in figures:
        parts.append("## Fourier transforms\n\n" + _fft(figures["fft"]))
    if "functions" in figures:
        parts.append(f"## exp, log and powers\n\n{_FUNCTIONS}\n" + _plain(figures["functions"], 1e9, "error (ulp)"))
    if "dispatch" in figures:
        parts.append(f"## Choice of the instruction set\n\n{_DISPATCH}\n" + _plain(figures["dispatch"], 1e9, "error"))
        named = {"dispatch_lowdim": "lowdim", "dispatch_highway": "Highway"}
        parts.append(
            "Bytes of machine code of the kernel, all instruction sets: "
            + ", ".join(f"{named[name]} {size:,}" for name, size in sizes.items())
            + ".\n"
        )
    if "others" in figures:
        parts.append(f"## Other kernels\n\n{_OTHERS}\n" + _others(figures["others"]))
    out.write_text("\n".join(parts), encoding="utf-8")
