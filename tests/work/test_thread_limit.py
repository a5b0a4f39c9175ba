import os
import signal
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import lowdim
from lowdim import PCA, _native
from lowdim.work import thread_limit


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_none_is_all_cores_the_process_may_use(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert 1 <= thread_limit.threads(None) <= len(os.sched_getaffinity(0))
    assert thread_limit.threads(-1) == thread_limit.threads(None)


def test_affinity_is_honoured():
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        assert thread_limit.threads(None) == 1
    finally:
        os.sched_setaffinity(0, cores)


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("1,4", 1), ("0", None), ("many", None), ("", None)])
def test_omp_num_threads_lowers_the_number(monkeypatch, value, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    free = thread_limit.available()
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert thread_limit.threads(None) == (expected or free)


def test_a_number_asked_for_is_taken_even_beyond_the_cores():
    cores = len(os.sched_getaffinity(0))
    assert thread_limit.threads(cores + 1) == cores + 1
    assert thread_limit.threads(np.int64(3)) == 3
    assert thread_limit.threads(-1000) == 1


def test_a_number_far_beyond_the_cores_is_bounded():
    assert thread_limit.threads(2**31 - 1) == thread_limit.threads(2**70) <= 4 * len(os.sched_getaffinity(0))


def test_a_model_file_cannot_ask_for_thousands_of_threads(tmp_path, rng, monkeypatch):
    asked = []
    scatter = _native.scatter
    monkeypatch.setattr(_native, "scatter", lambda *of, **by: asked.append(by["n_threads"]) or scatter(*of, **by))
    PCA(2, n_jobs=2**31 - 1).fit(rng.normal(size=(50, 4))).save(tmp_path / "model.lowdim")
    lowdim.load(tmp_path / "model.lowdim").fit(rng.normal(size=(50, 4)))
    assert len(asked) == 2
    assert max(asked) <= 4 * len(os.sched_getaffinity(0))


@pytest.mark.parametrize("value", [0, 1.0, "2", True])
def test_nonsense_is_refused(value):
    with pytest.raises(ValueError, match="n_jobs must be None.*got"):
        thread_limit.threads(value)


def test_blas_is_held_and_let_go():
    before = blas_threads()
    with thread_limit.using(1):
        assert blas_threads() == {1}
        assert thread_limit.current() == 1
        with thread_limit.using(2):  # the outer number rules, so that one setting governs nested methods
            assert thread_limit.current() == 1
    assert blas_threads() == before


def in_a_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


def test_blas_is_held_from_any_thread_of_python():
    def held():
        with thread_limit.using(1):
            return blas_threads()

    before = blas_threads()
    assert held() == in_a_thread(held) == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("model", [lowdim.Isomap(n_jobs=1), lowdim.KernelPCA(n_jobs=1)], ids=["Isomap", "KernelPCA"])
def test_fits_in_another_thread_of_python_have_the_same_bits(model, rng):
    X = rng.normal(size=(600, 5))
    here = model.fit_transform(X)
    np.testing.assert_array_equal(in_a_thread(lambda: model.fit_transform(X)), here)


def test_threads_of_python_leave_blas_as_they_found_it():
    before, errors = blas_threads(), []

    def work(n_jobs):
        try:
            for _ in range(50):
                with thread_limit.using(n_jobs), thread_limit.alone():
                    pass
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(n,)) for n in (1, None, 1, None)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors
    assert blas_threads() == before


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_computes_alone_and_does_not_hang(rng):
    X = rng.normal(size=(4000, 90))
    expected = PCA(3).fit(X).components_  # our kernels have used their threads
    pid = os.fork()
    if pid == 0:
        try:
            same = thread_limit.current() == 1 and np.array_equal(PCA(3).fit(X).components_, expected)
            os._exit(0 if same else 3)
        finally:
            os._exit(4)
    for _ in range(600):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the forked process hung")


def test_cores_are_counted_again_after_a_while(monkeypatch):
    counts = iter([3, 5])
    monkeypatch.setattr(thread_limit.joblib, "cpu_count", lambda: next(counts))
    monkeypatch.setattr(thread_limit, "_counted", (None, 0.0, 1))
    assert [thread_limit._cores() for _ in range(10)] == [3] * 10
    monkeypatch.setattr(thread_limit.time, "monotonic", lambda: float("inf"))
    assert thread_limit._cores() == 5
