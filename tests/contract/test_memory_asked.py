"""What methods ask for before they work is what they take: measured in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from memory_worker import CASES

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak")


@pytest.fixture(scope="module")
def measured():
    worker = Path(__file__).with_name("memory_worker.py")
    found = [str(worker.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]  # lowdim may be there
    env = os.environ | {"PYTHONPATH": os.pathsep.join(found)}
    done = subprocess.run([sys.executable, str(worker), *CASES], capture_output=True, text=True, check=True, env=env)
    return {name: (asked, peak) for name, asked, peak in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", CASES)
def test_the_memory_asked_for_is_the_memory_taken(name, measured):
    asked, peak = measured[name]
    assert 0.9 <= asked / peak <= 1.5
