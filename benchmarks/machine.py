"""What the figures were measured on and with."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "torch", "lowdim")


def describe() -> dict[str, str]:
    """Machine and versions, label by label."""
    import psutil

    from lowdim import _native
    from lowdim.work import thread_limit

    return {
        "CPU": f"{_cpu()}, {os.cpu_count()} cores",
        "threads of each system": str(thread_limit.available()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GB",
        "instruction set that lowdim uses": _native.isa(),
        "system": platform.platform(),
        "Python": platform.python_version(),
        **{name: version_of(name) for name in _PACKAGES},
        "BLAS": _blas(),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _blas() -> str:
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401  # SciPy brings a BLAS of its own
    from threadpoolctl import threadpool_info

    blas = [i for i in threadpool_info() if i["user_api"] == "blas"]
    return ", ".join(dict.fromkeys(f"{i['internal_api']} {i['version']} ({i['architecture']})" for i in blas))
