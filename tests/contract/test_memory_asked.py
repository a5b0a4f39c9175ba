"""What methods ask for before they work is what they take: measured in processes of their own."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from memory_worker import CASES

from lowdim.methods import registry

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak")


AGAIN = 2  # measurements more, where the first is out of bounds: peaks vary by some percent from run to run


def measured(names):
    """Bytes asked for and taken by each of the cases."""
    worker = Path(__file__).with_name("memory_worker.py")
    found = [str(worker.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]  # lowdim may be there
    env = os.environ | {"PYTHONPATH": os.pathsep.join(found)}
    done = subprocess.run([sys.executable, str(worker), *names], capture_output=True, text=True, check=True, env=env)
    return {name: (asked, peak) for name, asked, peak in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def first(request):
    """The first measurements of the cases that are run, all by one process that imports once."""
    here = [item for item in request.session.items if item.path == request.path]
    return measured([item.callspec.params["name"] for item in here if hasattr(item, "callspec")])


def test_every_method_has_a_case():
    measured = {cls for cls, _, _ in CASES.values()}
    without = [method.name for method in registry.METHODS if method.load() not in measured]
    none = [method.name for method in registry.METHODS if method.needs_torch]
    assert without == (["autoencoder"] if find_spec("torch") else none), "add a case to memory_worker.py"


@pytest.mark.parametrize("name", CASES)
def test_the_memory_asked_for_is_the_memory_taken(name, first):
    found = [first[name]]
    while not any(0.9 <= asked / peak <= 1.5 for asked, peak in found):
        assert len(found) <= AGAIN, found
        found.append(measured([name])[name])
