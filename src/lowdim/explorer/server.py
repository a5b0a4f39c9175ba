"""The page over HTTP and a WebSocket, on this machine only."""

import asyncio
import signal
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.explorer.access_control import Guard
from lowdim.explorer.exports import rescue_labels
from lowdim.explorer.page_source import content_type, static
from lowdim.explorer.protocol import UPLOAD_BYTES, Visitor
from lowdim.explorer.request_threads import Lanes
from lowdim.explorer.session import Session

if TYPE_CHECKING:
    import uvicorn
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

LOOPBACK = "127.0.0.1"
_MOST_PAGES = 32  # open at a time
_ROOM = 2**20  # bytes of a message other than an upload
_ENDING = ("SIGTERM", "SIGHUP", "SIGBREAK")
_GRACE = 2  # seconds that open pages have to close


def demand_packages() -> None:
    """Raise an error that names the extra needed, before any work."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"The explorer needs starlette, uvicorn and websockets; {error.name} is not installed. Run: "
            "pip install 'lowdim[explore]'"
        ) from None


class Server:
    """The explorer of a session, bound to a port of this machine; ``run`` serves until it is stopped."""

    def __init__(self, session: Session, port: int = 0) -> None:
        demand_packages()
        static()  # read before the first request
        self.session, self.lanes = session, Lanes()
        self._pages = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((LOOPBACK, port))
        except OSError as error:
            self._socket.close()
            raise OSError(f"explore: port {port} cannot be used ({error.strerror}). Leave --port out.") from None
        self._socket.listen(64)
        self.port: int = self._socket.getsockname()[1]
        self.guard = Guard(self._application(), self.port)
        self._uvicorn: uvicorn.Server | None = None
        self._told_to_stop = False

    @property
    def address(self) -> str:
        """Address of the page, with the token that grants access."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.guard.token}"

    def run(self) -> None:
        """Serve until ``stop`` or Ctrl-C."""
        import uvicorn

        config = uvicorn.Config(
            self.guard,
            ws="websockets-sansio",
            ws_max_size=UPLOAD_BYTES + _ROOM,
            ws_per_message_deflate=False,
            lifespan="off",
            log_level="error",  # no access log: the token is in an address
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
        self._uvicorn = uvicorn.Server(config)
        self._uvicorn.should_exit = self._told_to_stop
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def serve(self, *, browser: bool, announce: Callable[[str], None], rescued: Callable[[str], None]) -> bool:
        """Serve until Ctrl-C or a signal to end, in the calling thread, then stop what still runs.

        Labels that were not exported are written to a file in the current folder first, and ``rescued`` is called with
        its name. Returns whether all work has ended.
        """
        with self._ended_by_signals():
            announce(self.address)
            if browser:
                threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()
            with suppress(KeyboardInterrupt):
                self.run()
            if self.session.unsaved:
                rescued(str(rescue_labels(self.session, Path())))
            return self.close()

    @contextmanager
    def _ended_by_signals(self) -> Iterator[None]:
        """End ``run`` on a signal that would end the process at once, as a closed terminal or ``kill`` sends."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        known = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
        ignored = [one for one in known if signal.getsignal(one) is signal.SIG_IGN]  # as under nohup
        before = {one: signal.signal(one, lambda *_: self.stop()) for one in known if one not in ignored}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def stop(self) -> None:
        """End ``run``, from any thread."""
        self._told_to_stop = True
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    def close(self) -> bool:
        """Stop fits and requests; return whether all of them have ended."""
        self.session.close()
        ended = self.lanes.close()
        for one in list(self.session.maps.values()):
            one.join(_GRACE)
        return ended and not any(one.alive for one in self.session.maps.values())

    def _application(self) -> Any:
        from starlette.applications import Starlette
        from starlette.routing import Route, WebSocketRoute

        return Starlette(
            routes=[
                Route("/", self._file),
                Route("/{name}", self._file),
                WebSocketRoute("/ws", self._page),
            ]
        )

    async def _file(self, request: "Request") -> "Response":
        """A file of the page, from those read at the start: no path is ever opened for a request."""
        from starlette.responses import PlainTextResponse, Response

        name = request.path_params.get("name", "index.html")
        if name not in static():
            return PlainTextResponse("There is no such file.", 404)
        return Response(static()[name], media_type=content_type(name))

    async def _page(self, channel: "WebSocket") -> None:
        """One open page: requests in, answers and frames out."""
        from starlette.websockets import WebSocketDisconnect

        if self._pages >= _MOST_PAGES:
            await channel.close(1013, "Too many pages are open.")
            return
        await channel.accept()
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.set)

        visitor = Visitor(self.session, wake, self.lanes.put)
        self._pages += 1
        sending = asyncio.create_task(_send(channel, visitor, news))
        try:
            while True:
                data = await channel.receive_bytes()
                await asyncio.to_thread(visitor.receive, data)
        except (WebSocketDisconnect, RuntimeError, KeyError):  # closed, or text, which our page never sends
            pass
        finally:
            self._pages -= 1
            visitor.close()
            sending.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await sending


async def _send(channel: "WebSocket", visitor: Visitor, news: asyncio.Event) -> None:
    """Send pending messages as fast as the page reads them."""
    while True:
        news.clear()
        messages, wait = await asyncio.to_thread(visitor.outbox.take, time.monotonic())
        for message in messages:
            await channel.send_bytes(message)
        with suppress(TimeoutError):
            await asyncio.wait_for(news.wait(), wait)


@contextmanager
def serving(session: Session, port: int = 0) -> Iterator[Server]:
    """Serve in a thread while the block runs."""
    server = Server(session, port)
    thread = threading.Thread(target=server.run, daemon=True, name="explorer")
    thread.start()
    try:
        yield server
    finally:
        server.close()
        server.stop()
        thread.join(10)
