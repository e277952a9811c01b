"""Read a 2970's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qosforge.configtree import ConfigLine
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, System, Trust
from qosforge.platforms.abbreviations import is_number, read_tree, verbatim
from qosforge.platforms.catalyst_2970.grammar import GRAMMAR
from qosforge.platforms.catalyst_2970.levels import QueueBuffers, depths
from qosforge.platforms.catalyst_2970.read_queues import SwitchQueues
from qosforge.platforms.catalyst_2970.scheduling import (
    best_effort,
    default_shape,
    default_share,
    shaped_round_robin,
)
from qosforge.platforms.ios_switch.abbreviations import SYNTAX
from qosforge.platforms.ios_switch.reader import PORT, SwitchReader

_QOS = re.compile(
    r"(?:no )?(?:mls qos|srr-queue|priority-queue|queue-set|service-policy|auto qos|switchport priority)\b.*"
)


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``.

    While QoS is off the device changes no mark and has one queue: its maps do nothing, and the plan has none.
    """
    del image  # the releases differ in what they accept, not in how it reads
    # What a class says nothing of gets DSCP 0: a policy stands for the trust of its port.
    reading = SwitchReader(read_tree(text, GRAMMAR, SYNTAX), unmarked=0)
    queues = SwitchQueues()
    switched_on = any(line.text == "mls qos" for line in reading.tree)
    for line in reading.tree:
        if line.text in ("mls qos", "no mls qos") or reading.read_map(line):
            continue
        if _QOS.fullmatch(line.text) and not queues.read(line):
            reading.miss(line)
    for line in queues.unheld():
        reading.miss(line)
    ports = [(line, match[1]) for line in reading.tree if (match := PORT.fullmatch(line.text))]
    held = {number: depths(queues.queue_set(number), queues.maps) for number in (1, 2)}
    interfaces = tuple(_interface(reading, held, line, name, switched_on=switched_on) for line, name in ports)
    maps = queues.maps
    system = System(
        cos_to_dscp=tuple(reading.cos_to_dscp),
        dscp_to_cos=tuple(reading.dscp_to_cos),
        cos_to_queue=tuple(queue for queue, _ in maps.cos),
        dscp_to_queue=tuple(queue for queue, _ in maps.dscp),
        policed_dscp=tuple(reading.policed_dscp),
        input_queues=queues.input_queues,
    )
    reading.read_unattached(_QOS)
    plan = Plan(
        device=device,
        platform="catalyst_2970",
        system=system if switched_on else System(),
        interfaces=interfaces,
        unknown=reading.unknown,
    )
    return verbatim(plan, text)


def _weights(words: list[str], low: int, high: int) -> tuple[int, ...] | None:
    if len(words) == 4 and all(is_number(w, low, high) for w in words):
        return tuple(int(w) for w in words)
    return None


def _interface(
    reading: SwitchReader,
    buffers: Mapping[int, tuple[QueueBuffers, ...]],
    port: ConfigLine,
    name: str,
    *,
    switched_on: bool,
) -> InterfacePlan:
    """``buffers`` are the depths of the queues in each queue set."""
    expedite, limit, queue_set = False, None, 1
    share, shape = default_share(), default_shape()
    rest = []
    for line in port.children:
        match line.text.split():
            case ["priority-queue", "out"]:
                expedite = True
            case ["srr-queue", "bandwidth", "share", *words] if found := _weights(words, 1, 255):
                share = found
            case ["srr-queue", "bandwidth", "shape", *words] if found := _weights(words, 0, 65535):
                shape = found
            case ["srr-queue", "bandwidth", "limit", value] if is_number(value, 10, 90):
                limit = int(value)
            case ["queue-set", value] if is_number(value, 1, 2):
                queue_set = int(value)
            case ["no", "priority-queue", "out"] | ["no", "queue-set", *_] | ["no", "srr-queue", "bandwidth", *_]:
                pass
            case _:
                rest.append(line)
    ingress = _ingress(reading, port, rest)
    if not switched_on:
        # What else the port holds waits for QoS to be switched on; only the marks are left alone until then.
        waiting = Ingress(policy=ingress.policy, trust=Trust.KEEP, port_cos=ingress.port_cos)
        return InterfacePlan(name=name, ingress=waiting, egress=Egress(scheduler=best_effort(limit)))
    scheduler = shaped_round_robin(share, shape, expedite=expedite, limit=limit, depths=buffers[queue_set])
    return InterfacePlan(name=name, ingress=ingress, egress=Egress(scheduler=scheduler))


def _ingress(reading: SwitchReader, port: ConfigLine, lines: list[ConfigLine]) -> Ingress:
    trust, port_cos, phone, override = Trust.NONE, 0, False, False
    policy: str | None = None
    rules: tuple[Rule, ...] = ()
    for line in lines:
        match line.text.split():
            case ["mls", "qos", "trust"] | ["mls", "qos", "trust", "dscp"]:
                trust = Trust.DSCP
            case ["mls", "qos", "trust", "cos"]:
                trust = Trust.COS
            case ["mls", "qos", "trust", "device", "cisco-phone"]:
                phone = True
            case ["no", "mls", "qos", "trust" | "cos" | "dscp-mutation", *_]:
                pass
            case ["mls", "qos", "cos", "override"]:
                override = True
            case ["mls", "qos", "cos", value] if is_number(value, 0, 7):
                port_cos = int(value)
            case ["service-policy", "input", attached]:
                policy = attached
                rules = reading.rules(line, attached, port.text)
            case ["auto", "qos", "voip", *_]:
                pass  # what it typed stands beside it
            case _ if _QOS.fullmatch(line.text):
                reading.miss(line, port.text)
    if policy:
        # A port has a policy or a trust, not both.
        return Ingress(policy=policy, trust=Trust.NONE, port_cos=port_cos, rules=rules)
    if override:
        return reading.overridden(port_cos)
    return Ingress(trust=reading.phone(trust, port) if phone else trust, port_cos=port_cos)
