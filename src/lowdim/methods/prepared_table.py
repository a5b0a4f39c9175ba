"""From a table to a map: columns are prepared by steps, fitted once, which precede every model that is fitted next."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from lowdim.data.column_plans import RULES
from lowdim.data.file_errors import listing
from lowdim.data.missing import handle_missing
from lowdim.data.plan_files import read_plan
from lowdim.data.table import Table, Wanted, numbered
from lowdim.methods import registry
from lowdim.methods.base import Reducer, used_labels
from lowdim.methods.chain import Chain, chain
from lowdim.methods.prepare import Prepare
from lowdim.methods.table_scaling import numbers_of


@dataclass(frozen=True)
class Preparation:
    """Settings of the preparation of a table, as the command line, ``compare`` and ``explore`` take them.

    ``prepare`` is "auto", "none", "gower" (for Gower's distances), a plan (a dict or the path of a .toml file), a
    ``Prepare``, or None: what the columns need. ``first`` is a method and its number of components, such as
    ("pca", 50), or an estimator. ``aside`` are columns that are no features, which a plan may name all the same, as it
    may the label.
    """

    prepare: Any = None
    scale: bool = False
    log: bool = False
    missing: str = "error"
    categories: str | None = None
    on_unusable: str = "error"
    first: Any = None
    aside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("missing", "categories"):
            value = getattr(self, name)
            if value is not None and not RULES[name].accepts(value):
                raise ValueError(f"{name} must be {RULES[name].needs}; got {value!r}. Choose one of them.")
        if self._as_they_are and (words := self.words):
            raise ValueError(f"prepare='none' leaves the data as they are; got {words[0]} too. Keep one of them.")
        if isinstance(self.prepare, Prepare) and (words := self.words):
            raise ValueError(f"prepare with a Prepare has all settings of columns; got {words[0]} too. Set it there.")
        if self.on_unusable not in ("error", "drop"):
            raise ValueError(f"on_unusable must be 'error' or 'drop'; got {self.on_unusable!r}. Choose one of them.")
        self._prepare_parameters()  # a plan is read now, before the data
        self.first_step()

    @property
    def words(self) -> list[str]:
        """Settings that change columns."""
        given = {"scale": self.scale, "log": self.log, "categories": self.categories}
        given["missing"] = self.missing if self.missing != "error" else None
        return [f"{name}={value!r}" for name, value in given.items() if value]

    @property
    def _as_they_are(self) -> bool:
        return isinstance(self.prepare, str) and self.prepare == "none"

    def only_scale(self, table: Table) -> bool:
        """Whether the table needs nothing but the scaling of its numbers."""
        alone = self.words == ["scale=True"] and self.prepare is None and self.first is None
        return alone and not table.mixed

    def step(self, table: Table) -> Any:
        """Unfitted preparation of the columns, or None where none is needed."""
        if self._as_they_are:
            return None
        if isinstance(self.prepare, Prepare):
            return clone(self.prepare)
        params = self.prepare_parameters(table)
        if self.prepare is None:
            numbers = numbers_of(table)
            if numbers == "as_is" and not self.words and not table.mixed:
                return None
            params = {"numbers": numbers} | params
        return Prepare(**params)

    def prepare_parameters(self, table: Table) -> dict[str, Any]:
        """Parameters of the preparation of a table that are requested."""
        params = self._prepare_parameters()
        if params.get("plan"):
            aside = {*self.aside, table.label_name, table.id_name}
            params["plan"] = {name: one for name, one in params["plan"].items() if name not in aside} or None
        return params

    def _prepare_parameters(self) -> dict[str, Any]:
        params: dict[str, Any] = {"on_unusable": self.on_unusable}
        if isinstance(self.prepare, Mapping):
            params["plan"] = dict(self.prepare)
        elif self.prepare == "gower":
            params["numbers"] = "gower"
        elif isinstance(self.prepare, str) and self.prepare not in ("auto", "none"):
            params |= read_plan(self.prepare)
        elif not (self.prepare is None or isinstance(self.prepare, str | Prepare)):
            raise TypeError(
                f"prepare must be 'auto', 'none', 'gower', a plan or a Prepare; got a {type(self.prepare).__name__}. "
                "Pass prepare=lowdim.Prepare(…) for all settings."
            )
        asked = {"categories": self.categories, "missing": self.missing if self.missing != "error" else None}
        asked["numbers"] = "log1p" if self.log else "standardize" if self.scale else None
        return params | {name: value for name, value in asked.items() if value is not None}

    def first_step(self) -> Any:
        """Unfitted method that reduces the columns first, or None."""
        if self.first is None:
            return None
        if isinstance(self.first, Reducer):
            return clone(self.first)
        if not isinstance(self.first, tuple) or len(self.first) != 2:
            raise TypeError(f"first must be a method and its components, such as ('pca', 50); got {self.first!r}.")
        name, count = self.first
        method = registry.find(name)
        if "n_components" not in method.load()._get_param_names():
            raise ValueError(f"first={name}: a method with components is needed, such as ('pca', 50). Choose another.")
        return method.build({"n_components": count}, random_state=0)

    def refuse_sparse(self, source: str) -> None:
        """Raise if a setting needs dense rows."""
        wrong = [word for word in self.words if not word.startswith(("scale", "missing"))]
        if self.prepare is not None and not self._as_they_are:
            wrong.append("prepare")
        if wrong:
            raise ValueError(f"{wrong[0]} needs a dense table; {source} is sparse. Leave it out, or save it dense.")


@dataclass(frozen=True)
class PreparedTable:
    """A table, its rows ``X`` as methods take them, and the fitted steps that computed them.

    ``kept`` are the rows of the table as it was given that have been kept, None for all; ``table`` has those only.
    """

    table: Table
    X: Any
    asked: Preparation = Preparation()
    chain: Chain | None = None
    kept: NDArray[np.bool_] | None = None
    scale: bool = False  # whether the columns of X still have to be scaled

    @property
    def steps(self) -> list[Any]:
        """The fitted steps."""
        return [] if self.chain is None else [step for _, step in self.chain.steps]

    @property
    def names(self) -> list[str]:
        """Names of the columns of ``X``."""
        if self.chain is None:
            return self.table.names
        return [str(name) for name in self.chain.get_feature_names_out()]

    @property
    def preparation(self) -> Any:
        """The fitted preparation of the columns, or None."""
        return preparation_of(self.chain)

    @property
    def done(self) -> list[str]:
        """What was done, in one line per kind of column."""
        lines = [] if self.preparation is None else self.preparation.describe()
        for step in self.steps:
            if step is not self.preparation:
                width = len(step.get_feature_names_out())
                lines.append(f"{step.n_features_in_:,} columns reduced to {width} by {type(step).__name__}")
        return lines

    @property
    def gaps(self) -> list[str]:
        """What was done about missing values, such as "41 missing values filled by the median"."""
        told = [] if self.preparation is None else self.preparation.describe()
        return [line for words in (" filled by ", "missing values left out") for line in told if words in line]

    def demand_scaled(self) -> None:
        """Raise if scaling was requested that no model could carry."""
        if self.scale:
            raise ValueError(
                f"scale=True needs dense rows here, since it belongs to the model; {self.table.source} is sparse. "
                "Leave it out, scale the data, or take a method that scales by itself, such as pca."
            )

    def fit(self, model: Any, where: NDArray[np.intp] | None = None, *, labels: bool = True) -> Any:
        """Fit a model to the prepared rows, or to some of them, and return their positions."""
        X, y = self.rows_for(model), self.table.labels if labels else None
        if where is not None:
            X, y = X[where], None if y is None else y[where]
        return model.fit_transform(X, used_labels(model, y))

    def rows_for(self, model: Any) -> Any:
        """Rows as a model takes them: the table itself, for one that prepares it, which gets the settings of this."""
        if not takes_table(model):
            self._give_metric(model)
            return self.X
        name = type(model).__name__
        if self.asked.first is not None:
            raise ValueError(f"{name} takes the columns of the table; first={self.asked.first!r} would replace them.")
        self._give_settings(model)
        return named_rows(self.table)

    def _give_metric(self, model: Any) -> None:
        """Measure by Gower's distances where the preparation is for them and the model has no metric of its own."""
        if getattr(self.preparation, "numbers", None) == "gower" and getattr(model, "metric", None) == "euclidean":
            model.set_params(metric="manhattan")

    def _give_settings(self, model: Any) -> None:
        """Set parameters of a model that prepares columns as they were requested, unless it has others of its own."""
        given = self.asked.prepare
        wanted = given.get_params() if isinstance(given, Prepare) else self.asked.prepare_parameters(self.table)
        own, usual = model.get_params(deep=False), type(model)().get_params(deep=False)
        model.set_params(
            **{
                name: value
                for name, value in wanted.items()
                if name in own and name != "verbose" and own[name] == usual[name] and model._rules[name].accepts(value)
            }
        )

    def rows_of(self, table: Table, model: Any = None) -> Any:
        """Rows of another table with the same columns, as methods take them, or as ``model`` does."""
        if takes_table(model):
            return table.X
        if self.chain is None:
            return table.X
        with matched():
            return self.chain.transform(table.X)

    def whole(self, model: Any) -> Any:
        """The fitted model after the steps, as one model that takes the table's columns by name."""
        if self.chain is None or takes_table(model):
            note_names(model, self.table)
            return model
        if isinstance(model, Reducer):
            return chain(self.chain, model)
        return Pipeline([*self.chain.steps, (type(model).__name__.lower(), model)])  # an estimator of the caller's


def prepared(
    table: Table, asked: Preparation, *, scaled_later: bool = False, gaps: bool = False, verbose: int = 0
) -> PreparedTable:
    """Prepare a table as requested, or as its columns need.

    No step scales sparse rows; nor dense ones that need nothing else, if they are ``scaled_later``.
    """
    is_sparse = bool(sparse.issparse(table.X))
    if is_sparse:
        asked.refuse_sparse(table.source)
    later = is_sparse or (scaled_later and asked.only_scale(table))
    step = None if later else asked.step(table)
    scale = later and asked.scale
    first = asked.first_step()
    kept = None
    if step is None:
        n, wanted = table.X.shape[0], Wanted(missing="keep" if gaps else asked.missing)
        drops = asked.missing == "drop"
        numbered_rows = np.arange(n) if drops else None  # handed over as ids: those that come back were kept
        X, labels, rows = handle_missing(
            table.X, table.names, table.labels if drops else None, numbered_rows, wanted, table.source
        )
        if rows is not None and len(rows) < n:
            kept = np.isin(np.arange(n), rows)
            table = replace(table, labels=labels, ids=None if table.ids is None else table.ids[kept])
        table = replace(table, X=X)
        if first is None:
            return PreparedTable(table, X, asked, None, kept, scale)
    supervised = first is not None and first._needs_targets
    if supervised and table.labels is None:
        raise ValueError(
            f"first={type(first).__name__} learns from labels; {table.source} has none. Name their column."
        )
    made = chain(*(one for one in (step, first) if one is not None))
    _each(made, verbose=verbose)
    given = table.X if step is None else named_rows(table)
    X = made.fit_transform(given, table.labels if supervised else None)
    _each(made, verbose=0)
    note_names(made.steps[0][1], table)
    if len(X) < table.X.shape[0]:
        kept = np.asarray(made.steps[0][1].complete(given))
        table = kept_rows(table, kept)
    return PreparedTable(table, X, asked, made, kept, scale)


def as_it_is(table: Table, asked: Preparation) -> PreparedTable:
    """A table for a method that prepares its columns by itself."""
    if sparse.issparse(table.X):
        raise ValueError(f"a dense table is needed for a method that takes columns; {table.source} is sparse.")
    return PreparedTable(table, named_rows(table), asked)


def takes_table(model: Any) -> bool:
    """Whether a model takes columns of any kind, which it prepares by itself."""
    return bool(getattr(model, "_any_columns", False))


def named_rows(table: Table) -> Any:
    """Rows as a preparation takes them: those of a table of numbers with their names, for plans and messages."""
    import polars as pl

    return pl.DataFrame(table.X, schema=table.names) if table.tabular and not table.mixed else table.X


def kept_rows(table: Table, kept: NDArray[np.bool_]) -> Table:
    """The rows of a table that are marked, with their labels and ids."""
    labels, ids = (None if values is None else values[kept] for values in (table.labels, table.ids))
    return replace(table, X=table.X.filter(kept) if table.mixed else table.X[kept], labels=labels, ids=ids)


def note_names(model: Any, table: Table) -> None:
    """Set the column names of a fitted model, as from a DataFrame.

    Rows are passed as the plain array they were read into: a DataFrame would copy them, and read a memory map
    entirely. Names x0, x1, … are not names.
    """
    if table.names != numbered(table.X):
        model.feature_names_in_ = np.array(table.names, dtype=object)


def preparation_of(model: Any) -> Any:
    """The preparation of columns with which a model begins, or None."""
    first = model.steps[0][1] if hasattr(model, "steps") else model
    return first if takes_table(first) else None


def table_for(model: Any, read: Callable[..., Table]) -> tuple[Table, str]:
    """New rows with the columns of a fitted model in its order, and words on the columns that were left out.

    ``read(**options)`` reads the table, with options of :func:`lowdim.data.read`.
    """
    names: Any = getattr(model, "feature_names_in_", None)
    known, prepare = names is not None, preparation_of(model)
    wanted = [str(name) for name in names] if known else [f"x{j}" for j in range(model.n_features_in_)]
    try:
        table = read(mixed=prepare is not None)
    except ValueError:  # perhaps text or missing values in columns that the model does not use
        if not known or prepare is not None:
            raise
        return read(columns=wanted), "other columns"
    if table.names == wanted or (not known and set(table.names) != set(wanted)):
        return table, ""  # a model without column names checks only their number
    used = wanted if prepare is None else [name for j, name in enumerate(wanted) if j in set(prepare.sources())]
    if lacking := [name for name in used if name not in table.names]:
        raise ValueError(
            f"{type(model if prepare is None else prepare).__name__} needs the {len(used)} columns it was fitted with; "
            f"{table.source} lacks {listing(lacking)}. It has {listing(table.names)}: rename or add columns."
        )
    others = [name for name in table.names if name not in wanted]
    if prepare is None:  # again, so that missing values in the others drop no rows
        return read(columns=wanted), listing(others) if others else ""
    import polars as pl

    frame = table.X if table.mixed else pl.DataFrame({n: table.X[:, j] for j, n in enumerate(table.names)})
    # A column that the model leaves out anyway need not be there.
    blank = [pl.lit(None).alias(name) for name in wanted if name not in frame.columns]
    made = replace(table, X=frame.with_columns(blank).select(wanted), names=wanted)
    return made, listing(others) if others else ""


@contextmanager
def matched() -> Iterator[None]:
    """Apply models to plain arrays whose columns have been matched by name, so that they need no names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def transformed(model: Any, table: Table) -> tuple[Any, Table]:
    """Output of a fitted model for the rows of :func:`table_for`, and the table without rows it leaves out."""
    with matched():
        Y = model.transform(table.X)
        table = with_kept(preparation_of(model), table)
    return Y, table


def with_kept(prepare: Any, table: Table) -> Table:
    """The table without the rows that a preparation, None for none, leaves out."""
    if prepare is None or prepare.missing != "drop":
        return table
    kept = np.asarray(prepare.complete(table.X))
    return table if kept.all() else kept_rows(table, kept)


def _each(model: Chain, **params: Any) -> None:
    for _, step in model.steps:
        step.set_params(**params)
