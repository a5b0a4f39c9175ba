"""``lowdim reduce``: fit a method and write the embedding, a picture, the model."""

from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.outputs import (
    MODELS,
    PICTURES,
    TABLES,
    demand_targets,
    draw_embedding,
    show_progress,
    write_embedding,
)
from lowdim.cli.source import Source, note_names
from lowdim.methods import registry


@click.command(
    "reduce",
    short_help="Fit a method and write the embedding, a picture, the model.",
    epilog="""\b
Examples:
  lowdim reduce digits --plot map.png
  lowdim reduce table.csv --label species --id name -k 0.9 -o map.parquet --save map.lowdim
  lowdim reduce table.csv --drop weight,height --missing mean --scale -o map.csv
  lowdim reduce big.npy --set solver=streaming --save big.lowdim
  cat table.csv | lowdim reduce - -k 2 | head
""",
)
@arguments.data
@click.option(
    "--method",
    "-m",
    shell_complete=arguments.complete_methods,
    default="pca",
    show_default=True,
    help="A name that 'lowdim methods' lists.",
)
@arguments.components
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"The embedding: {', '.join(TABLES)}, or - for csv on stdout.",
)
@click.option(
    "--plot", metavar="FILE", shell_complete=arguments.complete_files, help=f"A picture of it: {', '.join(PICTURES)}."
)
@click.option(
    "--save",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help="The fitted model, for 'lowdim transform': .lowdim.",
)
@arguments.reading
@arguments.settings
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Makes random draws repeatable.")
@click.option("--scale", is_flag=True, help="Divide each column by its standard deviation first.")
@click.option("--jobs", type=int, metavar="N", help="Threads; all cores by default.")
@arguments.quiet
def command(
    source: str,
    method: str,
    output: str | None,
    plot: str | None,
    save: str | None,
    quiet: bool,
    components: Any,
    settings: tuple[tuple[str, Any], ...],
    seed: int | None,
    scale: bool,
    jobs: int | None,
    **reading: Any,
) -> None:
    """Reduce DATA to a few columns.

    Without -o, --plot and --save the embedding goes to standard output as csv: the id and label of each row, then its
    components. Parameters come from -k (2 unless given; LDA: all) and --set; 'lowdim methods' lists the methods.
    """
    from lowdim.relate.moments import divided_by_deviation

    demand_targets(source, {"-o": (output, TABLES), "--plot": (plot, PICTURES), "--save": (save, MODELS)})
    chosen = registry.find(method)
    inside = "standardize" in chosen.load()._get_param_names()  # scaling is then part of the model
    if scale and save and not inside:
        raise ValueError(
            f"--scale with --save needs a method that scales by itself, such as pca; {chosen.class_name} does not, and "
            "its file would not know the scales. Leave one of them out, or scale the columns of the data."
        )
    by_option = {
        "n_components": ("-k", components),
        "random_state": ("--seed", seed),
        "n_jobs": ("--jobs", jobs),
        "standardize": ("--scale", (scale and inside) or None),
    }
    asked = {name: pair for name, pair in by_option.items() if pair[1] is not None}
    for name, value in settings:
        if name in asked:
            raise ValueError(f"{name} is given twice, by {asked[name][0]} and by --set. Keep one of them.")
        asked[name] = ("--set", value)
    model = _build(chosen, asked, show_progress(quiet))
    table = Source(source).read(**reading)
    if chosen.supervised and table.labels is None:
        raise ValueError(f"{chosen.class_name} learns from labels; {table.source} came without. Pass --label COLUMN.")
    X = divided_by_deviation(table.X) if scale and not inside else table.X
    Y = model.fit_transform(X, table.labels)
    note_names(model, table)
    names = [str(name) for name in model.get_feature_names_out()]
    if save:
        model.set_params(verbose=0).save(Path(save).expanduser())  # whether we watched is no part of the model
        if not quiet:
            tell(f"saved {save} ({chosen.class_name}, {len(table.names)} columns to {len(names)}).")
    if output or not (plot or save):
        write_embedding(output or "-", Y, names, table, quiet=quiet)
    if plot:
        title = f"{chosen.class_name} of {Path(table.source).name}"
        draw_embedding(plot, Y, names, table, title, quiet=quiet)


def _build(chosen: registry.Method, asked: dict[str, tuple[str, Any]], verbose: int) -> Any:
    """Unfitted model with the parameters asked for, checked before the data are read."""
    cls = chosen.load()
    known = list(cls._get_param_names())
    arguments.demand_parameters(chosen.class_name, known, {name: option for name, (option, _) in asked.items()})
    defaults = {
        name: value for name, value in {"n_components": chosen.components, "verbose": verbose}.items() if name in known
    }
    given = {name: None if option == "-k" and value == "all" else value for name, (option, value) in asked.items()}
    model = cls(**defaults | given)
    model._check_parameters()
    return model
