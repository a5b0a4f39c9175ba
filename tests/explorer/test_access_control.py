"""Nobody comes in but the browser with the token: each test tries another way."""

import http.client
import struct
from contextlib import suppress
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from lowdim.explorer.message_format import Message, decode, encode
from lowdim.explorer.opening import open_session
from lowdim.explorer.protocol import UPLOAD_BYTES
from lowdim.explorer.server import serving


@pytest.fixture(scope="module")
def server():
    with serving(open_session(np.random.default_rng(0).normal(size=(30, 4)))) as server:
        yield server


def get(server, path, *, method="GET", host=None, **headers):
    """Answer to a request, its headers and its body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{server.port}")
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


@pytest.fixture(scope="module")
def cookie(server):
    _, headers, _ = get(server, f"/?{urlsplit(server.address).query}")
    return headers["set-cookie"].split(";")[0]


def talk(server, cookie=None, origin="own", host=None):
    """Open socket of a page."""
    headers = {"Cookie": cookie} if cookie else {}
    own = f"http://127.0.0.1:{server.port}"
    url = f"ws://{host or f'127.0.0.1:{server.port}'}/ws"
    return connect(
        url,
        sock=None if host is None else _to(server),
        origin=own if origin == "own" else origin,
        additional_headers=headers,
        compression=None,
        max_size=None,
        open_timeout=10,
    )


def _to(server):
    import socket

    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def test_the_address_is_of_this_machine_and_its_token_has_256_bits(server):
    parts = urlsplit(server.address)
    assert parts.hostname == "127.0.0.1"
    assert server._socket.getsockname()[0] == "127.0.0.1"
    token = parts.query.removeprefix("token=")
    assert len(token) == 43  # 32 bytes in base64


def test_the_token_gives_a_strict_cookie_and_the_page(server, cookie):
    status, headers, body = get(server, f"/?{urlsplit(server.address).query}")
    assert status == 200
    assert b'content="0;url=/"' in body  # leads to an address without the token
    assert headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert server.guard.token not in headers["set-cookie"]
    status, headers, body = get(server, "/", Cookie=cookie)
    assert status == 200
    assert b"<html" in body
    assert server.guard.token.encode() not in body


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token[]=x", "?token=%00", "?TOKEN=x"])
def test_wrong_tokens_are_refused(server, query):
    status, headers, _ = get(server, f"/{query}")
    assert status == 403
    assert "set-cookie" not in headers


def test_the_token_opens_the_first_page_only(server):
    query = urlsplit(server.address).query
    assert get(server, f"/app.js?{query}")[0] == 403


@pytest.mark.parametrize("path", ["/", "/app.js", "/app.css", "/nothing"])
def test_nothing_is_served_without_the_cookie(server, cookie, path):
    assert get(server, path)[0] == 403
    name = cookie.split("=")[0]
    assert get(server, path, Cookie=f"{name}=wrong")[0] == 403
    assert get(server, path, Cookie=f"{name}={server.guard.token}")[0] == 403
    assert get(server, path, Cookie="=;;; \x01")[0] in (400, 403)


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}",
                                  "127.0.0.1.evil.example:{port}", "0.0.0.0:{port}"])  # fmt: skip
def test_other_hosts_are_refused_even_with_the_cookie(server, cookie, host):
    status, headers, _ = get(server, "/", host=host.format(port=server.port), Cookie=cookie)
    assert status in (400, 403)
    assert "set-cookie" not in headers
    query = urlsplit(server.address).query
    assert get(server, f"/?{query}", host=host.format(port=server.port))[0] in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1",
                                    "http://127.0.0.1:{port}.evil.example"])  # fmt: skip
def test_pages_of_other_sites_are_refused_even_with_the_cookie(server, cookie, origin):
    origin = origin.format(port=server.port)
    assert get(server, "/", Cookie=cookie, Origin=origin)[0] == 403
    with pytest.raises(InvalidStatus, match="403"):
        talk(server, cookie, origin)


def test_localhost_is_this_machine_too(server, cookie):
    assert get(server, "/", host=f"localhost:{server.port}", Cookie=cookie)[0] == 200


def test_sockets_need_cookie_origin_and_host(server, cookie):
    for wrong in (
        {"cookie": None},
        {"cookie": f"lowdim-{server.port}=wrong"},
        {"cookie": cookie, "origin": None},
        {"cookie": cookie, "host": f"evil.example:{server.port}"},
    ):
        with pytest.raises(InvalidStatus, match="403"):
            talk(server, **wrong)
    with talk(server, cookie) as channel:
        channel.send(encode(Message("hello", 1)))
        assert decode(channel.recv(timeout=10)).fields["n"] == 30


def test_every_answer_says_what_a_page_may_do(server, cookie):
    for path, headers in (
        ("/", {"Cookie": cookie}),
        ("/app.js", {"Cookie": cookie}),
        ("/", {}),
        ("/no", {"Cookie": cookie}),
    ):
        _, answer, _ = get(server, path, **headers)
        policy = answer["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer["x-content-type-options"] == "nosniff"
        assert answer["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer
        assert "server" not in answer


@pytest.mark.parametrize("path", ["/../pyproject.toml", "/..%2f..%2fsession.py", "/%2e%2e/session.py", "/session.py",
                                  "//etc/passwd", "/static/app.js", "/app.js%00.html", "/C:/x", "/.%5cx"])  # fmt: skip
def test_no_path_from_the_page_is_opened(server, cookie, path):
    status, _, body = get(server, path, Cookie=cookie)
    assert status == 404
    assert b"import" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_do_nothing(server, cookie, method):
    assert get(server, "/", method=method, Cookie=cookie)[0] == 405


def test_messages_beyond_the_limit_close_the_socket(server, cookie):
    with talk(server, cookie) as channel:
        with suppress(ConnectionClosed):
            channel.send(bytes(UPLOAD_BYTES + 2**20 + 1))
        with pytest.raises(ConnectionClosed) as closed:
            channel.recv(timeout=30)
    told = closed.value.rcvd  # nothing, where the socket was closed while the message was on its way
    assert told is None or told.code == 1009
    assert get(server, "/", Cookie=cookie)[0] == 200


def test_noise_is_answered_and_text_ends_the_page_but_not_the_server(server, cookie):
    with talk(server, cookie) as channel:
        channel.send(struct.pack("<I", 2**31) + b"x")
        assert decode(channel.recv(timeout=10)).type == "error"
        channel.send("text")
        with pytest.raises(ConnectionClosed):
            channel.recv(timeout=10)
    with talk(server, cookie) as channel:
        channel.send(encode(Message("hello", 1)))
        assert decode(channel.recv(timeout=10)).type == "hello"
