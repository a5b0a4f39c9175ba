"""``lowdim reduce``: fit a method and write the embedding, a plot and the model."""

from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments, partitioned
from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import (
    MODELS,
    PICTURES,
    TABLES,
    Times,
    demand_targets,
    draw_embedding,
    show_progress,
    write_embedding,
)
from lowdim.cli.preparation_options import preparation_asked, preparing, read_prepared, what_it_did
from lowdim.methods import registry


@click.command(
    "reduce",
    short_help="Fit a method and write the embedding, a plot and the model.",
    epilog="""\b
Examples:
  lowdim reduce digits --plot map.png
  lowdim reduce table.csv --label species --id name -k 0.9 -o map.parquet --save map.lowdim
  lowdim reduce people.csv --missing median --method tsne --plot map.png --save people.lowdim
  lowdim reduce table.csv --drop weight,height --missing mean --scale -o map.csv
  lowdim reduce cells.csv --log --first pca=50 --method tsne -o map.csv
  lowdim reduce table.csv --method umap --check -o map.csv
  lowdim reduce big.npy --set svd_solver=streaming --save big.lowdim
  lowdim reduce 'big/part-*.parquet' -k 50 --id cell --cluster local -o scores/ --save big.lowdim
  cat table.csv | lowdim reduce - -k 2 | head
""",
)
@arguments.data
@arguments.method("A name that 'lowdim methods' lists.")
@arguments.components
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"Table of the embedding: {', '.join(TABLES)}, or - for csv on stdout.",
)
@click.option(
    "--plot",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"Plot of the embedding: {', '.join(PICTURES)}.",
)
@click.option(
    "--save",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help="File of the fitted model, for 'lowdim transform': .lowdim.",
)
@click.option("--check", is_flag=True, help="Add to -o how little each place can be believed: score and dubious.")
@arguments.raw
@arguments.reading
@preparing
@arguments.settings
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed of random numbers.")
@click.option("--jobs", type=int, metavar="N", help="Number of threads; all cores by default.")
@click.option("--device", metavar="NAME", help="Where to compute: cpu, cuda or cuda:1. For methods with a GPU version.")
@partitioned.on_cluster
@click.option(
    "--sample",
    type=click.IntRange(2),
    default=100_000,
    show_default=True,
    metavar="N",
    help="With --cluster: rows to fit on, for methods that need them in one memory; all rows are transformed.",
)
@arguments.quiet
def command(
    source: str,
    method: str,
    output: str | None,
    plot: str | None,
    save: str | None,
    quiet: bool,
    raw: bool,
    check: bool,
    components: Any,
    settings: tuple[tuple[str, Any], ...],
    seed: int | None,
    jobs: int | None,
    device: str | None,
    cluster: str | None,
    sample: int,
    **reading: Any,
) -> None:
    """Reduce DATA to a few columns.

    Without -o, --plot and --save the embedding is written to standard output as csv: the id and label of each row, then
    its components. Parameters come from -k (2 unless given; LDA: all) and --set; 'lowdim methods' lists the methods.

    Columns of text and dates become numbers by their kind, and what was done is reported; --prepare, --scale, --log,
    --missing, --categories and --first change it. All of it is saved with the model.
    """
    from dataclasses import replace

    import lowdim
    from lowdim.quality.fitted_map import FEWEST
    from lowdim.relate.moments import divided_by_deviation

    written = {"--plot": (plot, PICTURES), "--save": (save, MODELS)}
    demand_targets(source, written if cluster else {"-o": (output, TABLES), **written})
    if check and (cluster or (output or "").lower().endswith(".npy")):
        raise ValueError(
            "--check adds columns to a table of one machine; --cluster and .npy have none. Leave it out, or write -o "
            "map.csv."
        )
    columns_as = preparation_asked(reading)
    chosen = registry.find(method)
    by_option = {"n_components": ("-k", components), "random_state": ("--seed", seed), "n_jobs": ("--jobs", jobs)}
    by_option["device"] = ("--device", device)
    asked = {name: pair for name, pair in by_option.items() if pair[1] is not None}
    for name, value in settings:
        if name in asked:
            raise ValueError(f"{name} is given twice, by {asked[name][0]} and by --set. Keep one of them.")
        asked[name] = ("--set", value)
    verbose = show_progress(quiet)
    model = _build(chosen, asked, verbose)
    if cluster is not None:
        if plot or columns_as.words or columns_as.first or columns_as.prepare not in (None, "none"):
            raise ValueError(
                "--cluster takes parquet files of numbers as they are. Leave out --plot and the options that prepare "
                "columns."
            )
        _reduce_parts(source, model, cluster, output, save, sample, quiet=quiet, seed=seed, jobs=jobs, **reading)
        return
    times = Times()
    inside = "standardize" in model.get_params()  # PCA scales by itself, which needs no copy of the rows
    made = read_prepared(
        Source(source), columns_as, reading, times,
        scaled_later=inside, as_it_is=chosen.takes_table, gaps=model._takes_gaps, verbose=verbose, quiet=quiet,
    )  # fmt: skip
    table = made.table
    if made.scale and inside:
        if "standardize" in asked:
            raise ValueError("standardize is given twice, by --scale and by --set. Keep one of them.")
        model.set_params(standardize=True)
    elif made.scale:  # sparse rows
        if save:
            made.demand_scaled()
        made = replace(made, X=divided_by_deviation(made.X))
    if chosen.supervised and table.labels is None:
        raise ValueError(f"{chosen.class_name} learns from labels; {table.source} has none. Pass --label COLUMN.")
    if check and table.X.shape[0] < FEWEST:
        raise ValueError(
            f"--check needs at least {FEWEST} rows; {table.source} has {table.X.shape[0]}. Leave it out, or add rows."
        )
    Y = times.of(method, lambda: made.fit(model))
    whole = made.whole(model.set_params(verbose=0))  # verbosity is not part of the model
    if chosen.takes_table:
        table = what_it_did(model, made, len(Y), quiet=quiet)
    names = [str(name) for name in whole.get_feature_names_out()]
    beside = times.of("check", lambda: _checked(model, made, seed, quiet=quiet)) if check else {}
    if save:
        lowdim.save(whole, Path(save).expanduser())
        if not quiet:
            steps = " after ".join(type(step).__name__ for step in (model, *reversed(made.steps)))
            tell(f"saved {save} ({steps}, {len(table.names)} columns to {len(names)}).")
    if output or not (plot or save):
        times.of("write", lambda: write_embedding(output or "-", Y, names, table, beside, quiet=quiet, raw=raw))
    if plot:
        title = f"{chosen.class_name} of {Path(table.source).name}"
        times.of("plot", lambda: draw_embedding(plot, Y, names, table, title, quiet=quiet))
    times.tell(quiet)


