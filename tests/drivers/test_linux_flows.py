"""Queues that have a class for each flow they hold: these come and go, and are nobody's configuration."""

from __future__ import annotations

import json

import pytest
from napalm_linux_tc.shown import Answers, shown_lines

LINKS = json.dumps([{"ifname": "eth0", "flags": ["UP"], "mtu": 1500}])
SFQ = {"kind": "sfq", "handle": "20:", "dev": "eth0", "options": {"limit": 127, "quantum": 1514}}
ROOTS = {
    "prio": (
        {"bands": 3, "priomap": [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], "multiqueue": False},
        "class prio 1:2 parent 1: leaf 20: \n",
        "1:2",
    ),
    "htb": (
        {"r2q": 10, "default": "0x20"},
        "class htb 1:20 root leaf 20: prio 0 rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b \n",
        "1:20",
    ),
}


@pytest.mark.parametrize("kind", ROOTS)
def test_flows_of_a_queue_are_no_lines(kind: str) -> None:
    options, held, parent = ROOTS[kind]
    root = {"kind": kind, "handle": "1:", "dev": "eth0", "root": True, "options": options}
    qdiscs = json.dumps([root, {**SFQ, "parent": parent}])
    quiet, busy = (
        shown_lines(Answers(links=LINKS, qdiscs=qdiscs, classes={"eth0": held + flows}))
        for flows in ("", "class sfq 20:3a parent 20: \nclass sfq 20:1b parent 20: \n")
    )
    assert busy == quiet
    assert any(" parent " in line and " sfq " in line for line in quiet)
