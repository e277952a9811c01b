"""What a Linux router has counted: packets by the chains of classes, drops by their queues."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from qosforge.plan.model import Plan
from qosforge.platforms.base import Direction, QueueCount
from qosforge.platforms.linux_tc.numbering import queue_of

RULES = "nft -j list table inet qosforge"
_SIDES: dict[str, Direction] = {"in": "input", "out": "output"}
_CLASS = re.compile(r"^class htb (?P<id>\S+) .*\n\s*Sent \d+ bytes \d+ pkt \(dropped (?P<drops>\d+),", re.MULTILINE)


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """What a router that holds a plan is asked for its counters."""
    trees = [f"tc -s class show dev {i.name}" for i in plan.interfaces if i.egress.scheduler]
    has_rules = any(i.ingress.rules or i.egress.rules for i in plan.interfaces)
    return (*((RULES,) if has_rules else ()), *trees)


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """The counts of every class, by the names of its chain.

    Raises:
        ValueError: an answer is not what the command prints.
    """
    found = []
    drops = {
        (i.name, number): int(match["drops"])
        for i in plan.interfaces
        for match in _CLASS.finditer(answers.get(f"tc -s class show dev {i.name}", ""))
        if (number := queue_of(match["id"])) is not None
    }
    numbers = {(i.name, r.name): r.queue for i in plan.interfaces for r in i.egress.rules}
    for rule in _counted(answers.get(RULES, '{"nftables": []}')):
        side, interface, name = rule["chain"].split("/", 2)
        counted = rule["expr"][0]["counter"]
        direction = _SIDES[side]
        number = numbers.get((interface, name)) if direction == "output" else None
        found.append(
            QueueCount(
                interface,
                direction,
                name,
                counted["packets"],
                drops=drops.get((interface, number)) if number is not None else None,
                size_bytes=counted["bytes"],
            )
        )
    return tuple(found)


def _counted(answer: str) -> list[dict[str, Any]]:
    try:
        entries = json.loads(answer)["nftables"]
        rules = [entry["rule"] for entry in entries if "rule" in entry]
        return [r for r in rules if r["chain"].count("/") >= 2 and "counter" in r["expr"][0]]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"no table of nft as JSON: {error}") from None