def _checked(model: Any, made: Any, seed: int | None, *, quiet: bool) -> dict[str, Any]:
    """Columns that say how little each place can be believed."""
    from lowdim import quality

    found = quality.reliability(model, made.rows_for(model), random_state=seed or 0, verbose=show_progress(quiet))
    if not quiet:
        tell(f"{len(found.dubious):,} of {len(found.score):,} rows are dubious: see 'lowdim check'.")
    return {name: found.table[name].to_numpy() for name in ("score", "dubious")}


def _reduce_parts(
    source: str,
    model: Any,
    cluster: str,
    output: str | None,
    save: str | None,
    sample: int,
    *,
    quiet: bool,
    seed: int | None,
    jobs: int | None,
    **reading: Any,
) -> None:
    """Reduce partitioned parquet files on a cluster."""
    files, folder = partitioned.find_parts(source), partitioned.demand_folder(output)
    with partitioned.connected(cluster, jobs):
        table = partitioned.Parts(files, **reading)
        some, verbose = table.fit(model, sample, seed), model.verbose
        if some is not None and not quiet:
            tell(f"{type(model).__name__} was fitted on {some:,} rows, drawn by --seed; --sample changes how many.")
        if save:
            model.set_params(verbose=0).save(Path(save).expanduser())
            if not quiet:
                tell(f"saved {save} ({type(model).__name__}, {len(table.features)} columns).")
        partitioned.place_parts(table, model.set_params(verbose=verbose), folder, quiet)


def _build(chosen: registry.Method, asked: dict[str, tuple[str, Any]], verbose: int) -> Any:
    """Unfitted model with the requested parameters, checked before the data are read."""
    known = list(chosen.load()._get_param_names())
    arguments.demand_parameters(chosen.class_name, known, {name: option for name, (option, _) in asked.items()})
    given = {name: None if option == "-k" and value == "all" else value for name, (option, value) in asked.items()}
    model = chosen.build(given, n_components=chosen.components, verbose=verbose)
    model._check_parameters()
    return model
