"""The threads that kernels share: memory that runs out, forks, several callers at once."""

import os
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowdim import _native

SHORT_OF_MEMORY = """
import resource
import numpy as np
from lowdim import _native

def chain(n):
    starts = np.arange(n + 1, dtype=np.int64)
    ends = np.minimum(np.arange(n) + 1, n - 1).astype(np.int32)
    return (starts, ends, np.ones(n, np.float32))

count = 128  # two batches, so that two threads each make room for one
sources = (np.arange(count + 1), np.arange(count, dtype=np.int32), np.zeros(count, np.float32))

def walk(graph, out):
    _native.geodesics(*graph, *sources, out, n_threads=4)

small, large = chain(200), chain(100_000)
little, much = np.empty((count, 200), np.float32), np.empty((count, 100_000), np.float32)
walk(small, little)  # the threads are there
limit = resource.getpagesize() * int(open("/proc/self/statm").read().split()[0]) + (16 << 20)
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (limit, hard))  # a thread needs 25 MB
try:
    walk(large, much)
except MemoryError:
    walk(small, little)
    print("carried out")
"""


def call_beside_itself(call, times):
    """Run ``call`` in so many Python threads at once."""
    callers = [threading.Thread(target=call) for _ in range(times)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or any(x in os.environ.get("LD_PRELOAD", "") for x in ("libasan", "libtsan")),
    reason="needs a limit of the address space, which the sanitizer does not bear",
)
def test_memory_that_runs_out_in_a_thread_is_an_exception():
    done = subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "carried out", (done.returncode, done.stderr)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(rng):
    X = rng.normal(size=(2000, 90))
    _, expected = _native.scatter(X, n_threads=3)
    pid = os.fork()
    if pid == 0:
        try:
            _, again = _native.scatter(X, n_threads=3)
            os._exit(0 if np.array_equal(again, expected) else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_callers_at_once_get_the_same_bits(rng):
    Y = rng.normal(size=(3000, 2)).astype(np.float32)
    expected = _native.repulsion(Y, how="fft", n_threads=1)
    wrong = []

    def call():
        for _ in range(20):
            forces, phi, Z = _native.repulsion(Y, how="fft", n_threads=3)
            if expected[2] != Z or not np.array_equal(forces, expected[0]) or not np.array_equal(phi, expected[1]):
                wrong.append(Z)

    call_beside_itself(call, 4)
    assert not wrong


def test_a_tick_that_fails_ends_the_work_of_all_threads(rng):
    Y = rng.normal(size=(60_000, 2))

    def tick(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _native.repulsion_at(Y, Y, n_threads=2, tick=tick)


@given(sizes=st.lists(st.integers(0, 40), max_size=30), n_threads=st.integers(1, 9))
def test_a_phase_begins_once_the_one_before_has_ended(sizes, n_threads):
    before = _native.phases(np.array(sizes, np.int64), n_threads=n_threads)
    ends = np.cumsum([0, *sizes])
    assert len(before) == ends[-1]
    for first, last in pairwise(ends):
        assert np.all(before[first:last] >= first)
        assert np.all(before[first:last] < last)


def test_many_short_phases_run_whole_whoever_calls_beside():
    sizes = np.tile(np.array([16, 1, 0, 5], np.int64), 500)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    wrong = []

    def call():
        for _ in range(5):
            before = _native.phases(sizes, n_threads=4)
            if np.any(before < starts):
                wrong.append(before)

    call_beside_itself(call, 3)
    assert not wrong


@pytest.mark.parametrize("n_threads", [1, 3, 8])
def test_a_piece_that_fails_keeps_later_phases_from_beginning(n_threads):
    sizes = np.array([50, 50, 50], np.int64)
    with pytest.raises(RuntimeError, match="the piece that was to fail"):
        _native.phases(sizes, failing=70, n_threads=n_threads)
    assert np.all(_native.phases(sizes, n_threads=n_threads) >= 0)  # the threads are free again


def test_phases_can_be_interrupted():
    def tick(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _native.phases(np.full(600_000, 4), n_threads=3, tick=tick)


def test_more_threads_than_any_machine_has_are_refused():
    Q = np.zeros((2, 3))
    with pytest.raises(ValueError, match="n_threads must be at most 1024; got 2000. Pass the number of cores."):
        _native.euclidean(Q, Q, np.zeros((2, 2)), n_threads=2000)


def test_every_number_of_threads_gives_the_same_bits(rng):
    X = rng.normal(size=(700, 30)).astype(np.float32)
    results = [_native.scatter(X, n_threads=n)[1] for n in (1, 2, 5, 64)]
    for one, other in pairwise(results):
        np.testing.assert_array_equal(one, other)
