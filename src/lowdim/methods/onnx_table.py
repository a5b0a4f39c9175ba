"""Columns of numbers, prepared as :class:`~lowdim.Prepare` does, in an ONNX file."""

from typing import Any

import numpy as np

from lowdim.data.column_recipes import Recipe


def numbers(graph: Any, X: str, recipes: list[Recipe], names: list[str]) -> str:
    """Scaled columns of the rows called ``X``, one for each recipe, and indicators of missing values.

    A value that is missing where the recipe refuses it stays NaN.
    """
    _demand_numbers(recipes, names)
    row, constant = (
        {
            part: np.array([getattr(one, part) for one in recipes], dtype=np.float64)
            for part in ("mean", "median", "centre", "scale", "weight")
        },
        graph.constant,
    )
    gone = graph.node("IsNaN", X)
    fill = np.where([one.missing == "median" for one in recipes], row["median"], row["mean"])
    filled = np.array([one.missing != "error" for one in recipes])
    Z = graph.node("Where", graph.node("And", gone, constant(filled)), constant(fill), X)
    logarithms = np.array([one.numbers == "log1p" for one in recipes])
    if logarithms.any():
        Z = graph.node("Where", constant(logarithms), graph.node("Log", graph.node("Add", Z, constant(1.0))), Z)
    Z = graph.node("Div", graph.node("Sub", Z, constant(row["centre"])), constant(row["scale"] / row["weight"]))
    marked = [j for j, one in enumerate(recipes) if one.indicator]
    if not marked:
        return str(Z)
    share = np.array([recipes[j].indicator_share for j in marked])
    plain = np.array([recipes[j].numbers in ("as_is", "gower") for j in marked])
    spread = np.where(plain, 1.0, np.sqrt(share * (1 - share)))
    weight = np.array([1.0 if recipes[j].numbers == "as_is" else recipes[j].weight for j in marked])
    shown = graph.node("Gather", gone, constant(np.array(marked)), axis=1)
    shown = graph.node("Where", shown, constant(1.0), constant(0.0))
    shown = graph.node("Sub", shown, constant(np.where(plain, 0.0, share)))
    shown = graph.node("Div", shown, constant(np.where(spread > 0, spread, 1.0) / weight))
    both = graph.node("Concat", Z, shown, axis=1)
    places = [[j, *([len(recipes) + marked.index(j)] if one.indicator else [])] for j, one in enumerate(recipes)]
    return str(graph.node("Gather", both, constant(np.array([p for own in places for p in own])), axis=1))


def _demand_numbers(recipes: list[Recipe], names: list[str]) -> None:
    """Refuse columns that are not numbers, ranks, and rows that would be left out."""
    advice = "Export the steps after it, model[1:].to_onnx(path), for prepared rows."
    other = [f"{name!r} ({one.kind})" for name, one in zip(names, recipes, strict=True) if one.action not in _NUMBERS]
    if other:
        more = f" and {len(other) - 8} more" if len(other) > 8 else ""
        raise TypeError(
            f"to_onnx: Prepare is written for columns of numbers only; got {', '.join(other[:8])}{more}. {advice}"
        )
    if any(one.numbers == "ranks" for one in recipes):
        raise TypeError(f"to_onnx: Prepare with numbers='ranks' has no formula; got such columns. {advice}")
    if any(one.missing == "drop" for one in recipes):
        raise TypeError(f"to_onnx: Prepare with missing='drop' leaves out rows, which a formula cannot. {advice}")


_NUMBERS = ("number", "yes/no")
