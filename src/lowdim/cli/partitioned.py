"""Tables in many parquet files, on a cluster: one model, one output file per partition."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from lowdim.cli.errors import tell

_CONNECT = 20.0  # seconds that a scheduler has to answer
on_cluster = click.option(
    "--cluster",
    metavar="WHERE",
    help="For parquet files in parts: 'local' for the cores of this machine, or the address of a Dask scheduler; -o "
    "then names a folder.",
)


def find_parts(source: str) -> list[Path]:
    """Parquet files that a pattern, a folder or a file name matches, in order."""
    path = Path(source).expanduser()
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
    elif any(sign in source for sign in "*?["):
        folder = Path(path.anchor) if path.is_absolute() else Path()
        files = sorted(folder.glob(str(path.relative_to(path.anchor) if path.is_absolute() else path)))
    else:
        files = [path] if path.is_file() else []
    found = [file for file in files if file.suffix == ".parquet"]
    if not found:
        raise FileNotFoundError(
            f"parquet files are needed: a folder of them, or a pattern such as 'part-*.parquet' in quotes; "
            f"{source!r} names none. Check the path."
        )
    return found


def demand_folder(output: str | None) -> Path:
    """Folder for the partitions, created now: new, or without parquet files."""
    if output is None or output == "-":
        raise ValueError("--cluster needs -o FOLDER, where each partition becomes a parquet file. Name a folder.")
    folder = Path(output).expanduser()
    if folder.is_file():
        raise ValueError(f"-o needs a folder with --cluster; '{folder}' is a file. Name another.")
    if folder.is_dir() and any(folder.glob("*.parquet")):
        raise ValueError(f"-o needs a folder without parquet files; '{folder}' has some. Name another, or remove them.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def connected(where: str, workers: int | None) -> Iterator[Any]:
    """Client of the cluster at ``where``, or of one on this machine, which ends with the command."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError(
            "Dask is needed for --cluster; it is not installed. Install the extra: pip install 'lowdim[dask]'."
        ) from None
    if where == "local":
        from lowdim.work import thread_limit

        n = thread_limit.threads(workers)
        with LocalCluster(n, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(where, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"--cluster needs 'local' or the address of a running Dask scheduler, such as tcp://host:8786; {where!r} "
            f"does not answer ({type(error).__name__}). Start it with 'dask scheduler', or check the address."
        ) from None
    with client:
        yield client


def demand_no_layout(layout: dict[str, Any]) -> None:
    """Refuse options that mend a table laid out as a report, which parts of a table are not."""
    given = [f"--{name.replace('_', '-')}" for name, value in layout.items() if value not in (None, False)]
    if given:
        raise ValueError(f"{given[0]} is for a table in one file, not for parts of one. Leave it out.")


class Parts:
    """Partitions of a table, with its features and the columns kept beside them."""

    def __init__(
        self, files: list[Path], label: str | None, id: str | None, columns: Any, drop: Any, **layout: Any
    ) -> None:
        import dask.dataframe as dd

        demand_no_layout(layout)

        self.frame = dd.read_parquet([os.fspath(file.resolve()) for file in files])
        self.label, self.beside = label, [name for name in (id, label) if name is not None]
        have = [str(name) for name in self.frame.columns]
        for name in [*self.beside, *(columns or ()), *(drop or ())]:
            if name not in have:
                raise ValueError(f"column {name!r} is needed; {files[0].parent} has {', '.join(have)}. Check the name.")
        left = [name for name in (columns or have) if name not in self.beside and name not in (drop or ())]
        self.features = left
        text = [name for name in left if self.frame[name].dtype.kind not in "biuf"]
        if text and columns is None:
            raise ValueError(
                f"every feature must be a number with --cluster; {', '.join(map(repr, text[:5]))} "
                f"{'is' if len(text) == 1 else 'are'} not. Pass --drop, --label or --id for them, or encode "
                "them before."
            )

    def fit(self, model: Any, rows: int, seed: int | None) -> int | None:
        """Fit the model on all rows, or on a sample where it needs them in one memory; the sample size, or None."""
        from lowdim.backends.dask import SUPPORTED
        from lowdim.data import sample
        from lowdim.methods.base import used_labels

        X, y = self.frame[self.features], used_labels(model, None if self.label is None else self.frame[self.label])
        if type(model).__name__ in SUPPORTED and getattr(model, "approximation", "") is not None:
            model.fit(X, y)
            return None
        some = sample(X, rows, seed or 0)
        model.fit(some, None if y is None else sample(y, rows, seed or 0).to_numpy())
        return len(some)

    def write(self, model: Any, folder: Path) -> tuple[int, int]:
        """Scores of all rows, a file for each partition; the numbers of rows and files."""
        import numpy as np

        from lowdim.backends.dask.graphs import fold
        from lowdim.backends.dask.partitioned import Spread

        names = [str(name) for name in model.get_feature_names_out()]
        taken = [name for name in self.beside if name in names]
        if taken:
            raise ValueError(
                f"label and id columns need names other than those of the components; {taken[0]!r} is one. Rename it."
            )
        frame = self.frame[[*self.beside, *self.features]]
        rows = Spread(frame, np.dtype(np.float64), len(self.features), None, "write", opened=_numbered)
        given = (model, os.fspath(folder.resolve()), self.beside, self.features, names)
        return tuple(fold(rows, _write_part, _summed, *given, stage="placing rows") or (0, 0))


def _numbered(block: Any, where: Any) -> Any:
    block.attrs["number"] = where.block
    return block


def _write_part(block: Any, model: Any, folder: str, beside: list[str], features: list[str], names: list[str]) -> Any:
    """Write the scores of one partition, whole or not at all: a task that runs again writes the same file."""
    import numpy as np
    import pandas as pd

    from lowdim.work.atomic_files import atomic

    Y = model.transform(block[features])
    out = pd.DataFrame(np.asarray(Y), columns=names)
    for place, name in enumerate(beside):
        out.insert(place, name, block[name].to_numpy())
    with atomic(Path(folder, f"part-{block.attrs['number']:05d}.parquet")) as file:
        out.to_parquet(file, index=False)
    return len(out), 1


def _summed(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]


def place_parts(parts: Parts, model: Any, folder: Path, quiet: bool) -> None:
    """Write all partitions and report it."""
    from lowdim.work import progress

    with progress.showing(getattr(model, "verbose", 0), "lowdim"):
        rows, files = parts.write(model.set_params(verbose=0), folder)
    if not quiet:
        width = len(model.get_feature_names_out())
        tell(f"wrote {folder} ({rows:,} rows in {files:,} files, {width} components).")
