"""What a Linux router has counted: packets by the chains of classes, drops by their queues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from napalm_linux_tc.answers import read_json, understood, whole

from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.model import Discipline, Egress, Plan, Scheduler
from qosforge.platforms.base import Direction, QueueCount
from qosforge.platforms.linux_tc.class_tree import every_queue, queues_in
from qosforge.platforms.linux_tc.numbering import band_of, queue_of

RULES, CLASSES = "nft -j list table inet qosforge", "tc -s class show dev"
_SLASHES = 2
"""In the name of a class's chain, at least: ``out/wan0/voice``."""
_SIDES: dict[str, Direction] = {"in": "input", "out": "output"}
_CLASS = re.compile(
    r"^class (?:htb|hfsc|ets|prio|drr) (?P<id>[0-9a-f]{1,4}:[0-9a-f]{1,4}) (?!.*leaf [14]: ).*\n"
    r"\s*Sent \d+ bytes \d+ pkt \(dropped (?P<drops>\d+),",
    re.MULTILINE,
)
"""The class of a queue: that of a band which holds a tree of HTB or ``drr`` has the drops of all in it."""


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """What a router that holds a plan is asked for its counters."""
    trees = [f"{CLASSES} {i.name}" for i in plan.interfaces if i.egress.scheduler]
    has_rules = any(i.ingress.rules or i.egress.rules for i in plan.interfaces)
    return (*((RULES,) if has_rules else ()), *trees)


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """The counts of every class, by the names of its chain.

    Raises:
        ValueError: an answer is not what the command prints.
    """
    queues = {(i.name, name): leaves for i in plan.interfaces for name, leaves in _queues(i.egress)}
    drops = _drops(answers, plan)
    with understood(RULES):
        return tuple(_counts(answers.get(RULES, '{"nftables": []}'), queues, drops))


def _queues(egress: Egress, above: str = "") -> Iterator[tuple[str, tuple[int, ...]]]:
    """The innermost queues of each class by the name of its chain, which is behind those that it is in."""
    queues = {queue.number: queue for queue in egress.scheduler.queues} if egress.scheduler else {}
    for rule in egress.rules:
        queue = queues.get(rule.queue) if rule.queue is not None else None
        if queue is None:
            continue
        inside = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(queue,))
        yield f"{above}{rule.name}", tuple(q.number for q in every_queue(inside) if not queues_in(q))
        if queue.child is not None:
            yield from _queues(queue.child, f"{above}{rule.name}/")


def _drops(answers: Mapping[str, str], plan: Plan) -> dict[tuple[str, int], int]:
    """Packets that each queue dropped, by interface and number."""
    found = {}
    for interface in plan.interfaces:
        command = f"{CLASSES} {interface.name}"
        with understood(command):
            for match in _CLASS.finditer(answers.get(command, "")):
                queue = queue_of(match["id"]) if (band := band_of(match["id"])) is None else band
                if queue is not None:
                    found[interface.name, queue] = whole(int(match["drops"]))
    return found


def _counts(
    answer: str, queues: Mapping[tuple[str, str], tuple[int, ...]], drops: Mapping[tuple[str, int], int]
) -> Iterator[QueueCount]:
    for rule in (entry["rule"] for entry in read_json(answer, RULES)["nftables"] if "rule" in entry):
        if rule["chain"].count("/") < _SLASHES or "counter" not in rule["expr"][0]:
            continue
        side, interface, name = rule["chain"].split("/", _SLASHES)
        counted = rule["expr"][0]["counter"]
        direction = _SIDES[side]
        *above, own = name.split("/")
        if above and own == RESERVED_CLASS:
            continue  # the rest of a class is in the count of that class
        leaves = queues.get((interface, name), ()) if direction == "output" else ()
        dropped = [drops[interface, number] for number in leaves if (interface, number) in drops]
        yield QueueCount(
            interface,
            direction,
            own,
            whole(counted["packets"]),
            drops=sum(dropped) if dropped else None,
            size_bytes=whole(counted["bytes"]),
        )
