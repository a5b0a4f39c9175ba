"""Labels that contribute to distances between rows."""

from typing import Any

from lowdim.data.labels import Labels, labels
from lowdim.data.precomputed import demand_class_distances


def supervising_labels(name: str, y: Any, X: Any, share: float, between: Any, landmarks: int | None) -> Labels:
    """Labels for supervised distances, checked against the parameters that depend on them.

    ``between`` are the distances given between classes, or None; each class needs one of the ``landmarks``.
    """
    if y is None:
        raise ValueError(
            f"{name}: supervision={share:g} requires y to be passed, but the target y is None. Pass the labels of the "
            "rows, fit(X, y), or supervision=0."
        )
    found = labels(name, y, X)
    if between is not None:
        demand_class_distances(between, len(found.classes), name)
    if landmarks is not None and landmarks < len(found.classes):
        raise ValueError(
            f"{name}: supervision needs a landmark in each of the {len(found.classes)} classes; got landmarks="
            f"{landmarks}. Raise it."
        )
    return found
