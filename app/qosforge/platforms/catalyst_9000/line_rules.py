"""Rules about the lines of Catalyst 9000 switches: eight queues, three thresholds, priority beside other shares.

Sources: those of the capability data; EasyQoS design guide (2P6Q3T); Cisco document 200729, common QoS error
messages on Catalyst 3850.
"""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.commands import PlacedLine
from qosforge.note import because
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.line_rules import ConfigurationLines, Fault, not_together, sum_above, too_many
from qosforge.platforms.mqc import line_rules as mqc
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.mqc.list_rules import access_lists

_BUFFERS = 100
_DEPTH = 2
_MATCHES = ("dscp", "cos", "precedence")


def queueing(lines: ConfigurationLines) -> Iterator[Fault]:
    """What the queues of a port have: how many, which shares, buffers and thresholds."""
    policies = lines.named("policy-map")
    for policy in policies.values():
        if not mqc.queues(policy, {}):
            continue
        classes = list(policy.all("class"))
        count = CAPABILITIES.queues.value
        named = [held for held in classes if held.name != CLASS_DEFAULT]
        yield from too_many("queues of a port", named, count - 1, "EasyQoS design guide, 2P6Q3T")
        detected = [red for held in classes if (red := held.first("red")) is not None]
        yield from too_many(
            "queues with WRED", detected, CAPABILITIES.wred.classes, "capability data of the platform"
        )
        yield from _one_by_one(classes)


def _one_by_one(classes: list[PlacedLine]) -> Iterator[Fault]:
    priority = next((line for held in classes for line in held.all("priority")), None)
    buffers = 0
    for held in classes:
        for line in held.all("bandwidth"):
            if priority is not None and not {"remaining_percent", "ratio"} & line.values.keys():
                yield not_together(line, priority.text, "beside priority there are shares of the rest alone")
        for line in held.all("buffers"):
            buffers += line.values["percent"]
            if buffers > _BUFFERS:
                yield sum_above("buffers of the queues", line, buffers, _BUFFERS, "%")
        if (first := held.first("priority")) is not None and (shape := held.first("shape")) is not None:
            yield not_together(shape, first.text, "a class with priority has no shape")
        tail, red = held.first("tail"), held.first("red")
        if tail is not None and red is not None:
            yield not_together(tail, red.text, "a queue has thresholds of queue-limit or of random-detect")
        for rows in (list(held.all("tail")), list(held.all("red-row"))):
            marks = [(line.get("percent"), line.get("minimum"), line.get("maximum")) for line in rows]
            most = CAPABILITIES.queues.thresholds
            if len(dict.fromkeys(marks)) > most:
                last = rows[marks.index(list(dict.fromkeys(marks))[most])]
                yield from too_many("thresholds of a queue", [rows[0]] * most + [last], most, "2P6Q3T")


def marks_alone(lines: ConfigurationLines) -> Iterator[Fault]:
    """The classes of queueing policies are told by marks: lists are for inputs."""
    policies, maps = lines.named("policy-map"), lines.named("class-map")
    for policy in policies.values():
        if not mqc.queues(policy, {}):
            continue
        for held in policy.all("class"):
            class_map = maps.get(held.name)
            for match in class_map.below if class_map is not None else ():
                if match.id in ("match", "match-acl", "match-class") and not set(_MATCHES) & match.values.keys():
                    why = f"{policy.text} queues, and tells packets by marks alone"
                    yield Fault(match, because("policy-side", why=why))


def _nested(lines: ConfigurationLines) -> Iterator[Fault]:
    return mqc.nested(lines, _DEPTH)


LINE_RULES = (
    mqc.shares,
    mqc.exclusive,
    mqc.bounds,
    _nested,
    mqc.sides,
    queueing,
    marks_alone,
    access_lists,
)
"""The rules of these switches."""
