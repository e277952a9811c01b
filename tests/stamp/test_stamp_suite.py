"""The sender and the reflector against stamp-suite, an implementation by others, through a router that drops."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qosforge.errors import ServiceError
from qosforge.stamp.sender import Session, SessionResult, run_session
from qosforge.stamp.summary import summarize
from tests.patience import PATIENCE

from .namespaces import Hosts, inside, two_hosts
from .test_sessions import in_namespaces, reflecting

pytestmark = [pytest.mark.stamp_suite, in_namespaces]

PORT = 8620
LOSSY = "tc qdisc replace dev p2 root tbf rate 400kbit burst 3000 limit 8000"
"""On the way there alone: what exceeds it is lost in the router."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with two_hosts() as made:
        yield made


@pytest.fixture
def lossy(hosts: Hosts) -> Iterator[None]:
    hosts.run(hosts.r, *LOSSY.split())
    try:
        yield
    finally:
        hosts.run(hosts.r, "tc", "qdisc", "del", "dev", "p2", "root")


def program(namespace: str, *arguments: object) -> list[str]:
    found = shutil.which("stamp-suite")
    assert found is not None
    return ["ip", "netns", "exec", namespace, found, *map(str, arguments)]


@contextmanager
def their_reflector(hosts: Hosts, address: str, *arguments: str) -> Iterator[None]:
    command = program(hosts.h2, "--is-reflector", "-S", address, "-o", PORT, *arguments)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            yield
        finally:
            running.terminate()


def measured(session: Session, hosts: Hosts) -> SessionResult:
    """What our sender measures once the other end has begun."""
    end = time.monotonic() + PATIENCE
    with inside(hosts.h1):
        while True:
            try:
                run_session(Session(session.host, session.port, packets=1, wait_seconds=0.2))
                break
            except ServiceError:
                if time.monotonic() > end:
                    raise
        return run_session(session)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("timestamps", ["NTP", "PTP"])
def test_their_reflector_tells_our_sender_delays_and_marks(hosts: Hosts, version: int, timestamps: str) -> None:
    address = hosts.addresses[version][1]
    with their_reflector(hosts, address, "-K", timestamps):
        result = measured(
            Session(address, PORT, dscp=46, ip_bytes=200, rate_bps=1e6, packets=100, wait_seconds=0.5), hosts
        )
    summary = summarize(result)
    assert (summary.sent, summary.lost, summary.reordered) == (100, 0, 0)
    assert {each.ttl for each in result.exchanges} == {63}  # one router on the way
    assert summary.answer_dscps == (0,)  # it gives no mark back unless an extension asks for it
    # Both have the clock of this machine: each way takes more than nothing, and less than the whole.
    assert 0 < summary.forward.least < summary.round_trip.most
    assert 0 < summary.backward.least < summary.round_trip.most
    assert abs(summary.offset.ahead_ns) <= summary.offset.error_ns + 1


@pytest.mark.parametrize("version", [4, 6])
def test_their_counting_reflector_tells_our_sender_the_direction_of_loss(
    hosts: Hosts, version: int, lossy: None
) -> None:
    address = hosts.addresses[version][1]
    with their_reflector(hosts, address, "--stateful-reflector"):
        session = Session(address, PORT, ip_bytes=800, rate_bps=4e6, packets=200, wait_seconds=0.5)
        summary = summarize(measured(session, hosts))
    assert summary.lost_forward is not None
    assert summary.lost_forward > 100
    assert summary.lost_backward == 0
    assert summary.forward.most > 100e6  # 8,000 bytes before it at 400 kb/s


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("timestamps", ["NTP", "PTP"])
def test_our_reflector_answers_their_sender(hosts: Hosts, version: int, timestamps: str) -> None:
    address = hosts.addresses[version][1]
    words = ["--count", 50, "--send-delay", "10ms", "--dscp", 46, "--ssid", 4242, "-K", timestamps]
    with reflecting(address, namespace=hosts.h2) as reflector:
        command = program(hosts.h1, "-r", address, "-p", reflector.port, "-S", hosts.addresses[version][0], *words)
        said = subprocess.run([*command, "--output-format", "json"], capture_output=True, text=True, check=True)
    seen = json.loads(said.stdout.splitlines()[-1])["measurements"]
    assert (seen["answered_probes"], seen["unknown_replies"], seen["reordered_replies"]) == (50, 0, 0)
    assert seen["reply_rtt"]["samples"] == 50
    assert (reflector.answered, reflector.refused) == (50, 0)
