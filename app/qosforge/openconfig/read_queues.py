"""Queues, forwarding groups, drop profiles and scheduler policies of a document."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.openconfig.document import JsonNode
from qosforge.openconfig.names import queue_key
from qosforge.openconfig.restrict import LAST_QUEUE
from qosforge.openconfig.scheduling import discipline, drop_denominator, drop_percent
from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.openconfig.write import CAP_LEAVES
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import Queue, Scheduler, Share, ShareUnit

UINT32, UINT64 = 2**32 - 1, 2**64 - 1
ONE_RATE = "ONE_RATE_TWO_COLOR"


@dataclass(frozen=True)
class QueueName:
    """A queue of the document: its number, and the name a device would have for it."""

    number: int
    name: str | None


def read_queues(qos: JsonNode, unmapped: UnmappedFields) -> dict[str, QueueName]:
    """Queues by name; one without an id gets the lowest number that is free."""
    rows = [(key, node.child("config").number("queue-id", LAST_QUEUE)) for key, node in _rows(qos, "queue")]
    used = {number for _, number in rows if number is not None}
    found = {}
    for key, given in rows:
        number = given
        if number is None:
            number = next(n for n in range(len(rows) + len(used) + 1) if n not in used)
            used.add(number)
            unmapped.note(
                "openconfig-queue-number-chosen",
                queue=key,
                number=number,
            )
        found[key] = QueueName(number, None if key == queue_key(number, None) else key)
    return found


def _rows(qos: JsonNode, name: str) -> list[tuple[str, JsonNode]]:
    return qos.child(f"{name}s").entries(name, "name")


def read_groups(qos: JsonNode, queues: dict[str, QueueName]) -> dict[str, int | None]:
    """The number of the queue of every forwarding group; None for one without."""
    found: dict[str, int | None] = {}
    for name, node in _rows(qos, "forwarding-group"):
        config = node.child("config")
        queue = config.text("output-queue")
        if queue is not None and queue not in queues:
            config.wrong("output-queue", f"there is no queue {queue!r}", "define it under queues")
        found[name] = queues[queue].number if queue in queues else None
    return found


def read_profiles(qos: JsonNode, unmapped: UnmappedFields) -> dict[str, Red | None]:
    """Drop profiles by name; None where the thresholds are not in bytes, or incomplete (they stay unread)."""
    found: dict[str, Red | None] = {}
    for name, node in _rows(qos, "queue-management-profile"):
        config = node.child("wred").child("uniform").child("config")
        if not all(map(config.has, ("min-threshold", "max-threshold", "max-drop-probability-percent"))):
            found[name] = None
            continue
        minimum, maximum = config.number("min-threshold", UINT64), config.number("max-threshold", UINT64)
        percent = config.number("max-drop-probability-percent", 100, first=1)
        weight = config.number("weight", UINT32)
        ecn = bool(config.flag("enable-ecn"))
        if config.members.get("drop") is True:
            config.flag("drop")
        if minimum is None or maximum is None or percent is None:
            found[name] = None
            continue
        denominator = drop_denominator(percent)
        if drop_percent(denominator) != percent:
            unmapped.note(
                "openconfig-value-approximate",
                requested=f"{percent} %",
                applied=f"1 in {denominator}",
                variant="drop-probability",
                name=name,
            )
        profile = RedProfile(minimum=minimum, maximum=maximum, denominator=denominator)
        exponent = {} if weight is None else {"weight_exponent": weight}
        found[name] = Red.model_validate({"unit": "bytes", "profiles": (profile,), "ecn": ecn, **exponent})
    return found


def read_policies(qos: JsonNode, queues: dict[str, QueueName], unmapped: UnmappedFields) -> dict[str, Scheduler]:
    """Scheduler policies by name: strict queues in the order of service, then those with weights."""
    found = {}
    for name, node in qos.child("scheduler-policies").entries("scheduler-policy", "name"):
        rows = node.child("schedulers").entries("scheduler", "sequence")
        numbered = [(row.as_number("sequence", key, UINT32), row) for key, row in rows]
        ordered = [row for _, row in sorted(numbered, key=lambda pair: pair[0] or 0)]
        strict = [_is_strict(row) for row in ordered]
        if strict != sorted(strict, reverse=True):
            unmapped.note(
                "openconfig-value-approximate",
                variant="order",
                name=name,
            )
        served = [q for row, first in zip(ordered, strict, strict=True) for q in _scheduler(row, first, queues)]
        listed = tuple(sorted(served, key=lambda q: not q.priority))
        if not listed:
            continue
        chosen = discipline(listed)
        if len(listed) == 1 and not listed[0].priority:
            listed = (listed[0].model_copy(update={"share": None}),)  # a weight beside nothing
        found[name] = Scheduler(discipline=chosen, queues=listed)
    return found


def _is_strict(row: JsonNode) -> bool:
    config = row.child("config")
    strict: bool = config.members.get("priority") == "STRICT"
    if strict:
        config.text("priority")
    return strict


def _scheduler(row: JsonNode, strict: bool, queues: dict[str, QueueName]) -> list[Queue]:
    inputs: list[tuple[int, Queue]] = []
    for _, node in row.child("inputs").entries("input", "id"):
        config = node.child("config")
        if config.members.get("input-type") != "QUEUE":
            continue
        config.text("input-type")
        key, weight = config.text("queue"), config.number("weight", UINT64)
        if key is None or key not in queues:
            config.wrong("queue", f"there is no queue {key!r}", "define it under queues")
            continue
        share = None if strict or weight is None else Share(unit=ShareUnit.WEIGHT, value=weight)
        entry = queues[key]
        inputs.append((weight or 0, Queue(number=entry.number, name=entry.name, priority=strict, share=share)))
    if not strict:
        return [queue for _, queue in inputs]
    # Inside one strict scheduler the higher weight is served first.
    ordered = [queue for _, queue in sorted(inputs, key=lambda pair: -pair[0])]
    cap = _cap(row) if len(ordered) == 1 else None
    return [q.model_copy(update={**cap, "capped": True}) if cap else q for q in ordered]


def _cap(row: JsonNode) -> dict[str, object] | None:
    """What a strict queue is policed to, with its burst; None where it says anything else (that stays unread)."""
    meter, general = row.child("one-rate-two-color"), row.child("config")
    config, exceed = meter.child("config"), meter.child("exceed-action").child("config")
    kind = str(general.members.get("type", "")).rpartition(":")[2]
    units = [unit for unit, leaf in CAP_LEAVES.items() if config.has(leaf)]
    drops = exceed.members.get("drop") is True
    if kind != ONE_RATE or len(units) != 1 or config.members.get("queuing-behavior") != "POLICE" or not drops:
        return None
    leaf, value = CAP_LEAVES[units[0]], config.members[CAP_LEAVES[units[0]]]
    number = config.as_number(leaf, value, UINT64 if units[0] is ShareUnit.KBPS else 100)
    if number is None or (units[0] is ShareUnit.KBPS and number % 1000):
        return None  # a plan's rates are whole kb/s
    for node, taken in ((general, "type"), (config, leaf), (config, "queuing-behavior"), (exceed, "drop")):
        node.any(taken)
    share = Share(unit=units[0], value=number // 1000 if units[0] is ShareUnit.KBPS else number)
    return {"share": share, "burst": config.number("bc", UINT32)}
