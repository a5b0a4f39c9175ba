"""``lowdim inspect``: the contents of a data set or a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lowdim.cli import arguments
from lowdim.cli.column_survey import gaps_told, prepared_for_a_look, show_columns, survey_columns, write_plan
from lowdim.cli.errors import in_options
from lowdim.cli.input_source import Source
from lowdim.cli.outputs import demand_targets
from lowdim.cli.partitioned import find_parts
from lowdim.cli.partitioned_facts import show_parts
from lowdim.cli.printed_tables import echo, show_table
from lowdim.methods.registry import METHODS

if TYPE_CHECKING:
    from lowdim.data import Table

_BARS = 10  # components in the scree plot
_WIDTH = 30  # characters in its longest bar
_WHOLE = 2000  # smaller side up to which the whole spectrum is computed; beyond it, the leading part
_FAR_APART = 10.0  # ratio of standard deviations from which columns dominate others
_LENGTHS, _FEWEST, _UNIT = 1000, 10, 4e-3  # rows whose lengths are looked at, rows and columns at the least, tolerance
_COLUMNS = ("feature_names_in_", "n_features_in_")


@click.command(
    "inspect",
    short_help="Describe a data set or a model file.",
    epilog="""\b
Examples:
  lowdim inspect table.csv --label species
  lowdim inspect table.csv --scale
  lowdim inspect 'big/part-*.parquet'
  lowdim inspect map.lowdim
