"""Access control: only the user's own browser, by a secret address; nobody else on this machine or on the web.

Other programs and pages can send requests to a port of this machine too. A page of another site is recognised by its
``Origin``, one whose host name was made to resolve here (DNS rebinding) by its ``Host``, and other users lack the
secret.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_MOVED = (
    b'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>lowdim</title><link rel="icon" href="data:,">'
    b'<meta http-equiv="refresh" content="0;url=/"></head><body><a href="/">Open the explorer</a></body></html>'
)


class Guard:
    """Lets requests with the right host, origin and secret through to an application."""

    def __init__(self, app: App, port: int, token: str | None = None) -> None:
        self._app, self.token = app, token or secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)  # of the cookie: the address itself is exposed in more ways
        self.cookie = f"lowdim-{port}"  # cookies do not distinguish ports
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}
        sockets = " ".join(sorted(f"ws://{host}" for host in self.hosts))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
            f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self.headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-embedder-policy": "require-corp",
            "cross-origin-resource-policy": "same-origin",
            "cache-control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, sign it in, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            return
        headers = _single(scope["headers"])
        wrong = "two headers of one name" if headers is None else self._wrong(scope, headers)
        if wrong:
            await self._refuse(scope, send, 403, f"Refused: {wrong}.")
        elif headers is None or not self._known(headers):
            if scope["type"] == "http" and self._has_token(scope):
                await self._let_in(send)
            else:
                words = "Refused: open the address that 'lowdim explore' printed, with its token."
                await self._refuse(scope, send, 403, words)
        elif scope["type"] == "http" and self._has_token(scope):
            await self._let_in(send)  # again, so that the token leaves the address bar
        else:
            await self._app(scope, receive, self._signed(send) if scope["type"] == "http" else send)

    def _wrong(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """Reason to refuse the origin of a request; empty if there is none."""
        if headers.get(b"host", b"").decode("latin-1").lower() not in self.hosts:
            return "the host is not this explorer's"
        origin = headers.get(b"origin")
        if origin is None:
            return "a socket needs an origin" if scope["type"] == "websocket" else ""
        return "" if origin.decode("latin-1").lower() in self.origins else "the page belongs to another site"

    def _known(self, headers: dict[bytes, bytes]) -> bool:
        """Whether the request has the cookie."""
        try:
            cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        given = cookies.get(self.cookie)
        return given is not None and compare_digest(given.value.encode(), self._secret.encode())

    def _has_token(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        return scope["path"] == "/" and compare_digest(given[0].encode(), self.token.encode())

    async def _let_in(self, send: Send) -> None:
        """Set the cookie and forward to the page: by HTML, since a strict cookie is not sent on a redirect."""
        cookie = f"{self.cookie}={self._secret}; Path=/; HttpOnly; SameSite=Strict"
        await self._answer(send, 200, _MOVED, "text/html; charset=utf-8", {"set-cookie": cookie})

    async def _refuse(self, scope: Scope, send: Send, status: int, words: str) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": words})
        else:
            await self._answer(send, status, words.encode(), "text/plain; charset=utf-8", {})

    async def _answer(self, send: Send, status: int, body: bytes, kind: str, more: dict[str, str]) -> None:
        headers = {"content-type": kind, "content-length": str(len(body)), **self.headers, **more}
        await send({"type": "http.response.start", "status": status, "headers": _raw(headers)})
        await send({"type": "http.response.body", "body": body})

    def _signed(self, send: Send) -> Send:
        """``send`` that adds our headers to a response."""

        async def signed(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_raw(self.headers)]}
            await send(message)

        return signed


def _single(headers: Any) -> dict[bytes, bytes] | None:
    """Headers by name; None if one that matters occurs twice."""
    names = [name.lower() for name, _ in headers]
    if any(names.count(name) > 1 for name in (b"host", b"origin", b"cookie")):
        return None
    return {name.lower(): value for name, value in headers}


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
