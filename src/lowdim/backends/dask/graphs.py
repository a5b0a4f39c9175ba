"""Distributed rows: Dask arrays and DataFrames, split along their rows. The only module that imports Dask.

Three functions do all the work. ``fold`` computes a small state of each block and merges the states in a fixed tree, so
that its result depends on the blocks alone, never on the workers, their order or their loss. ``each`` makes a lazy
call on every block. ``take`` collects chosen rows in this process. Shared data go to the workers as one named key that
can be recomputed: nothing is scattered, since scattered keys are lost with the worker that holds them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.work import memory, progress, thread_limit

ARITY = 8  # states merged by one task; dask.config's split_every must not change it, since it changes bits


def lengths_of(X: Any) -> tuple[int, ...] | None:
    """Rows of each block of a Dask array, None where unknown; None for DataFrames, whose lengths are never known."""
    if not isinstance(X, da.Array) or any(math.isnan(n) for n in X.chunks[0]):
        return None
    return tuple(int(n) for n in X.chunks[0])


def is_array(X: Any) -> bool:
    """Whether a collection is an array rather than a DataFrame or Series."""
    return isinstance(X, da.Array)


def cut_like(values: NDArray, X: Spread) -> Any:
    """A NumPy array with one entry for each row, in the blocks of ``X``."""
    return da.from_array(values, chunks=(X.lengths, *((n,) for n in values.shape[1:])))


def fold(
    X: Spread,
    leaf: Callable[..., Any],
    merge: Callable[[Any, Any], Any],
    *shared: Any,
    beside: Sequence[Any] = (),
    state: float = 0.0,
    stage: str = "blocks",
) -> Any:
    """Merge ``leaf(rows, *blocks of beside, *shared)`` over all blocks, eight by eight in the order of the blocks.

    A leaf that returns None, and a block without rows, add nothing; None is the result if all do. ``beside`` are
    collections in the blocks of ``X``, ``state`` the bytes of a leaf's result.
    """
    client = _client(X.name)
    _demand_room(client, (ARITY + 1) * state, X.name)
    arguments = delayed(Sent(shared), traverse=False)
    with progress.stage(stage, total=X.n_blocks) as tick, _explained(X.name), _ticking(client, tick) as topic:
        columns = _blocks(X.X, *beside)
        run = delayed(_leaf, pure=False)
        level = [
            run(leaf, X.opened, where, blocks, arguments, topic)
            for where, *blocks in zip(X.where(), *columns, strict=True)
        ]
        join = delayed(_merge, pure=False)
        while len(level) > 1:
            level = [join(merge, level[i : i + ARITY]) for i in range(0, len(level), ARITY)]
        return dask.compute(level[0])[0] if level else None


class Sent:
    """Data that tasks share, serialised for the workers; arrays are restored aligned for the kernels."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (cloudpickle.dumps(self.value, protocol=4),)


def _arrived(packed: bytes) -> Sent:
    return Sent(cloudpickle.loads(packed))


def _blocks(*collections: Any) -> list[list[Delayed]]:
    """Blocks of each collection; tasks that arrays share, such as one read of both, remain shared."""
    alone = len(collections) == 1  # otherwise fusion would copy the shared tasks into each
    return [list(np.ravel(_simplified(X).to_delayed(optimize_graph=alone and is_array(X)))) for X in collections]


def _simplified(X: Any) -> Any:
    """A DataFrame that reads its own columns alone, in its own partitions: Dask's optimiser would join small ones."""
    return X.simplify() if hasattr(X, "simplify") else X


def _leaf(leaf: Any, opened: Any, where: Where, blocks: list[Any], shared: Sent, topic: str | None) -> Any:
    rows, *others = map(aligned, blocks)
    result = None
    demand_alike(where, rows, others)
    if rows.shape[0]:
        with inside():
            result = leaf(opened(rows, where), *others, *shared.value)
    if topic is not None:
        from distributed import get_worker

        get_worker().log_event(topic, where.block)
    return result


def aligned(value: Any) -> Any:
    """An array as kernels take it: one from a network may be unaligned."""
    return value.copy(order="K") if isinstance(value, np.ndarray) and not value.flags.aligned else value


def demand_alike(where: Where, rows: Any, others: Sequence[Any]) -> None:
    """Refuse blocks of a fit that differ in their number of rows."""
    for other in others:
        if len(other) != rows.shape[0]:
            raise ValueError(
                f"y and sample_weight must be chunked as X is; block {where.block} has {rows.shape[0]:,} rows of X and "
                f"{len(other):,} beside them. Take them from the same DataFrame, or rechunk them in the same way."
            )


def _merge(merge: Any, states: list[Any]) -> Any:
    with inside():
        result = None
        for state in states:
            result = state if result is None else result if state is None else merge(result, state)
    return result


def each(
    X: Spread,
    call: Callable[..., Any],
    columns: int | None,
    dtype: Any,
    *,
    shared: Any = None,
) -> Any:
    """Lazy Dask array of ``call(block, where, shared)``; ``columns`` are those of the result, None for a vector.

    A result keeps the lengths of the blocks, and ``shared`` is one key, computed once on each worker that needs it.
    """
    meta = np.empty((0,) if columns is None else (0, columns), dtype)
    if not is_array(X.X):
        shape = (math.nan,) if columns is None else (math.nan, columns)
        run = delayed(_called, pure=False)
        parts = [run(block, where, call, shared, meta) for where, block in zip(X.where(), *_blocks(X.X), strict=True)]
        blocks = [da.from_delayed(part, shape, meta=meta) for part in parts]
        return da.concatenate(blocks, allow_unknown_chunksizes=True)
    widths = () if columns is None else ((columns,),)
    axes = {"drop_axis": 1} if columns is None and X.X.ndim == 2 else {}
    given = {"call": call, "model": shared, "like": meta}
    chunks = (X.X.chunks[0], *widths)
    return X.X.map_blocks(_on_block, **given, dtype=meta.dtype, meta=meta, chunks=chunks, token="lowdim", **axes)


