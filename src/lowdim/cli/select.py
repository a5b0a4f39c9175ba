"""``lowdim select``: the columns that serve a prediction, found one at a time."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.outputs import MODELS, TABLES, demand_targets, show_progress, write_embedding
from lowdim.cli.source import Source, note_names
from lowdim.cli.tables import echo, show_table

if TYPE_CHECKING:
    from lowdim.data import Table

_DIRECTIONS = ("forward", "backward", "floating_forward", "floating_backward")
_ESTIMATORS = ("knn", "lda", "logistic", "bayes", "linear", "ridge", "knn_regressor")


class _Number(click.ParamType):
    """A count, or the word auto or best."""

    name = "features"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("auto", "best"):
            return value
        try:
            return int(value)
        except ValueError:
            self.fail(f"a number, auto or best is needed; got {value!r}.", param, ctx)


@click.command(
    "select",
    short_help="Find the columns that serve a prediction, one at a time.",
    epilog="""\b
Examples:
  lowdim select table.csv --target species --estimator lda
  lowdim select table.csv --target price --estimator linear --features 5 -o few.csv
  lowdim select digits --target y --estimator knn --set n_neighbors=3 --features 10 --save few.lowdim
""",
)
@arguments.data
@click.option("--target", metavar="COLUMN", help="What is to be predicted: labels or numbers.")
@click.option("--estimator", "-e", type=click.Choice(_ESTIMATORS), help="What predicts it; by the target unless given.")
@click.option("--direction", type=click.Choice(_DIRECTIONS), default="forward", show_default=True)
@click.option("--features", type=_Number(), default="auto", show_default=True, help="How many: a number, auto or best.")
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Least gain (or cost) of a step under auto.")
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("--scoring", metavar="NAME", help="A scorer of scikit-learn, such as balanced_accuracy.")
@click.option("--keep", metavar="A,B", help="Columns that are always chosen.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"The chosen columns: {', '.join(TABLES)}, or - for csv on stdout.",
)
@click.option(
    "--save",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help="The selection, for 'lowdim transform': .lowdim.",
)
@arguments.reading
@arguments.settings
@click.option("--jobs", type=int, metavar="N", help="Threads; all cores by default.")
@arguments.quiet
def command(
    source: str,
    target: str | None,
    estimator: str | None,
    features: Any,
    keep: str | None,
    output: str | None,
    save: str | None,
    settings: tuple[tuple[str, Any], ...],
    jobs: int | None,
    quiet: bool,
    label: str | None,
    direction: str,
    tol: float,
    cv: int,
    scoring: str | None,
    **reading: Any,
) -> None:
    """Choose columns of DATA for predicting a column, by cross-validation.

    The path is printed as a table: what came or went, and the score then. --target is the same as --label.
    """
    demand_targets(source, {"-o": (output, TABLES), "--save": (save, MODELS)})
    table = Source(source).read(label=target or label, **reading)
    if table.labels is None:
        raise ValueError(f"a column to predict is needed; {table.source} came without. Pass --target COLUMN.")
    model = _build(estimator, dict(settings))
    model.set_params(
        direction=direction, n_features=features, tol=tol, cv=cv, scoring=scoring, n_jobs=jobs,
        verbose=show_progress(quiet), keep=_places(keep, table),
    )  # fmt: skip
    model.fit(table.X, table.labels)
    _show_path(model, table.names, to_error=output == "-")
    if output:
        names = [name for name, flag in zip(table.names, model.support_, strict=True) if flag]
        write_embedding(output, model.transform(table.X), names, table, quiet=quiet)
    if save:
        note_names(model, table)
        model.set_params(verbose=0, keep=None).save(Path(save).expanduser())
        if not quiet:
            tell(f"saved {save} ({model.n_features_} of {len(table.names)} columns).")


def _build(estimator: str | None, settings: dict[str, Any]) -> Any:
    from lowdim.methods.selection import SequentialSelector, estimator_named

    if estimator is None:
        if settings:
            raise ValueError(f"--set needs to know the estimator; got {', '.join(settings)}. Pass --estimator.")
        return SequentialSelector()
    chosen = estimator_named(estimator)
    arguments.demand_parameters(type(chosen).__name__, list(chosen.get_params()), dict.fromkeys(settings, "--set"))
    return SequentialSelector(chosen.set_params(**settings))


def _places(keep: str | None, table: "Table") -> list[int] | None:
    if keep is None:
        return None
    names = [name.strip() for name in keep.split(",")]
    for name in names:
        if name not in table.names:
            raise ValueError(f"--keep needs columns of {table.source}; there is no {name!r}. Check the spelling.")
    return [table.names.index(name) for name in names]


def _show_path(model: Any, names: list[str], *, to_error: bool) -> None:
    """The history as a table, and what was chosen."""
    from lowdim.cli.tables import aligned

    history = model.history_
    rows = [
        [
            str(step),
            action,
            "" if feature is None else names[feature],
            str(n),
            f"{score:.4f}",
            f"{spread:.4f}",
            f"{s:.3f}",
        ]
        for step, action, feature, n, score, spread, s in zip(*history.values(), strict=True)
    ]
    header = ["step", "action", "column", "columns", "score", "spread", "seconds"]
    chosen = ", ".join(name for name, flag in zip(names, model.support_, strict=True) if flag)
    last = f"{model.n_features_} of {len(names)} columns serve {model.estimator_name_} (score {model.score_:.4f}): "
    last += chosen
    if to_error:
        click.echo(aligned(rows, header) + "\n" + last, err=True)
    else:
        show_table(rows, header)
        echo(last)
