"""``lowdim transform``: transform new rows with a saved model."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments, partitioned
from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import MODELS, TABLES, demand_targets, show_progress, write_embedding
from lowdim.cli.preparation_options import preparing_by_model, tell_prepared


@click.command(
    "transform",
    short_help="Transform new rows with a saved model.",
    epilog="""\b
Examples:
  lowdim transform map.lowdim new.csv -o new_map.csv
  lowdim transform map.lowdim new.csv --id name --label species -o new_map.parquet
  lowdim transform map.lowdim new.csv --extend larger.lowdim -o new_map.csv
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
@arguments.raw
@arguments.reading_for_model
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "mean", "median"]),
    help="Missing values: refuse, drop their rows, or fill in. By default as the model was fitted; means and medians "
    "are those of the model, or of NEW if it has none.",
)
@click.option(
    "--extend",
    "extended",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help="Lay the new rows out together beside the old ones, which stay where they are, and save the larger model. "
    "For maps: tsne, sne, umap, pacmap and mds.",
)
@preparing_by_model
@partitioned.on_cluster
@arguments.quiet
def command(
    model_file: str,
    source: str,
    output: str,
    quiet: bool,
    raw: bool,
    missing: str | None,
    extended: str | None,
    cluster: str | None,
    **reading: Any,
) -> None:
    """Transform the rows of NEW with MODEL, a file that 'lowdim reduce --save' wrote.

    Columns are found by the names the model was fitted with, in any order; others are left out. The
    preparation of the table (scaling, categories, missing values) is part of the model and is applied to NEW as well.
    """
    from lowdim import load
    from lowdim.methods.prepared_table import transformed

    if cluster is None:
        demand_targets(source, {"-o": (output, TABLES), "--extend": (extended, MODELS)})
    elif extended is not None:
        raise ValueError("--extend needs all rows in one memory; got --cluster. Leave one of them out.")
    model = load(Path(model_file).expanduser())
    if cluster is not None:
        _transform_parts(model, source, cluster, output, quiet, reading)
        return
    table = read_for(model, source, missing, reading, quiet)
    for _, step in getattr(model, "steps", [("", model)]):
        step.set_params(verbose=show_progress(quiet))
    if extended is None:
        Y, table = transformed(model, table)
    else:
        Y, table = _extend(model, table, extended, quiet)
    write_embedding(output, Y, [str(n) for n in model.get_feature_names_out()], table, quiet=quiet, raw=raw)


def _extend(model: Any, table: Any, target: str, quiet: bool) -> tuple[Any, Any]:
    """Save the model of old and new rows; positions of the new ones, and the table without rows it leaves out."""
    import lowdim
    from lowdim.methods.prepared_table import matched, preparation_of, with_kept

    if not hasattr(getattr(model, "steps", [("", model)])[-1][1], "extend"):
        name = type(getattr(model, "steps", [("", model)])[-1][1]).__name__
        raise ValueError(f"--extend needs a map of tsne, sne, umap, pacmap or mds; got {name}. Leave it out.")
    with matched():
        larger = model.extend(table.X)
        table = with_kept(preparation_of(model), table)
    last = larger.steps[-1][1] if hasattr(larger, "steps") else larger
    for _, step in getattr(larger, "steps", [("", larger)]):
        step.set_params(verbose=0)
    lowdim.save(larger, Path(target).expanduser())
    if not quiet:
        tell(f"saved {target} ({type(last).__name__}, {len(last.embedding_):,} rows).")
    return last.embedding_[-table.X.shape[0] :], table


def read_for(model: Any, source: str, missing: str | None, reading: dict[str, Any], quiet: bool) -> Any:
    """Table of the rows of ``source`` with the columns of a model."""
    from lowdim.methods.prepared_table import preparation_of, table_for

    prepare = preparation_of(model)
    if prepare is None:
        if missing == "median":
            raise ValueError(
                "--missing median needs a model that was saved with its preparation; this one has none. Fit it with "
                "'lowdim reduce --missing median --save', or pass --missing mean."
            )
        reading["missing"] = missing or ("keep" if getattr(model, "_takes_gaps", False) else "error")
    else:
        if missing is not None:
            prepare.set_params(missing=missing)
        reading["missing"] = "drop" if prepare.missing == "drop" else "error"
    table, left_out = table_for(model, partial(Source(source).read, **reading))
    if not quiet:
        tell_prepared(table, [])
        if left_out:
            tell(f"left out {left_out}, which the model was not fitted with.")
    return table


def _transform_parts(model: Any, source: str, cluster: str, output: str, quiet: bool, reading: dict[str, Any]) -> None:
    """Transform partitioned parquet files on a cluster."""
    files, folder = partitioned.find_parts(source), partitioned.demand_folder(output)
    names = getattr(model, "feature_names_in_", None)
    with partitioned.connected(cluster, None):
        table = partitioned.Parts(files, columns=None if names is None else [str(name) for name in names], **reading)
        last = [step for _, step in getattr(model, "steps", [("", model)])][-1]
        last.set_params(verbose=show_progress(quiet))
        partitioned.place_parts(table, model, folder, quiet)
