"""Firefox without a window, spoken to by its own protocol, Marionette."""

import json
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
_PORT = 2899
_WAIT = 60  # seconds that it has to start


class Firefox:
    """One tab."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "user.js").write_text(f'user_pref("marionette.port", {_PORT});\n')
        command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", folder]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + _WAIT
        while True:
            try:
                self._socket = socket.create_connection(("127.0.0.1", _PORT))
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self._buffer, self._count = b"", 0
        self._message()  # its greeting
        self._ask("WebDriver:NewSession")
        self._ask("WebDriver:SetTimeouts", script=600_000)

    def _message(self) -> list:
        while b":" not in self._buffer:
            self._buffer += self._socket.recv(2**16)
        size, _, rest = self._buffer.partition(b":")
        while len(rest) < int(size):
            rest += self._socket.recv(2**16)
        self._buffer = rest[int(size) :]
        return json.loads(rest[: int(size)])

    def _ask(self, command: str, **params: object) -> dict:
        self._count += 1
        text = json.dumps([0, self._count, command, params]).encode()
        self._socket.sendall(b"%d:" % len(text) + text)
        _, _, error, answer = self._message()
        if error:
            raise RuntimeError(error["message"])
        return answer

    def open(self, place: Path | str) -> None:
        """Load a page."""
        self._ask("WebDriver:Navigate", url=place if isinstance(place, str) else place.as_uri())

    def run(self, script: str) -> object:
        """Value of an expression in the page; a promise is awaited."""
        ends = "done([v, null]), (e) => done([0, String(e)])"
        whole = f"const done = arguments[0]; (async () => ({script}))().then((v) => {ends})"
        value, error = self._ask("WebDriver:ExecuteAsyncScript", script=whole, args=[])["value"]
        if error:
            raise RuntimeError(error)
        return value

    def close(self) -> None:
        """End the browser."""
        with suppress(Exception):
            self._ask("Marionette:Quit")
        self._process.terminate()
        self._process.wait(timeout=20)
        self._socket.close()
