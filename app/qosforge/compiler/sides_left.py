"""Sides of interfaces that no scope names, and whose policy is somebody else's: they stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from qosforge.configtree import ConfigLine, Grammar, Tree, object_name
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.scope import OWN_PREFIX
from qosforge.note import note
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.plan.request import DeviceRequest


class SideLeft(NamedTuple):
    """A side with the policy that it keeps."""

    interface: str
    direction: Literal["input", "output"]
    policy: str


def find_sides_left(request: DeviceRequest, running: Plan) -> tuple[SideLeft, ...]:
    """The sides of requested interfaces that a device's policies stay on."""
    found = []
    for wanted in request.interfaces:
        there = running.interface(wanted.name) or InterfacePlan(name=wanted.name)
        sides: tuple[tuple[Literal["input", "output"], bool, str | None], ...] = (
            ("input", wanted.recognise or wanted.trust, there.ingress.policy),
            ("output", wanted.schedule, there.egress.policy),
        )
        for direction, named, policy in sides:
            # A policy of ours is what an earlier version of the intent put there.
            if not named and policy is not None and not policy.upper().startswith(OWN_PREFIX):
                found.append(SideLeft(wanted.name, direction, policy))
    return tuple(found)


def leave_sides(plan: Plan, left: tuple[SideLeft, ...], running: Plan) -> Plan:
    """The plan with those sides as the device has them."""
    names = {(side.interface, side.direction) for side in left}
    interfaces = []
    for made in plan.interfaces:
        there, changes = running.interface(made.name) or made, dict[str, object]()
        if (made.name, "input") in names:
            changes["ingress"] = there.ingress
        if (made.name, "output") in names:
            changes["egress"] = there.egress
        interfaces.append(made.model_copy(update=changes) if changes else made)
    return plan.model_copy(update={"interfaces": tuple(interfaces)})


def keep_attachments(tree: Tree, left: tuple[SideLeft, ...], grammar: Grammar) -> Tree:
    """The tree with the lines kept by which those sides have their policies."""
    sides: dict[str, set[str]] = {}
    for side in left:
        sides.setdefault(f"interface {side.interface}", set()).add(side.direction)

    def kept(line: ConfigLine, directions: set[str], context: str) -> ConfigLine:
        found = grammar.find(line.text, context)
        attaches = found is not None and found[0].attaches.format(**found[1]) in directions
        return replace(line, kept=line.kept or attaches)

    def keeping(line: ConfigLine) -> ConfigLine:
        directions, found = sides.get(object_name(line.text)), grammar.find(line.text, "")
        if directions is None or found is None:
            return line
        return replace(line, children=tuple(kept(child, directions, found[0].id) for child in line.children))

    return tuple(map(keeping, tree))


def tell_sides_left(device: str, left: tuple[SideLeft, ...]) -> Iterator[Finding]:
    """``policy-left``: one finding for each side."""
    for side in left:
        yield note(
            "policy-left",
            Place(device=device, interface=side.interface, direction=side.direction),
            policy=side.policy,
        )
