"""Commands of FTOS for policy maps: which class goes to which queue, under which QoS policy."""

from __future__ import annotations

from typing import Literal

from qoslab.boxes.force10_e300.qos import chassis, checked, existing, item, layer2_of, since, unused
from qoslab.boxes.force10_e300.state import PolicyMap, Service
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell
from qoslab.typed import Held, row

Direction = Literal["input", "output"]


def _policy_map(direction: Direction, shell: Shell, match: Match) -> None:
    held, name = chassis(shell).policy_maps[direction], match["name"]
    if match.negated:
        existing(held, name, "Policy-map")
        unused(chassis(shell).users_of_map(direction, name), "Policy-map")
        del held[name]
        return
    layer2 = layer2_of(shell, match)
    present = held.setdefault(checked(shell, name), PolicyMap(name, direction, layer2))
    if present.layer2 != layer2:
        raise Refused(f"% Error: Policy-map {name} already exists with another layer.")
    shell.enter(f"policy-map-{direction}", Held(name, present))


def _policy_map_input(shell: Shell, match: Match) -> None:
    _policy_map("input", shell, match)


def _policy_map_output(shell: Shell, match: Match) -> None:
    _policy_map("output", shell, match)


def _check_policy(shell: Shell, edited: PolicyMap, name: str) -> None:
    if edited.direction == "output":
        existing(chassis(shell).output_policies, name, "QoS policy")
    elif existing(chassis(shell).input_policies, name, "QoS policy").layer2 != edited.layer2:
        raise Refused(f"% Error: QoS policy {name} is of another layer.")


def _service_queue(shell: Shell, match: Match) -> None:
    edited, queue = item(shell, PolicyMap), match.number("queue")
    if match.negated:
        if edited.services.pop(queue, None) is None:
            raise Refused(f"% Error: Queue {queue} is not configured.")
        return
    if layer2_of(shell, match) and not edited.layer2:
        raise Refused(f"% Error: Policy-map {edited.name} is a layer3 policy-map.")
    service = Service(match.get("class"), match.get("policy"))
    if (
        service.class_map
        and existing(chassis(shell).class_maps, service.class_map, "Class-map").layer2 != edited.layer2
    ):
        raise Refused(f"% Error: Class-map {service.class_map} is of another layer.")
    if service.qos_policy:
        _check_policy(shell, edited, service.qos_policy)
    edited.services[queue] = service


def _aggregate(shell: Shell, match: Match) -> None:
    edited = item(shell, PolicyMap)
    if not match.negated:
        _check_policy(shell, edited, match["policy"])
    edited.aggregate = "" if match.negated else match["policy"]


def _trust(shell: Shell, match: Match) -> None:
    edited = item(shell, PolicyMap)
    if "fallback" in match:
        since(shell, match, "fallback", 8)
    edited.trust = "" if match.negated else match["what"]
    edited.fallback = not match.negated and "fallback" in match


POLICY_MAP_INPUT_ROWS: list[Row] = [
    row(
        "service-queue <0-7>:queue {class-map WORD:class [qos-policy WORD:policy]|qos-policy WORD:policy}"
        " [layer2:layer2]",
        _service_queue,
        no="service-queue <0-7>:queue [LINE]",
    ),
    row("policy-aggregate WORD:policy", _aggregate, no="policy-aggregate [WORD]"),
    row("trust {diffserv|dot1p}:what [fallback:fallback]", _trust, no="trust [LINE]"),
]

POLICY_MAP_OUTPUT_ROWS: list[Row] = [
    row(
        "service-queue <0-7>:queue qos-policy WORD:policy",
        _service_queue,
        no="service-queue <0-7>:queue [LINE]",
    ),
    row("policy-aggregate WORD:policy", _aggregate, no="policy-aggregate [WORD]"),
]

MAP_ROWS: list[Row] = [
    row("policy-map-input WORD:name [layer2:layer2]", _policy_map_input, no=True),
    row("policy-map-output WORD:name", _policy_map_output, no=True),
]
"""What configuration mode offers; each opens a mode of its own."""