def key(value: Any, token: Any, kind: str) -> Delayed:
    """``value`` as one key of the graph, named by ``token``, that any worker can recompute."""
    return delayed(Sent(value), name=f"lowdim-{kind}-{tokenize(token)}", traverse=False)


def _on_block(block: Any, call: Any, model: Any, like: NDArray, block_info: Any = None) -> NDArray:
    where = Where(0, None)
    if block_info:  # none while Dask inspects the graph
        place = block_info[0]
        number, first = place["chunk-location"][0], place["array-location"][0][0]
        where = Where(int(number), None if math.isnan(first) else int(first))
    return _called(block, where, call, model, like)


def _called(block: Any, where: Where, call: Any, model: Any, like: NDArray) -> NDArray:
    if not block.shape[0]:
        return like
    with inside():
        return np.asarray(call(aligned(block), where, None if model is None else model.value)).astype(
            like.dtype, copy=False
        )


def take(X: Any, ids: NDArray[np.int64], lengths: Sequence[int], name: str) -> list[Any]:
    """Rows of a collection with these ascending numbers, in order."""
    (blocks,), pick = _blocks(X), delayed(_pick, pure=False)
    starts = np.cumsum([0, *lengths])
    edges = np.searchsorted(ids, starts)
    wanted = [
        pick(block, ids[first:last] - start)
        for block, start, first, last in zip(blocks, starts[:-1], edges[:-1], edges[1:], strict=True)
        if first < last
    ]
    _client(name)
    with _explained(name):
        return list(dask.compute(*wanted))


def _pick(block: Any, ids: NDArray[np.int64]) -> Any:
    return block.iloc[ids] if hasattr(block, "iloc") else block[ids]


def counted(X: Any, name: str) -> tuple[int, ...]:
    """Rows of each block, known or counted in a pass over them."""
    known = lengths_of(X)
    if known is not None:
        return known
    _client(name)
    with _explained(name):
        return tuple(dask.compute(*map(delayed(len, pure=False), *_blocks(X))))


def with_lengths(X: Spread) -> Spread:
    """The same rows with the lengths of the blocks known, counted if necessary."""
    return X if X.lengths is not None else replace(X, lengths=counted(X.X, X.name))


@contextmanager
def inside() -> Iterator[None]:
    """Run a task with its share of the cores, whatever ``n_jobs`` is, and without progress bars."""
    with thread_limit.within(_share()), progress.hidden(), np.errstate(all="ignore"):
        yield


def _share() -> int:
    """Threads for the kernels of one task: the cores divided by the number of concurrent tasks."""
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        return max(1, thread_limit.available() // get_worker().state.nthreads)
    return 1  # Dask's own threads, one for each core


def _client(name: str) -> Any:
    """Client of the cluster that computes, None for Dask's local schedulers; it must be connected."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    if client is not None and getattr(client, "status", "running") != "running":
        raise _unreachable(name, f"the client is {client.status}")
    return client


def _demand_room(client: Any, n_bytes: float, name: str) -> None:
    """Refuse states that do not fit on the smallest worker, before anything starts."""
    if not n_bytes:
        return
    instead = "Use svd_solver='randomized' with a small n_components, or give the workers more memory."
    if client is None:
        memory.require(n_bytes, f"{name}: {ARITY + 1} partial results at a time", instead)
        return
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
    if limits and n_bytes > min(limits):
        raise MemoryError(
            f"{name}: {ARITY + 1} partial results at a time need {memory.human(n_bytes)} on a worker; the smallest "
            f"has {memory.human(min(limits))}. {instead}"
        )


@contextmanager
def _ticking(client: Any, tick: Callable[[int], None]) -> Iterator[str | None]:
    """Topic to which tasks report progress; None where no progress is shown."""
    if client is None or not progress.is_shown():
        yield None
        return
    topic, done = f"lowdim-{np.random.SeedSequence().entropy:x}", set()

    def note(event: tuple[Any, Any]) -> None:
        done.add(event[1])
        tick(len(done))

    client.subscribe_topic(topic, note)
    try:
        yield topic
    finally:
        client.unsubscribe_topic(topic)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Convert errors of the cluster to messages with advice."""
    try:
        yield
    except _killed() as error:
        raise MemoryError(
            f"{name}: a block must fit on a worker; several workers died computing the same one ({error}). Use smaller "
            "chunks, or give the workers more memory."
        ) from None
    except CancelledError as error:
        raise RuntimeError(
            f"{name}: blocks that can be recomputed are needed; some were lost and cannot be ({error}): scattered "
            "or persisted rows are lost with their worker, and everything with the scheduler. Read them from their "
            "source, as by dask.array.from_zarr or dask.dataframe.read_parquet."
        ) from None
    except OSError as error:
        if type(error).__module__.partition(".")[0] != "distributed" and not isinstance(error, TimeoutError):
            raise
        raise _unreachable(name, str(error)) from None


def _killed() -> tuple[type[BaseException], ...]:
    """Exception that means that a task killed its workers, if there are workers."""
    try:
        from distributed import KilledWorker
    except ImportError:
        return ()
    return (KilledWorker,)


def _unreachable(name: str, why: str) -> ConnectionError:
    return ConnectionError(
        f"{name}: a running scheduler is needed; it cannot be reached ({why}). Start it again, and connect by "
        "distributed.Client(address)."
    )
