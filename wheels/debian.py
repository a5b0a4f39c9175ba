"""Packages of another Debian than this machine's, unpacked into a folder: neither root nor a change of the system.

``python debian.py 3.14 …`` leaves an interpreter of the newest Debian in ``build/pythons`` and prints its path, for
``make test PYTHON=…`` and ``make wheel PYTHONS=…``, on x86-64. apt-get resolves and fetches, dpkg-deb unpacks.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
NEWEST = "forky"
PYTHONS = ROOT / "build" / "pythons"
LOADER, LIBRARIES = "lib64/ld-linux-x86-64.so.2", "usr/lib/x86_64-linux-gnu"


def unpacked(folder: Path, suite: str, architecture: str, *packages: str) -> Path:
    """Packages with all they depend on, in ``folder / "root"``."""
    apt, debs, root = folder / "apt", folder / "apt" / "cache" / "archives", folder / "root"
    shutil.rmtree(debs, ignore_errors=True)
    for path in (apt / "lists" / "partial", debs / "partial", root / "usr"):
        path.mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(f"deb [signed-by={KEYS}] http://deb.debian.org/debian {suite} main\n")
    settings = {
        "APT::Architecture": architecture,
        "APT::Architectures::": architecture,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": apt,
        "Dir::State::status": "/dev/null",
        "Dir::Cache": apt / "cache",
        "Debug::NoLocking": "true",
    }
    command = ["apt-get", *(part for name, value in settings.items() for part in ("-o", f"{name}={value}")), "-qq"]
    subprocess.run([*command, "update"], check=True)
    wanted = [*command, "-y", "--download-only", "install", *packages]
    subprocess.run(wanted, check=True, stdout=subprocess.DEVNULL)
    for name in ("lib", "lib64"):  # Debian's are links since 2023, which its base-files makes
        (root / "usr" / name).mkdir(exist_ok=True)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
    return root


def at_home(root: Path, version: str) -> Path:
    """Let an unpacked Python find its own loader, libraries, headers and the wheel of pip where they lie now."""
    python = root / "usr" / "bin" / f"python{version}"
    # Of the program alone, and so for all that it loads: libraries that it brings come before those of the system.
    patch = ("patchelf", "--set-interpreter", root / LOADER, "--force-rpath", "--set-rpath", root / LIBRARIES, python)
    subprocess.run(patch, check=True)
    for data in (root / "usr" / "lib" / f"python{version}").glob("_sysconfigdata*.py"):
        text = re.sub(r"(?<![\w/])/usr/(?=include|lib|share)", f"{root}/usr/", data.read_text())
        data.write_text(text)
    header = root / "usr" / "include" / f"python{version}" / "pyconfig.h"
    header.write_text(re.sub(r"<(x86_64-linux-gnu/[^>]*)>", r'"../\1"', header.read_text()))
    return python


def main(*versions: str) -> None:
    """Unpack what is not there yet."""
    for version in versions:
        python = PYTHONS / "root" / "usr" / "bin" / f"python{version}"
        if not python.exists():
            packages = (f"python{version}{part}" for part in ("", "-venv", "-dev"))
            at_home(unpacked(PYTHONS, NEWEST, "amd64", *packages), version)
        print(python)


if __name__ == "__main__":
    main(*sys.argv[1:])
