"""Sides of interfaces that no scope names, and that are somebody else's: they stay as they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from qosforge.configtree import ConfigLine, Grammar, Tree, object_name
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.scope import OWN_PREFIX
from qosforge.note import note
from qosforge.plan.model import Efficiency, InterfacePlan, InterfacePolicer, Plan, Trust
from qosforge.plan.request import DeviceRequest


class SideLeft(NamedTuple):
    """A side with the policy that it keeps; without one an input trusts an IP phone, or ``others`` are there."""

    interface: str
    direction: Literal["input", "output"]
    policy: str | None
    others: tuple[str, ...] = ()


def find_sides_left(request: DeviceRequest, running: Plan) -> tuple[SideLeft, ...]:
    """The sides of requested interfaces that no scope names and that have a policy, or something else of others."""
    found = []
    for wanted in request.interfaces:
        there = running.interface(wanted.name) or InterfacePlan(name=wanted.name)
        phone = there.ingress.trust is Trust.PHONE
        limited = tuple(_rate_limits(there.ingress.policers, running))
        beside = (*_link(there), *_rate_limits(there.egress.policers, running))
        sides: tuple[tuple[Literal["input", "output"], bool, str | None, bool, tuple[str, ...]], ...] = (
            ("input", wanted.recognise or wanted.trust, there.ingress.policy, phone, limited),
            ("output", wanted.schedule, there.egress.policy, False, beside),
        )
        for direction, named, policy, trusting, others in sides:
            # A policy of ours is what an earlier version of the intent put there, with what stands beside it.
            ours = policy is not None and policy.upper().startswith(OWN_PREFIX)
            if not (named or ours) and (trusting or others or policy is not None):
                found.append(SideLeft(wanted.name, direction, policy, others))
    return tuple(found)


def _rate_limits(policers: tuple[InterfacePolicer, ...], running: Plan) -> Iterator[str]:
    """Rate limits of an interface, unless access lists of ours (their remark says so) are in them."""
    lists = [int(p.access_list) for p in policers if p.access_list and p.access_list.isdecimal()]
    if policers and all(number in running.foreign_lists for number in lists):
        yield "rate limits"


def _link(there: InterfacePlan) -> Iterator[str]:
    """What an interface does to its link beside a policy."""
    held = there.efficiency
    if held.header_compression:
        yield "header compression"
    if held != Efficiency(multilink=held.multilink, header_compression=held.header_compression):
        yield "fragments"
    if there.egress.transmit_ring is not None:
        yield "the transmit ring"
    if there.circuit is not None and there.circuit.dlci is not None and there.circuit.sustained is not None:
        yield "the map class of the circuit"


def leave_sides(plan: Plan, left: tuple[SideLeft, ...], running: Plan) -> Plan:
    """The plan with those sides as the device has them."""
    names = {(side.interface, side.direction) for side in left}
    interfaces = []
    for made in plan.interfaces:
        there, changes = running.interface(made.name) or made, dict[str, object]()
        if (made.name, "input") in names:
            changes["ingress"] = there.ingress
        if (made.name, "output") in names:
            changes |= {"egress": there.egress, "efficiency": there.efficiency, "circuit": there.circuit}
        interfaces.append(made.model_copy(update=changes) if changes else made)
    return plan.model_copy(update={"interfaces": tuple(interfaces)})


def keep_attachments(tree: Tree, left: tuple[SideLeft, ...], grammar: Grammar) -> Tree:
    """The tree with the lines kept by which those sides have their policies, and what they have beside these."""
    sides: dict[str, set[str]] = {}
    for side in left:
        sides.setdefault(f"interface {side.interface}", set()).add(side.direction)

    def kept(line: ConfigLine, directions: set[str], context: str) -> ConfigLine:
        found = grammar.find(line.text, context)
        if found is None:
            return line
        rule, values = found
        stated = [side.format_map(defaultdict(str, values)) for side in (rule.attaches, rule.side)]
        below = tuple(kept(child, directions, rule.id) for child in line.children)
        return replace(line, kept=line.kept or any(side in directions for side in stated), children=below)

    def keeping(line: ConfigLine) -> ConfigLine:
        directions, found = sides.get(object_name(line.text)), grammar.find(line.text, "")
        if directions is None or found is None:
            return line
        return replace(line, children=tuple(kept(child, directions, found[0].id) for child in line.children))

    return tuple(map(keeping, tree))


def _left_words(side: SideLeft) -> dict[str, str]:
    if side.policy is not None:
        return {"policy": side.policy}
    return {"variant": "lines", "lines": " and ".join(side.others)} if side.others else {"variant": "trust"}


def tell_sides_left(device: str, left: tuple[SideLeft, ...]) -> Iterator[Finding]:
    """``policy-left``: one finding for each side."""
    for side in left:
        yield note(
            "policy-left",
            Place(device=device, interface=side.interface, direction=side.direction),
            **_left_words(side),
        )
