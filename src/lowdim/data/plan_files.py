"""Plans of a preparation in TOML files: its parameters, how the table is read, and single columns."""

import os
from pathlib import Path
from typing import Any

from lowdim.data import column_kinds, options
from lowdim.data.column_plans import RULES
from lowdim.data.file_errors import listing

_text = options.Rule(lambda value: isinstance(value, str), "a text")
_names = options.Rule(
    lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value), "a list of names"
)
_READING = {
    "label": _text,
    "id": _text,
    "columns": _names,
    "drop": _names,
    "skip": options.integer(0),
    "transpose": options.flag,
    "drop_duplicates": options.flag,
    "drop_totals": options.flag,
}


def read_plan(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Parameters of a preparation from a TOML file: its defaults on top, columns under ``[columns.NAME]``."""
    content = _toml(path)
    content.pop("reading", None)
    plan = content.pop("columns", None)
    content.setdefault("rules", 1)  # a plan that was written before there were others
    strange = [name for name in content if name not in RULES and name != "on_unusable"]
    if strange:
        raise ValueError(
            f"Prepare: a plan may set {', '.join([*RULES, 'on_unusable'])}, [reading] and [columns.NAME]; '{path}' has "
            f"{listing(strange)}. Check the spelling."
        )
    if isinstance(content["rules"], int) and content["rules"] > column_kinds.RULES:
        raise ValueError(
            f"Prepare: '{path}' was written for version {content['rules']} of the rules; this lowdim knows "
            f"{column_kinds.RULES}. Upgrade lowdim."
        )
    return content | {"plan": plan}


def reading_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """How a table is read, from the ``[reading]`` of a plan: options of :func:`lowdim.data.read`."""
    given = _toml(path).get("reading", {})
    if not isinstance(given, dict):
        raise ValueError(f"Prepare: [reading] of '{path}' must be a table of options; got {given!r}. Correct it.")
    for name, value in given.items():
        rule = _READING.get(name)
        if rule is None:
            raise ValueError(
                f"Prepare: [reading] of a plan may set {', '.join(_READING)}; '{path}' has {name!r}. Correct it."
            )
        if not rule.accepts(value):
            raise ValueError(
                f"Prepare: {name} in [reading] of '{path}' must be {rule.needs}; got {value!r}. Correct it."
            )
    return given


def _toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    import tomllib

    path = Path(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"Prepare: a plan is needed, a TOML file; there is none at '{path}'. Check the path, or pass auto or none."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ValueError(f"Prepare: a plan in TOML is needed; '{path}' is not one ({error}). Correct it.") from None
