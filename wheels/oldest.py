"""Constraints for pip: the oldest version of each dependency that pyproject.toml allows, one a line.

``python oldest.py > oldest.txt``. Floors of the groups of tools are left out, since they promise nothing to users, and
PyTorch's, whose old builds for processors alone are not in PyPI.
"""

import re
import tomllib
from pathlib import Path


def floors(project: dict) -> list[str]:
    """Lines ``name==version`` of the dependencies and the extras of a ``[project]`` table."""
    wanted = [*project["dependencies"]]
    for name, extra in project["optional-dependencies"].items():
        wanted += extra if name != "torch" else []
    found = [re.match(r"([\w-]+)(?:\[[^]]*\])?>=([\d.]+)", line) for line in wanted]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    with open(Path(__file__).parents[1] / "pyproject.toml", "rb") as file:
        print(*floors(tomllib.load(file)["project"]), sep="\n")
