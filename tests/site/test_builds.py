"""What continuous integration runs exists, and floors of dependencies are tried as they are declared."""

import re
import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_make_target_of_the_workflows_exists():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, flags=re.MULTILINE))
    flow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    wanted = {*re.findall(r"\bmake ([a-z][\w-]*)", flow), *re.findall(r"target: ([\w-]+)", flow)} - {"target"}
    assert {"lint", "test", "sanitize", "clang", "cross", "docs", "test-oldest", "test-newest"} <= wanted
    assert wanted <= targets


def test_the_oldest_environment_has_every_floor():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    floors = runpy.run_path(str(ROOT / "wheels" / "oldest.py"))["floors"](project)
    named = {line.split("==")[0] for line in floors}
    for line in project["dependencies"]:
        assert ">=" in line, f"{line} has no floor"
        assert line.split(">=")[0] in named
    assert "scipy==" + re.search(r'"scipy>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1] in floors
    assert "torch" not in named
