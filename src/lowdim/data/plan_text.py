"""Plans in TOML, as :func:`lowdim.data.plan_files.read_plan` reads them."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lowdim.data.column_kinds import RULES

if TYPE_CHECKING:
    from lowdim.data.preparation import Survey

_USED = ("number", "yes/no", "category", "ordinal", "multi-select", "date")


def plan_text(found: "list[Survey]", settings: Mapping[str, Any], reading: Mapping[str, Any]) -> str:
    """Plan of a table: ``settings`` at the top, how it is read, and each column.

    >>> print(plan_text([], {"missing": "median"}, {"skip": 2}))
    # Edit this file and pass it to --prepare.
    rules = 2
    missing = "median"
    <BLANKLINE>
    [reading]
    skip = 2
    <BLANKLINE>
    """
    lines = ["# Edit this file and pass it to --prepare.", f"rules = {RULES}"]
    lines += [f"{name} = {_value(value)}" for name, value in settings.items()]
    if reading:
        lines += ["", "[reading]", *(f"{name} = {_value(value)}" for name, value in reading.items())]
    for one in found:
        lines += ["", f"[columns.{_value(one.name)}]", *column_lines(one)]
    return "\n".join([*lines, ""])


def column_lines(one: "Survey") -> list[str]:
    """Lines of a plan for one column."""
    finding = one.finding
    kind = finding.kind if finding.kind in _USED and not one.wrong else "drop"
    kind = "category" if finding.kind == "code" and one.done.startswith("one-hot") else kind
    lines = [f"kind = {_value(kind)}  # {' '.join(finding.why.split())}"]
    if kind == "ordinal":
        lines.append(f"order = {_value(list(finding.order or one.order))}")
    elif kind == "multi-select":
        lines.append(f"separator = {_value(finding.spelling)}")
    elif kind == "category" and finding.variants:
        lines.append("merge = true")
    return lines


def _value(value: Any) -> str:
    """A value as TOML has it; text as JSON, whose escapes are the same except for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
