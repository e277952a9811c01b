"""Which configuration lines of a 2970 belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.configtree import Grammar, LineRule
from qosforge.platforms.ios_switch.grammar import CLASSIFIERS, INTERFACE, MAPS, TRUST, attached

_INPUT = "mls qos srr-queue input"


def _on_port(rule: str, pattern: str, negate: str) -> LineRule:
    return LineRule(rule, pattern, context="interface", key=rule, negate=negate)


def _table(rule: str, command: str) -> LineRule:
    """A map in lines, which only ``no`` and the bare command resets as a whole."""
    return LineRule(rule, rf"(?:no )?{command}.*", group=rule, reset=f"no {command}")


def _input(rule: str, words: str) -> LineRule:
    """A setting of the ingress queues; ``words`` may hold the queue's number."""
    return LineRule(
        f"input-{rule}",
        rf"(?:no )?{_INPUT} (?P<what>{words})\b.*",
        key=rule if rule == "priority" else "{what}",
        negate=f"no {_INPUT} {{what}}",
        negate_before_change=rule == "priority",
    )


RULES = (
    *CLASSIFIERS,
    *MAPS,
    _table("policed-dscp", "mls qos map policed-dscp"),
    _input("levels", "bandwidth|buffers|threshold [12]"),
    _input("priority", "priority-queue [12]"),
    _table("cos-input-q", f"{_INPUT} cos-map"),
    _table("dscp-input-q", f"{_INPUT} dscp-map"),
    _table("cos-output-q", "mls qos srr-queue output cos-map"),
    _table("dscp-output-q", "mls qos srr-queue output dscp-map"),
    LineRule(
        "queue-set-levels",
        r"(?:no )?mls qos queue-set output (?P<set>[12]) (?P<what>buffers|threshold [1-4])\b.*",
        key="{set} {what}",
        defines="queue-set {set}",
        negate="no mls qos queue-set output {set} {what}",
    ),
    LineRule("mls-qos", r"mls qos", defines="mls qos"),
    INTERFACE,
    _on_port("share", r"srr-queue bandwidth share .+", "no srr-queue bandwidth share"),
    _on_port("shape", r"srr-queue bandwidth shape .+", "no srr-queue bandwidth shape"),
    _on_port("limit", r"srr-queue bandwidth limit .+", "no srr-queue bandwidth limit"),
    LineRule(
        "queue-set",
        r"queue-set (?P<set>[12])",
        context="interface",
        key="queue-set",
        refers=("queue-set {set}",),
        negate="no queue-set",
    ),
    _on_port("expedite", r"(?:no )?priority-queue out", "no priority-queue out"),
    *TRUST,
    LineRule(
        "dscp-mutation",
        r"(?:no )?mls qos dscp-mutation(?P<map> \S+)?",
        context="interface",
        key="dscp-mutation",
        negate="no mls qos dscp-mutation{map}",
    ),
    # A policy on a port marks only while QoS is on; without it the marks of hosts would pass.
    attached("mls qos"),
)

GRAMMAR = Grammar(rules=RULES)
