"""How long it takes until the library can be used."""

import subprocess
import sys
from pathlib import Path

from benchmarks.memory import Elsewhere
from benchmarks.task import System, Task

_PEAK = "; print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"


def _python(statement: str) -> System:
    def fit(_: None) -> str:
        subprocess.run([sys.executable, "-c", statement], check=True)
        return statement

    return System(fit)


def process_peak(statement: str, _: None) -> float | None:
    """Megabytes of a process that runs ``statement`` and nothing else."""
    if not Path("/proc/self/status").exists():
        return None
    ended = subprocess.run([sys.executable, "-c", statement + _PEAK], check=True, capture_output=True, text=True)
    return int(ended.stdout) * 1024 / 1e6


def _no_data(_: Path) -> None: ...


TASKS = [
    Task(
        name="import",
        title="Import time",
        data=_no_data,
        systems={
            "lowdim: import lowdim": _python("import lowdim"),
            "lowdim: from lowdim import PCA": _python("from lowdim import PCA"),
            "scikit-learn: import sklearn.decomposition": _python("import sklearn.decomposition"),
            "nothing": _python("pass"),
        },
        quality=process_peak,
        quality_name="peak of the process, MB",
        warm_up=None,
        memory=Elsewhere,
        subtract="nothing",
        note="A Python process that runs the statement; the time of one that does nothing is taken off the others.",
    )
]
