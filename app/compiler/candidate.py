"""The candidate: what has to be entered into a box, and the inverse that undoes it."""

from __future__ import annotations

from dataclasses import dataclass

from app.compiler.compile import CompiledDevice
from app.configtree import as_text, merge, transition
from app.plan.model import Egress, Ingress, InterfacePlan, Plan, System
from app.platforms.base import platform


@dataclass(frozen=True)
class Candidate:
    """Delta against a running configuration, and the inverse; both empty when there is nothing to change."""

    device: str
    delta: tuple[str, ...]
    inverse: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether the box already holds the plan."""
        return not self.delta

    @property
    def text(self) -> str:
        """The delta as the text a driver takes."""
        return as_text(self.delta)


def make_candidate(device: CompiledDevice, running: str) -> Candidate:
    """The candidate that brings a box from ``running`` to the device's plan."""
    box = platform(device.request.platform, device.name)
    held = box.parse(running, device.name, device.request.image)
    if not differences(device.plan, held):
        return Candidate(device.name, (), ())
    current = box.grammar.parse(running)
    desired = box.grammar.parse("\n".join(block.text for block in device.blocks))
    target = merge(current, desired, box.grammar)
    return Candidate(
        device.name,
        tuple(transition(current, target, box.grammar)),
        tuple(transition(target, current, box.grammar)),
    )


def undo(platform_id: str, running: str, original: str) -> tuple[str, ...]:
    """Lines that bring a box from what it holds now back to its original configuration."""
    box = platform(platform_id)
    return tuple(transition(box.grammar.parse(running), box.grammar.parse(original), box.grammar))


def differences(plan: Plan, held: Plan) -> tuple[str, ...]:
    """Where what a box holds is not the plan, in words; only what the plan speaks of is compared."""
    found: list[str] = []
    for wanted in plan.interfaces:
        got = held.interface(wanted.name)
        if got is None:
            found.append(f"{wanted.name}: the box has no such interface")
            continue
        found.extend(
            f"{wanted.name} {field}: meant {getattr(wanted, field)!r}, holds {getattr(got, field)!r}"
            for field in InterfacePlan.model_fields
            if _canonical(getattr(wanted, field)) != _canonical(getattr(got, field))
        )
    for field in System.model_fields:
        meant = getattr(plan.system, field)
        if meant is not None and meant != getattr(held.system, field):
            found.append(f"{field}: meant {meant!r}, holds {getattr(held.system, field)!r}")
    return tuple(found)


def _canonical(value: object) -> object:
    """A side of an interface with the alternatives of its rules in one order: theirs means nothing, and a box keeps
    the order in which they were entered."""
    if not isinstance(value, Ingress | Egress):
        return value
    rules = [
        r.model_copy(update={side: tuple(sorted(getattr(r, side), key=repr)) for side in ("any_of", "none_of")})
        for r in value.rules
    ]
    return value.model_copy(update={"rules": tuple(rules)})
