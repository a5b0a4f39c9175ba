"""Warnings that name the user's line, not one of ours."""

import sys
import warnings


class ScaleWarning(UserWarning):
    """Features differ so much in scale that a few of them decide the result."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the caller's line, however many frames of ours and scikit-learn's lie between."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("lowdim", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