""",
)
@click.argument("source", metavar="DATA|MODEL", shell_complete=arguments.complete_data)
@arguments.reading
@click.option(
    "--missing", type=click.Choice(["drop", "mean"]), default="mean", show_default=True,
    help="Missing values are counted; then their rows are dropped, or they are filled by the mean of the column.",
)  # fmt: skip
@click.option("--scale", is_flag=True, help="Show the components of columns divided by their standard deviations.")
@click.option(
    "--plan",
    metavar="FILE",
    shell_complete=arguments.complete_files,
    help="Write what 'auto' would do to each column to a .toml file, to edit and pass to --prepare.",
)
@click.option("--costs", is_flag=True, help="Show the costs of all methods, also where there is memory for each.")
def command(source: str, scale: bool, missing: str, plan: str | None, costs: bool, **reading: Any) -> None:
    """Describe DATA, or a MODEL file that 'lowdim reduce --save' wrote.

    A folder of parquet files, or a pattern in quotes, is read in one pass, a few rows at a time.

    For data: shape, what each column holds and what --prepare auto would do to it, missing values, constant columns,
    differences in scale, the share of variance that each leading component explains, how many components to keep, the
    intrinsic dimension, and the methods that lack memory (--costs: what each
    costs). No table is refused: columns that cannot be used are listed.
    """
    if source.lower().endswith(".lowdim"):
        show_table(_model_facts(Path(source).expanduser()))
        return
    demand_targets(source, {"--plan": (plan, ("toml",))})
    if Path(source).expanduser().is_dir() or any(sign in source for sign in "*?["):
        _show_shares(show_parts(find_parts(source)), whole=True)
        return
    given = Source(source)
    table = given.read(mixed=True, missing="keep", **reading)
    found = survey_columns(table)
    wrong = ""
    if table.mixed:
        show_table(_data_facts(table, gaps_told(found)))
        seen, wrong = prepared_for_a_look(table, found, missing)
    else:
        seen, lacking = _without_gaps(given, table, reading, missing)
        show_table([*_data_facts(seen, lacking), *_length_facts(seen), *_spread_facts(seen, scale)])
    if found:
        show_columns(found, len(table.names))
    if plan is not None:
        if not found:
            raise ValueError(
                f"--plan needs a table whose columns have names; those of {source} have none. Leave it out."
            )
        from lowdim.data.plan_text import plan_text
        from lowdim.methods.table_scaling import numbers_of

        settings = {"numbers": numbers_of(table), "missing": "error"}
        write_plan(Path(plan).expanduser(), plan_text(found, settings, {}))
    if seen is None:
        echo(f"\ncomponents: not computed. {wrong}")
        return
    _show_scree(seen, scale)
    _show_dimension(seen, scale)
    _show_costs(seen, all_of_them=costs)


def _without_gaps(source: Source, table: "Table", reading: dict[str, Any], missing: str) -> tuple["Table", str]:
    """Table of numbers without missing values, and where there were some; a column without any is left out."""
    from dataclasses import replace

    import numpy as np

    from lowdim.data.missing import filled, gaps, missing_counts

    counts = missing_counts(table.X)
    if not counts.any():
        return table, "none"
    lacking = gaps(counts, table.names)
    if missing == "drop":
        return source.read(missing="drop", **reading), lacking
    some = np.flatnonzero(counts < table.X.shape[0])
    names = [table.names[j] for j in some]
    X = filled(table.X[:, some], counts[some], names, table.source)
    return replace(table, X=X, names=names, image_shape=None), lacking


def _data_facts(table: "Table", lacking: str) -> list[list[str]]:
    import numpy as np
    from scipy import sparse

    from lowdim.data.file_errors import listing
    from lowdim.work import memory

    X = table.X
    n, d = X.shape
    if table.mixed:
        size = X.estimated_size()
    else:
        size = sum(part.nbytes for part in (X.data, X.indices, X.indptr)) if sparse.issparse(X) else X.nbytes
    kind = f"{'mixed' if table.mixed else X.dtype}, {memory.human(size)}"
    if sparse.issparse(X):
        kind += f", sparse ({100 * X.nnz / (n * d):.2g} % filled)"
    elif isinstance(X, np.memmap):
        kind += ", memory-mapped"
    read = f"{table.source} ({', '.join(table.notes)})" if table.notes else table.source
    facts = [["data", read], ["shape", f"{n:,} rows × {d:,} columns"], ["type", kind]]
    facts.append(["columns", listing(table.names)])
    if table.labels is not None:
        facts.append(["label", f"{table.label_name!r}, {_distinct(table.labels)}"])
    if table.ids is not None:
        facts.append(["id", repr(table.id_name)])
    return [*facts, ["missing", lacking]]


def _distinct(labels: Any) -> str:
    """How many labels there are, and in how many rows they are missing."""
    from lowdim.data.validation import absent

    present = {value for value in labels.tolist() if not absent(value)}
    gaps = sum(absent(value) for value in labels.tolist())
    return f"{len(present):,} distinct" + (f", {gaps:,} missing" if gaps else "")


def _length_facts(table: "Table") -> list[list[str]]:
    """Rows of length 1, as models of language and images give them, and the metric that is meant for them."""
    import numpy as np

    from lowdim.relate.row_norms import squared_norms
    from lowdim.work.rows import dense

    some = dense(table.X[:: max(1, table.X.shape[0] // _LENGTHS)])
    squares = squared_norms(some, np.float64)
    if min(some.shape) < _FEWEST or np.abs(squares - 1).max() > _UNIT:
        return []
    return [["rows", "of length 1, like embeddings of text or images: consider --set metric=cosine"]]


def _spread_facts(table: "Table", scale: bool) -> list[list[str]]:
    """Constant columns, and the columns with the smallest and the largest spread."""
    import numpy as np

    from lowdim.data.file_errors import listing
    from lowdim.relate.feature_scales import one_unit
    from lowdim.relate.moments import column_moments

    moments = column_moments(table.X)
    spread = np.sqrt(moments.variance)
    still = spread <= 1e-9 * np.abs(moments.mean)
    constant = [name for name, flag in zip(table.names, still, strict=True) if flag]
    facts = [["constant", f"{len(constant):,} columns: {listing(constant)}" if constant else "none"]]
    moving = np.flatnonzero(~still & np.isfinite(spread))
    # Pixels and counts of words share one unit: rare ones do not need scaling.
    alike = table.image_shape is not None or one_unit(table.X)
    if len(moving) < 2 or alike:
        return facts
    high, low = moving[spread[moving].argmax()], moving[spread[moving].argmin()]
    ratio = spread[high] / spread[low]
    text = f"standard deviations from {spread[low]:.3g} ({table.names[low]!r}) to {spread[high]:.3g} "
    text += f"({table.names[high]!r})"
    if ratio > _FAR_APART and not scale:
        text += f", {ratio:,.0f} times: consider --scale, or a few columns dominate the map"
    return [*facts, ["scale", text]]


def _show_scree(table: "Table", scale: bool) -> None:
    """Bars for the leading components, and how many of them to keep."""
    import warnings

    from lowdim.methods.pca import PCA
    from lowdim.work.user_warnings import ScaleWarning

    whole = min(table.X.shape) <= _WHOLE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScaleWarning)  # the facts report it
            pca = PCA(None if whole else _BARS, standardize=scale, random_state=0).fit(table.X)
    except (ValueError, MemoryError) as error:
        echo(f"\ncomponents: not computed. {in_options(str(error))}")
        return
    _show_shares(pca, whole)


def _show_shares(pca: Any, whole: bool) -> None:
    """Bars of the shares of the variance; ``whole`` says that the model has every component."""
    import numpy as np

    from lowdim.solve.component_count import components_for, elbow

    if pca is None:
        return
    shares = np.asarray(pca.explained_variance_ratio_, dtype=np.float64)
    if not shares[0]:
        echo("\ncomponents: none, every column is constant.")
        return
    reached = np.cumsum(shares)
    rows = [
        [f"pca{j}", ("█" * round(_WIDTH * shares[j] / shares[0])).ljust(_WIDTH), _percent(shares[j]), _percent(total)]
        for j, total in enumerate(reached[:_BARS])
    ]
    show_table(rows, ["component", "variance", "share", "cumulative"], apart=True)
    enough = f"{components_for(0.9, shares):,}" if reached[-1] >= 0.9 else f"more than {len(shares)}"
    corner = f"{elbow(shares):,}" if whole else "not computed for data of this size"
    show_table([["-k for 90 % of the variance", enough], ["-k at the elbow", corner]], apart=True)


def _show_dimension(table: "Table", scale: bool) -> None:
    """Intrinsic dimension, by two estimators."""
    from lowdim.quality import intrinsic_dimension
    from lowdim.relate.moments import divided_by_deviation

    try:
        X = divided_by_deviation(table.X) if scale else table.X
        near = min(20, X.shape[0] - 1)
        estimates = {"two_nn": "two neighbours", "mle": f"{near} neighbours"}
        found = [(words, intrinsic_dimension(X, kind, n_neighbors=near)) for kind, words in estimates.items()]
    except (ValueError, MemoryError) as error:
        echo(f"\nintrinsic dimension: not computed. {in_options(str(error))}")
        return
    show_table([[f"intrinsic dimension, {words}", f"{d:.1f} ± {d.error:.1f}"] for words, d in found], apart=True)


def _percent(share: float) -> str:
    return f"{100 * share:5.1f} %"


def _show_costs(table: "Table", *, all_of_them: bool) -> None:
    """Costs of the methods, or of those that lack memory."""
    from lowdim.work import memory

    n, d = table.X.shape
    free = memory.available()
    rows = [
        [m.name, memory.human(m.memory(n, d)) + ("" if m.memory(n, d) <= free else " (too much)"), m.cost]
        for m in METHODS
        if all_of_them or m.memory(n, d) > free
    ]
    if rows:
        show_table(rows, ["method", f"memory ({memory.human(free)} free)", "cost, n rows and d columns"], apart=True)


def _model_facts(path: Path) -> list[list[str]]:
    """Facts of a model file; its class need not be known to this version."""
    from lowdim.data.file_errors import listing
    from lowdim.methods.loading import read_model

    state = read_model(path)
    steps = state["steps"]
    facts = [
        ["model", ", then ".join(step["class"] for step in steps)],
        ["written by", f"lowdim {state['lowdim']}, format {state['format_version']}"],
    ]
    for step in steps:
        if len(steps) > 1:
            facts.append(["step", f"{step['class']} ({step['name']})"])
        facts += [[f"  {name}", repr(value)] for name, value in step["params"].items()]
        fitted = step["fitted"]
        names = fitted.get("feature_names_in_")
        known = f": {listing([str(name) for name in names], 10)}" if hasattr(names, "tolist") else ""
        facts.append(["columns", f"{fitted.get('n_features_in_', '?')}{known}"])
        for j, recipe in enumerate(fitted.get("_recipes") or []):
            name = str(names[j]) if hasattr(names, "tolist") and j < len(names) else f"x{j}"
            facts.append([f"  {name}", f"{recipe.get('kind')}: {recipe.get('done')}"])
        told = {name: value for name, value in fitted.items() if name[0] != "_"}
        facts += [[f"  {name}", _brief(value)] for name, value in told.items() if name not in _COLUMNS]
    return facts


def _brief(value: Any) -> str:
    """Shape and type of an array, or the value where it is short."""
    if hasattr(value, "shape") and value.shape:
        return f"{' × '.join(f'{side:,}' for side in value.shape)} {value.dtype}"
    text = repr(value.item() if hasattr(value, "item") else value)
    return text if len(text) <= 60 else f"{type(value).__name__} of {len(value):,}"
