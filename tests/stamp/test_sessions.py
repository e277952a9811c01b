"""A sender and a reflector: on loopback, through a router, with loss, and against peers that do it otherwise."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import pytest

from qosforge.errors import InputError, ServiceError
from qosforge.stamp.packet import Answer, ErrorEstimate, SenderPacket, encode_time
from qosforge.stamp.reflector import Reflector
from qosforge.stamp.sender import Session, run_session
from qosforge.stamp.summary import summarize
from tests.cli.conftest import Command, qosforge

from .namespaces import Hosts, inside, two_hosts, why_not

__all__ = ["qosforge"]

QOSFORGE = "from qosforge.cli.entry import main; main()"
missing = why_not()
in_namespaces = pytest.mark.skipif(missing is not None, reason=missing or "")


@contextmanager
def reflecting(host: str, *, stateless: bool = False, namespace: str | None = None) -> Iterator[Reflector]:
    done = threading.Event()
    with inside(namespace) if namespace else nullcontext():
        opened = Reflector(host, 0, stateless=stateless)
    with opened as reflector:
        serving = threading.Thread(target=reflector.serve, args=(done.is_set,))
        serving.start()
        try:
            yield reflector
        finally:
            done.set()
            serving.join()


@contextmanager
def answering(reply: Callable[[bytes], list[bytes]]) -> Iterator[int]:
    """A peer on loopback that answers each packet as ``reply`` says; its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))

        def serve() -> None:
            while (got := peer.recvfrom(65_535))[0] != b"end":
                for payload in reply(got[0]):
                    peer.sendto(payload, got[1])

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield peer.getsockname()[1]
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"end", peer.getsockname())
            serving.join()


