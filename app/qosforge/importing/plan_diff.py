"""Differences in meaning between a compiled plan and the plan of a running configuration."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel
from typing_extensions import TypeIs

from qosforge.compiler.compile import CompiledDevice
from qosforge.importing.catch_all import with_default
from qosforge.importing.observed import ObservedSide
from qosforge.importing.to_intent import intent_name
from qosforge.packet_sets.rule_change import rule_change
from qosforge.plan.model import (
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Plan,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
)
from qosforge.plan.terms import disjoint, one_by_one
from qosforge.platforms.base import platform

_LOSS = re.compile(r".*\.(?:rules|policers|queues|any_of|none_of|police|child|scheduler|set_\w+)")
"""Places in a plan whose differences take or add a class, a policer, a mark or a condition of a match."""
_MATCH = ("any_of", "none_of")
LONGEST = 160
"""Characters of one side of a difference."""


@dataclass(frozen=True)
class PlanDifference:
    """A place where the compiled plan differs from the running one; ``interface`` is None for the whole device."""

    device: str
    interface: str | None
    direction: str | None
    place: str
    running: str
    compiled: str

    @property
    def where(self) -> tuple[str, str | None, str | None, str]:
        """The device, the side and the place."""
        return self.device, self.interface, self.direction, self.place

    @property
    def loses(self) -> bool:
        """Whether it is one in classes, their marks, policers or what they match, and no detail of one."""
        return _LOSS.fullmatch(self.place) is not None

    def is_part_of(self, other: PlanDifference) -> bool:
        """Whether another difference has this one in it: where it is a loss, of no more entries than there."""
        side, theirs = ((d.device, d.interface, d.direction) for d in (self, other))
        if side != theirs or not self.place.startswith(other.place):
            return False
        return self.place != other.place or not self.loses or _amount(self.compiled) == _amount(other.compiled)

    @property
    def renamed(self) -> bool:
        """Whether only what the device calls something differs: a queue without a policy of its own has no name."""
        part = self.place.rpartition(".")[2]
        return part == "name" or (part == "policy" and "None" not in (self.running, self.compiled))

    @property
    def weight(self) -> int:
        """What it counts for where candidates are compared: names hardly, and versions of IP, which no intent tells
        apart, not at all."""
        return 0 if self.in_versions else 1 if self.renamed else 100

    @property
    def in_versions(self) -> bool:
        """Whether a class is told in packets of one version of IP alone on one side."""
        return self.place.endswith(".ipv4")


def _amount(text: str) -> str:
    """The number of entries of a list in few words, any other value as it is."""
    return found[1] if (found := re.match(r"(\d+) \(", text)) is not None else text


def find_differences(
    sides: Iterable[ObservedSide], compiled: Sequence[CompiledDevice] | None, running: Mapping[str, Plan]
) -> tuple[PlanDifference, ...]:
    """Every place on these sides where the compiled plans differ from the running ones."""
    plans = {device.name: device.plan for device in compiled or ()}
    found: list[PlanDifference] = []
    for side in sides:
        for port in side.ports:
            wanted = running[side.device].interface(port)
            plan = plans.get(side.device)
            got = plan.interface(port) if plan else None
            if wanted is None or got is None:
                found.append(PlanDifference(side.device, port, side.direction, side.direction, "a port", "nothing"))
                continue
            found += [
                PlanDifference(side.device, port, side.direction, *leaf)
                for part in _parts(side, wanted, got)
                for leaf in _leaves(*part)
            ]
    for device in dict.fromkeys(side.device for side in sides):
        if device in plans:
            system = plans[device].system
            whole = (
                (
                    field,
                    _reduce_weights(getattr(running[device].system, field)),
                    _reduce_weights(getattr(system, field)),
                )
                for field in System.model_fields
            )
            found += [
                PlanDifference(device, None, None, *leaf)
                for field, there, meant in whole
                if meant is not None
                for leaf in _leaves(field, there, meant)
            ]
    return tuple(found)


def _leaves(place: str, running: object, compiled: object) -> Iterator[tuple[str, str, str]]:
    """The innermost places where two values differ, with both.

    Lists of other lengths are one difference, and so is each of the entries that have one name in both.
    """
    if running == compiled:
        return
    if isinstance(running, Rule) and isinstance(compiled, Rule):
        yield from _rule_leaves(place, running, compiled)
    elif isinstance(running, BaseModel) and isinstance(compiled, type(running)):
        for field in type(running).model_fields:
            yield from _leaves(f"{place}.{field}", getattr(running, field), getattr(compiled, field))
    elif _is_table(running) and _is_table(compiled) and len(running) == len(compiled):
        # A map is one difference, told by the entries that are not alike.
        rows = [at for at, (there, here) in enumerate(zip(running, compiled, strict=True)) if there != here]
        yield place, _rows(running, rows), _rows(compiled, rows)
    elif isinstance(running, tuple) and isinstance(compiled, tuple) and len(running) == len(compiled):
        for position, (there, here) in enumerate(zip(running, compiled, strict=True)):
            yield from _leaves(f"{place}[{position}]", there, here)
    elif (there := _named(running)) and (here := _named(compiled)) and there.keys() & here.keys():
        yield place, _short(running), _short(compiled)
        for name in (name for name in there if name in here):
            yield from _leaves(f"{place}[{list(there).index(name)}]", there[name], here[name])
    else:
        yield place, _short(running), _short(compiled)


def _rule_leaves(place: str, running: Rule, compiled: Rule) -> Iterator[tuple[str, str, str]]:
    """The places where two rules differ; other words for the same packets are none, and a packet tells others."""
    matches = (running.any_of, running.none_of) != (compiled.any_of, compiled.none_of)
    change = rule_change(running, compiled) if matches else None
    told = "".join(
        f"; {words}: {witness}"
        for words, witness in (("takes", change and change.more), ("takes no more", change and change.fewer))
        if witness
    )
    for field in Rule.model_fields:
        leaves = _leaves(f"{place}.{field}", getattr(running, field), getattr(compiled, field))
        if field not in _MATCH or change is None:
            yield from leaves
        elif told:
            yield from ((where, there, here + told) for where, there, here in leaves)


def _named(value: object) -> dict[str, BaseModel]:
    """Classes or queues by their names, without their numbers; nothing where not all have a name of their own."""
    if not isinstance(value, tuple) or not all(isinstance(entry, Rule | Queue) for entry in value):
        return {}
    found = {
        entry.name: entry.model_copy(update={"queue" if isinstance(entry, Rule) else "number": 0})
        for entry in value
        if entry.name is not None
    }
    return found if len(found) == len(value) else {}


def _rows(table: tuple[int, ...], rows: Sequence[int]) -> str:
    return ", ".join(f"{at}: {table[at]}" for at in rows)[:LONGEST]


def _is_table(value: object) -> TypeIs[tuple[int, ...]]:
    return isinstance(value, tuple) and bool(value) and all(isinstance(entry, int) for entry in value)


def _short(value: object) -> str:
    """A value in few words: what a part of a plan says beyond its defaults."""
    if isinstance(value, BaseModel):
        return _short(value.model_dump(mode="json", exclude_defaults=True))
    if isinstance(value, tuple) and any(isinstance(part, BaseModel) for part in value):
        return f"{len(value)} ({', '.join(_short(part) for part in value)})"[:LONGEST]
    return (str(value) if isinstance(value, str) else repr(value))[:LONGEST]


def _parts(
    side: ObservedSide, current: InterfacePlan, compiled: InterfacePlan
) -> Iterator[tuple[str, object, object]]:
    if side.direction == "input":
        yield "input", *_inputs(current.ingress, compiled.ingress)
        return
    yield "output", *_outputs(current.egress, compiled.egress)
    yield "efficiency", current.efficiency, compiled.efficiency
    for field in ("bandwidth_kbps", "reservable_percent", "circuit"):
        yield field, getattr(current, field), getattr(compiled, field)


def _inputs(running: Ingress, compiled: Ingress) -> tuple[Ingress, Ingress]:
    one = running.model_copy(
        update={
            "policy": _intent_policy_name(running.policy),
            "rules": tuple(map(_plain, running.rules)),
            "policers": _without_numbers(running.policers),
        }
    )
    other = compiled.model_copy(
        update={
            "policy": _intent_policy_name(compiled.policy),
            "rules": tuple(map(_plain, compiled.rules)),
            "policers": _without_numbers(compiled.policers),
        }
    )
    return _align_order(one, other)


def _align_order(running: Ingress, compiled: Ingress) -> tuple[Ingress, Ingress]:
    """The compiled input with its rules in the running order, where only an order differs that means nothing."""
    update: dict[str, object] = {}
    if sorted(map(repr, running.rules)) == sorted(map(repr, compiled.rules)) and _commute(
        running.rules, compiled.rules
    ):
        update["rules"] = running.rules
    if sorted(map(repr, running.policers)) == sorted(map(repr, compiled.policers)) and _commute(
        running.policers, compiled.policers
    ):
        update["policers"] = running.policers
    return running, compiled.model_copy(update=update)


def _commute(one: Sequence[Rule | InterfacePolicer], other: Sequence[Rule | InterfacePolicer]) -> bool:
    """Whether entries that change places have no packet in common."""
    place = {repr(entry): at for at, entry in enumerate(other)}
    return all(
        place[repr(a)] < place[repr(b)] or disjoint(a.any_of or (Term(),), b.any_of or (Term(),))
        for a, b in itertools.combinations(one, 2)
    )


def _outputs(running: Egress, compiled: Egress) -> tuple[Egress, Egress]:
    return _egress(with_default(running)), _egress(with_default(compiled))


def _egress(egress: Egress) -> Egress:
    scheduler = egress.scheduler
    if scheduler is not None:
        queues = tuple(
            queue.model_copy(
                update={
                    "name": queue.name if queue.name is None else intent_name(queue.name),
                    "child": _egress(queue.child) if queue.child else None,
                    # Which curves are entered says nothing of what they are.
                    "red": queue.red.model_copy(update={"stated": ()}) if queue.red else None,
                }
            )
            for queue in scheduler.queues
        )
        scheduler = _reduce_weights(scheduler.model_copy(update={"queues": queues}))
    return egress.model_copy(
        update={
            "policy": _intent_policy_name(egress.policy),
            "rules": tuple(map(_plain, egress.rules)),
            "scheduler": scheduler,
            "policers": _without_numbers(egress.policers),
        }
    )


T = TypeVar("T")


def _reduce_weights(value: T) -> T:
    """A scheduler with its weights in lowest terms, any other value as it is."""
    if not isinstance(value, Scheduler):
        return value
    weights = [q.share.value for q in value.queues if q.share and q.share.unit is ShareUnit.WEIGHT]
    divisor = math.gcd(*weights) or 1
    queues = tuple(
        q.model_copy(update={"share": Share(unit=ShareUnit.WEIGHT, value=q.share.value // divisor)})
        if q.share and q.share.unit is ShareUnit.WEIGHT
        else q
        for q in value.queues
    )
    return value.model_copy(update={"queues": queues})


def _intent_policy_name(policy: str | None) -> str | None:
    return None if policy is None else intent_name(policy)


def _plain(rule: Rule) -> Rule:
    """A rule with its alternatives in one order, and the name as an intent can have it."""
    change = {side: one_by_one(getattr(rule, side)) for side in ("any_of", "none_of")}
    return rule.model_copy(update={**change, "name": intent_name(rule.name)})


def _without_numbers(policers: Iterable[InterfacePolicer]) -> tuple[InterfacePolicer, ...]:
    """Policers without the numbers of their access lists, which are but names."""
    return tuple(
        p.model_copy(update={"access_list": None, "any_of": tuple(sorted(p.any_of, key=repr))}) for p in policers
    )


def changed_system(plan: Plan, image: str) -> tuple[str, ...]:
    """Fields of a device's device-wide state that are not as delivered."""
    target = platform(plan.platform)
    usual = [target.parse(text, plan.device, image).system for text in target.family.delivered]
    return tuple(
        f for f in System.model_fields if all(getattr(plan.system, f) != getattr(known, f) for known in usual)
    )
