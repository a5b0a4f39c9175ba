"""Tables of mixed columns through Prepare and a method after it, or a method of tables: fit, transform, save, load."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import lowdim
from lowdim.methods import registry
from torture import draws
from torture.inputs import METHODS, _again, _short
from torture.judge import Failure, Refused, demand_finite, judged

_WORDS = ["red", "green", "blue", "", " ", "NA", "nan", "é", "\ud83d".encode("utf-8", "replace").decode(), "9" * 60]


# kinds of text: amounts, units, answers, several options, codes, instants, free text, each with what spoils it
_CELLS: list[list[Callable[[int], str]]] = [
    [lambda i: f"${i:,}.50", lambda i: f"(${abs(i):,})", lambda i: f"{i}", lambda i: "-"],
    [lambda i: f"{i / 7:.2f} kg", lambda i: f"{i} KG", lambda i: f"{i}%"],
    [lambda i: "agree", lambda i: "Disagree", lambda i: "neutral ", lambda i: f"{i % 5 + 1} – often"],
    [lambda i: "bus;train", lambda i: "train", lambda i: "car;bus", lambda i: ";"],
    [lambda i: f"{abs(i):05d}", lambda i: f"{abs(i):05d}-{abs(i) % 9999:04d}"],
    [lambda i: f"2024-03-{abs(i) % 31 + 1:02d}T01:00:00+01:00", lambda i: "2024-03-31T03:00:00+0200", lambda i: "n/a"],
    [lambda i: f"it was number {i} that we saw on that day", lambda i: "=1+1"],
    [lambda i: "Rome", lambda i: "rome ", lambda i: "ROME", lambda i: "Oslo"],
]


def run(rng: np.random.Generator, only: str = "") -> str:
    """One case; returns what came of it ("fitted" or "refused") or raises Failure."""
    cls = registry.find(only or draws.pick(rng, METHODS)).load()
    n = int(draws.pick(rng, [2, 5, 12, 30, 60]))
    columns = {f"c{j}": _column(rng, n) for j in range(int(rng.integers(1, 6)))}
    rules = {name: rule.options for name, rule in lowdim.Prepare._rules.items() if rule.options}
    prepare = {name: draws.pick(rng, choices) for name, choices in rules.items() if rng.random() < 0.3}
    prepare = {"missing": "mean"} | prepare if rng.random() < 0.9 else draws.parameters(rng, lowdim.Prepare)
    params = draws.parameters(rng, cls)
    if cls._any_columns and rng.random() < 0.9:
        params |= {"n_components": 1, "missing": "mean", "on_unusable": "drop", "plan": None, "max_levels": 9}
        params["supplementary"] = [draws.pick(rng, list(columns))] if rng.random() < 0.5 else None
    table, y = _table(rng, columns), draws.targets(rng, n, cls._two_views)
    told = f"chain(Prepare(**{prepare}), {cls.__name__}(**{_short(params)})) on {columns}"[:2000]
    try:
        return _through(rng, prepare, cls, params, table, columns, y)
    except Failure as failure:
        raise Failure(failure.word, f"{told}\n{failure.details}") from None


def _through(
    rng: np.random.Generator, prepare: dict, cls: Any, params: dict, table: Any, columns: dict[str, Any], y: Any
) -> str:
    try:
        steps = [cls(**params)] if cls._any_columns else [lowdim.Prepare(**prepare), cls(**params)]
        model = judged(lambda: lowdim.chain(*steps).fit(table, y))
    except Refused:
        return "refused"
    if cls._any_columns:
        last = model[-1]
        for made in (last.columns, last.levels):
            judged(lambda made=made: [made(what) for what in ("coordinates", "contributions", "cos2")])
        with suppress(Refused):
            judged(lambda: last.inverse_transform(last.transform(table)))
    calls = [lambda: model.transform(table), lambda: model.transform(_table(rng, _changed(rng, columns)))]
    if rng.random() < 0.2:
        calls.append(lambda: _again(model).transform(table))
    for number, call in enumerate(calls):
        with suppress(Refused):
            demand_finite(judged(call), f"call {number}")
    return "fitted"


def _column(rng: np.random.Generator, n: int) -> list[Any]:
    kind = int(rng.integers(16))
    if kind < 3:
        values: list[Any] = draws.rows(rng, (n, 1))[:, 0].astype(float).tolist()
    elif kind < 5:
        values = [draws.pick(rng, _WORDS[: int(rng.integers(1, len(_WORDS) + 1))]) for _ in range(n)]
    elif kind == 5:
        values = [draws.pick(rng, ["yes", "no"]) for _ in range(n)]
    elif kind == 6:
        values = [bool(rng.integers(2)) for _ in range(n)]
    elif kind == 7:
        days = np.datetime64("1970-01-01") + rng.integers(-40_000, 40_000, size=n)
        values = days.astype(str).tolist()
    elif kind == 8:
        values = list(range(n))
    else:
        values = [draws.pick(rng, cells)(int(rng.integers(-99, 9999))) for cells in [draws.pick(rng, _CELLS)] * n]
    if rng.random() < 0.2:
        values = [None if rng.random() < 0.3 else value for value in values]
    return values


def _changed(rng: np.random.Generator, columns: dict[str, Any]) -> dict[str, Any]:
    """The same table with another column, without one, in another order, or with other cells."""
    which, names = int(rng.integers(5)), list(columns)
    name, n = draws.pick(rng, names), len(columns[names[0]])
    if which == 0:
        return {key: columns[key] for key in names if key != name}
    if which == 1:
        return {key: columns[key] for key in reversed(names)}
    return columns | {("more" if which == 2 else name): _column(rng, n)}


def _table(rng: np.random.Generator, columns: dict[str, Any]) -> Any:
    if rng.random() < 0.5:
        return pd.DataFrame(columns)
    with suppress(TypeError, pl.exceptions.PolarsError):  # numbers beside text, which polars cannot hold
        return pl.DataFrame(columns, strict=True)
    return pd.DataFrame(columns)
