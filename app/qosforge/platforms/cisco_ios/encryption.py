"""Outputs that encrypt packets before they classify them: a crypto map without ``qos pre-classify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.commands import ReadConfiguration, ReadLine
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Plan, Rule
from qosforge.platforms.mqc.blocks import every_rule

_OUTSIDE = frozenset({"dscp", "precedence", "cos", "input_interface"})
"""What is told of a packet outside what is encrypted: its marks are copied there."""


def encrypting_interfaces(reading: ReadConfiguration, interfaces: tuple[ReadLine, ...]) -> tuple[str, ...]:
    """The interfaces whose crypto map has entries that do not classify first."""
    entries = reading.all("crypto-map")
    late = {e.name for e in entries if all(line.id != "pre-classify" for line in e.below)}
    return tuple(
        interface.name
        for interface in interfaces
        if any(line.id == "crypto-map" and line.name in late for line in interface.below)
    )


def check_encryption(plan: Plan, running: Plan | None, called: Mapping[str, str]) -> Iterator[Finding]:
    """``pre-classify-missing``: outputs that look for what they have encrypted.

    ``called`` are the classes by what the device calls them.
    """
    for name in (running.system.encrypting or ()) if running else ():
        interface = plan.interface(name)
        rules = every_rule(interface.egress) if interface is not None else ()
        classes = dict.fromkeys(called.get(rule.name, rule.name) for rule in rules if _looks_inside(rule))
        if classes:
            yield note(
                "pre-classify-missing",
                Place(device=plan.device, interface=name, direction="output"),
                classes=", ".join(classes),
            )


def _looks_inside(rule: Rule) -> bool:
    return any(
        field not in _OUTSIDE
        for term in (*rule.any_of, *rule.none_of)
        for field in term.model_dump(exclude_defaults=True)
    )
