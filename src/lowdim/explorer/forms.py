"""Forms for methods: their names and parameters, from the registry and the rules of each class."""

import inspect
import re
from importlib.util import find_spec
from typing import Any

from lowdim.comparison.candidates import Ground, unsuited
from lowdim.data.options import Rule
from lowdim.methods import registry
from lowdim.methods.choosing import WORD

# Set by the explorer itself, or not suitable for a form.
_HIDDEN = {"n_components", "callback", "callback_every", "warm_start", "n_jobs", "verbose", "metric_params", "device"}
_NO_MAPS = {"select", "rank", "cca", "kernel_cca", "pls", "pls_canonical", "gaussian_projection", "sparse_projection"}
_NUMBERS = ("int", "float")
_WORDS = {"precomputed"}  # choices for data other than rows


def forms(ground: Ground) -> list[dict[str, Any]]:
    """Methods that can map such data, each with its parameters."""
    return [form(method, ground) for method in registry.METHODS if offered(method, ground)]


def offered(method: registry.Method, ground: Ground) -> bool:
    """Whether the method can map such data."""
    if method.name in _NO_MAPS or (method.supervised and ground.classes < 2):
        return False
    if method.takes_table and ground.sparse:
        return False
    return not method.needs_torch or find_spec("torch") is not None


def form(method: registry.Method, ground: Ground) -> dict[str, Any]:
    """A method as the page offers it."""
    cls = method.load()
    texts, defaults = _texts(cls), cls().get_params()
    parameters = [
        one
        for name in cls._get_param_names()
        if name not in _HIDDEN and (one := _parameter(name, cls._rules.get(name), defaults[name], texts.get(name, "")))
    ]
    return {
        "name": method.name,
        "title": method.class_name,
        "summary": f"{method.summary}: {method.when}",
        "parameters": parameters,
        "unsuited": unsuited(method, ground),
        "live": "callback" in defaults,
        "start": takes_start(cls),
    }


def takes_start(cls: Any) -> bool:
    """Whether this class accepts an initial layout."""
    rule = cls._rules.get("init")
    return rule is not None and bool(rule.accepts([[0.0]]))


def _parameter(name: str, rule: Rule | None, default: Any, text: str) -> dict[str, Any] | None:
    """A parameter as a form shows it, or None if a form cannot."""
    if rule is None:
        return None
    choices = [word for word in rule.options if word not in (*_WORDS, WORD)]  # a choice shows no frames
    kind = next((kind for kind in ("bool", *_NUMBERS) if kind in rule.kinds), "choice" if choices else None)
    if kind is None or not (default is None or isinstance(default, bool | int | float | str)):
        return None
    if "float" in rule.kinds:
        kind = "float"
    return {
        "name": name,
        "kind": kind,
        "low": rule.low,
        "high": rule.high,
        "choices": choices,
        "default": 0 if name == "random_state" else default,
        "optional": "none" in rule.kinds,
        "help": text,
    }


def _texts(cls: Any) -> dict[str, str]:
    """Description of each parameter in the class's docstring."""
    page = inspect.getdoc(cls) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", page, re.M | re.S)
    found: dict[str, str] = {}
    names: list[str] = []
    for line in (section.group(1) if section else "").splitlines():
        if line[:1].strip():
            names = [name.strip() for name in line.partition(":")[0].split(",")]
        else:
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return {name: re.sub(r"``|:\w+:", "", text) for name, text in found.items()}
