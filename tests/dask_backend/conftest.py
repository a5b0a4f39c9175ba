"""A cluster of two worker processes, of one thread each, and rows whose reads can be watched."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def processes():
    """The cluster; ``scale`` changes the number of its workers."""
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0", memory_limit="2GiB") as cluster:
        yield cluster


@pytest.fixture
def client(processes):
    """A client that Dask computes by, with both workers there."""
    from distributed import Client

    with Client(processes) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture
def watched(tmp_path):
    """Function that makes a Dask array whose reads leave notes, and function that gives them: (block, process)."""
    import dask.array as da
    from watched_rows import read

    def rows(n_blocks, width=6, dtype="float64", length=50, seconds=0.0):
        chunks = ((length,) * n_blocks, (width,))
        given = {"folder": str(tmp_path), "width": width, "kind": dtype, "length": length, "seconds": seconds}
        return da.map_blocks(read, **given, chunks=chunks, dtype=dtype, meta=np.empty((0, width), dtype))

    def reads():
        return [tuple(map(int, note.name.split("-")[:2])) for note in tmp_path.iterdir()]

    return rows, reads
