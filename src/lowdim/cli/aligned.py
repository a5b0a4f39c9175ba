"""``lowdim aligned``: maps of several tables that lie alike."""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source, named_labels
from lowdim.cli.outputs import PICTURES, Times, demand_targets, show_progress, write_embedding
from lowdim.cli.preparation_options import preparation_asked, preparing, read_prepared


@click.command(
    "aligned",
    short_help="Map several tables so that their maps can be compared.",
    epilog="""\b
Examples:
  lowdim aligned monday.csv tuesday.csv wednesday.csv --id name -o days/
  lowdim aligned before.csv after.csv --id patient --label group --method tsne --plot maps.png -o maps/
""",
)
@click.argument("sources", metavar="DATA…", nargs=-1, shell_complete=arguments.complete_data)
@arguments.method("umap, tsne, sne, pacmap or mds.")
@arguments.components
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Folder for a table and a model of each map.")
@click.option("--plot", metavar="FILE", help=f"Plot of all maps, side by side: {', '.join(PICTURES)}.")
@click.option(
    "--weight",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.3,
    show_default=True,
    metavar="W",
    help="Weight of the maps beside each: larger values move shared rows less.",
)
@click.option(
    "--sweeps", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Passes after the first."
)
@arguments.raw
@arguments.reading
@preparing
@arguments.settings
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of random numbers."
)
@click.option("--jobs", type=int, metavar="N", help="Number of threads; all cores by default.")
@arguments.quiet
def command(
    sources: tuple[str, ...],
    method: str,
    components: Any,
    output: str,
    plot: str | None,
    weight: float,
    sweeps: int,
    raw: bool,
    settings: tuple[tuple[str, Any], ...],
    seed: int,
    jobs: int | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Map the tables DATA, two or more, so that rows they share have similar positions.

    Rows are the same if their --id is; without --id the tables must have as many rows, in one order. Columns are
    prepared as those of the first table, by their names. FOLDER gets a table and a model of each map, named after the
    files.
    """
    import lowdim

    if len(sources) < 2:
        raise ValueError(f"aligned needs two tables or more; got {len(sources)}. For one, take 'lowdim reduce'.")
    folder = _folder(output, sources)
    demand_targets(sources[0], {"--plot": (plot, PICTURES)})
    params = {"n_components": components or 2, "n_jobs": jobs, "verbose": show_progress(quiet)} | dict(settings)
    asked, times = preparation_asked(reading), Times()
    made = read_prepared(Source(sources[0]), asked, reading, times, verbose=0, quiet=quiet)
    tables, rows = [made.table], [made.X]
    for source in sources[1:]:
        table, X = _prepared_alike(made, source, reading)
        tables.append(table)
        rows.append(X)
    relations = _relations(tables, sources)
    found = times.of(
        method,
        lambda: lowdim.aligned(rows, relations, method, weight=weight, sweeps=sweeps, random_state=seed, **params),
    )
    for source, table, model in zip(sources, tables, found.models, strict=True):
        whole = made.whole(model.set_params(verbose=0))
        stem = folder / Path(source).stem
        lowdim.save(whole, stem.with_suffix(".lowdim"))
        names = [str(name) for name in whole.get_feature_names_out()]
        write_embedding(str(stem.with_suffix(".csv")), model.embedding_, names, table, quiet=quiet, raw=raw)
    if not quiet:
        moved = ", ".join(f"{100 * share:.1f} %" for share in found.displacement)
        tell(f"shared rows move by {moved} of the width from map to map (median).")
    if plot:
        times.of("plot", lambda: _draw(plot, found, tables, sources, quiet=quiet))
    times.tell(quiet)


def _folder(output: str, sources: tuple[str, ...]) -> Path:
    """The folder, made now; files of one name would overwrite each other there."""
    stems = [Path(source).stem for source in sources]
    if twice := next((stem for stem in stems if stems.count(stem) > 1), None):
        raise ValueError(f"aligned names its files after the tables, which must differ; two are {twice!r}. Rename one.")
    folder = Path(output).expanduser()
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"-o needs a folder; '{folder}' is a file. Name another.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _prepared_alike(made: Any, source: str, reading: dict[str, Any]) -> tuple[Any, Any]:
    """Another table and its rows, prepared as the first one."""
    from lowdim.methods.prepared_table import table_for, transformed

    options = {name: value for name, value in reading.items() if name != "columns"}
    missing = "drop" if made.asked.missing == "drop" else "error"
    read = partial(Source(source).read, missing=missing, **options)
    if made.chain is None:
        table = read(columns=made.table.names)
        return table, table.X
    table, _ = table_for(made.chain, read)
    X, table = transformed(made.chain, table)
    return table, X


def _relations(tables: list[Any], sources: tuple[str, ...]) -> list[Any]:
    """Rows of each table but the first that are rows of the table before: (rows, rows of the table before)."""
    import numpy as np

    if tables[0].ids is None:
        counts = [table.X.shape[0] for table in tables]
        if len(set(counts)) > 1:
            raise ValueError(
                f"aligned needs --id COLUMN where tables have different numbers of rows; got {counts}. Name the column "
                "that identifies a row."
            )
        return [(np.arange(counts[0]), np.arange(counts[0]))] * (len(tables) - 1)
    found = []
    names = [[str(one) for one in table.ids] for table in tables]
    for source, ids in zip(sources, names, strict=True):
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise ValueError(f"--id must identify rows; {source} has {twice!r} twice. Name another column.")
    for before, after in pairwise(names):
        known = {one: row for row, one in enumerate(before)}
        pairs = [(row, known[one]) for row, one in enumerate(after) if one in known]
        found.append(tuple(np.array(part, dtype=np.int64) for part in zip(*pairs, strict=True)) if pairs else ([], []))
    return found


def _draw(target: str, found: Any, tables: list[Any], sources: tuple[str, ...], *, quiet: bool) -> None:
    """Draw all maps side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from lowdim import show
    from lowdim.work.atomic_files import atomic

    labels = [named_labels(table) for table in tables]
    figure = show.multiples(found, None if labels[0] is None else labels, titles=[Path(one).stem for one in sources])
    path = Path(target).expanduser()
    try:
        with atomic(path) as file:
            figure.savefig(file, format=path.suffix.lower().lstrip("."), dpi=150)
    finally:
        plt.close(figure)
    if not quiet:
        tell(f"drew {target}.")
