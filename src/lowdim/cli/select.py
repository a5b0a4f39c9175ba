"""``lowdim select``: the columns that best predict a target, found one at a time, or ranked by a score of each."""

from pathlib import Path
from typing import Any

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import MODELS, TABLES, Times, demand_targets, show_progress, write_embedding
from lowdim.cli.preparation_options import preparation_asked, preparing, read_prepared
from lowdim.cli.printed_tables import echo, show_table

_DIRECTIONS = ("forward", "backward")
_LISTED = 50  # columns of a ranking that are printed
_BY = ("anova", "mutual_info", "mrmr", "relief", "variance")
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
    short_help="Select the columns that best predict a target.",
    epilog="""\b
Examples:
  lowdim select table.csv --target species --estimator lda
  lowdim select people.csv --target income --missing median
  lowdim select table.csv --target price --estimator linear --features 5 -o few.csv
  lowdim select table.csv --target species --by mrmr --features 5
  lowdim select genes.parquet --target tumour --by anova --set correction=holm
  lowdim select digits --target y --estimator knn --set n_neighbors=3 --features 10 --save few.lowdim
""",
)
@arguments.data
@click.option("--target", metavar="COLUMN", help="Column to predict: labels or numbers.")
@click.option("--estimator", "-e", type=click.Choice(_ESTIMATORS), help="Estimator; chosen by the target by default.")
@click.option("--by", type=click.Choice(_BY), help="Rank columns by a score of each instead; --set has its parameters.")
@click.option("--direction", type=click.Choice(_DIRECTIONS), default="forward", show_default=True)
@click.option("--floating", is_flag=True, help="Also take steps back where they give a better set.")
@click.option("--features", type=_Number(), default="auto", show_default=True, help="How many: a number, auto or best.")
@click.option(
    "--tol",
    type=float,
    metavar="TOL",
    help="Under auto, the smallest change of the score per step: 0.001 forward, -0.001 backward.",
)
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("--scoring", metavar="NAME", help="A scorer of scikit-learn, such as balanced_accuracy.")
@click.option("--keep", metavar="A,B", help="Columns that are always selected.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help=f"Table of the selected columns: {', '.join(TABLES)}, or - for csv on stdout.",
)
@click.option(
    "--save",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help="File of the selection, for 'lowdim transform': .lowdim.",
)
@arguments.reading
@preparing
@arguments.settings
@click.option("--jobs", type=int, metavar="N", help="Number of threads; all cores by default.")
@arguments.quiet
def command(
    source: str,
    target: str | None,
    estimator: str | None,
    by: str | None,
    features: Any,
    keep: str | None,
    output: str | None,
    save: str | None,
    settings: tuple[tuple[str, Any], ...],
    jobs: int | None,
    quiet: bool,
    label: str | None,
    direction: str,
    floating: bool,
    tol: float | None,
    cv: int,
    scoring: str | None,
    **reading: Any,
) -> None:
    """Select columns of DATA that predict a column, by cross-validation, or with --by by a score of each column.

    The path or the ranking is printed as a table. --target is the same as --label.
    """
    import lowdim

    demand_targets(source, {"-o": (output, TABLES), "--save": (save, MODELS)})
    asked, times = preparation_asked(reading), Times()
    model = _filter(by, features, dict(settings)) if by else _build(estimator, dict(settings))
    verbose = show_progress(quiet)
    reading["label"] = target or label
    made = read_prepared(Source(source), asked, reading, times, verbose=verbose, quiet=quiet)
    table, prepare = made.table, made.preparation
    if table.labels is None and by != "variance":
        raise ValueError(f"a column to predict is needed; {table.source} has none. Pass --target COLUMN.")
    made.demand_scaled()
    # The columns made from one column of the table are added and removed together.
    whole = prepare is not None and asked.first is None
    groups = prepare.sources() if whole else None
    names = table.names if whole else made.names
    model.set_params(n_features_to_select=features, n_jobs=jobs, verbose=verbose)
    if by is None:
        model.set_params(
            direction=direction, floating=floating, tol="auto" if tol is None else tol, cv=cv, scoring=scoring,
            groups=groups, keep=_positions(keep, names, groups, table.source),
        )  # fmt: skip
    times.of("select", lambda: model.fit(made.X, table.labels))
    if by is None:
        _show_path(model, names, to_error=output == "-")
    else:
        _show_ranking(model, made.names, to_error=output == "-")
    if output:
        chosen = [name for name, flag in zip(made.names, model.support_, strict=True) if flag]
        write_embedding(output, model.transform(made.X), chosen, table, quiet=quiet)
    if save:
        lowdim.save(made.whole(model.set_params(verbose=0, **({} if by else {"keep": None}))), Path(save).expanduser())
        if not quiet:
            tell(f"saved {save} ({model.n_features_to_select_} of {len(made.names)} columns).")
    times.tell(quiet)


