"""Trees of classes on a stock kernel in virtual time: they read back, and packets are in the innermost classes."""

from __future__ import annotations

import re
import shlex
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from napalm_linux_tc import LinuxTcDriver

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Network
from qosforge.plan.shares import leaf_paths
from tests.compiler.support import made_text

from .test_schedulers import DEVICE, FEW, enter, push, router, running

__all__ = ["router"]

pytestmark = [pytest.mark.needs("virtual-time-network"), pytest.mark.timeout(1200)]


@st.composite
def class_trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Classes inside classes to three levels, told by ports, at most one with priority among those of a level."""
    ports = count(1000)

    def level(depth: int, near: str) -> list[dict[str, Any]]:
        made = []
        priority = draw(st.integers(-1, 2))
        for at in range(draw(st.integers(1, 3))):
            name = f"{near}{at}"
            treatment: dict[str, Any] = {"bandwidth": {"percent": draw(st.integers(1, 30))}}
            if depth < 3 and draw(st.booleans()):
                treatment["children"] = level(depth + 1, name)
            elif at == priority:
                treatment = {"priority": {"percent": draw(st.integers(1, 30))}}
            else:
                treatment |= draw(st.sampled_from(QUEUES))
            treatment |= draw(st.sampled_from(LIMITS)) if "priority" not in treatment else {}
            port = next(ports)
            below = [c["match"] for c in treatment.get("children", ()) if "match" in c]
            inside = [port, *(p for match in below for p in match["any"][0]["destination_port"])]
            made.append({"name": name, **told_by(inside), "treatment": treatment})
        if draw(st.booleans()):
            rest = {"children": level(depth + 1, f"{near}d")} if depth < 3 and draw(st.booleans()) else {}
            made.append({"name": "default", "treatment": rest})
        return made

    return level(1, "c")


QUEUES: list[dict[str, Any]] = [{}, {"queue_limit": {"packets": 20}}, {"fair_queue": True}, {"wred": {}}]
LIMITS: list[dict[str, Any]] = [{}, {}, {"bounded": True}, {"shape": {"percent": 60}}]


def told_by(ports: list[int]) -> dict[str, Any]:
    return {"match": {"any": [{"protocol": "udp", "destination_port": ports}]}}


def test_trees_of_classes_read_back_as_they_were_meant_and_are_undone(router: LinuxTcDriver) -> None:
    depths: list[int] = []

    @given(class_trees())
    @FEW
    def check(classes: list[dict[str, Any]]) -> None:
        before = running(router)
        made = compiled_classes(classes, before)
        assert not [f for f in made.findings if f.severity is Severity.ERROR]
        scheduler = made.plan.interfaces[-1].egress.scheduler
        assert scheduler is not None
        depths.append(max(map(len, leaf_paths(scheduler))))
        push(router, made, before)

    check()
    assert max(depths) == 3


SEND_TO_PORTS = """
import socket
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port, packets in ((1001, 10), (1002, 20), (1003, 30), (1004, 40), (1005, 50)):
    for _ in range(packets):
        to.sendto(b"x" * 100, ("198.51.100.2", port))
"""


def test_packets_are_in_the_queue_of_the_innermost_class_that_takes_them(router: LinuxTcDriver) -> None:
    """By the kernel's own count of each class; what the classes below leave is that of their parent's rest."""
    before = running(router)
    inner = {"name": "inner", **told_by([1001]), "treatment": {"bandwidth": {"percent": 50}}}
    outer = {"name": "outer", **told_by([1001, 1002, 1003]), "treatment": {"children": [inner]}}
    last = {"name": "last", **told_by([1005]), "treatment": {"bandwidth": {"percent": 50}}}
    # The class takes its packets first, whatever those of the default class ask for.
    rest = {"name": "default", "treatment": {"children": [last, {"name": "never", **told_by([1002])}]}}
    candidate = make_candidate(compiled_classes([outer, rest], before), before)
    enter(router, candidate.delta)
    counted = "tc -s class show dev wan0"
    asked = f"python3 -c {shlex.quote(SEND_TO_PORTS)} && sleep 1"
    answer = router.cli([asked, counted])[counted]
    shown = re.finditer(r"^class hfsc (\S+) .*\n Sent \d+ bytes (\d+) pkt", answer, re.MULTILINE)
    packets = {found[1]: int(found[2]) for found in shown}
    # outer 1:10, default 1:11; inner 1:12, the rest of outer 1:13; last 1:14, never 1:15, and the rest 1:16
    assert [packets.get(f"1:1{at}") for at in (2, 3, 4, 5)] == [10, 50, 50, 0]
    assert packets["1:16"] >= 40
    enter(router, candidate.inverse)
    assert running(router) == before


def compiled_classes(classes: list[dict[str, Any]], before: str) -> CompiledDevice:
    """Classes for a router that holds ``before``."""
    sides = [{"interfaces": "lan", "direction": "input"}, {"interfaces": "wan", "direction": "output"}]
    intent = parse_intent(made_text(classes, apply=sides), "made.yaml")
    alone = Network(name="one", devices=(DEVICE,), links=(), stations=())
    (made,) = compile_intent(intent, alone, {"r1": before}).devices
    return made
