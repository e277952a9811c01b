"""The classes of the devices as filters that Batfish can compare: what the text matches, and what the plan means.

A file of its own for each list of classes has them as classes and policies of IOS's zone-based firewall, which
Batfish makes filters of: a packet that the policy ``QOSFORGE-ASKS-WIDER-1`` lets through is one that class 1 of the
text matches and that of the plan does not. Batfish asks the classes of such a policy in the order of their names.
It fails at all filters where one lets through nothing but packets of TCP or UDP with port 0, which are none to it:
every policy refuses these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from qosforge.batfish.analysis_copy import AnalysisCopy
from qosforge.batfish.class_texts import AccessList, ClassText, class_texts
from qosforge.batfish.meant_lists import meant_entries
from qosforge.plan.model import Plan, Rule

Asked = Literal["WIDER", "NARROWER", "REACHED"]
PREFIX = "QOSFORGE-ASKS"
_PORT_0 = [f"permit {protocol} any{ends}" for protocol in ("tcp", "udp") for ends in (" eq 0 any", " any eq 0")]
_HAS_PORT_0 = re.compile(r"\b(?:(?:eq|range) 0|lt \d+)\b")


@dataclass(frozen=True)
class ComparedClass:
    """A class of a device. ``asked`` is what Batfish is asked of it: nothing where it cannot judge it."""

    name: str
    line: int
    asked: frozenset[Asked]


@dataclass(frozen=True)
class ComparedPolicy:
    """The classes of a policy of a device in their order, and the file whose filters they are."""

    device: str
    policy: str
    node: str
    classes: tuple[ComparedClass, ...]


@dataclass(frozen=True)
class ClassFilters:
    """The files by name, policies alike in one, and all policies that they are about."""

    files: Mapping[str, str]
    policies: tuple[ComparedPolicy, ...]


def class_filters(devices: Iterable[tuple[str, AnalysisCopy, Plan]]) -> ClassFilters:
    """The filters of all classes of devices (name, copy of what it comes to hold, plan) that Batfish can judge."""
    nodes: dict[str, str] = {}
    policies: list[ComparedPolicy] = []
    for device, copy, plan in devices:
        texts = class_texts(copy)
        for policy, rules in _policies(plan).items():
            order = texts.orders.get(policy, ())
            known = [rule for rule in rules if rule.name in texts.classes]
            known.sort(key=lambda rule: order.index(rule.name) if rule.name in order else len(order))
            compared, text = _compare([(rule, texts.classes[rule.name]) for rule in known])
            node = ""
            if any(each.asked for each in compared):
                node = nodes.setdefault(text, f"classes-{len(nodes) + 1}")
            policies.append(ComparedPolicy(device, policy, node, compared))
    files = {f"{node}.cfg": f"! BATFISH_FORMAT: cisco_ios\nhostname {node}\n{text}" for text, node in nodes.items()}
    return ClassFilters(files, tuple(policies))


def _policies(plan: Plan) -> dict[str, tuple[Rule, ...]]:
    found: dict[str, tuple[Rule, ...]] = {}
    for interface in plan.interfaces:
        for side in (interface.ingress, interface.egress, interface.egress.dividing):
            if side.policy is not None and side.rules:
                found[side.policy] = side.rules
    return found


def _compare(classes: list[tuple[Rule, ClassText]]) -> tuple[tuple[ComparedClass, ...], str]:
    compared = []
    lines = [*_list("PORT-0", AccessList(False, 0, _PORT_0)), *_class_maps("PORT-0", ["PORT-0"], every=False)]
    before: list[int] = []
    for number, (rule, text) in enumerate(classes, 1):
        asked = set[Asked]()
        meant = meant_entries(rule)
        if text.provable:
            lines += _rendered(number, text)
            if not _looks_at_port_0(text):
                asked.add("REACHED")
            lines += _policy("REACHED", number, [f"A-TEXT-{earlier}" for earlier in before])
            before.append(number)
        if text.provable and meant is not None:
            lines += _meant(number, meant)
            asked |= {"WIDER", "NARROWER"}
            lines += _policy("WIDER", number, [f"A-PLAN-{number}"])
            lines += _policy("NARROWER", number, [f"A-TEXT-{number}"], then="PLAN")
        compared.append(ComparedClass(rule.name, text.line, frozenset(asked)))
    return tuple(compared), "\n".join(lines) + "\n"


def _looks_at_port_0(text: ClassText) -> bool:
    """Whether a class may be for packets that are refused here."""
    return any(_HAS_PORT_0.search(entry) for held in text.conditions if held for entry in held.entries)


def _rendered(number: int, text: ClassText) -> Iterator[str]:
    names = []
    for part, condition in enumerate(text.conditions, 1):
        if condition is not None:
            name = f"TEXT-{number}-{part}"
            names.append(name)
            yield from _list(name, condition)
    yield from _class_maps(f"TEXT-{number}", names, every=text.every)


def _meant(number: int, entries: list[str]) -> Iterator[str]:
    yield from _list(f"PLAN-{number}-1", AccessList(False, 0, entries))
    yield from _class_maps(f"PLAN-{number}", [f"PLAN-{number}-1"], every=False)


def _list(name: str, held: AccessList) -> Iterator[str]:
    yield f"ip access-list {'standard' if held.standard else 'extended'} {name}"
    yield from (f" {entry}" for entry in held.entries)
    yield "!"


def _class_maps(name: str, lists: list[str], *, every: bool) -> Iterator[str]:
    """The same class twice: what is refused first is asked before what is let through."""
    for order in "AB":
        yield f"class-map type inspect match-{'all' if every else 'any'} {order}-{name}"
        yield from (f" match access-group name {each}" for each in lists)
        yield "!"


def _policy(asked: Asked, number: int, refused: list[str], then: str = "TEXT") -> Iterator[str]:
    yield f"policy-map type inspect {PREFIX}-{asked}-{number}"
    for name in ("A-PORT-0", *refused):
        yield f" class type inspect {name}"
        yield "  drop"
    yield f" class type inspect B-{then}-{number}"
    yield "  inspect"
    yield "!"
