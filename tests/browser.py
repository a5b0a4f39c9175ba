"""A real browser for tests: chromium without a window, spoken to over a pipe in its own protocol."""

import base64
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
NO_WEBGL = (
    "const real = HTMLCanvasElement.prototype.getContext;"
    "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) "
    "{ return kind === 'webgl2' ? null : real.call(this, kind, ...rest); };"
)


def demand_chromium(unseen: str) -> None:
    """Skip tests where there is no chromium; in CI fail instead, where nobody would see what is ``unseen``."""
    if CHROMIUM is None and os.environ.get("CI"):
        pytest.fail(f"no chromium on this machine: {unseen}. CI needs it: .ci/run installs Debian's where it can")
    if CHROMIUM is None:
        pytest.skip(f"no chromium on this machine: {unseen}")


class Moved(Exception):  # noqa: N818
    """The page led to another one before it had answered."""


class Browser:
    """One tab. ``errors`` holds all that a page complained of."""

    def __init__(self, folder: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def place() -> None:  # the protocol reads from 3 and writes to 4
            os.dup2(theirs_in, 200)
            os.dup2(theirs_out, 201)
            os.dup2(200, 3)
            os.dup2(201, 4)

        flags = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--remote-debugging-pipe"]
        flags += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]  # WebGL2 by software
        flags += ["--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync"]
        self._process = subprocess.Popen(
            [CHROMIUM, *flags, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=place,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self._buffer, self._count, self._session = b"", 0, None
        self._loaded = False
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **params: object) -> dict:
        """Send a command and wait for its answer; what happens meanwhile is noted."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while (answer := self._next()).get("id") != self._count:
            pass
        if "navigated" in answer.get("error", {}).get("message", ""):
            raise Moved(answer["error"]["message"])
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _next(self) -> dict:
        while b"\0" not in self._buffer:
            more = os.read(self._in.fileno(), 2**16)
            assert more, "the browser has gone"
            self._buffer += more
        raw, _, self._buffer = self._buffer.partition(b"\0")
        event = json.loads(raw)
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        entry = params["entry"] if event.get("method") == "Log.entryAdded" else {"level": ""}
        slow = "GL Driver Message (OpenGL, Performance" in entry.get("text", "")  # software draws slowly
        if entry["level"] in ("error", "warning") and not slow:
            self.errors.append(entry["text"])
        if event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str(params["args"]))
        self._loaded |= event.get("method") == "Page.loadEventFired"
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        return event

    def open(self, place: Path | str, *, width: int = 1200, height: int = 1000, dark: bool = False) -> None:
        """Load a page, by its path or address, in a window of this size, and wait until it is drawn."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self("Emulation.setEmulatedMedia", features=[scheme, still])
        self._loaded = False
        self("Page.navigate", url=place if isinstance(place, str) else place.as_uri())
        while not self._loaded:
            self._next()
        with suppress(Moved):
            self.run(
                "new Promise(done => { const wait = () => document.readyState === 'complete' "
                "? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(wait, 20); wait(); })"
            )

    def run(self, script: str) -> object:
        """Value of an expression in the page."""
        answer = self("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Move, press or release the mouse."""
        held = {"button": "left", "clickCount": 1, "buttons": 1} if kind != "Moved" else {}
        self("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **held)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press at one place, release at another."""
        self.mouse("Moved", *start)
        self.mouse("Pressed", *start)
        self("Input.dispatchMouseEvent", type="mouseMoved", x=end[0], y=end[1], button="left", buttons=1)
        self.mouse("Released", *end)

    def key(self, name: str) -> None:
        """Press a key."""
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Escape": 27, "Tab": 9, "Enter": 13}
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=codes[name])

    def shoot(self, path: Path, *, whole: bool = False) -> None:
        """Write a picture of the window, or of the whole page."""
        data = self("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """End the browser."""
        self._out.close()
        self._process.terminate()
        self._process.wait(timeout=20)
        self._in.close()
