"""Writes the tables of results_maps.md again: ``LOWDIM_DATA=… python -m benchmarks.maps [words]``.

Each table stands between a comment with the command that prints it and ``<!-- end -->``; those whose command contains
one of the words are run, without words all.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).with_name("results_maps.md")
TABLE = re.compile(r"<!-- python -m (?P<command>benchmarks\.[^>]*?) -->\n.*?\n<!-- end -->", re.DOTALL)


def written(text: str, words: list[str]) -> str:
    """The page with its tables printed anew."""

    def anew(found: re.Match[str]) -> str:
        command = found["command"]
        if words and not any(word in command for word in words):
            return found[0]
        done = subprocess.run([sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, check=True)
        return f"<!-- python -m {command} -->\n{done.stdout.strip()}\n<!-- end -->"

    return TABLE.sub(anew, text)


def main(words: list[str]) -> None:
    RESULTS.write_text(written(RESULTS.read_text(encoding="utf-8"), words), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
