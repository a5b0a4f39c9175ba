"""Pages of the explorer that compute: saved ones, and the page "Try it"."""

import csv
import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import __version__
from lowdim.comparison.candidates import Ground
from lowdim.data.datasets import load
from lowdim.explorer.forms import form
from lowdim.explorer.message_format import Message
from lowdim.explorer.page_source import alone
from lowdim.explorer.session import Session
from lowdim.methods import registry
from lowdim.show import computing
from lowdim.show.computing import COMPUTED

_EXAMPLES = {"digits": "digits, 8 × 8 pixels", "iris": "iris flowers", "wine": "wines", "swissroll": "a rolled sheet"}


def methods(ground: Ground) -> list[dict[str, Any]]:
    """Forms of the methods that a page computes."""
    found = []
    for name, taken in COMPUTED.items():
        one = form(registry.find(name), ground)
        one["parameters"] = [rule for rule in one["parameters"] if rule["name"] in taken]
        for rule in one["parameters"]:
            rule["choices"] = [word for word in rule["choices"] or [] if word == "auto"]
        found.append(one)
    return found


def compute_message(session: Session, room: int) -> tuple[Message | None, str]:
    """What a saved page needs to compute, in ``room`` bytes of text; or None and the reason."""
    found = computing.computing(session.X, session.made, room)
    if isinstance(found, str):
        return None, found
    arrays: dict[str, NDArray] = {"scores": found.scores} | ({} if found.axes is None else {"axes": found.axes})
    return Message("compute", None, found.fields, arrays), ""


def _example(name: str) -> str:
    X, labels = load(name)
    y = np.zeros(len(X)) if labels is None else labels
    out = io.StringIO()
    writer = csv.writer(out)
    names = getattr(X, "columns", None)
    writer.writerow([*(names if names is not None else [f"x{j}" for j in range(X.shape[1])]), "label"])
    writer.writerows([*(f"{value:.6g}" for value in row), label] for row, label in zip(X, y, strict=True))
    return out.getvalue()


def try_page() -> str:
    """The page "Try it", in one file that loads nothing."""
    ground = Ground(1000, 10, sparse=False, classes=0)
    settings = {
        "version": __version__,
        "rules": computing.rules(),
        "methods": methods(ground),
        "examples": [{"name": name, "words": words} for name, words in _EXAMPLES.items()],
    }
    held = {
        "settings": json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c"),
        "examples": computing.packed(json.dumps({name: _example(name) for name in _EXAMPLES}).encode()),
        "engine": computing.packed_module(),
    }
    return alone("try.js", 'begin(document.getElementById("page"));', "lowdim – try it", '<div id="page"></div>', held)
