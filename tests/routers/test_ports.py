"""What ports of a router bring along, on a stock kernel in virtual time: long packets, and filters of others."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest
from napalm_linux_tc import LinuxTcDriver
from napalm_linux_tc.answers import read_json

from qosforge.compiler.candidate import make_candidate

from .test_schedulers import BY_MARKS, PROFILES, compiled_class, enter, push, router, running, with_wred, without

__all__ = ["router"]

pytestmark = [pytest.mark.needs("virtual-time-network"), pytest.mark.timeout(1200)]

MTU = 9000
PACKETS = 3
SEND = f"""
import socket, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({PACKETS}):
    to.sendto(b"x" * {MTU - 28}, ("198.51.100.2", 9))
    time.sleep(0.05)
"""
"""One after another, since a bucket without classes has room for one that waits."""
SHARE: dict[str, object] = {"treatment": {"bandwidth": {"percent": 30}}}


@contextmanager
def changed(router: LinuxTcDriver, do: str, undo: str) -> Iterator[str]:
    """A port that somebody else changed, and what the router holds then."""
    asked(router, do)
    try:
        yield running(router)
    finally:
        asked(router, undo)


def asked(router: LinuxTcDriver, command: str) -> str:
    return str(router.cli([command])[command])


def counts(router: LinuxTcDriver, lines: Iterable[str]) -> tuple[int, int]:
    """Packets of the MTU's size that leave by the queues that lines make, and those that are dropped."""
    enter(router, lines)
    shown = asked(router, f"python3 -c {shlex.quote(SEND)} 2>/dev/null && sleep 1; tc -s -j qdisc show dev wan0")
    (root,) = [qdisc for qdisc in read_json(shown, "tc") if qdisc.get("root")]
    assert root["kind"] == "tbf"
    return root["packets"], root["drops"]


def test_packets_of_the_mtu_pass_a_bucket_also_before_it_holds_classes(router: LinuxTcDriver) -> None:
    asked(router, "ping -c 1 198.51.100.2")  # has the neighbour's address looked up
    with changed(router, f"ip link set wan0 mtu {MTU}", "ip link set wan0 mtu 1500") as before:
        assert f"ip link set dev wan0 mtu {MTU} up" in before.splitlines()
        made = compiled_class({**BY_MARKS, **SHARE}, without(before, "htb"))
        candidate = make_candidate(made, before)
        first = candidate.delta[0]
        assert " tbf rate " in first
        packets, drops = counts(router, [first])
        assert (packets >= PACKETS, drops) == (True, 0)
        enter(router, ["tc qdisc del dev wan0 root"])
        packets, drops = counts(router, candidate.delta)
        assert (packets >= PACKETS, drops) == (True, 0)
        enter(router, candidate.inverse)
        assert running(router) == before


def test_profiles_by_mark_fall_back_where_others_filter_the_input(router: LinuxTcDriver) -> None:
    with changed(router, "tc qdisc add dev wan0 ingress", "tc qdisc del dev wan0 ingress") as before:
        assert "Invalid qdisc name" in asked(router, "tc qdisc replace dev wan0 clsact")
        made = with_wred(BY_MARKS, {"profiles": PROFILES}, 30, before)
        assert [f.code for f in made.findings if f.code == "wred-unsupported"] == ["wred-unsupported"]
        push(router, made, before)
