"""``python -m torture [KIND=COUNT …]``; ``--help`` says more."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from torture.pool import Case, play
from torture.worker import KINDS

_COUNTS = {
    "inputs": 10_000,
    "chains": 2_000,
    "files": 10_000,
    "tables": 2_000,
    "saves": 40,
    "limits": 200,
    "signals": 60,
}
_SHOWN = 3  # failures of a sort that are told in full


def main(argv: list[str] | None = None) -> int:
    """Run cases, print the table, and return how many kinds failed."""
    args = _arguments(argv)
    counts = dict(part.split("=") for part in args.kinds) or _COUNTS
    if unknown := [kind for kind in counts if kind not in KINDS]:
        print(f"torture: a kind is one of {', '.join(KINDS)}; got {', '.join(unknown)}.", file=sys.stderr)
        return 2
    table: dict[str, Counter[str]] = {kind: Counter() for kind in counts}
    shown: Counter[tuple[str, str]] = Counter()
    failed = 0

    def report(case: Case, answer: dict[str, Any]) -> None:
        nonlocal failed
        word = answer.get("outcome") or answer["failure"]
        table[case.kind][word] += 1
        if "failure" not in answer:
            return
        failed += 1
        place = next((line for line in reversed(answer["details"].splitlines()) if "lowdim/" in line), "")
        shown[word, place] += 1
        if shown[word, place] <= args.show:
            print(f"\n{word} in {case.kind}={case.number} (--seed {case.seed}):\n{answer['details']}", flush=True)

    play(_cases(counts, args), args.workers, args.limit, report)
    print(_text(table))
    return min(failed, 1)


def _cases(counts: dict[str, Any], args: argparse.Namespace) -> Iterator[Case]:
    end = time.monotonic() + args.seconds
    for kind, count in counts.items():
        for number in range(args.first, args.first + int(count)):
            if time.monotonic() > end:
                return
            yield Case(kind, args.seed, number, args.only)


def _text(table: dict[str, Counter[str]]) -> str:
    lines = ["", f"{'kind':10} {'cases':>7}  outcomes"]
    for kind, words in table.items():
        lines.append(f"{kind:10} {words.total():7,}  {', '.join(f'{word} {n:,}' for word, n in words.most_common())}")
    return "\n".join(lines)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m torture", description="Hostile cases through all of lowdim, in worker processes."
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND=COUNT", help=f"kinds of cases to run ({', '.join(KINDS)})")
    parser.add_argument("--seed", type=int, default=0, help="seed of all cases (default 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to run one again")
    parser.add_argument("--only", default="", help="one method, by its short name")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one case (default 60)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--show", type=int, default=_SHOWN, help="failures of one sort that are printed (default 3)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
