"""One POST, against receivers that answer as they should not."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from qosforge.webhooks.posting import NotDelivered, Poster, PostLimits
from qosforge.webhooks.targets import AllowList, parse_url
from tests.certificates import make_certificates
from tests.stopwatch import Stopwatch
from tests.webhooks.receiver import OK, Receiver, receiving, saying, status

pytestmark = pytest.mark.hostile

LOOPBACK = AllowList(["127.0.0.0/8", "localhost"])
SHORT = PostLimits(seconds=1.0, answer_bytes=64 << 10, body_seconds=0.3)


def post(receiver: Receiver, poster: Poster | None = None, path: str = "/hook") -> int:
    """Post once, within `SHORT` limits."""
    target = parse_url(receiver.url(path))
    return (poster or Poster(SHORT)).post(target, LOOPBACK.addresses(target), {"webhook-id": "m"}, b'{"a":1}')


def test_a_receiver_gets_the_body_and_the_headers() -> None:
    with receiving() as receiver:
        assert post(receiver, path="/hook?a=b") == 200
    (request,) = receiver.requests
    assert request.line == "POST /hook?a=b HTTP/1.1"
    assert request.body == b'{"a":1}'
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == "m"


def test_no_redirect_is_followed() -> None:
    with (
        receiving() as other,
        receiving(status(307, f"Location: {other.url()}")) as receiver,
        pytest.raises(NotDelivered, match="answered 307: redirects are not followed") as told,
    ):
        post(receiver)
    assert told.value.status == 307
    assert other.connections == 0


@pytest.mark.parametrize("code", [199, 304, 400, 404, 500, 503])
def test_whatever_is_no_success_is_reported_by_its_status(code: int) -> None:
    if code < 200:
        reply = saying(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        code = 101
    else:
        reply = status(code, "Retry-After: 120")
    with receiving(reply) as receiver, pytest.raises(NotDelivered, match=f"answered {code}") as told:
        post(receiver)
    assert told.value.retry_after == (None if code == 101 else 120.0)


def endless(piece: bytes, pause: float = 0.0, head: bytes = b"") -> Any:
    """Answers with a head, and then with the same piece for ever."""

    def reply(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause)

    return reply


HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "reply",
    [
        endless(b"x" * 4096, head=HEAD),
        endless(b"x", 0.05, HEAD),
        endless(b"1000\r\n" + b"x" * 4096 + b"\r\n", head=CHUNKED),
        endless(b"f" * 4096, head=CHUNKED),
        saying(HEAD.replace(b"\r\n\r\n", b"\r\nContent-Length: 99999999999\r\n\r\nshort")),
        saying(CHUNKED + b"no number\r\n"),
    ],
    ids=["endless", "dripping", "endless-chunks", "endless-chunk-length", "cut-short", "wrong-chunk"],
)
def test_what_follows_a_success_neither_undoes_it_nor_lasts(reply: Any) -> None:
    with receiving(reply) as receiver:
        watch = Stopwatch()
        assert post(receiver) == 200
        assert watch.seconds < 5


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (endless(b"x" * 4096), "no HTTP|too long|not connected"),
        (endless(b"X-More: " + b"y" * 100 + b"\r\n", head=HEAD[:-2]), "no HTTP|too long"),
        (endless(b"HTTP/1.1 100 Continue\r\n\r\n"), "too long|no answer within 1 s"),
        (endless(b"HTTP/1.1 100 Continue\r\n\r\n", 0.05), "no answer within 1 s"),
        (endless(b"H", 0.05), "no answer within 1 s"),
        (lambda _connection: time.sleep(3), "no answer within 1 s"),
        (saying(b"SSH-2.0-device\r\n"), "no HTTP"),
        (saying(b"HTTP/1.1 2000 OK\r\n\r\n"), "no HTTP"),
        (saying(b""), "no HTTP|not connected"),
        (saying(b"\x00\xff\x1b[31m evil\r\n\r\n"), "no HTTP"),
    ],
    ids=[
        *("endless-line", "endless-headers", "endless-100", "dripping-100", "dripping-head", "silent", "ssh"),
        *("wrong-status", "nothing", "binary"),
    ],
)
def test_what_is_no_answer_is_given_up_within_the_bounds(reply: Any, told: str) -> None:
    with receiving(reply) as receiver:
        watch = Stopwatch()
        with pytest.raises(NotDelivered, match=told) as error:
            post(receiver)
        assert watch.seconds < 5
    assert "evil" not in str(error.value)
    assert error.value.status is None


def test_who_takes_no_connection_is_reported() -> None:
    with receiving() as receiver:
        pass
    with pytest.raises(NotDelivered, match="not connected: Connection refused"):
        post(receiver)


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["127.0.0.1", "127.0.0.2"]
    real = socket.getaddrinfo

    def rebinding(host: str, *more: Any, **options: Any) -> Any:
        if host != "hooks.example.net":
            return real(host, *more, **options)
        return real(answers.pop(0) if len(answers) > 1 else answers[0], *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with receiving() as checked, receiving(host="127.0.0.2", port=checked.port) as victim:
        target = parse_url(f"https://hooks.example.net:{checked.port}/")
        places = AllowList(["127.0.0.1/32"]).addresses(target)
        with pytest.raises(NotDelivered, match="TLS"):  # the receiver speaks none; it was reached all the same
            Poster(SHORT).post(target, places, {}, b"{}")
        assert (checked.connections, victim.connections) == (1, 0)
        assert answers == ["127.0.0.2"]  # it was asked once


def test_a_post_under_way_is_cut_when_the_service_ends() -> None:
    poster = Poster(PostLimits(seconds=30))
    with receiving(lambda _connection: time.sleep(5)) as receiver:
        threading.Timer(0.3, poster.close).start()
        watch = Stopwatch()
        with pytest.raises(NotDelivered, match="the service ends"):
            post(receiver, poster)
        assert watch.seconds < 3
        with pytest.raises(NotDelivered, match="the service ends"):
            post(receiver, poster)


def test_https_is_checked_against_the_name_and_the_authorities(tmp_path: Path) -> None:
    authority, chain = make_certificates(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain)
    trusting = ssl.create_default_context(cafile=str(authority))
    with receiving(saying(OK), tls=server) as receiver:
        good = parse_url(f"https://localhost:{receiver.port}/hook")
        places = LOOPBACK.addresses(parse_url(f"https://127.0.0.1:{receiver.port}/"))
        assert Poster(SHORT, trusting).post(good, places, {}, b"{}") == 200
        with pytest.raises(NotDelivered, match="certificate is not good"):
            Poster(SHORT).post(good, places, {}, b"{}")
        other = parse_url(f"https://127.0.0.1:{receiver.port}/hook")
        with pytest.raises(NotDelivered, match="certificate is not good"):
            Poster(SHORT, trusting).post(other, places, {}, b"{}")
    assert [request.line for request in receiver.requests] == ["POST /hook HTTP/1.1"]
