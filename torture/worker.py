"""A process that runs cases: ``python -m torture.worker`` reads "kind seed number only" and answers in JSON lines."""

import faulthandler
import importlib
import json
import os
import signal
import sys
import traceback
import zlib
from pathlib import Path
from typing import Any

KINDS = ("inputs", "chains", "files", "tables", "saves", "limits", "signals")


def use_native(folder: str) -> None:
    """Load another build of the native module than the installed one (as ``make sanitize`` wants)."""
    import importlib.util

    import lowdim

    spec = importlib.util.spec_from_file_location("lowdim._native", next(Path(folder).glob("_native*.so")))
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"no native module in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["lowdim._native"] = lowdim._native = module  # type: ignore[attr-defined]
    spec.loader.exec_module(module)


def run(kind: str, seed: int, number: int, only: str = "") -> dict[str, Any]:
    """Outcome of one case, which its kind, seed and number determine."""
    import numpy as np

    from torture.judge import Failure

    rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
    try:
        return {"outcome": importlib.import_module(f"torture.{kind}").run(rng, only)}
    except Failure as failure:
        return {"failure": failure.word, "details": failure.details}
    except Exception:
        return {"failure": "torture itself", "details": traceback.format_exc()}


def main() -> None:
    """Answer until standard input ends."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    answers = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    sys.stderr = os.fdopen(quiet, "w")  # progress lines; crashes still reach the real standard error
    if folder := os.environ.get("LOWDIM_NATIVE"):
        use_native(folder)
    for line in sys.stdin:
        kind, seed, number, only = json.loads(line)
        print(json.dumps(run(kind, seed, number, only)), file=answers, flush=True)


if __name__ == "__main__":
    main()
