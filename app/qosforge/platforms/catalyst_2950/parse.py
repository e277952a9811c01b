"""Read a 2950's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re

from qosforge.configtree import ConfigLine
from qosforge.plan.model import Ingress, InterfacePlan, Plan, Scheduler, System, Trust
from qosforge.platforms.abbreviations import is_number, read_tree, verbatim
from qosforge.platforms.catalyst_2950.capabilities import default_cos_to_queue
from qosforge.platforms.catalyst_2950.grammar import GRAMMAR
from qosforge.platforms.catalyst_2950.scheduling import round_robin, strict_priority
from qosforge.platforms.ios_switch.abbreviations import SYNTAX
from qosforge.platforms.ios_switch.reader import PORT, SwitchReader

_QOS = re.compile(
    r"(?:no )?(?:mls qos|wrr-queue|priority-queue|service-policy|auto qos|switchport priority|rate-limit)\b.*"
)


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    reading = SwitchReader(read_tree(text, GRAMMAR, SYNTAX))
    queues = list(default_cos_to_queue())
    scheduler = strict_priority()
    for line in reading.tree:
        if reading.read_map(line):
            continue
        scheduler = _scheduler(line) or scheduler
        match line.text.split():
            case ["no", "wrr-queue", "cos-map"]:
                pass
            case ["wrr-queue", "cos-map", queue, *values] if _in_range([queue], 1, 4) and _in_range(values, 0, 7):
                for value in values:
                    queues[int(value)] = int(queue)
            case _ if _QOS.fullmatch(line.text) and _scheduler(line) is None:
                reading.miss(line)
    ports = [(line, match[1]) for line in reading.tree if (match := PORT.fullmatch(line.text))]
    interfaces = tuple(InterfacePlan(name=name, ingress=_ingress(reading, line)) for line, name in ports)
    reading.read_unattached(_QOS)
    plan = Plan(
        device=device,
        platform="catalyst_2950",
        system=System(
            cos_to_dscp=tuple(reading.cos_to_dscp),
            dscp_to_cos=tuple(reading.dscp_to_cos),
            cos_to_queue=tuple(queues),
            scheduler=scheduler,
        ),
        interfaces=interfaces,
        unknown=reading.unknown,
    )
    return verbatim(plan, text)


def _in_range(words: list[str], low: int, high: int) -> bool:
    return bool(words) and all(is_number(w, low, high) for w in words)


def _scheduler(line: ConfigLine) -> Scheduler | None:
    match line.text.split():
        case ["no", "wrr-queue", "bandwidth"]:
            return strict_priority()
        case ["wrr-queue", "bandwidth", *weights] if len(weights) == 4 and _in_range(weights, 0, 255):
            return round_robin([int(w) for w in weights])
    return None


def _ingress(reading: SwitchReader, port: ConfigLine) -> Ingress:
    trust, port_cos, policy, phone = Trust.NONE, 0, None, False
    rules = Ingress().rules
    override: ConfigLine | None = None
    for line in port.children:
        match line.text.split():
            case ["mls", "qos", "trust", "cos", *rest]:
                trust = Trust.COS
                if rest:  # the DSCP passes unchanged, which the plan does not hold
                    reading.miss(line, port.text)
            case ["mls", "qos", "trust"] | ["mls", "qos", "trust", "dscp"]:
                trust = Trust.DSCP
            case ["mls", "qos", "trust", "device", "cisco-phone"]:
                phone = True
            case ["no", "mls", "qos", "trust", *_] | ["no", "mls", "qos", "cos", *_]:
                pass
            case ["mls", "qos", "cos", "override"]:
                override = line
            case ["mls", "qos", "cos", value] if _in_range([value], 0, 7):
                port_cos = int(value)
            case ["service-policy", "input", name]:
                policy = name
                rules = reading.rules(line, name, port.text)
            case ["auto", "qos", "voip", *_]:
                pass  # what it typed stands beside it
            case _ if _QOS.fullmatch(line.text):
                reading.miss(line, port.text)
    # A policy on the port supersedes its trust.
    if policy is None and override is not None:
        return reading.overridden(port_cos)
    if phone and policy is None:
        trust = reading.phone(trust, port)
    return Ingress(policy=policy, trust=Trust.NONE if policy else trust, port_cos=port_cos, rules=rules)
