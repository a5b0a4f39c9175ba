"""Preparation of a table before the method: its options, the steps they select, and messages about them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lowdim.cli.errors import tell
from lowdim.cli.input_source import Source, note_names

if TYPE_CHECKING:
    from lowdim.data import Table

Command = TypeVar("Command", bound=Callable[..., Any])

_LONG = 2.0  # seconds from which the time of each stage is shown


class _First(click.ParamType):
    """A method and its number of components, ``pca=50``."""

    name = "first"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, count = value.partition("=")
        if not name or not count.isdecimal() or not int(count):
            self.fail(f"a method and a number of components are needed, such as pca=50; got {value!r}.", param, ctx)
        return name, int(count)


_OPTIONS = (
    click.option(
        "--prepare",
        metavar="auto|PLAN|none",
        help="Convert every column to numbers of comparable weight: by kind (auto), by a .toml plan, or not at all. "
        "Default: auto for tables with text or dates, none for numbers.",
    ),
    click.option("--scale", is_flag=True, help="Divide each column of numbers by its standard deviation."),
    click.option("--log", "logarithm", is_flag=True, help="Take log(1 + x) of numbers, then scale them."),
    click.option(
        "--missing", type=click.Choice(["error", "drop", "mean", "median"]), default="error", show_default=True,
        help="Missing values: refuse, drop their rows, or fill in the mean or median of the column.",
    ),
    click.option(
        "--categories", type=click.Choice(["onehot", "ordinal", "drop"]),
        help="Columns of text: one column per level, codes in alphabetical order, or left out.",
    ),
    click.option(
        "--first", type=_First(), metavar="METHOD=K", help="Reduce by another method first, such as pca=50."
    ),
)  # fmt: skip
NAMES = ("prepare", "scale", "logarithm", "missing", "categories", "first")


def preparing(command: Command) -> Command:
    """Give a command the options of this module; :class:`Asked` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def preparing_by_model(command: Command) -> Command:
    """Give a command the same options, only to explain that the model determines them, as ``--prepare auto`` does."""

    def refuse(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value in (None, False) or (param.name == "prepare" and value == "auto"):
            return
        raise click.UsageError(
            f"{param.opts[0]} is part of the model, which prepares NEW like the table it was fitted to. "
            "Give it to 'lowdim reduce' when the model is fitted.",
            ctx,
        )

    flags = {"--scale", "--log"}
    for name in ("--prepare", "--categories", "--first", *flags):
        command = click.option(
            name, is_flag=name in flags, default=None, callback=refuse, expose_value=False, hidden=True
        )(command)
    return command


@dataclass(frozen=True)
class Asked:
    """Options of the command line about preparation."""

    prepare: str | None
    scale: bool
    logarithm: bool
    missing: str
    categories: str | None
    first: tuple[str, int] | None

    @classmethod
    def out_of(cls, options: dict[str, Any]) -> "Asked":
        """Take the options of preparation out of those of a command, and check what can be checked without data."""
        asked = cls(**{name: options.pop(name) for name in NAMES})
        if asked.prepare == "none" and (words := asked.words):
            raise ValueError(f"--prepare none leaves the data as they are; got {words[0]} too. Keep one of them.")
        if asked.prepare not in (None, "auto", "none"):
            from lowdim.data.column_plans import read_plan

            read_plan(asked.prepare)
        if asked.first is not None:
            from lowdim.methods.registry import find

            if "n_components" not in find(asked.first[0]).load()._get_param_names():
                raise ValueError(f"--first needs a method with components, such as pca=50; got {asked.first[0]}.")
        return asked

    @property
    def words(self) -> list[str]:
        """Options that change columns."""
        given = {"--scale": self.scale, "--log": self.logarithm, "--categories": self.categories}
        return [*(word for word, value in given.items() if value), *["--missing"] * (self.missing != "error")]

    @property
    def only_scale(self) -> bool:
        """Whether only scaling of numbers is requested."""
        return self.scale and self.words == ["--scale"] and self.prepare is None and self.first is None

    def preparation(self, table: "Table") -> Any:
        """Unfitted preparation for the table, or None where none is needed."""
        from lowdim.data.column_plans import read_plan
        from lowdim.methods.prepare import Prepare

        if self.prepare == "none" or (self.prepare is None and not self.words and not table.mixed):
            return None
        by_kind = self.prepare is not None or table.mixed
        params: dict[str, Any] = {"numbers": "standardize" if by_kind else "as_is"}
        if self.prepare not in (None, "auto", "none"):
            params |= read_plan(self.prepare)
        asked = {"categories": self.categories, "missing": self.missing if self.missing != "error" else None}
        asked["numbers"] = "log1p" if self.logarithm else "standardize" if self.scale else None
        return Prepare(**params | {name: value for name, value in asked.items() if value is not None})


@dataclass
class Prepared:
    """A prepared table, with the fitted steps that prepared it."""

    table: "Table"  # its X holds the prepared rows
    names: list[str]  # of the columns of X
    steps: list[Any] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    scale: bool = False  # whether the columns, sparse ones, still have to be scaled
    read: "Table | None" = None  # as it was read, with the rows that were kept

    @property
    def given(self) -> "Table":
        """The table before preparation."""
        return self.table if self.read is None else self.read

    @property
    def preparation(self) -> Any:
        """The fitted preparation, or None."""
        return next((step for step in self.steps if hasattr(step, "plan_")), None)

    @property
    def done(self) -> list[str]:
        """What was done, in one line per kind of column."""
        lines = [] if self.preparation is None else self.preparation.describe()
        for step in self.steps:
            if step is not self.preparation:
                lines.append(f"{step.n_features_in_:,} columns reduced to {self._width(step)} by {type(step).__name__}")
        return lines

    def _width(self, step: Any) -> int:
        return len(step.get_feature_names_out())

    def joined(self, model: Any) -> Any:
        """The fitted model and the steps before it, as one model."""
        from lowdim.methods.chain import chain

        return chain(*self.steps, model) if self.steps else model

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        """What ``work`` returns; its time goes under ``name``."""
        start = perf_counter()
        result = work()
        self.seconds[name] = perf_counter() - start
        return result

    def tell_times(self, quiet: bool) -> None:
        """Report the time of each stage, if it was long."""
        if not quiet and sum(self.seconds.values()) >= _LONG:
            tell(", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items()) + ".")


def prepared(
    source: Source, asked: Asked, reading: dict[str, Any], *, verbose: int, quiet: bool, inside: bool = False
) -> Prepared:
    """Read a table and prepare it as requested, or as its columns need; every step is reported.

    ``inside`` says that the method scales numbers by itself, so that they need not be.
    """
    from lowdim.data.missing import handle_missing
    from lowdim.data.table import Wanted
    from lowdim.work import progress

    start = perf_counter()
    mixed = asked.prepare != "none"
    with progress.showing(verbose, "data"), progress.stage("reading"):
        table = source.read(mixed=mixed, missing="drop" if asked.missing == "drop" else "error", **reading)
    made = Prepared(table, table.names, seconds={"read": perf_counter() - start})
    keeps = _is_sparse(table.X) or (inside and not table.mixed)
    step = None if keeps else asked.preparation(table)
    if step is None:
        made.scale = asked.scale and not inside
        wanted = Wanted(missing=asked.missing if _is_sparse(table.X) else "error")
        X, labels, ids = handle_missing(
            table.X, table.names, table.labels, table.ids, table.label_name, wanted, table.source
        )
        made.table = replace(table, X=X, labels=labels, ids=ids)
        if _is_sparse(table.X):
            _refuse_sparse(asked, table)
    else:
        _apply(made, step.set_params(verbose=verbose), table)
    if asked.first is not None:
        _reduce_first(made, asked.first, verbose)
    if not quiet:
        tell_notes(table)
        for line in made.done:
            tell(f"prepared: {line}.")
    return made


def tell_notes(table: "Table") -> None:
    """Report what was detected in the file."""
    if table.notes:
        tell(f"read {table.source}: {', '.join(table.notes)}.")


def _apply(made: Prepared, step: Any, table: "Table") -> None:
    """Fit the preparation and replace the table's columns by the prepared ones."""
    X = made.timed("prepare", lambda: step.fit_transform(table.X))
    note_names(step, table)
    made.table = kept_rows(replace(table, X=X, image_shape=None), step, table.X)
    if len(X) == len(table.X):
        made.read = table
    else:
        kept = step.complete(table.X)
        rows = table.X.filter(kept) if table.mixed else table.X[kept]
        made.read = replace(made.table, X=rows, image_shape=table.image_shape)
    made.steps.append(step.set_params(verbose=0))
    made.names = [str(name) for name in step.get_feature_names_out()]


def kept_rows(table: "Table", step: Any, X: Any) -> "Table":
    """Table with the labels and ids of the rows that a preparation kept of ``X``."""
    if len(table.X) == len(X):
        return table
    kept = step.complete(X)
    labels, ids = (None if values is None else values[kept] for values in (table.labels, table.ids))
    return replace(table, labels=labels, ids=ids)


def _reduce_first(made: Prepared, first: tuple[str, int], verbose: int) -> None:
    from lowdim.methods.base import used_labels
    from lowdim.methods.registry import find

    name, count = first
    method = find(name)
    known = method.load()._get_param_names()
    model = method.load()(**{"n_components": count} | ({"random_state": 0} if "random_state" in known else {}))
    model.set_params(verbose=verbose)
    if method.supervised and made.table.labels is None:
        raise ValueError(f"--first {name} learns from labels; {made.table.source} has none. Pass --label COLUMN.")
    Y = made.timed(name, lambda: model.fit_transform(made.table.X, used_labels(model, made.table.labels)))
    if not made.steps:
        note_names(model, made.table)
    made.steps.append(model.set_params(verbose=0))
    made.names = [str(one) for one in model.get_feature_names_out()]
    made.read = made.given
    made.table = replace(made.table, X=Y, image_shape=None)


def _is_sparse(X: Any) -> bool:
    from scipy import sparse

    return bool(sparse.issparse(X))


def _refuse_sparse(asked: Asked, table: "Table") -> None:
    wrong = [word for word in asked.words if word not in ("--scale", "--missing")]
    if asked.prepare not in (None, "none"):
        wrong.append("--prepare")
    if wrong:
        raise ValueError(f"{wrong[0]} needs a dense table; {table.source} is sparse. Leave it out, or save it dense.")
