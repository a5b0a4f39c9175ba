"""Mixed tables: a csv of a million rows and 50 columns here and in another checkout, and FAMD and MCA of wide surveys.

    python -m benchmarks.mixed_tables [INTERPRETER of the other checkout] [--rounds 3]

Without an interpreter only the surveys are measured, beside prince where it is installed. Each measurement is a process
of its own; both take turns. Seconds are those of reading, preparing and PCA together, or of the fit and the places of
all rows; megabytes are the peak of the resident set over its level before.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.tasks.tables import _csv

_MEASURE = """
import json, resource, sys, time, warnings
import numpy as np, polars as pl
from lowdim import PCA, Prepare, chain, data
warnings.simplefilter("ignore")
PEAK = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, start = PEAK(), time.perf_counter()
"""
_TABLE = (
    _MEASURE
    + """
model = chain(Prepare(missing="mean"), PCA(2)).fit(data.read(sys.argv[1], mixed=True).X)
print(json.dumps([time.perf_counter() - start, PEAK() - before, float(model[-1].explained_variance_[0])]))
"""
)
_SURVEY = (
    _MEASURE
    + """
from lowdim import FAMD, MCA
n, d, what = 100_000, 48, sys.argv[1]
random = np.random.default_rng(0)
answers = {f"q{j}": random.choice([f"level {i}" for i in range(10)], n) for j in range(d // (2 - (what == "MCA")))}
numbers = {} if what == "MCA" else {f"x{j}": random.normal(size=n) for j in range(d // 2)}
table = pl.DataFrame(answers | numbers)
from benchmarks.memory import Resident
if sys.argv[2] == "prince":
    import prince
    table = table.to_pandas()
    model = {"MCA": prince.MCA, "FAMD": prince.FAMD}[what](n_components=5, random_state=0)
else:
    model = {"MCA": MCA, "FAMD": FAMD}[what](5)
start = time.perf_counter()
with Resident() as memory:
    model.fit(table)
    Y = model.row_coordinates(table) if sys.argv[2] == "prince" else model.transform(table)
print(json.dumps([time.perf_counter() - start, memory.growth / 2**20, float(model.eigenvalues_[0])]))
"""
)


def _run(python: str, script: str, *arguments: str) -> list[float]:
    made = subprocess.run([python, "-c", script, *arguments], capture_output=True, text=True, check=True)
    found: list[float] = json.loads(made.stdout.splitlines()[-1])
    return found


def main(other: str | None, rounds: int) -> None:
    """Measure in turns and print medians, with the least and the most."""
    found: dict[str, list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = _csv(Path(folder)) if other else ""
        for _ in range(rounds if other else 0):
            for name, python in (("this", sys.executable), ("other", other)):
                if python:
                    found.setdefault(name, []).append(_run(python, _TABLE, path))
    for name, runs in found.items():
        print(f"csv of 1,000,000 x 50, {name}: {_told(runs)}, variance {runs[0][2]:.9f}")
    for what in ("MCA", "FAMD"):
        for peer in ("lowdim", *(["prince"] if find_spec("prince") else [])):
            runs = [_run(sys.executable, _SURVEY, what, peer) for _ in range(rounds)]
            print(f"{what} of 100,000 x 48, {peer}: {_told(runs)}, inertia {runs[0][2]:.9f}")


def _told(runs: list[list[float]]) -> str:
    """Medians, with the least and the most, of seconds and megabytes."""
    columns = [[run[j] for run in runs] for j in range(2)]
    seconds, megabytes = ([min(one), statistics.median(one), max(one)] for one in columns)
    return (
        f"{seconds[1]:.2f} s ({seconds[0]:.2f} to {seconds[2]:.2f}), "
        f"{megabytes[1]:,.0f} MB ({megabytes[0]:,.0f} to {megabytes[2]:,.0f})"
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    times = int(arguments[arguments.index("--rounds") + 1]) if "--rounds" in arguments else 3
    main(next((one for one in arguments if not one.startswith("--") and not one.isdigit()), None), times)
