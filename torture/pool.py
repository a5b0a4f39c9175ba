"""Worker processes with a time limit for each case; one that dies or hangs is replaced."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

_FIRST = 60.0  # seconds more for the first case, in which the libraries are loaded


class Case(NamedTuple):
    """A case by its kind, seed and number; ``only`` names a method, or is empty."""

    kind: str
    seed: int
    number: int
    only: str = ""


class Worker:
    """One process that runs a case at a time."""

    def __init__(self, limit: float) -> None:
        self._limit, self._fresh = limit, True
        self._process: subprocess.Popen[str] | None = None
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115  # it lives as long as the worker

    def run(self, case: Case) -> dict[str, Any]:
        """Outcome of a case: what the worker says, a crash, or a hang."""
        process = self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(case) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._crash()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(self._limit + (_FIRST if self._fresh else 0.0)):
                self._end()
                return {"failure": "hang", "details": f"no answer in {self._limit:g} s"}
        self._fresh = False
        line = process.stdout.readline()
        return json.loads(line) if line else self._crash()

    def close(self) -> None:
        """End the process."""
        self._end()
        self._words.close()

    def _end(self) -> int:
        """End the process, close its pipes, and return its exit status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        assert process.stdout is not None
        process.stdout.close()
        with suppress(BrokenPipeError):
            assert process.stdin is not None
            process.stdin.close()
        return process.wait()

    def _alive(self) -> "subprocess.Popen[str]":
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._words.seek(0)
            self._words.truncate()
            self._fresh = True
            self._process = subprocess.Popen(
                [sys.executable, "-m", "torture.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                text=True,
                env={"LOWDIM_MEMORY": "1G"} | os.environ,
            )
        return self._process

    def _crash(self) -> dict[str, Any]:
        assert self._process is not None
        self._process.wait()
        code = self._end()
        self._words.seek(0)
        return {"failure": "crash", "details": f"exit status {code}\n{self._words.read()[-6000:]}"}


def play(cases: Iterator[Case], workers: int, limit: float, report: Callable[[Case, dict[str, Any]], None]) -> None:
    """Run cases on several workers; ``report`` is called for each, one at a time."""
    lock = threading.Lock()

    def serve() -> None:
        worker = Worker(limit)
        try:
            while True:
                with lock:
                    case = next(cases, None)
                if case is None:
                    return
                answer = worker.run(case)
                with lock:
                    report(case, answer)
        finally:
            worker.close()

    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
