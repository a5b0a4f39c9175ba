"""A process that saves again and again is killed: the file is whole, and the next save leaves no draft behind."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import lowdim
from torture.judge import Failure

_CODE = """
import sys, numpy as np, lowdim
pca = lowdim.PCA(40).fit(np.random.default_rng(0).normal(size=(60, 20000)).astype("f4"))
print("ready", flush=True)
while True: pca.save(sys.argv[1])
"""


def run(rng: np.random.Generator, only: str = "") -> str:
    """One kill, at a random moment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lowdim")
        small = lowdim.PCA(2).fit(rng.normal(size=(30, 4)))
        small.save(path)
        child = subprocess.Popen([sys.executable, "-c", _CODE, str(path)], stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(float(rng.uniform(0.0, 0.3)))
        finally:
            child.kill()
            child.wait()
        try:
            lowdim.load(path)
        except Exception as error:
            raise Failure("damaged file", f"{type(error).__name__}: {error}") from None
        left = len(list(Path(folder).iterdir())) - 1
        small.save(path)
        if names := [other.name for other in Path(folder).iterdir() if other != path]:
            raise Failure("draft left", f"{names} after the next save")
    return "whole, a draft removed" if left else "whole"
