"""``lowdim doctor``: what may be wrong with a table, what will be done about it, and a plan that does it."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lowdim.cli import arguments
from lowdim.cli.column_survey import survey_columns, write_plan
from lowdim.cli.errors import in_options
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import demand_targets
from lowdim.cli.printed_tables import echo, show_table

if TYPE_CHECKING:
    from lowdim.data import Table
    from lowdim.data.diagnosis import Diagnosis

_HARM = {1: "wrong map", 2: "harmful", 3: "decide", 4: "note"}
_BESIDE = ".toml"  # ending of the plan that is written beside the data


@click.command(
    "doctor",
    short_help="List what may be wrong with a table, and write a plan that treats it.",
    epilog="""\b
Examples:
  lowdim doctor survey.csv
  lowdim doctor sales.xlsx --fix plan.toml
  lowdim doctor passengers.csv --label survived --fix
  lowdim reduce sales.xlsx --prepare plan.toml --plot map.png
""",
)
@arguments.data
@arguments.reading
@click.option(
    "--fix",
    is_flag=False,
    flag_value="",
    metavar="[PLAN]",
    help="Write a plan with the proposed treatments to a .toml file, for --prepare; without a name, beside DATA.",
)
def command(source: str, fix: str | None, **reading: Any) -> None:
    """List what may be wrong with the table DATA, the most harmful first.

    Each finding has the proposed treatment, and the line of a plan or the option that changes it: lines above the
    header, totals, copies, samples in columns, columns that repeat the label or cannot be used, units, spelling
    variants, missing values, codes, ordered answers, several options in a cell, text, identifiers. 'reduce', 'compare'
    and 'explore' take the plan by --prepare.
    """
    target = None if fix is None else _target(source, fix)
    if target is not None:
        demand_targets(source, {"--fix": (str(target), ("toml",))})
    table, found, told, options = _examined(Source(source), reading)
    n, d = table.X.shape
    count = "nothing to report" if not told else f"{len(told):,} finding{'s' * (len(told) > 1)}"
    notes = f" ({', '.join(table.notes)})" if table.notes else ""
    echo(f"{table.source}{notes}: {n:,} rows × {d:,} columns, {count}.")
    if told:
        rows = [[_HARM[one.harm], _joined(one.what, one.columns), one.treatment, in_options(one.line)] for one in told]
        show_table(rows, ["", "finding", "treatment", "to change it"], apart=True)
    _advise(source, table, target)
    if target is not None:
        _write(target, table, found, told, options)


def _joined(what: str, columns: str) -> str:
    return f"{columns}: {what}" if columns else what


def _target(source: str, fix: str) -> Path:
    if fix:
        return Path(fix).expanduser()
    if source == "-":
        raise ValueError("--fix needs the name of a plan for standard input. Pass --fix plan.toml.")
    path = Path(source.partition("::")[0]).expanduser()
    return path.with_name(path.name.partition(".")[0] + _BESIDE)


def _examined(source: Source, reading: dict[str, Any]) -> "tuple[Table, Any, list[Diagnosis], dict[str, Any]]":
    """The table as the proposed options read it, its columns, the findings, and these options."""
    from lowdim.data import diagnosis
    from lowdim.data.report_layout import TitlesAboveError

    options = {name: value for name, value in reading.items() if value not in (None, False)}
    skip = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the findings say it
        try:
            table = source.read(mixed=True, missing="keep", **options)
        except TitlesAboveError as error:
            skip = options["skip"] = error.lines
            table = source.read(mixed=True, missing="keep", **options)
        suspected = table.suspected
        if suspected:
            # one after the other: totals hide copies, and copies may hide more
            options |= {one.option.partition("=")[0]: True for one in suspected}
            table = source.read(mixed=True, missing="keep", **options)
        found = survey_columns(table)
        told = diagnosis.of_layout(suspected, skip) + diagnosis.of_columns(table, found)
    return table, found, sorted(told, key=lambda one: one.harm), options


def _advise(source: str, table: "Table", target: Path | None) -> None:
    from lowdim.methods.table_scaling import RULE

    if table.tabular:
        echo(f"\n{RULE}")
    if target is None:
        echo(f"\nlowdim doctor {source} --fix plan.toml writes all of it to a plan, for --prepare plan.toml.")


def _write(target: Path, table: "Table", found: Any, told: "list[Diagnosis]", options: dict[str, Any]) -> None:
    """Write the plan."""
    from lowdim.data.plan_text import plan_text
    from lowdim.methods.table_scaling import numbers_of

    if not found:
        raise ValueError(f"--fix needs a table whose columns have names; those of {table.source} have none.")
    dropped = {name: one.what for one in told for name in one.dropped}
    columns = [
        replace(one, wrong=True, finding=replace(one.finding, why=dropped[one.name])) if one.name in dropped else one
        for one in found
    ]
    settings: dict[str, Any] = {"numbers": numbers_of(table), "missing": "error", "on_unusable": "drop"}
    for one in told:
        settings |= one.setting
    write_plan(target, plan_text(columns, settings, options))
