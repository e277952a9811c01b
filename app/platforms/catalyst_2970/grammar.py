"""Which configuration lines of a 2970 belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from app.configtree import Grammar, LineRule
from app.platforms.ios_switch.grammar import CLASSIFIERS, INTERFACE, MAPS, TRUST, attached


def _on_port(rule: str, pattern: str, negate: str) -> LineRule:
    return LineRule(rule, pattern, context="interface", key=rule, negate=negate)


RULES = (
    *CLASSIFIERS,
    *MAPS,
    LineRule("mls-qos", r"mls qos", defines="mls qos"),
    LineRule(
        "cos-output-q",
        r"(?:no )?mls qos srr-queue output cos-map.*",
        group="cos-output-q",
        reset="no mls qos srr-queue output cos-map",
    ),
    LineRule(
        "dscp-output-q",
        r"(?:no )?mls qos srr-queue output dscp-map.*",
        group="dscp-output-q",
        reset="no mls qos srr-queue output dscp-map",
    ),
    INTERFACE,
    _on_port("share", r"srr-queue bandwidth share .+", "no srr-queue bandwidth share"),
    _on_port("shape", r"srr-queue bandwidth shape .+", "no srr-queue bandwidth shape"),
    _on_port("expedite", r"(?:no )?priority-queue out", "no priority-queue out"),
    TRUST,
    # A policy on a port marks only while QoS is on; without it the marks of hosts would pass.
    attached("mls qos"),
)

GRAMMAR = Grammar(rules=RULES)