def _build(estimator: str | None, settings: dict[str, Any]) -> Any:
    from lowdim.data import known_estimators
    from lowdim.methods.selection import SequentialFeatureSelector

    if estimator is None:
        if settings:
            raise ValueError(f"--set needs to know the estimator; got {', '.join(settings)}. Pass --estimator.")
        return SequentialFeatureSelector()
    chosen = known_estimators.named(estimator)
    arguments.demand_parameters(type(chosen).__name__, list(chosen.get_params()), dict.fromkeys(settings, "--set"))
    return SequentialFeatureSelector(chosen.set_params(**settings))


def _filter(by: str, features: Any, settings: dict[str, Any]) -> Any:
    """Unfitted filter; options of the search, which it has not, are refused."""
    from lowdim.methods.rank_features import RankFeatures

    context = click.get_current_context()
    for name in ("estimator", "direction", "floating", "tol", "cv", "scoring", "keep"):
        if context.get_parameter_source(name) != click.core.ParameterSource.DEFAULT:
            raise ValueError(f"--by scores columns without an estimator; got --{name} too. Leave one of them out.")
    if features == "best":
        raise ValueError("--by ranks columns by scores that have no best number; got --features best. Pass a number.")
    arguments.demand_parameters("RankFeatures", RankFeatures._get_param_names(), dict.fromkeys(settings, "--set"))
    for name in ("by", "n_features_to_select", "n_jobs", "verbose"):
        if name in settings:
            raise ValueError(f"{name} has an option of its own; got --set {name}. Use the option.")
    model = RankFeatures(by, **settings)
    model._check_parameters()
    return model


def _positions(keep: str | None, names: list[str], groups: list[int] | None, source: str) -> list[int] | None:
    """Positions of the columns that are always selected."""
    if keep is None:
        return None
    positions: list[int] = []
    for name in (name.strip() for name in keep.split(",")):
        if name not in names:
            raise ValueError(f"--keep needs columns of {source}; there is no {name!r}. Check the spelling.")
        place = names.index(name)
        made = [place] if groups is None else [j for j, group in enumerate(groups) if group == place]
        if not made:
            raise ValueError(f"--keep needs columns that are used; {name!r} was left out. Keep others.")
        positions += made
    return positions


def _show_path(model: Any, names: list[str], *, to_error: bool) -> None:
    """The history as a table, and what was chosen."""
    from lowdim.cli.printed_tables import aligned

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
    owners = range(len(names)) if model.groups is None else model.groups
    positions = dict.fromkeys(owner for owner, flag in zip(owners, model.support_, strict=True) if flag)
    chosen = ", ".join(names[place] for place in positions)
    last = f"{len(positions)} of {len(names)} columns selected for {model.estimator_name_} (score {model.score_:.4f}): "
    last += chosen
    if to_error:
        click.echo(aligned(rows, header) + "\n" + last, err=True)
    else:
        show_table(rows, header)
        echo(last)


def _show_ranking(model: Any, names: list[str], *, to_error: bool) -> None:
    """The columns by rank, with their scores and p-values, and what was chosen."""
    import numpy as np

    from lowdim.cli.printed_tables import aligned

    tested = hasattr(model, "pvalues_")
    header = ["rank", "column", "score", *(["p", f"p ({model.correction})"] if tested else []), "selected"]
    rows = []
    for j in np.argsort(model.ranking_)[:_LISTED]:
        p = [f"{model.pvalues_[j]:.2g}", f"{model.corrected_pvalues_[j]:.2g}"] if tested else []
        rows.append(
            [str(model.ranking_[j]), names[j], f"{model.scores_[j]:.4g}", *p, "yes" if model.support_[j] else ""]
        )
    chosen = ", ".join(name for name, flag in zip(names, model.support_, strict=True) if flag)
    last = f"{model.n_features_to_select_} of {len(names)} columns selected by {model.by}: {chosen}"
    if len(names) > _LISTED:
        last = f"(the first {_LISTED} of {len(names)})\n{last}"
    if to_error:
        click.echo(aligned(rows, header) + "\n" + last, err=True)
    else:
        show_table(rows, header)
        echo(last)
