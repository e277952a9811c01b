"""Queues of Linux routers that serve their flows in turn: the kernel's ``fq_codel``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from napalm_linux_tc.shown import Answers, shown_lines

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Severity
from qosforge.plan.model import Queue
from qosforge.platforms.base import platform
from qosforge.tester.scenario.queues import twin_queue

from .test_linux_virtual_queues import HARDWARE, lowered, queues_of, reads_back

LINUX = platform("linux_tc")
KERNEL = f"modprobe sch_htb\nmodprobe sch_hfsc\nmodprobe sch_red\nmodprobe sch_fq_codel\n{HARDWARE}"
FLAT = KERNEL.replace("modprobe sch_hfsc\n", "")


def fair(running: str = KERNEL, fair_queue: object = True, **treatment: object) -> CompiledDevice:
    """A class of 30 % of 10 Mb/s whose flows are served in turn."""
    web = {
        "name": "web",
        "match": {"any": [{"dscp": 18}]},
        "treatment": {"bandwidth": {"percent": 30}, "fair_queue": fair_queue, **treatment},
    }
    return lowered(web, running=running)


def first(made: CompiledDevice) -> Queue:
    return queues_of(made)[0]


@pytest.mark.parametrize("running", [KERNEL, FLAT])
@pytest.mark.parametrize(
    ("asked", "limit", "entered"),
    [
        (True, {}, "limit 64 flows 1024"),
        ({"flows": 256}, {"queue_limit": {"packets": 200}}, "limit 200 flows 256"),
        (True, {"queue_limit": {"bytes": "150 kB"}}, "limit 100 flows 1024"),
    ],
)
def test_it_is_entered_and_reads_back(running: str, asked: object, limit: dict[str, object], entered: str) -> None:
    made = fair(running, asked, **limit)
    assert (
        f"handle 10: fq_codel {entered} quantum 1514 target 1024s interval 1024s memory_limit 1073741824b "
        "drop_batch 1 noecn"
    ) in made.text
    assert reads_back(made)
    assert [f for f in made.findings if f.severity is not Severity.INFO] == []


def test_a_limit_in_bytes_becomes_packets_and_that_is_told() -> None:
    made = fair(queue_limit={"bytes": "150 kB"})
    found = [f for f in made.findings if f.code == "queue-limit-approximate"]
    assert [(f.requested, f.applied) for f in found] == [("150000 B", "100 packets")]
    assert [f for f in fair(queue_limit={"packets": 9}).findings if f.code == "queue-limit-approximate"] == []


@pytest.mark.parametrize(("prefer", "severity"), [(True, Severity.WARNING), (False, Severity.ERROR)])
def test_a_kernel_without_it_is_told(prefer: bool, severity: Severity) -> None:
    made = fair(KERNEL.replace("modprobe sch_fq_codel\n", ""), {"prefer": prefer})
    (found,) = [f for f in made.findings if f.code == "fair-queue-unsupported"]
    assert (found.severity, "scheduler fq_codel" in found.message) == (severity, True)
    assert not first(made).fair


def test_early_detection_beside_it_is_refused() -> None:
    made = fair(wred=True)
    (found,) = [f for f in made.findings if f.code == "wred-unsupported"]
    assert "serves its flows in turn" in found.message
    assert (first(made).fair, first(made).red) == (True, None)


def test_a_scheduler_in_use_is_known_of_a_router_that_tells_of_none() -> None:
    made = fair()
    again = fair(HARDWARE + made.text)
    assert again.plan.interface("wan0") == made.plan.interface("wan0")
    assert [f.applied for f in again.findings if f.code == "schedulers-untold"] == ["fq_codel, hfsc, htb"]


def test_the_twin_serves_as_many_flows_in_turn() -> None:
    described = twin_queue(first(fair(fair_queue={"flows": 512}, queue_limit={"packets": 90})), "web")
    assert described.fair_queue is not None
    assert (described.fair_queue.dynamic_queues, described.limit_packets, described.red) == (512, 90, None)


OPTIONS = {
    "limit": 64,
    "flows": 256,
    "quantum": 1514,
    "target": 1_024_000_000,
    "interval": 1_024_000_000,
    "memory_limit": 1 << 30,
    "drop_batch": 1,
}


@pytest.mark.parametrize(
    ("change", "ours"),
    [
        ({}, True),
        ({"target": 4999, "interval": 99999}, False),
        ({"ecn": True}, False),
        ({"drop_batch": 64}, False),
        ({"ce_threshold": 1000}, False),
    ],
)
def test_one_that_drops_by_age_is_shown_as_one_that_is_not_ours(change: dict[str, Any], ours: bool) -> None:
    """As ``tc`` of iproute2 6.1 shows it: with a class for each flow that waits."""
    qdiscs = [
        {"kind": "htb", "handle": "1:", "dev": "wan0", "root": True, "options": {"r2q": 10, "default": "0x10"}},
        {"kind": "fq_codel", "handle": "10:", "dev": "wan0", "parent": "1:10", "options": OPTIONS | change},
    ]
    classes = (
        "class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b\n"
        "class htb 1:10 parent 1:1 leaf 10: prio 1 quantum 1600 rate 3Mbit ceil 10Mbit burst 1600b cburst 1600b\n"
        "class fq_codel 10:3d parent 10: \n"
    )
    links = json.dumps([{"ifname": "wan0", "flags": ["UP"]}])
    lines = shown_lines(Answers(links=links, qdiscs=json.dumps(qdiscs), classes={"wan0": classes}))
    assert not any("10:3d" in line for line in lines)
    plan = LINUX.parse("\n".join(lines), "r", "")
    assert (plan.unknown == ()) is ours
    scheduler = plan.interfaces[0].egress.scheduler
    assert scheduler is not None
    assert scheduler.queues[0].fair is ours
