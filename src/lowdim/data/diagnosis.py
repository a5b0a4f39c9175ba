"""What may be wrong with a table, in order of harm, with the treatment and the line of the plan that changes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.file_errors import listing
from lowdim.data.report_layout import Suspicion
from lowdim.data.validation import absent

if TYPE_CHECKING:
    import polars as pl

    from lowdim.data.preparation import Survey
    from lowdim.data.table import Table

_FEW = 12  # distinct whole numbers that may be codes
_CODED = ("id", "code", "type", "class", "group", "category", "status", "region", "zone", "cluster", "level", "grade")
_SKEWED = 100.0  # largest value by the median from which logarithms are proposed
_SENTINELS = (-1.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)  # that stand for missing values
_APART = 5.0  # interquartile ranges between such a value and the others
_DETERMINED = 2  # times as many values as labels at most, for a column that repeats the label


@dataclass(frozen=True)
class Diagnosis:
    """One finding: what, in which columns, the proposed treatment, and the line of the plan or the option for it."""

    harm: int  # 1 (makes the map wrong) to 4 (good to know)
    what: str
    columns: str
    treatment: str
    line: str
    setting: dict[str, Any] = field(default_factory=dict)  # parameters that the plan gets for it
    dropped: tuple[str, ...] = ()  # columns that the plan leaves out for it


def of_layout(found: Sequence[Suspicion], skip: int) -> list[Diagnosis]:
    """Findings about the layout of the file."""
    told = (
        [Diagnosis(1, f"{skip} line{'s' * (skip > 1)} above the header", "", "skipped", f"skip = {skip}")]
        if skip
        else []
    )
    treatments = {"transposed": "turned, samples in rows", "copies of rows": "kept once"}
    for one in found:
        line = one.option.replace("=True", " = true")
        harm = 1 if one.what in ("transposed", "totals") else 2
        told.append(Diagnosis(harm, one.words, "", treatments.get(one.what, "left out"), line))
    return told


def of_columns(table: "Table", found: "list[Survey]") -> list[Diagnosis]:
    """Findings about the columns, and about the label if there is one."""
    told = [*_leaks(table), *_unusable(found), *_sentinels(table, found), *_gaps(found), *_kinds(found)]
    told += [*_coded(table, found), *_skewed(table, found), *_repeated_columns(table, found)]
    return sorted(told, key=lambda one: one.harm)


def column_of(table: "Table", name: str) -> "pl.Series":
    """A column of the table, whether it is a frame or an array."""
    import polars as pl

    return table.X[name] if table.mixed else pl.Series(name, table.X[:, table.names.index(name)])


def _leaks(table: "Table") -> list[Diagnosis]:
    """Columns from which the label follows."""
    import polars as pl

    if table.labels is None:
        return []
    lost = np.array([absent(value) for value in table.labels.tolist()])
    classes, codes = np.unique(table.labels[~lost].astype(str), return_inverse=True)
    if len(classes) < 2:
        return []
    numbers = table.labels[~lost] if table.labels.dtype.kind in "iuf" and len(classes) > _FEW else None
    told = []
    for name in table.names:
        column = column_of(table, name).filter(pl.Series(~lost))
        if numbers is not None:
            leaks = column.dtype.is_numeric() and _same(np.asarray(column.to_numpy(), np.float64), numbers)
        else:
            values = column.n_unique()
            leaks = 2 <= values <= _DETERMINED * len(classes) + 2 and values < 0.5 * len(column)
            leaks = leaks and pl.DataFrame({"v": column, "l": codes}).n_unique() == values
        if leaks:
            words = f"repeats the label {table.label_name!r}: a map of it shows nothing else"
            told.append(Diagnosis(1, words, repr(name), "left out", 'kind = "drop"', dropped=(name,)))
    return told


def _same(values: NDArray[np.float64], other: NDArray[Any]) -> bool:
    """Whether one column is a linear function of the other."""
    both = np.isfinite(values) & np.isfinite(other)
    x, y = values[both], np.asarray(other[both], np.float64)
    if len(x) < 3 or not np.ptp(x) or not np.ptp(y):
        return False
    return bool(abs(np.corrcoef(x, y)[0, 1]) > 1 - 1e-9)


def _unusable(found: "list[Survey]") -> list[Diagnosis]:
    return [
        Diagnosis(2, f"cannot be used: {one.done.partition('. ')[0]}", repr(one.name), "left out", 'kind = "drop"')
        for one in found
        if one.wrong
    ]


def _sentinels(table: "Table", found: "list[Survey]") -> list[Diagnosis]:
    """Numbers such as −999 far from all others, which stand for missing values."""
    told = []
    for one in found:
        if one.finding.kind != "number" or not (column := column_of(table, one.name)).dtype.is_numeric():
            continue
        values = np.asarray(column.drop_nulls().to_numpy(), np.float64)
        values = values[np.isfinite(values)]
        for sentinel in _SENTINELS:
            rest = values[values != sentinel]
            times = len(values) - len(rest)
            if times < 2 or len(rest) < 5:
                continue
            low, high = np.quantile(rest, [0.25, 0.75])
            gap = max(rest.min() - sentinel, sentinel - rest.max())
            if gap > _APART * max(high - low, 1e-300) or (sentinel < 0 <= rest.min() and gap > 0 and times > 2):
                words = f"{times:,} values {sentinel:g} apart from all others: a code for missing?"
                told.append(Diagnosis(2, words, repr(one.name), "taken as a number", "empty these cells in the file"))
                break
    return told


def _gaps(found: "list[Survey]") -> list[Diagnosis]:
    lacking = [one for one in found if one.finding.gaps and not one.wrong and one.done[:8] != "left out"]
    if not lacking:
        return []
    count = sum(one.finding.gaps for one in lacking)
    what = f"{count:,} missing value{'s' * (count != 1)}"
    treatment = "filled by the median, the most frequent level"
    return [Diagnosis(2, what, _names(lacking), treatment, 'missing = "median"', {"missing": "median"})]


_SAID = {  # kind: harm, what, treatment, line
    "ordinal": (3, "ordered answers", "coded in their order", "order = [lowest, …, highest]"),
    "multi-select": (3, "several options in a cell", "one indicator each", 'separator = ";"'),
    "code": (3, "codes that begin with zeros", "text, not numbers", 'kind = "category"'),
    "text": (3, "free text", "left out", 'kind = "drop"'),
    "identifier": (3, "identifiers of rows", "left out; --id keeps one", 'kind = "drop"'),
    "constant": (4, "one value only", "left out", 'kind = "drop"'),
    "date": (4, "dates", "days since 1970", 'dates = "cyclic"'),
}


def _kinds(found: "list[Survey]") -> list[Diagnosis]:
    """Kinds of columns that are treated in a way of their own."""
    told = []
    units = [one for one in found if one.finding.unit and not one.wrong]
    if units:
        columns = ", ".join(f"{one.name!r} in {one.finding.unit}" for one in units)
        told.append(Diagnosis(2, "numbers written with a unit", columns, "numbers in that unit", 'kind = "number"'))
    if merged := [one for one in found if one.finding.variants and not one.wrong]:
        first = merged[0].finding.variants[0]
        words = f"spellings of one level, such as {first[0]!r} for {first[1]!r}"
        told.append(Diagnosis(2, words, _names(merged), "merged", "merge = false"))
    for kind, (harm, what, treatment, line) in _SAID.items():
        if some := [one for one in found if one.finding.kind == kind and not one.wrong]:
            if kind == "multi-select":
                line = f'separator = "{some[0].finding.spelling}"'
            told.append(Diagnosis(harm, what, _names(some), treatment, line))
    return told


def _coded(table: "Table", found: "list[Survey]") -> list[Diagnosis]:
    """Whole numbers of few values in columns whose names say that they are codes."""
    some = []
    for one in found:
        named = any(word in one.name.casefold().replace("_", " ").split() for word in _CODED)
        if one.finding.kind != "number" or not named or not 2 < one.finding.distinct <= _FEW:
            continue
        values = column_of(table, one.name).drop_nulls()
        if values.dtype.is_numeric() and bool((values == values.round()).all()):
            some.append(one)
    words = "whole numbers that may be codes"
    return [Diagnosis(3, words, _names(some), "taken as numbers", 'kind = "category"')] if some else []


def _skewed(table: "Table", found: "list[Survey]") -> list[Diagnosis]:
    """Numbers of which a few are much larger than all others."""
    some = []
    for one in found:
        column = column_of(table, one.name)
        if one.finding.kind != "number" or not column.dtype.is_numeric():
            continue
        values = np.asarray(column.drop_nulls().to_numpy(), np.float64)
        values = values[np.isfinite(values)]
        if len(values) and values.min() >= 0 and values.max() > _SKEWED * np.median(values) > 0:
            some.append(one)
    words = "a few values far larger than the others"
    return [Diagnosis(3, words, _names(some), "standardised", 'numbers = "log1p"')] if some else []


def _repeated_columns(table: "Table", found: "list[Survey]") -> list[Diagnosis]:
    """Columns equal to an earlier one."""
    seen: dict[Any, str] = {}
    told = []
    for one in found:
        if one.wrong or one.done[:8] == "left out":
            continue
        column = column_of(table, one.name)
        key = (str(column.dtype), column.null_count(), hash(tuple(column.head(200).to_list())))
        if key not in seen:
            seen[key] = one.name
        elif column.equals(column_of(table, seen[key]).alias(one.name), null_equal=True):
            words = f"equal to {seen[key]!r}: it counts twice"
            told.append(Diagnosis(3, words, repr(one.name), "left out", 'kind = "drop"', dropped=(one.name,)))
    return told


def _names(some: "list[Survey]") -> str:
    return listing([one.name for one in some])
