"""What a cluster may do to a fit: any number of workers, deaths among them, and rows read once."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install lowdim[dask]")
import dask
import dask.array as da
from watched_rows import made

import lowdim
from lowdim.backends.dask import graphs
from lowdim.backends.dask.partitioned import Spread


def bits(model):
    return model.components_.tobytes() + model.explained_variance_.tobytes() + model.mean_.tobytes()


def whole(n_blocks, width=6, dtype="float64", length=50):
    return np.concatenate([made(block, width, dtype, length) for block in range(n_blocks)])


def fitted(X, y=None):
    """Bits of several methods."""
    lda = lowdim.LDA().fit(X, y)
    randomized = lowdim.PCA(2, svd_solver="randomized", random_state=0).fit(X)
    return [bits(lowdim.PCA(3).fit(X)), bits(randomized), lda.components_.tobytes()]


def test_the_number_of_workers_changes_no_bit(processes, client, watched):
    rows, _ = watched
    X, y = rows(20), da.from_array(np.arange(1000) % 3, chunks=50)
    two = fitted(X, y)
    Y = lowdim.TSNE(max_iter=50, perplexity=5, random_state=0).fit(whole(2)).transform(X)
    placed = Y.compute()
    for n in (1, 3):
        processes.scale(n)
        client.wait_for_workers(n)
        deadline = time.monotonic() + 20
        while len(client.scheduler_info()["workers"]) != n and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(client.scheduler_info()["workers"]) == n
        assert fitted(X, y) == two
    np.testing.assert_array_equal(Y.compute(), placed)
    processes.scale(2)
    with dask.config.set(scheduler="threads", split_every=2):
        assert fitted(X, y) == two


@pytest.mark.parametrize("length", [1000, 333, 64])
def test_whole_numbers_have_the_bits_of_one_machine(client, length):
    X, y = whole(20, dtype="uint8"), np.arange(1000) % 3
    D, labels = da.from_array(X, chunks=(length, -1)), da.from_array(y, chunks=length)
    assert bits(lowdim.PCA(4).fit(D)) == bits(lowdim.PCA(4).fit(X))
    here, there = lowdim.LDA().fit(X, y), lowdim.LDA().fit(D, labels)
    assert there.components_.tobytes() == here.components_.tobytes()
    here, there = lowdim.KLExpansion(3).fit(X > 80), lowdim.KLExpansion(3).fit(D > 80)
    assert there.components_.tobytes() == here.components_.tobytes()


class Killing(threading.Thread):
    """Kill the first worker that has begun its third block, in the middle of that."""

    def __init__(self, reads):
        super().__init__()
        self.reads, self.victim, self.begun, self.died = reads, None, [], 0.0

    def run(self):
        deadline = time.monotonic() + 30
        while self.victim is None and time.monotonic() < deadline:
            notes = self.reads()
            processes = [process for _, process in notes]
            self.victim = next((p for p in processes if processes.count(p) >= 3), None)
            time.sleep(0.005)
        if self.victim is not None:
            os.kill(self.victim, signal.SIGKILL)
            self.died = time.monotonic()
            self.begun = [block for block, process in self.reads() if process == self.victim]


@pytest.mark.parametrize("work", ["fit", "transform"])
def test_a_worker_may_die(client, watched, work):
    rows, reads = watched
    X = rows(16, seconds=0.05)
    model = lowdim.PCA(3).fit(whole(16))
    killing = Killing(reads)
    killing.start()
    if work == "fit":
        found = bits(lowdim.PCA(3).fit(X))
        expected = bits(lowdim.PCA(3).fit(da.from_array(whole(16), chunks=(50, -1))))
    else:
        found = model.transform(X).compute()
        expected = np.concatenate([model.transform(made(block, 6, "float64", 50)) for block in range(16)])
    killing.join()
    assert len(killing.begun) >= 3, "the worker that died had work"
    again = [block for block, process in reads() if process != killing.victim and block in killing.begun]
    assert again, "what it had begun was done again elsewhere"
    np.testing.assert_array_equal(found, expected) if work == "transform" else None
    assert work == "transform" or found == expected


def test_scattered_rows_that_died_are_told(client):
    parts = client.scatter([made(block, 6, "float64", 50) for block in range(4)], broadcast=False)
    X = da.concatenate([da.from_delayed(part, (50, 6), "float64") for part in parts])
    assert lowdim.PCA(2).fit(X).n_components_ == 2
    holders = {address for positions in client.who_has(parts).values() for address in positions}
    pids = client.run(os.getpid)
    os.kill(pids[sorted(holders)[0]], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="can be recomputed are needed.*read_parquet"):
        lowdim.PCA(2).fit(X)


def test_every_block_is_read_once(client, watched):
    rows, reads = watched
    lowdim.PCA(0.9, standardize=True).fit(rows(20))
    assert sorted(block for block, _ in reads()) == list(range(20))


def test_cca_and_transform_read_once(client, watched):
    rows, reads = watched
    X = rows(9)
    lowdim.CCA().fit(X[:, :3], X[:, 3:])
    assert len(reads()) == 9
    lowdim.PCA(2).fit(whole(2)).transform(X).sum().compute()
    assert len(reads()) == 18


def test_the_graph_and_what_comes_back_are_small(client, watched, monkeypatch):
    rows, _ = watched
    sent, came = [], []
    compute = graphs.dask.compute

    def measured(*collections, **kwargs):
        sent.append(len(pickle.dumps(dict(collections[0].__dask_graph__()))))
        results = compute(*collections, **kwargs)
        came.append(len(pickle.dumps(results)))
        return results

    monkeypatch.setattr(graphs.dask, "compute", measured)
    sizes = []
    for n_blocks in (20, 40):
        lowdim.PCA(2).fit(rows(n_blocks, width=40))
        sizes.append(sent.pop())
        assert came.pop() < 8 * 40 * 40 + 2000  # the moments, whatever the number of rows
    assert sizes[1] < 2.2 * sizes[0]
    assert sizes[1] < 40 * 4000
    model = lowdim.TSNE(max_iter=50, perplexity=5).fit(whole(4))
    alone = len(pickle.dumps(model))
    assert len(pickle.dumps(dict(model.transform(rows(200)).__dask_graph__()))) < alone + 200 * 4000


def test_states_too_large_for_a_worker_are_refused_before_any_read(client, watched):
    rows, reads = watched
    with pytest.raises(MemoryError, match="need .* on a worker; the smallest has 2 GB.*randomized"):
        lowdim.PCA(2, svd_solver="covariance").fit(rows(2, width=6000, length=1))
    assert not reads()


def test_threads_of_a_task_are_those_of_its_worker(client):
    def share(rows, jobs):
        return {thread_limit.current()}

    from lowdim.work import thread_limit

    X = Spread(da.zeros((6, 2), chunks=2), np.dtype(float), 2, (2, 2, 2), "test")
    with thread_limit.using(7):
        assert graphs.fold(X, share, set.union, thread_limit) == {1}


def test_a_scheduler_that_is_gone_is_told():
    from distributed import Client, LocalCluster

    timeouts = {"distributed.comm.timeouts.connect": "1s", "distributed.deploy.lost-worker-timeout": "1s"}
    alone = {"processes": False, "dashboard_address": ":0"}
    with dask.config.set(timeouts), LocalCluster(1, threads_per_worker=1, **alone) as other:
        client = Client(other)
        X = da.from_array(whole(2), chunks=(50, -1))
        lowdim.PCA(2).fit(X)
        other.scheduler.loop.add_callback(other.scheduler.close)
        deadline = time.monotonic() + 20
        while client.status == "running" and time.monotonic() < deadline:
            time.sleep(0.05)
        with pytest.raises(ConnectionError, match="a running scheduler is needed"):
            lowdim.PCA(2).fit(X)
        client.close(timeout=1)
