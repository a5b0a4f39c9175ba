"""Output files: checked before any work starts, and written whole or not at all."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from lowdim.cli.errors import tell
from lowdim.cli.input_source import named_labels

if TYPE_CHECKING:
    from lowdim.data import Table

TABLES = ("csv", "tsv", "parquet", "npy", "npz")
PICTURES = ("png", "svg", "pdf", "jpg", "jpeg", "webp")
MODELS = ("lowdim",)
_LONG = 2.0  # seconds from which the time of each stage is shown


def demand_targets(source: str, targets: Mapping[str, tuple[str | None, Sequence[str]]]) -> None:
    """Raise unless each target (option → path and the endings it may have) can be written, apart from the others."""
    taken = {os.path.realpath(source): "the input"}
    for option, (name, endings) in targets.items():
        if name is None or (name == "-" and endings is TABLES):
            continue
        path = Path(name).expanduser()
        if path.suffix.lower().lstrip(".") not in endings:
            known = ", ".join(f".{ending}" for ending in endings)
            raise ValueError(f"{option} needs a file name that ends in {known}; got {name!r}. Change the ending.")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{option} needs an existing folder; there is none at '{path.parent}'. Create it.")
        if path.exists() and not path.is_file():
            raise ValueError(f"{option} needs the name of a file; '{path}' is a folder or a device. Name another.")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise PermissionError(f"{option} needs a file that may be written; '{path}' may not. Write elsewhere.")
        if (other := taken.setdefault(os.path.realpath(path), option)) != option:
            raise ValueError(f"{option} needs a file of its own; '{path}' is {other}. Name another.")


def show_progress(quiet: bool) -> int:
    """``verbose`` of the methods: progress bars on a terminal, nothing in a log or a pipe."""
    return int(not quiet and sys.stderr.isatty())


def write_embedding(
    target: str,
    Y: Any,
    names: Sequence[str],
    table: "Table",
    further: Mapping[str, Any] | None = None,
    *,
    quiet: bool,
    raw: bool = False,
) -> None:
    """Write the id, the label, the components and ``further`` columns to a file, or to standard output for ``-``."""
    further = further or {}
    from lowdim import data

    columns: dict[str, Any] = {}
    beside: dict[str, str] = {}
    for role, name, values in (("id", table.id_name, table.ids), ("label", table.label_name, table.labels)):
        if name is None or values is None:
            continue
        if name in names or name in further:
            raise ValueError(
                f"the {role} column needs a name other than those of the other columns; {name!r} is one of them. "
                "Rename the column."
            )
        columns[name], beside[role] = values, name
    if beside and target.lower().endswith(".npy"):  # one array of numbers: the embedding only
        if not quiet:
            tell(f"{target} holds the components alone; csv, parquet and npz keep {', '.join(columns)} as well.")
        columns, beside = {}, {}
    columns |= {name: Y[:, j] for j, name in enumerate(names)} | dict(further)
    data.write(target, columns, label=beside.get("label"), id=beside.get("id"), raw=raw)
    if target != "-" and not quiet:
        tell(f"wrote {target} ({len(Y):,} rows, {len(names)} {'component' if len(names) == 1 else 'components'}).")


def draw_embedding(target: str, Y: Any, names: Sequence[str], table: "Table", title: str, *, quiet: bool) -> None:
    """Draw the map, coloured by the labels; of more than three components the first two."""
    import matplotlib
    import polars as pl

    matplotlib.use("Agg")  # draws to a file, without a window or a screen
    import matplotlib.pyplot as plt

    from lowdim import show
    from lowdim.work.atomic_files import atomic

    shown = Y.shape[1] if Y.shape[1] <= 3 else 2
    frame = pl.DataFrame({name: Y[:, j] for j, name in enumerate(names[:shown])})
    ax = show.scatter(frame, named_labels(table), title=title)
    figure: Any = ax.figure
    path = Path(target).expanduser()
    try:
        with atomic(path) as file:
            figure.savefig(file, format=path.suffix.lower().lstrip("."), dpi=150)
    finally:
        plt.close(figure)
    if not quiet:
        tell(f"drew {target}{f' (the first two of {Y.shape[1]} components)' if Y.shape[1] > 3 else ''}.")


class Times:
    """Seconds of the stages of a command."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def of(self, stage: str, work: Callable[[], Any]) -> Any:
        """What ``work`` returns; its time counts for the stage."""
        start = perf_counter()
        result = work()
        self._seconds[stage] = perf_counter() - start
        return result

    def tell(self, quiet: bool) -> None:
        """Report the time of each stage, if it was long."""
        if not quiet and sum(self._seconds.values()) >= _LONG:
            tell(", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self._seconds.items()) + ".")