def answer_to(payload: bytes, number: int | None = None, *, late_ns: int = 0) -> bytes:
    packet = SenderPacket.decode(payload)
    sent = int.from_bytes(packet.stamp)
    moment = (sent + (late_ns << 32) // 10**9).to_bytes(8)
    return Answer(
        packet.sequence if number is None else number,
        moment,
        ErrorEstimate(True, 1e-3).encode(),
        packet.session,
        moment,
        packet.sequence,
        packet.stamp,
        packet.estimate,
        64,
    ).encode(44)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_every_packet_is_answered_with_its_dscp_size_and_number(host: str) -> None:
    with reflecting(host) as reflector:
        session = Session(host, reflector.port, dscp=46, ip_bytes=200, rate_bps=1e6, packets=40)
        result = run_session(session)
    summary = summarize(result)
    assert (summary.sent, summary.answered, summary.lost, summary.reordered) == (40, 40, 0, 0)
    assert [each.number for each in result.exchanges] == list(range(40))
    assert {each.answer_dscp for each in result.exchanges} == {46}
    assert {each.ttl for each in result.exchanges} == {64}
    for each in result.exchanges:
        assert each.round_trip_ns is not None
        assert 0 < each.round_trip_ns < 10**9
    # Spread as the rate says: 40 packets of 1.6 ms each.
    assert result.exchanges[-1].sent_ns - result.exchanges[0].sent_ns >= 39 * session.interval_ns * 0.9


def test_loss_is_told_by_direction() -> None:
    got: list[int] = []

    def reply(payload: bytes) -> list[bytes]:
        sequence = SenderPacket.decode(payload).sequence
        if sequence % 5 == 1:  # lost on the way there: not counted
            return []
        got.append(sequence)
        return [] if sequence % 5 == 3 else [answer_to(payload, len(got) - 1)]  # or on the way back

    with answering(reply) as port:
        session = Session("127.0.0.1", port, rate_bps=4e6, packets=50, wait_seconds=0.2)
        summary = summarize(run_session(session))
    assert (summary.sent, summary.lost) == (50, 20)
    assert (summary.lost_forward, summary.lost_backward, summary.unknown) == (10, 10, 0)
    assert summary.round_trip.quantiles["p50"] is not None
    assert summary.round_trip.quantiles["p95"] is None  # lost packets are never dropped from the sample


def test_a_reflector_that_does_not_count_leaves_the_direction_unknown() -> None:
    with answering(
        lambda payload: [] if SenderPacket.decode(payload).sequence == 2 else [answer_to(payload)]
    ) as port:
        session = Session("127.0.0.1", port, rate_bps=4e6, packets=9, wait_seconds=0.2)
        summary = summarize(run_session(session))
    assert (summary.lost, summary.lost_forward, summary.lost_backward, summary.unknown) == (1, None, None, 0)


def test_what_is_no_answer_of_this_session_counts_for_nothing() -> None:
    def reply(payload: bytes) -> list[bytes]:
        forged = bytearray(answer_to(payload))
        forged[28:36] = encode_time(0)  # not the moment that was sent
        return [b"short", bytes(forged), answer_to(payload), answer_to(payload)]

    with answering(reply) as port:
        result = run_session(Session("127.0.0.1", port, rate_bps=4e6, packets=10, wait_seconds=0.2))
    assert summarize(result).answered == 10
    assert result.foreign >= 19  # those behind the last answer are not waited for
    assert result.copies >= 9


def test_the_offset_of_another_clock_is_measured_within_its_error() -> None:
    ahead = 3_000_000_000
    with answering(lambda payload: [answer_to(payload, late_ns=ahead)]) as port:
        result = run_session(Session("127.0.0.1", port, rate_bps=4e6, packets=20))
    offset = summarize(result).offset
    assert abs(offset.ahead_ns - ahead) <= offset.error_ns + 1
    assert offset.error_ns < 10**8
    assert result.remote == ErrorEstimate(True, result.remote.error_seconds)
    assert 1e-3 <= result.remote.error_seconds < 1.01e-3


def test_answers_that_overtake_each_other_are_counted() -> None:
    held: list[bytes] = []

    def reply(payload: bytes) -> list[bytes]:
        held.append(answer_to(payload))
        if len(held) < 2:
            return []
        both = held[::-1]
        held.clear()
        return both

    with answering(reply) as port:
        summary = summarize(run_session(Session("127.0.0.1", port, rate_bps=4e6, packets=20)))
    assert (summary.lost, summary.reordered) == (0, 10)


def test_short_packets_of_twamp_light_are_answered_and_others_are_not() -> None:
    with reflecting("127.0.0.1") as reflector, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as light:
        light.settimeout(5)
        light.connect(("127.0.0.1", reflector.port))
        light.send(b"nonsense")
        stamp = encode_time(10**18)
        for sequence in (0, 1):
            light.send(sequence.to_bytes(4) + stamp + b"\0\1")
            read = Answer.decode(light.recv(100))
            assert (read.sequence, read.sender_sequence, read.sender_stamp) == (sequence, sequence, stamp)
    assert (reflector.answered, reflector.refused) == (2, 1)


def test_nobody_there_is_told() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        with pytest.raises(ServiceError, match="none of 2 packets was answered"):
            run_session(Session("127.0.0.1", port, rate_bps=4e6, packets=2, wait_seconds=0.1))
        with pytest.raises(ServiceError, match="cannot be taken"):
            Reflector("127.0.0.1", port)
    with pytest.raises(ServiceError, match="the port is closed"):
        run_session(Session("127.0.0.1", port, rate_bps=4e6, packets=2, wait_seconds=0.1))


@pytest.mark.parametrize(
    ("session", "message"),
    [
        (Session("127.0.0.1", ip_bytes=71), "72 to 65535 bytes"),
        (Session("::1", ip_bytes=91), "92 to"),
        (Session("127.0.0.1", rate_bps=0), "cannot be sent"),
        (Session("127.0.0.1", packets=0), "cannot be sent"),
        (Session("127.0.0.1", source_host="::1"), "different families"),
        (Session("no host of this name"), "has no address"),
    ],
)
def test_impossible_sessions_are_refused(session: Session, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_session(session)


def test_the_command_measures_and_says_what_is_wrong(qosforge: Command) -> None:
    with reflecting("::1") as reflector:
        ended = qosforge(
            "probe", "sender", "::1", "--port", reflector.port, "--dscp", "ef", "--rate", "1 Mb/s", "--json"
        )
        document = json.loads(ended.stdout)
        assert document["summary"]["lost"] == 0
        assert {packet["answer_dscp"] for packet in document["packets"]} == {46}
        table = qosforge("probe", "sender", "::1", "--port", reflector.port, "--rate", "1 Mb/s")
        assert "50 sent, 0 lost, 0 out of order" in table.stdout
    refused = qosforge("probe", "sender", "::1", "--dscp", "gold")
    assert (refused.code, "gold" in refused.stderr) == (2, True)


def test_answers_with_another_mark_are_told(qosforge: Command) -> None:
    with answering(lambda payload: [answer_to(payload)]) as port:
        told = qosforge("probe", "sender", "127.0.0.1", "--port", port, "--dscp", "ef", "--rate", "1 Mb/s")
        unmarked = qosforge("probe", "sender", "127.0.0.1", "--port", port, "--rate", "1 Mb/s", "--json")
    assert "answers came with DSCP default instead of DSCP ef" in told.stdout
    assert json.loads(unmarked.stdout)["summary"]["answer_dscps"] == [0]
    with reflecting("127.0.0.1") as reflector:
        same = qosforge(
            "probe", "sender", "127.0.0.1", "--port", reflector.port, "--dscp", "ef", "--rate", "1 Mb/s"
        )
    assert (same.code, "answers came with" in same.stdout) == (0, False)


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with two_hosts() as made:
        yield made


@in_namespaces
@pytest.mark.parametrize("version", [4, 6])
def test_probes_measure_through_a_router_that_loses_packets(hosts: Hosts, version: int) -> None:
    """A token bucket on the router's port, a middle hop: what exceeds it is lost on the way there."""
    address = hosts.addresses[version][1]
    shaper = "tc qdisc replace dev p2 root tbf rate 400kbit burst 3000 limit 8000"
    hosts.run(hosts.r, *shaper.split())
    with reflecting(address, namespace=hosts.h2) as reflector, inside(hosts.h1):
        session = Session(
            address, reflector.port, dscp=34, ip_bytes=800, rate_bps=4e6, packets=200, wait_seconds=0.5
        )
        result = run_session(session)
    summary = summarize(result)
    assert summary.sent == 200
    assert summary.lost_forward is not None
    assert summary.lost_forward > 100
    assert summary.lost_backward == 0
    assert {each.ttl for each in result.exchanges} == {63, None}  # one router on the way
    assert {each.answer_dscp for each in result.exchanges} == {34, None}
    # 8,000 bytes before it at 400 kb/s: what gets through waits up to 160 ms, on the way there alone.
    assert summary.forward.most > 100e6
    assert summary.backward.mean < summary.forward.mean / 5


def test_the_reflectors_command_ends_when_it_is_told_to() -> None:
    command = [sys.executable, "-c", QOSFORGE, "probe", "reflector", "127.0.0.1", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(4)]
        port = json.loads("".join(lines))["port"]
        result = run_session(Session("127.0.0.1", port, rate_bps=1e6, packets=3))
        running.terminate()
        _, told = running.communicate(timeout=30)
    assert summarize(result).lost == 0
    assert running.returncode == 0
    assert "3 packets answered, 0 were none of the protocol" in told
