"""The candidate of a device: the configuration lines to enter, and the inverse lines that roll them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from qosforge.compiler.canonical_form import canonical_form
from qosforge.compiler.compile import Compilation, CompiledDevice
from qosforge.compiler.merged_configuration import PredictedConfiguration, predict_configuration
from qosforge.configtree import Gap, Grammar, Tree, as_text, difference, gaps, transition, transitions
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, System
from qosforge.platforms.base import platform
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration, unmasked

LONGEST = 160
"""Characters of one side of a difference; the read-back itself is kept whole."""


@dataclass(frozen=True)
class Candidate:
    """Delta against a running configuration, and the inverse; both empty when there is nothing to change.

    ``gaps`` are where entering the delta leaves an interface without the policy that it has before and after:
    devices that replace no policy in place want the old one off first. ``difference`` is what the configuration
    loses and gains, see `qosforge.configtree.difference`.
    """

    device: str
    delta: tuple[str, ...]
    inverse: tuple[str, ...]
    gaps: tuple[Gap, ...] = ()
    difference: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the device already holds the plan."""
        return not self.delta

    @property
    def text(self) -> str:
        """The delta as the text a driver takes."""
        return as_text(self.delta)


def predict_configurations(
    compilation: Compilation, running: Mapping[str, Configuration]
) -> dict[str, PredictedConfiguration]:
    """What every compiled device comes to hold, by device."""
    return {
        device.name: predict_configuration(device.request, device.blocks, running.get(device.name))
        for device in compilation.devices
    }


def make_candidate(
    device: CompiledDevice, running: Configuration, predicted: PredictedConfiguration | None = None
) -> Candidate:
    """The candidate that brings a device from ``running`` to the device's plan.

    ``predicted`` is what the device comes to hold, where it was made for the validators before.
    """
    if not plan_differences(device, running):
        return Candidate(device.name, (), ())
    dialect = platform(device.request.platform, device.name)
    made = predicted or predict_configuration(device.request, device.blocks, running)
    current, target = made.current or (), made.target
    delta, inverse = map(tuple, transitions(current, target, dialect.grammar))
    return Candidate(
        device.name,
        delta,
        inverse,
        gaps(delta, current, target, dialect.grammar),
        difference(current, target, dialect.grammar),
    )


def rollback_lines(platform_id: str, running: Configuration, original: Configuration) -> tuple[str, ...]:
    """Lines that bring a device from what it holds now back to its original configuration."""
    grammar = platform(platform_id).grammar
    return tuple(transition(*_trees(grammar, running, original), grammar))


def rollback_difference(platform_id: str, running: Configuration, original: Configuration) -> tuple[str, ...]:
    """What the configuration of a device loses and gains as a rollback brings it to its original one."""
    grammar = platform(platform_id).grammar
    return difference(*_trees(grammar, running, original), grammar)


def _trees(grammar: Grammar, running: Configuration, original: Configuration) -> tuple[Tree, Tree]:
    return grammar.parse(unmasked(running)), grammar.parse(unmasked(original))


def plan_differences(device: CompiledDevice, running: Configuration) -> tuple[str, ...]:
    """Where a running configuration is not the device's plan, in words."""
    request = device.request
    return find_plan_differences(device.plan, parse_running(request.platform, running, device.name, request.image))


def find_plan_differences(plan: Plan, running: Plan) -> tuple[str, ...]:
    """Where what a device holds is not the plan, in words; only what the plan speaks of is compared."""
    found: list[str] = []
    for planned in plan.interfaces:
        got = running.interface(planned.name)
        if got is None:
            found.append(f"{planned.name}: the device has no such interface")
            continue
        for field in InterfacePlan.model_fields:
            meant, there = getattr(planned, field), getattr(got, field)
            if meant == there:
                continue
            meant, there = _comparable(meant), _comparable(there)
            found.extend(_leaves(f"{planned.name} {field}", meant, there))
    for field in System.model_fields:
        meant = getattr(plan.system, field)
        if meant is not None:
            found.extend(_leaves(field, meant, getattr(running.system, field)))
    return tuple(found)


def _leaves(place: str, compiled: object, running: object) -> Iterator[str]:
    """The innermost places where two values differ; a list of another length is one difference."""
    if compiled == running:
        return
    if isinstance(compiled, BaseModel) and isinstance(running, type(compiled)):
        for field in type(compiled).model_fields:
            yield from _leaves(f"{place}.{field}", getattr(compiled, field), getattr(running, field))
    elif isinstance(compiled, tuple) and isinstance(running, tuple) and len(compiled) == len(running):
        for position, (wanted, got) in enumerate(zip(compiled, running, strict=True)):
            yield from _leaves(f"{place}[{position}]", wanted, got)
    else:
        yield f"{place}: meant {_short(compiled)}, holds {_short(running)}"


def _short(value: object) -> str:
    """A value in few words: what a part of a plan says beyond its defaults."""
    if isinstance(value, BaseModel):
        return _short(value.model_dump(mode="json", exclude_defaults=True))
    if isinstance(value, tuple) and any(isinstance(part, BaseModel) for part in value):
        return _cut(f"{len(value)} ({', '.join(_short(part) for part in value)})")
    return _cut(str(value) if isinstance(value, str) else repr(value))


def _cut(text: str) -> str:
    """At most `LONGEST` characters, without the word that the cut falls into: half a secret is known to nobody."""
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST]
    return f"{kept.rpartition(' ')[0]} …".lstrip()


def _comparable(value: object) -> object:
    return canonical_form(value) if isinstance(value, Ingress | Egress) else value
