"""Features of a selection: groups that are added or removed together, and features that are always kept."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import absent


def units_of(groups: Any, names: NDArray[Any]) -> tuple[list[list[int]], list[Any]]:
    """Units of features that are added or removed together, and the name of each unit.

    >>> units_of(["a", "b", "a"], np.arange(3))
    ([[0, 2], [1]], ['a', 'b'])
    """
    if groups is None:
        return [[j] for j in range(len(names))], names.tolist()
    given = list(groups)
    if len(given) != len(names):
        raise ValueError(
            f"SequentialFeatureSelector: groups must have one label for each of the {len(names)} features; got "
            f"{len(given)}. Give a feature outside any group a label of its own."
        )
    for one in given:
        if not _is_label(one):
            raise ValueError(
                f"SequentialFeatureSelector: groups must have a number or text for every feature; got {one!r}. "
                "Give a feature outside any group a label of its own."
            )
    labels = list(dict.fromkeys(given))
    return [[j for j, label in enumerate(given) if label == one] for one in labels], labels


def units_kept(keep: Any, names: NDArray[Any], units: list[list[int]]) -> list[int]:
    """Units that hold a feature of ``keep``: positions, names, or a mask.

    >>> units_kept(["y"], np.array(["x", "y", "z"]), [[0, 2], [1]])
    [1]
    """
    known = {str(name): j for j, name in enumerate(names)}
    features = set()
    given = [] if keep is None else list(keep)
    if given and all(isinstance(one, bool | np.bool_) for one in given):
        if len(given) != len(names):
            raise ValueError(
                f"SequentialFeatureSelector: keep as a mask must have one flag for each of the {len(names)} features; "
                f"got {len(given)}. Match them, or pass positions or names."
            )
        given = np.flatnonzero(given).tolist()
    for one in given:
        place = known.get(one) if isinstance(one, str) else None
        if isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < len(names):
            place = int(one)
        if place is None:
            raise ValueError(
                f"SequentialFeatureSelector: keep must name features of the {len(names)} there are; got {one!r}. "
                "Pass positions from 0, or names that the data have."
            )
        features.add(place)
    return [u for u, unit in enumerate(units) if features & set(unit)]


def _is_label(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return not absent(value)
