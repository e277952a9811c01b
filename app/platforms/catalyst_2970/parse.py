"""Read a 2970's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re

from app.configtree import Line
from app.dscp import parse_dscp
from app.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, System, Trust
from app.platforms.catalyst_2970.capabilities import default_cos_to_queue, default_dscp_to_queue
from app.platforms.catalyst_2970.grammar import GRAMMAR
from app.platforms.catalyst_2970.scheduling import (
    best_effort,
    default_shape,
    default_share,
    shaped_round_robin,
)
from app.platforms.handwriting import is_number, read_tree, verbatim
from app.platforms.ios_switch.handwriting import DIALECT
from app.platforms.ios_switch.reading import PORT, Reading

_QOS = re.compile(
    r"(?:no )?(?:mls qos|srr-queue|priority-queue|queue-set|service-policy|auto qos|switchport priority)\b.*"
)


def parse(text: str, device: str, platform: str = "catalyst_2970") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``.

    While QoS is off the box changes no mark and has one queue: its maps do nothing, and the plan has none.
    """
    reading = Reading(read_tree(text, GRAMMAR, DIALECT))
    cos_queue, dscp_queue = list(default_cos_to_queue()), list(default_dscp_to_queue())
    switched_on = any(line.text == "mls qos" for line in reading.tree)
    for line in reading.tree:
        if reading.read_map(line):
            continue
        match line.text.split():
            case ["mls", "qos"] | ["no", "mls", "qos"]:
                pass
            case ["no", "mls", "qos", "srr-queue", "output", "cos-map" | "dscp-map"]:
                pass
            case ["mls", "qos", "srr-queue", "output", "cos-map", *rest]:
                _queue_map(reading, line, rest, cos_queue)
            case ["mls", "qos", "srr-queue", "output", "dscp-map", *rest]:
                _queue_map(reading, line, rest, dscp_queue)
            case _ if _QOS.fullmatch(line.text):
                reading.miss(line)
    ports = [(line, match[1]) for line in reading.tree if (match := PORT.fullmatch(line.text))]
    interfaces = tuple(_interface(reading, line, name, switched_on) for line, name in ports)
    system = System(
        cos_to_dscp=tuple(reading.cos_to_dscp),
        dscp_to_cos=tuple(reading.dscp_to_cos),
        cos_to_queue=tuple(cos_queue),
        dscp_to_queue=tuple(dscp_queue),
    )
    reading.read_unattached(_QOS)
    plan = Plan(
        device=device,
        platform=platform,
        system=system if switched_on else System(),
        interfaces=interfaces,
        unknown=reading.unknown,
    )
    return verbatim(plan, text)


def _queue_map(reading: Reading, line: Line, words: list[str], table: list[int]) -> None:
    """Take ``queue Q threshold T values`` (or the old form without a threshold) into a table."""
    match words:
        case ["queue", queue, "threshold", threshold, *values] if is_number(queue, 1, 4) and values:
            pass
        case ["queue", queue, *values] if is_number(queue, 1, 4) and values:
            threshold = "1"
        case _:
            reading.miss(line)
            return
    try:
        numbers = [parse_dscp(v) for v in values]
        if max(numbers) >= len(table):
            raise ValueError(values)
    except ValueError:
        reading.miss(line)
        return
    for number in numbers:
        table[number] = int(queue)
    if threshold != "1":
        # The queue is understood; the plan holds no drop thresholds, so the line is told.
        reading.miss(line)


def _weights(words: list[str], low: int, high: int) -> tuple[int, ...] | None:
    if len(words) == 4 and all(is_number(w, low, high) for w in words):
        return tuple(int(w) for w in words)
    return None


def _interface(reading: Reading, port: Line, name: str, switched_on: bool) -> InterfacePlan:
    trust, port_cos = Trust.NONE, 0
    policy: str | None = None
    rules: tuple[Rule, ...] = ()
    share, shape, expedite, limit = default_share(), default_shape(), False, None
    for line in port.children:
        match line.text.split():
            case ["mls", "qos", "trust"] | ["mls", "qos", "trust", "dscp"]:
                trust = Trust.DSCP
            case ["mls", "qos", "trust", "cos"]:
                trust = Trust.COS
            case ["no", "mls", "qos", "trust"] | ["no", "priority-queue", "out"]:
                pass
            case ["mls", "qos", "cos", value] if is_number(value, 0, 7):
                port_cos = int(value)
            case ["service-policy", "input", attached]:
                policy = attached
                rules = reading.rules(line, attached, port.text)
            case ["priority-queue", "out"]:
                expedite = True
            case ["srr-queue", "bandwidth", "share", *words] if found := _weights(words, 1, 255):
                share = found
            case ["srr-queue", "bandwidth", "shape", *words] if found := _weights(words, 0, 65535):
                shape = found
            case ["srr-queue", "bandwidth", "limit", value] if is_number(value, 10, 90):
                limit = int(value)
            case _ if _QOS.fullmatch(line.text):
                reading.miss(line, port.text)
    if not switched_on:
        # What else the port holds waits for QoS to be switched on; only the marks are left alone until then.
        waiting = Ingress(policy=policy, trust=Trust.KEEP, port_cos=port_cos)
        return InterfacePlan(name=name, ingress=waiting, egress=Egress(scheduler=best_effort(limit)))
    if policy:
        trust = Trust.NONE  # a port has a policy or a trust, not both
    return InterfacePlan(
        name=name,
        ingress=Ingress(policy=policy, trust=trust, port_cos=port_cos, rules=rules),
        egress=Egress(scheduler=shaped_round_robin(share, shape, expedite, limit)),
    )
