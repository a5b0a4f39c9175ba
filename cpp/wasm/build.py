"""Compile the core for browsers: ``python cpp/wasm/build.py`` writes ``explorer/static/engine.wasm``.

The compiler is zig's Clang (``pip install ziglang``), which brings its own libraries for WebAssembly and keeps compiled
files in its cache. One module serves pages with and without threads: its memory can be shared.
"""

import gzip
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "cpp" / "src"
OWN = ROOT / "cpp" / "wasm"
OBJECTS = ROOT / "build" / "wasm"
OUT = ROOT / "src" / "lowdim" / "explorer" / "static" / "engine.wasm"
LIMIT = 250_000  # bytes, compressed
NOT_HERE = {"density", "team"}  # cpp/wasm has its own
# Loops that are slower when compiled for size, by up to a half; the other files are as fast and a third smaller.
FAST = {"attraction", "convolution", "fft", "grid", "linear", "nearest_scan", "two_scales"}
FLAGS = [
    "-target",
    "wasm32-wasi",
    "-mcpu=generic+simd128+atomics+bulk_memory+mutable_globals+nontrapping_fptoint+sign_ext",
    "-std=c++20",
    "-DNDEBUG",
    "-fvisibility=hidden",
    "-fno-threadsafe-statics",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",
    "-Wno-deprecated-declarations",
    "-Werror",
]
LINK = [
    "-mexec-model=reactor",
    "-s",
    "-Wl,--gc-sections,--import-memory,--shared-memory,--max-memory=4294901760",
    "-Wl,--initial-memory=4194304,-z,stack-size=1048576,--export=__stack_pointer",
]


def own_flags() -> dict[str, list[str]]:
    """Options of single files, as CMakeLists.txt sets them."""
    found: dict[str, list[str]] = {}
    text = (ROOT / "CMakeLists.txt").read_text()
    for files, flags in re.findall(
        r"set_source_files_properties\(([^\"]*?)PROPERTIES COMPILE_OPTIONS \"([^\"]*)\"", text
    ):
        for name in re.findall(r"cpp/src/(\w+)\.cpp", files):
            found.setdefault(name, []).extend(flags.replace("${OWN}", "").split(";"))
    return found


def zig(*arguments: object) -> str:
    """What the compiler says, nothing if all is well."""
    command = [sys.executable, "-m", "ziglang", "c++", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def compiled(source: Path, flags: list[str], newest: float) -> str:
    """Compile a source unless its object is newer than every header."""
    out = OBJECTS / f"{source.parent.name}_{source.stem}.o"
    if out.exists() and out.stat().st_mtime > max(newest, source.stat().st_mtime):
        return ""
    size = "-O3" if source.stem in FAST else "-Os"
    return zig(*FLAGS, size, *flags, "-I", ROOT / "cpp" / "include", "-I", SOURCES, "-c", source, "-o", out)


def main() -> None:
    """Compile, link, and refuse a module that is too large for a page."""
    start = time.perf_counter()
    OBJECTS.mkdir(parents=True, exist_ok=True)
    own = own_flags()
    headers = [*SOURCES.glob("*.[hi]*"), *(ROOT / "cpp" / "include").rglob("*.hpp"), *OWN.glob("*.hpp"), Path(__file__)]
    newest = max(one.stat().st_mtime for one in headers)
    sources = [one for one in sorted(SOURCES.glob("*.cpp")) if one.stem not in NOT_HERE] + sorted(OWN.glob("*.cpp"))
    with ThreadPoolExecutor(2) as pool:
        said = pool.map(lambda one: compiled(one, own.get(one.stem, []), newest), sources)
    if wrong := "".join(said):
        sys.exit(wrong)
    objects = [OBJECTS / f"{one.parent.name}_{one.stem}.o" for one in sources]
    part = OUT.with_suffix(".part")
    if wrong := zig(*FLAGS[:2], FLAGS[2], *LINK, "-o", part, *objects):
        sys.exit(wrong)
    size, packed = part.stat().st_size, len(gzip.compress(part.read_bytes(), 9))
    if packed > LIMIT:
        sys.exit(f"The module has {packed:,} bytes compressed; at most {LIMIT:,} are allowed.")
    part.replace(OUT)
    print(f"{OUT.relative_to(ROOT)}: {size:,} bytes, {packed:,} compressed, in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
