"""``lowdim check``: which rows of a saved map not to believe."""

import warnings
from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.outputs import TABLES, demand_targets, show_progress
from lowdim.cli.printed_tables import echo, show_table
from lowdim.cli.transform import read_for

_SHOWN = 10  # dubious rows


@click.command(
    "check",
    short_help="Say which rows of a saved map not to believe.",
    epilog="""\b
Examples:
  lowdim check map.lowdim data.csv
  lowdim check map.lowdim data.csv --refits 6 -o reliability.csv
""",
)
@click.argument("model_file", metavar="MODEL", shell_complete=arguments.complete_files)
@click.argument("source", metavar="DATA", shell_complete=arguments.complete_data)
@click.option("--refits", type=click.IntRange(min=1), help="Fits of samples, for the stability of each row.")
@click.option("--seconds", type=float, help="Time after which no further refit is begun.")
@click.option("--rate", type=float, default=0.05, show_default=True, help="Share of dubious rows on a faithful map.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"Table of all scores, one row per row of DATA: {', '.join(TABLES)}.",
)
@arguments.reading_for_model
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of samples and refits.")
@arguments.quiet
def command(
    model_file: str,
    source: str,
    refits: int | None,
    seconds: float | None,
    rate: float,
    output: str | None,
    seed: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Check the map MODEL, a file that 'lowdim reduce --save' wrote, against the rows DATA that it was fitted on.

    The worst rows are listed, with the spread of the places of their neighbours; and the data are compared with their
    columns shuffled independently.
    """
    import lowdim
    from lowdim import quality
    from lowdim.methods.prepared_table import preparation_of

    if output is not None:
        demand_targets(source, {"-o": (output, TABLES)})
    model = lowdim.load(Path(model_file).expanduser())
    table = read_for(model, source, None, reading, quiet)
    prepare = preparation_of(model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        found = quality.reliability(
            model, table.X, refits=refits, seconds=seconds, rate=rate, random_state=seed, verbose=show_progress(quiet)
        )
        if hasattr(model, "as_linear"):
            rows = model.as_linear(table.X)[0]
        else:
            rows = prepare.transform(table.X) if prepare is not None else table.X
    kept = len(found.score) == table.X.shape[0]  # rows with missing values may have been left out
    ids = list(table.ids) if kept and table.ids is not None else list(range(len(found.score)))
    if len(found.dubious):
        worst = found.dubious[:_SHOWN]
        parts = ["score", "spread", "overlap", "shared", *(["stability"] if found.stability is not None else [])]
        show_table(
            [[str(ids[i]), *(f"{getattr(found, part)[i]:.3f}" for part in parts)] for i in worst], ["row", *parts]
        )
        echo("")
    share = len(found.dubious) / len(found.score)
    echo(
        f"{len(found.dubious):,} of {len(found.score):,} rows ({share:.1%}) are dubious: the map puts their neighbours "
        f"in the data apart. On a map that tears nothing, about {rate:.0%} or fewer are."
    )
    echo(f"{quality.structure(rows, random_state=seed)}")
    if output is not None:
        columns: dict[str, Any] = {"row": ids}
        columns |= {name: column.to_numpy() for name, column in found.table.to_dict().items()}
        lowdim.data.write(output, columns)
        if not quiet:
            tell(f"wrote {output}.")
