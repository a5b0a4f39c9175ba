"""``python -m benchmarks.libraries [fft] [functions] [dispatch] [others]``: kernels of the core beside libraries.

Builds the programs of this folder for the libraries that are there (of Debian: libfftw3-dev, libsleef-dev, libhwy-dev;
of PyPI: mkl, mkl-include, faiss-cpu and the source distribution of ducc0), runs them in turn for several rounds, and
writes results_libraries.md beside this folder. Groups that were not asked for keep the figures of the last run.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.libraries.page import Figures, write

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent.parent
_BUILD = _ROOT / "build" / "libraries"
_PROGRAMS = _BUILD / "libraries"
_STORED = _BUILD / "figures.json"
_GROUPS = ("fft", "functions", "dispatch", "others")


class Program(NamedTuple):
    """A command, what the environment adds to it, and what its systems are called in addition."""

    command: list[str]
    environment: dict[str, str] = {}
    suffix: str = ""


def _run(*command: str) -> None:
    subprocess.run(command, cwd=_ROOT, check=True)


def _sources_of_ducc0() -> str:
    """Folder of its headers, from PyPI; empty where they cannot be had."""
    folder = _BUILD / "ducc0"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation"]
        command = [*pip, "--no-binary", "ducc0", "-d", str(_BUILD), "ducc0"]
        if subprocess.run(command, cwd=_ROOT, capture_output=True, check=False).returncode:
            return ""
        with tarfile.open(next(_BUILD.glob("ducc0-*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return str(next(folder.glob("*/src")))


def build() -> list[str]:
    """Compile what can be compiled; a line for each library that is missing."""
    _BUILD.mkdir(parents=True, exist_ok=True)
    cmake, settings = str(Path(sys.executable).with_name("cmake")), ["-DCMAKE_BUILD_TYPE=Release"]
    settings += [
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-DLIBRARIES_OF_PIP={sys.prefix}",
        f"-DDUCC0={_sources_of_ducc0()}",
    ]
    _run(cmake, "-S", ".", "-B", str(_BUILD), "-G", "Ninja", "-DLOWDIM_BENCH_LIBRARIES=ON", *settings)
    _run(cmake, "--build", str(_BUILD))
    return (_BUILD / "missing.txt").read_text().splitlines()


def _programs(group: str) -> Iterator[Program]:
    if group == "others":
        yield Program([sys.executable, "-m", "benchmarks.libraries.others"])
        return
    wide = "avx512f" in Path("/proc/cpuinfo").read_text()
    for path in sorted(_PROGRAMS.glob(f"{group}_*")):
        command = [str(path)]
        if path.name == "fft_lowdim":
            yield Program(command, {}, "" if wide else ", avx2")
            if wide:
                yield Program(command, {"LOWDIM_ISA": "avx2"}, ", avx2")
        elif path.name == "fft_fftw":
            yield Program([*command, str(_BUILD / "wisdom")])
        elif path.name.startswith("fft_ducc0"):
            if wide or path.name.endswith("v3"):
                yield Program(command, {}, ", avx2" if path.name.endswith("v3") else "")
        elif path.name == "functions_mkl":
            yield Program(command, {"MKL_ENABLE_INSTRUCTIONS": "AVX2"})
            if wide:
                yield Program(command)
        else:
            yield Program(command)
    if group == "fft":
        yield Program([sys.executable, "-m", "benchmarks.libraries.scipy_fft"])


def measure(group: str, rounds: int) -> Figures:
    """Seconds of every round and the error, by task and system."""
    found: Figures = {}
    for turn in range(rounds):
        for program in _programs(group):
            ended = subprocess.run(
                program.command,
                cwd=_ROOT,
                env=os.environ | program.environment,
                capture_output=True,
                text=True,
                check=True,
            )
            for line in ended.stdout.splitlines():
                task, system, seconds, error = line.split("|")
                row = found.setdefault(task, {}).setdefault(
                    system + program.suffix, {"seconds": [], "error": float(error)}
                )
                row["seconds"].append(float(seconds))
            print(f"{group}, round {turn + 1}: {Path(program.command[-1]).name}{program.suffix}", flush=True)
    return found


def _sizes() -> dict[str, int]:
    """Bytes of code of the dispatched kernels, as objects."""
    sizes = {}
    for name in ("dispatch_lowdim", "dispatch_highway"):
        for path in _BUILD.rglob(f"{name}.cpp.o"):
            out = subprocess.run(
                ["nm", "-CS", "--defined-only", str(path)], capture_output=True, text=True, check=True
            ).stdout
            kernels = [line.split()[1] for line in out.splitlines() if "::sums_at(" in line]
            sizes[name] = sum(int(size, 16) for size in kernels)
    return sizes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.libraries", description="The core beside libraries.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"which to measure (default: {' '.join(_GROUPS)})")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each group (default: 3)")
    args = parser.parse_args()
    if unknown := set(args.groups) - set(_GROUPS):
        parser.error(f"groups are {', '.join(_GROUPS)}; got {', '.join(sorted(unknown))}.")
    missing = build()
    for line in missing:
        print(f"skipped, {line}", file=sys.stderr)
    figures = json.loads(_STORED.read_text()) if _STORED.exists() else {}
    for group in args.groups or _GROUPS:
        earlier, figures[group] = figures.get(group, {}), measure(group, args.rounds)
        for task in figures[group].keys() & earlier.keys():  # FFTW keeps its plans: it made them in an earlier run
            planning = {system: row for system, row in earlier[task].items() if "planning" in system}
            figures[group][task] = planning | figures[group][task]
        _STORED.write_text(json.dumps(figures))
    write(figures, _sizes(), missing, _HERE.parent / "results_libraries.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
