"""``lowdim transform``: transform new rows with a saved model."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lowdim.cli import arguments, partitioned
from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source, counted
from lowdim.cli.outputs import TABLES, demand_targets, show_progress, write_embedding
from lowdim.cli.preparation_options import kept_rows, preparing_by_model, tell_notes

if TYPE_CHECKING:
    from lowdim.data import Table


@click.command(
    "transform",
    short_help="Transform new rows with a saved model.",
    epilog="""\b
Examples:
  lowdim transform map.lowdim new.csv -o new_map.csv
  lowdim transform map.lowdim new.csv --id name --label species -o new_map.parquet
  cat new.csv | lowdim transform map.lowdim - | head
""",
)
@click.argument("model_file", metavar="MODEL", shell_complete=arguments.complete_files)
@click.argument("source", metavar="NEW", shell_complete=arguments.complete_data)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    default="-",
    help=f"Table of the embedding: {', '.join(TABLES)}; csv on stdout by default.",
)
@arguments.reading_for_model
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "mean", "median"]),
    help="Missing values: refuse, drop their rows, or fill in. By default as the model was fitted; means and medians "
    "are those of the model, or of NEW if it has none.",
)
@preparing_by_model
@partitioned.on_cluster
@arguments.quiet
def command(
    model_file: str, source: str, output: str, quiet: bool, missing: str | None, cluster: str | None, **reading: Any
) -> None:
    """Transform the rows of NEW with MODEL, a file that 'lowdim reduce --save' wrote.

    Columns are found by the names the model was fitted with, in any order; others are left out. The
    preparation of the table (scaling, categories, missing values) is part of the model and is applied to NEW as well.
    """
    from lowdim import load

    if cluster is None:
        demand_targets(source, {"-o": (output, TABLES)})
    model = load(Path(model_file).expanduser())
    if cluster is not None:
        _transform_parts(model, source, cluster, output, quiet, reading)
        return
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    prepare = steps[0] if hasattr(steps[0], "complete") else None
    names = getattr(model, "feature_names_in_", None)
    known = None if names is None else [str(n) for n in names]
    if prepare is None:
        if missing == "median":
            raise ValueError(
                "--missing median needs a model that was saved with its preparation; this one has none. Fit it with "
                "'lowdim reduce --missing median --save', or pass --missing mean."
            )
        reading["missing"] = missing or "error"
        table = _matched(Source(source), known, model, reading, quiet)
    else:
        if missing is not None:
            prepare.set_params(missing=missing)
        reading["missing"] = "drop" if prepare.missing == "drop" else "error"
        table = _matched_mixed(Source(source), known, prepare, reading, quiet)
    for step in steps:
        step.set_params(verbose=show_progress(quiet))
    with warnings.catch_warnings():
        # The columns have been matched by name, so the plain array needs no names.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        Y = model.transform(table.X)
        if prepare is not None:
            table = kept_rows(replace(table, X=Y), prepare, table.X)
    write_embedding(output, Y, [str(n) for n in model.get_feature_names_out()], table, quiet=quiet)


def _transform_parts(model: Any, source: str, cluster: str, output: str, quiet: bool, reading: dict[str, Any]) -> None:
    """Transform partitioned parquet files on a cluster."""
    files, folder = partitioned.find_parts(source), partitioned.demand_folder(output)
    names = getattr(model, "feature_names_in_", None)
    with partitioned.connected(cluster, None):
        table = partitioned.Parts(files, columns=None if names is None else [str(name) for name in names], **reading)
        last = [step for _, step in getattr(model, "steps", [("", model)])][-1]
        last.set_params(verbose=show_progress(quiet))
        partitioned.place_parts(table, model, folder, quiet)


def _matched_mixed(
    source: Source, names: list[str] | None, prepare: Any, reading: dict[str, Any], quiet: bool
) -> "Table":
    """Table of mixed columns, with the model's columns in the model's order."""
    import polars as pl

    from lowdim.data.file_errors import listing

    table = source.read(mixed=True, **reading)
    if not quiet:
        tell_notes(table)
    wanted = names or counted(prepare.n_features_in_)
    if table.names == wanted or (names is None and set(table.names) != set(wanted)):
        return table  # a model without column names checks only their number
    used = {wanted[j] for j in prepare.sources()}
    _demand_columns([name for name in wanted if name in used], table, prepare)
    others = [name for name in table.names if name not in wanted]
    if others:
        tell_left_out(listing(others), quiet)
    frame = table.X if table.mixed else pl.DataFrame({n: table.X[:, j] for j, n in enumerate(table.names)})
    # A column that the model leaves out anyway need not be there.
    blank = [pl.lit(None).alias(name) for name in wanted if name not in frame.columns]
    return replace(table, X=frame.with_columns(blank).select(wanted), names=wanted)


def _matched(source: Source, names: list[str] | None, model: Any, reading: dict[str, Any], quiet: bool) -> "Table":
    """Table with the model's columns in the model's order."""
    from lowdim.data.file_errors import listing

    wanted = names or counted(model.n_features_in_)
    try:
        table = source.read(**reading)
    except ValueError:  # perhaps text or missing values in columns that the model does not use
        if names is None:
            raise
        table = source.read(columns=wanted, **reading)
        tell_left_out("other columns", quiet)
        return table
    if table.names == wanted or (names is None and set(table.names) != set(wanted)):
        return table  # a model without column names checks only their number
    _demand_columns(wanted, table, model)
    others = [name for name in table.names if name not in wanted]
    if others:
        tell_left_out(listing(others), quiet)
    if reading["missing"] != "error":  # again, so that missing values in the others drop no rows
        return source.read(columns=wanted, **reading)
    place = {name: j for j, name in enumerate(table.names)}
    return replace(table, X=table.X[:, [place[name] for name in wanted]], names=wanted)


def _demand_columns(wanted: list[str], table: "Table", model: Any) -> None:
    from lowdim.data.file_errors import listing

    lacking = [name for name in wanted if name not in table.names]
    if lacking:
        raise ValueError(
            f"{type(model).__name__} needs the {len(wanted)} columns it was fitted with; {table.source} lacks "
            f"{listing(lacking)}. It has {listing(table.names)}: rename or add columns."
        )


def tell_left_out(what: str, quiet: bool) -> None:
    """Report which columns were not used."""
    if not quiet:
        tell(f"left out {what}, which the model was not fitted with.")
