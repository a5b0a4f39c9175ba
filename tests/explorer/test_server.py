"""Pages over a real socket: live frames, two tabs, a tab that is closed, a server that stops, the command line."""

import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from http.cookiejar import CookieJar

import numpy as np
import pytest
from talking import wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from lowdim.cli import main
from lowdim.explorer.message_format import Message, decode, encode, pack_bits
from lowdim.explorer.opening import open_session
from lowdim.explorer.server import Server, serving


class Tab:
    """A page behind a socket that answers its frames, as the real one does."""

    def __init__(self, address):
        jar = CookieJar()
        urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar)).open(address, timeout=10).read()
        (cookie,) = jar
        base = address.split("/?")[0]
        self.opening = connect(
            f"{base.replace('http', 'ws')}/ws",
            origin=base,
            additional_headers={"Cookie": f"{cookie.name}={cookie.value}"},
            compression=None,
            max_size=None,
        )
        self.number = 0
        self.seen = []

    def __enter__(self):
        self.channel = self.opening.__enter__()
        return self

    def __exit__(self, *error):
        return self.opening.__exit__(*error)

    def next(self, timeout=30):
        message = decode(self.channel.recv(timeout=timeout))
        if message.type == "frame":
            fields = {"map": message.fields["map"], "frame": message.fields["frame"]}
            self.channel.send(encode(Message("ack", None, fields)))
        self.seen.append(message)
        return message

    def ask(self, type, arrays=None, **fields):
        self.number += 1
        self.channel.send(encode(Message(type, self.number, fields, arrays or {})))
        while (message := self.next()).id != self.number:
            pass
        return message

    def until(self, condition):
        while not condition(message := self.next()):
            pass
        return message


@pytest.fixture
def session(rng):
    y = np.repeat([0, 1, 2], 100)
    return open_session(rng.normal(size=(300, 5)) + 5.0 * np.eye(3, 5)[y], y, title="three")


def test_frames_come_while_a_fit_runs_and_the_last_is_the_map(session):
    with serving(session) as server, Tab(server.address) as tab:
        number = tab.ask("fit", method="tsne", parameters={"max_iter": 5000}).fields["map"]
        tab.until(lambda message: message.type == "frame" and message.fields["iteration"] > 0)
        tab.ask("stop", map=number)
        last = tab.until(lambda message: message.type == "frame" and message.fields["final"])
        one = session.map(number)
        assert one.status == "stopped"
        low, high = np.array(last.fields["box"]).T
        positions = low + last.arrays["positions"] / 65535 * (high - low)
        np.testing.assert_allclose(positions, one.positions(), atol=(high - low).max() / 65535)


def test_two_tabs_share_maps_and_labels_and_one_can_go(session):
    with serving(session) as server, Tab(server.address) as first, Tab(server.address) as second:
        first.ask("select", {"mask": pack_bits(np.arange(300) < 7)})
        first.ask("label", column="mine", name="a")
        number = first.ask("fit", method="tsne", parameters={"max_iter": 10**6}).fields["map"]
        first.channel.close()
        second.until(lambda message: message.type == "frame" and message.fields["map"] == number)
        assert (second.ask("column", name="mine").arrays["codes"][:7] == 0).all()
        wait_for(lambda: len(session._listeners) == 1)  # the closed tab is forgotten
        second.ask("stop", map=number)


def test_a_server_that_stops_ends_fits_and_tells_its_pages(session):
    with ExitStack() as stack:
        with serving(session) as server:
            tab = stack.enter_context(Tab(server.address))
            tab.ask("fit", method="tsne", parameters={"max_iter": 10**6})
        with pytest.raises(ConnectionClosed):
            tab.until(lambda _: False)
    assert not any(one.alive for one in session.maps.values())


def test_slow_questions_do_not_hold_up_quick_ones(session, monkeypatch):
    from threading import Event

    from lowdim.explorer import selection_analysis

    go = Event()
    monkeypatch.setattr(selection_analysis, "distortion", lambda *_: go.wait(30) and Message("distortion"))
    with serving(session) as server, Tab(server.address) as tab:
        tab.channel.send(encode(Message("distortion", 77, {"map": 1, "k": 5})))
        assert tab.ask("hello").fields["n"] == 300
        assert 77 not in [message.id for message in tab.seen]
        go.set()
        assert tab.until(lambda message: message.id == 77).type == "distortion"


def test_a_port_in_use_is_told(session):
    with serving(session) as server, pytest.raises(OSError, match=f"port {server.port} cannot be used"):
        Server(session, server.port)


ENDINGS = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_command_prints_its_address_serves_and_ends_without_losing_labels(ending, tmp_path):
    command = [sys.executable, "-m", "lowdim", "explore", "iris", "--no-browser", "-q"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
        with Tab(address) as tab:
            hello = tab.ask("hello").fields
            assert (hello["title"], hello["n"]) == ("iris", 150)
            assert hello["columns"][1]["name"] == "sepal length (cm)"
            if not any(one["frame"] for one in hello["maps"]):  # PCA, at once
                tab.until(lambda message: message.type == "frame")
            tab.ask("select", {"mask": pack_bits(np.arange(150) < 3)})
            tab.ask("label", column="mine", name="a")
            process.send_signal(getattr(signal, ending))
            _, told = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, told
    assert "wrote the labels to iris-labels.csv" in told
    assert (tmp_path / "iris-labels.csv").read_text().splitlines()[:2] == ["row,mine", "0,a"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["explore", "iris", "--host", "0.0.0.0"], "ssh -L"),
        (["explore", "no_such_file.csv"], "there is none"),
        (["explore", "iris", "--method", "tsn"], "Did you mean 'tsne'"),
        (["explore", "iris", "--port", "70000"], "70000"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_served(args, words, capsys):
    with pytest.raises(SystemExit) as left:
        main(args)
    assert left.value.code == 2
    assert words in capsys.readouterr().err
