"""Compile the core for systems that are not at hand, with zig's Clang and headers: proves the sources, runs nothing.

``python cross.py [TARGET …]``. zig's Windows is that of MinGW, so clang-cl's own headers are not tried by it.
"""

import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGETS = ("aarch64-macos", "x86_64-macos", "x86_64-windows-gnu", "aarch64-linux-gnu.2.28")
FLAGS = ("-std=c++20", "-O1", "-Wall", "-Wextra", "-Wno-psabi", "-Wno-deprecated-declarations", "-Werror")


def compiled(target: str, folder: str, source: Path) -> str:
    """What the compiler says of a source, nothing if all is well."""
    out = f"{folder}/{source.stem}.o"
    command = [sys.executable, "-m", "ziglang", "c++", "-target", target, *FLAGS, "-I", ROOT / "cpp" / "include"]
    done = subprocess.run([*map(str, command), "-c", str(source), "-o", out], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main(*targets: str) -> None:
    """Compile all sources for each target, and end with an error if any fails."""
    sources, failed = sorted((ROOT / "cpp" / "src").glob("*.cpp")), 0
    for target in targets or TARGETS:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            said = [text for text in pool.map(partial(compiled, target, folder), sources) if text]
        print(f"{target}: {len(sources) - len(said)} of {len(sources)} files in {time.perf_counter() - start:.0f} s")
        print(*(re.sub(r"^", "  ", text, flags=re.MULTILINE) for text in said), sep="\n", end="")
        sys.stdout.flush()
        failed += len(said)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
