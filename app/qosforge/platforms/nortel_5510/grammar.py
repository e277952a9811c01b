"""Which configuration lines of the 5510 belong to QoS, what they refer to and how they are taken back.

Every line is one setting; those of ports stand in the one mode of interfaces. Filters (elements, classifiers,
blocks, actions, meters, policies) refer to each other by number and cannot be changed while referred to, so ours,
which have numbers of their own range, are one table that is taken back and entered as a whole.

No rule speaks of ``qos agent``: another queue set holds after a reset of the whole switch, and is nothing that a
change of the running configuration makes or takes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.configtree import ConfigLine, Grammar, LineRule, Tree

_OURS = r"(?P<id>50\d\d\d)"
_ANY = r"(?P<id>\d+)"

RULES = (
    LineRule(
        "if-group",
        r"qos if-group name (?P<name>\S+) class \S+",
        key="{name}",
        defines="if-group {name}",
        negate="no qos if-group name {name}",
    ),
    LineRule(
        "if-assign",
        r"qos if-assign port (?P<port>\S+) name (?P<name>\S+)",
        key="{port}",
        refers=("if-group {name}",),
        negate="no qos if-assign port {port}",
        attaches="port {port}",
    ),
    LineRule(
        "element",
        rf"qos (?P<kind>(?:ip|l2)-element) {_OURS} .+",
        group="filters",
        negate="no qos {kind} {id}",
    ),
    LineRule(
        "classifier",
        rf"qos classifier {_OURS} .+",
        group="filters",
        negate="no qos classifier {id}",
    ),
    LineRule("action", rf"qos action {_OURS} .+", group="filters", negate="no qos action {id}"),
    LineRule("meter", rf"qos meter {_OURS} .+", group="filters", negate="no qos meter {id}"),
    LineRule(
        "classifier-block",
        rf"qos classifier-block {_OURS} .+",
        group="filters",
        negate="no qos classifier-block {id}",
    ),
    LineRule(
        "policy",
        rf"qos policy {_OURS} .*if-group (?P<name>\S+) .+",
        group="filters",
        refers=("if-group {name}",),
        negate="no qos policy {id}",
        attaches="if-group {name}",
    ),
    LineRule("other-element", rf"qos (?P<kind>(?:ip|l2)-element) {_ANY} .+", negate="no qos {kind} {id}"),
    LineRule(
        "other-filter",
        rf"qos (?P<kind>classifier|classifier-block|action|meter|policy) {_ANY} .+",
        negate="no qos {kind} {id}",
    ),
    LineRule(
        "egressmap",
        r"qos egressmap ds (?P<ds>\d+) .+",
        key="{ds}",
        group="egressmap",
        reset="default qos egressmap",
    ),
    LineRule(
        "ingressmap",
        r"qos ingressmap 1p (?P<cos>\d) .+",
        key="{cos}",
        group="ingressmap",
        reset="default qos ingressmap",
    ),
    LineRule(
        "queue",
        r"qos queue-set-assignment queue-set (?P<set>\d) 1p (?P<cos>\d) queue \d",
        key="{set} {cos}",
        negate="default qos queue-set-assignment queue-set {set} 1p {cos}",
    ),
    LineRule("interface", "interface FastEthernet ALL"),
    LineRule(
        "if-shaper",
        r"qos if-shaper port (?P<port>\S+) .+",
        context="interface",
        key="{port}",
        negate="no qos if-shaper port {port}",
    ),
)


@dataclass(frozen=True)
class FlatGrammar(Grammar):
    """The 5510's text, each line in one form whatever the device or a person wrote."""

    def parse(self, text: str) -> Tree:
        """See `qosforge.configtree.Grammar`; lists of ports become one line for each port.

        The mode of interfaces is always there: what the device prints of it in several places is one block, the
        last.
        """
        lines: list[ConfigLine] = []
        ports: list[ConfigLine] = []
        number = 0
        for line in super().parse(text):
            if _PORTS.fullmatch(line.text):
                number = number or line.number
                ports.extend(ConfigLine(s, c.children, c.number) for c in line.children for s in _spelt(c.text))
            else:
                lines.extend(ConfigLine(spelt, line.children, line.number) for spelt in _spelt(line.text))
        return (*lines, ConfigLine("interface FastEthernet ALL", tuple(ports), number))


_PORTS = re.compile(r"interface (?:fast)?ethernet all", re.IGNORECASE)
GRAMMAR = FlatGrammar(
    rules=RULES,
    leave="exit",
    ignored=r"end|exit|enable|configure terminal",
    flat_blocks=r"(?:interface|router) .+",
)

_MAP_ROW = re.compile(
    r"qos (?P<map>egressmap|ingressmap) (?:name \S+ )?(?P<row>(?:ds|1p) \d+ .+?)(?: ds-new (?P<new>\d+))?"
)


def _spelt(text: str) -> Iterator[str]:
    if text.startswith("qos "):
        text = text.replace('"', "")
    if match := re.fullmatch(r"qos if-assign port (\S+) name (\S+)", text):
        for port in ports(match[1]):
            yield f"qos if-assign port {port} name {match[2]}"
    elif match := re.fullmatch(r"qos if-shaper port (\S+) (.+)", text):
        for port in ports(match[1]):
            yield f"qos if-shaper port {port} {match[2]}"
    elif match := _MAP_ROW.fullmatch(text):
        # Rows have names of their own, and the DSCP they send is nearly always the one that came.
        row, new = match["row"], match["new"]
        kept = f" ds-new {new}" if new is not None and row.split()[1] != new else ""
        yield f"qos {match['map']} {row}{kept}"
    else:
        yield text


def ports(text: str) -> tuple[str, ...]:
    """The ports of a list such as ``1-4,7`` or ``1/1-1/4,2/5``; what is no list stands for itself."""
    found: list[str] = []
    for part in text.split(","):
        match = re.fullmatch(r"(?:(?P<unit>\d)/)?(?P<low>[0-9]{1,3})(?:-(?:\d/)?(?P<high>[0-9]{1,3}))?", part)
        if match is None:
            return (text,)
        unit = f"{match['unit']}/" if match["unit"] else ""
        low, high = int(match["low"]), int(match["high"] or match["low"])
        found.extend(f"{unit}{port}" for port in range(low, high + 1))
    return tuple(found)
