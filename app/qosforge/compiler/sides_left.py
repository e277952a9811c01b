"""Sides of interfaces that no scope names, and that are somebody else's: they stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from qosforge.configtree import ConfigLine, Grammar, Tree, object_name
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.scope import OWN_PREFIX
from qosforge.note import note
from qosforge.plan.model import InterfacePlan, Plan, Trust
from qosforge.plan.request import DeviceRequest


class SideLeft(NamedTuple):
    """A side with the policy that it keeps; an input without one trusts an IP phone."""

    interface: str
    direction: Literal["input", "output"]
    policy: str | None


def find_sides_left(request: DeviceRequest, running: Plan) -> tuple[SideLeft, ...]:
    """The sides of requested interfaces that no scope names and that have a policy or trust an IP phone."""
    found = []
    for wanted in request.interfaces:
        there = running.interface(wanted.name) or InterfacePlan(name=wanted.name)
        phone = there.ingress.trust is Trust.PHONE
        sides: tuple[tuple[Literal["input", "output"], bool, str | None, bool], ...] = (
            ("input", wanted.recognise or wanted.trust, there.ingress.policy, phone),
            ("output", wanted.schedule, there.egress.policy, False),
        )
        for direction, named, policy, trusting in sides:
            # A policy of ours is what an earlier version of the intent put there, with what stands beside it.
            ours = policy is not None and policy.upper().startswith(OWN_PREFIX)
            if not (named or ours) and (trusting or policy is not None):
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
    """The tree with the lines kept by which those sides have their policies, and what they have beside these."""
    sides: dict[str, set[str]] = {}
    for side in left:
        sides.setdefault(f"interface {side.interface}", set()).add(side.direction)

    def kept(line: ConfigLine, directions: set[str], context: str) -> ConfigLine:
        found = grammar.find(line.text, context)
        rule, values = found or (None, {})
        theirs = rule is not None and (rule.attaches.format(**values) in directions or rule.side in directions)
        return replace(line, kept=line.kept or theirs)

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
            **({"variant": "trust"} if side.policy is None else {"policy": side.policy}),
        )
