"""``lowdim compare``: several methods side by side, as a table, a summary and one page."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import in_options, tell
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import TABLES, Times, demand_targets, show_progress
from lowdim.cli.preparation_options import NAMES, preparation_asked, preparing, read_prepared
from lowdim.cli.printed_tables import echo, show_table

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison, Outcome

PAGES = ("html", "htm")


@click.command(
    "compare",
    short_help="Run several methods, measure each, and write one page.",
    epilog="""\b
Examples:
  lowdim compare digits -o report.html
  lowdim compare table.csv --label species --scale -o report.html
  lowdim compare table.csv --label species --methods pca,lda --set pca.standardize=true -o report.html
  lowdim compare people.csv --missing median -o report.html
  lowdim compare mnist.npz --image-shape 28x28 --methods pca,tsne -o report.html
""",
)
@arguments.data
@click.option(
    "--methods",
    type=arguments.Names(),
    shell_complete=arguments.complete_methods,
    metavar="A,B",
    help="Names of methods; all that suit the data by default.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"Report page: html; or the table alone: {', '.join(TABLES)}.",
)
@click.option(
    "-k", "n_components", type=click.IntRange(1), default=2, show_default=True, metavar="K", help="Components."
)
@click.option("--by", default="rnx_auc", show_default=True, metavar="MEASURE", help="Measure that ranks the methods.")
@arguments.reading
@preparing
@click.option(
    "--set",
    "settings",
    type=arguments.Setting(),
    multiple=True,
    metavar="METHOD.NAME=VALUE",
    help="Any parameter of a method.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of random numbers."
)
@click.option("--image-shape", metavar="HxW", help="Rows are images of this size, such as 28x28; the page shows them.")
@click.option("--jobs", type=int, metavar="N", help="Number of threads; all cores by default.")
@arguments.quiet
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: str,
    methods: list[str] | None,
    output: str | None,
    n_components: int,
    by: str,
    settings: tuple[tuple[str, Any], ...],
    seed: int,
    image_shape: str | None,
    jobs: int | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Embed DATA by several methods and measure the quality of each map.

    The measures are printed as a table, the best method first, with a summary in words. With -o report.html everything
    is written to one page that needs no network: linked maps, measures, curves, costs and the commands to reproduce it.
    Methods that learn from labels are included if --label names classes. A method that fails is reported and does not
    stop the others.
    """
    import lowdim

    demand_targets(source, {"-o": (output, (*PAGES, *TABLES))})
    parameters = _parameters(settings)
    shape = None if image_shape is None else _sides(image_shape)
    asked = preparation_asked(reading)
    verbose = show_progress(quiet)
    made = read_prepared(Source(source), asked, reading, Times(), scaled_later=True, verbose=verbose, quiet=quiet)
    comparison = lowdim.compare(
        made, methods=methods, n_components=n_components, parameters=parameters, by=by, image_shape=shape,
        random_state=seed, n_jobs=jobs, verbose=verbose, on_result=None if quiet else _tell_result,
    )  # fmt: skip
    _show(comparison)
    if output is None:
        return
    path = Path(output).expanduser()
    if path.suffix.lower().lstrip(".") in PAGES:
        comparison.report(
            path,
            title=f"{Path(made.table.source).name}, {len(comparison.outcomes)} methods",
            commands=_commands(ctx, comparison),
        )
    else:
        lowdim.data.write(output, {name: column.to_numpy() for name, column in comparison.table.to_dict().items()})
    if not quiet:
        tell(f"wrote {output}.")


def _sides(text: str) -> tuple[int, int]:
    """Height and width from text such as 28x28."""
    height, _, width = text.lower().partition("x")
    if not (height.isdecimal() and width.isdecimal()):
        raise ValueError(f"--image-shape needs HEIGHTxWIDTH, such as 28x28; got {text!r}. Give both in pixels.")
    return int(height), int(width)


def _parameters(settings: tuple[tuple[str, Any], ...]) -> dict[str, dict[str, Any]]:
    """Parameters by method, from settings ``method.name=value``."""
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in settings:
        method, dot, parameter = name.partition(".")
        if not dot or not parameter:
            raise ValueError(
                f"--set needs METHOD.NAME=VALUE here, such as pca.whiten=true; got {name!r}. Name the method."
            )
        parameters.setdefault(method, {})[parameter] = value
    return parameters


def _tell_result(name: str, outcome: "Outcome | str") -> None:
    if isinstance(outcome, str):
        tell(f"{name} failed: {in_options(outcome)}")
    else:
        for words in outcome.warnings:
            tell(f"warning: {in_options(words)}")
        tell(f"{name}: {outcome.seconds:.2f} s, R_NX area {outcome.found.values['rnx_auc']:.3f}.")


def _show(comparison: "Comparison") -> None:
    """The measures as a table, the best of each marked, and the summary."""
    header = ["method", *(comparison.title(kind) for kind in comparison.kinds), "seconds"]
    rows = []
    for outcome in comparison.ranked:
        cells = [outcome.name]
        for kind in comparison.kinds:
            value = comparison.values(kind).get(outcome.name)
            star = "*" if comparison.leader(kind) == outcome.name else " "
            cells.append("-" if value is None else f"{value:.3f}{star}")
        rows.append([*cells, f"{outcome.seconds:.2f}"])
    turned = [list(line) for line in zip(*[header, *rows], strict=True)]  # methods as columns: their names are short
    show_table(turned[1:], turned[0])
    echo("\n" + comparison.verdict)


def _commands(ctx: click.Context, comparison: "Comparison") -> list[str]:
    """The command given, with its methods listed explicitly, and one for each map alone."""
    reading = arguments.spell(ctx, "label", "id", "columns", "drop", *arguments.LAYOUT, *NAMES)
    names = ",".join([*(outcome.name for outcome in comparison.outcomes), *comparison.failed])
    rest = arguments.spell(ctx, "n_components", "by", "settings", "seed", "image_shape", "output")
    lines = ["lowdim", "compare", ctx.params["source"], *reading, "--methods", names, *rest]
    commands = [shlex.join(lines), ""]
    for outcome in comparison.ranked:
        method = outcome.candidate.method
        if method is None:
            continue
        k = [] if method.components is None else ["-k", str(comparison.n_components)]
        params = method.load()._get_param_names()
        seed = ["--seed", str(comparison.random_state)] if "random_state" in params else []
        given = [part for name, value in outcome.candidate.given.items() for part in ("--set", f"{name}={value}")]
        plot = ["--plot", f"{outcome.name}.png"]
        line = [
            "lowdim",
            "reduce",
            ctx.params["source"],
            *reading,
            "--method",
            method.name,
            *k,
            *seed,
            *given,
            *plot,
        ]
        commands.append(shlex.join(line))
    return commands
