"""Read the ACLs, class-maps, policies and maps that Catalyst running configurations share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qosforge.configtree import ConfigLine, Tree
from qosforge.dscp import parse_dscp
from qosforge.plan.model import Ingress, Rule, Term, Trust, UnknownLine
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.ios_switch.acl import read_entry
from qosforge.platforms.ios_switch.mac_acl import read_mac_entry
from qosforge.platforms.ios_switch.marks import DEFAULT_COS_TO_DSCP, DEFAULT_DSCP_TO_COS
from qosforge.platforms.ios_switch.read_actions import Actions, read_actions

PORT = re.compile(r"interface ((?:Fast|Gigabit|TenGigabit)?Ethernet\d\S*)")
"""Heading of a physical port."""
OVERRIDE = "cos-override"
"""Name of the rule that stands for ``mls qos cos override``."""


class SwitchReader:
    """One running configuration: its classifiers, the maps so far, and what was not understood."""

    def __init__(self, tree: Tree, *, unmarked: int | None = None) -> None:
        """``unmarked`` is the DSCP that a class gets whose policy says nothing of marks; None: it keeps its own."""
        self.tree = tree
        self.policed_dscp = list(range(64))
        self._unmarked = unmarked
        self.cos_to_dscp = list(DEFAULT_COS_TO_DSCP)
        self.dscp_to_cos = list(DEFAULT_DSCP_TO_COS)
        self._unknown: dict[UnknownLine, None] = {}
        self._lists: dict[str, list[ConfigLine]] = {}
        self._mac_lists: dict[str, ConfigLine] = {}
        self._aggregates: dict[str, ConfigLine] = {}
        self._class_maps: dict[str, ConfigLine] = {}
        self._policies: dict[str, ConfigLine] = {}
        self._rules: dict[str, tuple[Rule, ...]] = {}
        for line in tree:
            match line.text.split():
                case ["ip", "access-list", "extended", name]:
                    self._lists.setdefault(name, []).extend(line.children)
                case ["access-list", name, *entry]:
                    self._lists.setdefault(name, []).append(ConfigLine(" ".join(entry), number=line.number))
                case ["mac", "access-list", "extended", name]:
                    self._mac_lists[name] = line
                case ["mls", "qos", "aggregate-policer", name, *_]:
                    self._aggregates[name] = line
                case ["class-map", *_, name]:
                    self._class_maps[name] = line
                case ["policy-map", name]:
                    self._policies[name] = line

    @property
    def unknown(self) -> tuple[UnknownLine, ...]:
        """Lines that were not understood, in the order of the text."""
        return tuple(sorted(self._unknown, key=lambda entry: entry.line))

    def miss(self, line: ConfigLine, context: str = "") -> None:
        """Keep a line that is not understood."""
        self._unknown.setdefault(UnknownLine(line=line.number, text=line.text, context=context))

    def read_map(self, line: ConfigLine) -> bool:
        """Take a line of the maps between CoS and DSCP; false when it is none."""
        match line.text.split():
            case ["no", "mls", "qos", "map", "cos-dscp" | "dscp-cos" | "policed-dscp"]:
                return True
            case ["mls", "qos", "aggregate-policer", _, *_]:
                return True  # read with the class that uses it
            case ["mls", "qos", "map", "policed-dscp", *values, "to", dscp] if is_number(dscp, 0, 63):
                for value in self._numbers(line, values):
                    self.policed_dscp[value] = int(dscp)
                return True
            case ["mls", "qos", "map", "cos-dscp", *values] if len(values) == 8:
                read = self._numbers(line, values)
                self.cos_to_dscp = read or self.cos_to_dscp
                return True
            case ["mls", "qos", "map", "dscp-cos", *values, "to", cos] if is_number(cos, 0, 7):
                for value in self._numbers(line, values):
                    self.dscp_to_cos[value] = int(cos)
                return True
        return False

    def _numbers(self, line: ConfigLine, values: Sequence[str]) -> list[int]:
        try:
            return [parse_dscp(v) for v in values]
        except ValueError:
            self.miss(line)
            return []

    def overridden(self, port_cos: int) -> Ingress:
        """The input of a port that gives its own CoS to everything: one rule that takes all packets."""
        dscp = self.cos_to_dscp[port_cos]
        everything = Rule(name=OVERRIDE, any_of=(Term(),), set_dscp=dscp, set_cos=port_cos)
        return Ingress(trust=Trust.NONE, port_cos=port_cos, rules=(everything,))

    def phone(self, trust: Trust, port: ConfigLine) -> Trust:
        """The trust of a port that looks for a phone: plans hold that of its CoS; none without a mark to trust."""
        if trust is Trust.DSCP:
            for line in port.children:
                if line.text.startswith("mls qos trust device"):
                    self.miss(line, port.text)
            return Trust.DSCP
        return Trust.PHONE if trust is Trust.COS else Trust.NONE

    def read_unattached(self, qos: re.Pattern[str]) -> None:
        """Keep what is not understood of policies and class-maps that nothing refers to, and of other ports."""
        for line in self.tree:
            if line.text.startswith("interface ") and PORT.fullmatch(line.text) is None:
                for below in line.children:
                    if qos.fullmatch(below.text):
                        self.miss(below, line.text)
        for name, policy in self._policies.items():
            self.rules(policy, name, "")
        for name in self._class_maps:
            self._terms(name)

    def rules(self, attach: ConfigLine, policy: str, port: str) -> tuple[Rule, ...]:
        """Rules of the policy that a line attaches; the maps are read before, as the CoS follows from the DSCP."""
        body = self._policies.get(policy)
        if body is None:
            self.miss(attach, port)
            return ()
        if policy not in self._rules:  # it stands on many ports, and is read once
            self._rules[policy] = self._rules_of(body)
        return self._rules[policy]

    def _rules_of(self, body: ConfigLine) -> tuple[Rule, ...]:
        result = []
        shared = [line.text for entry in body.children for line in entry.children]
        for entry in body.children:
            match entry.text.split():
                case ["class", name, *_]:
                    result.append(self._rule(entry, name, shared))
                case ["description", *_]:
                    pass
                case _:
                    self.miss(entry, body.text)
        return tuple(result)

    def _rule(self, entry: ConfigLine, name: str, shared: Sequence[str]) -> Rule:
        # A policer that several classes share is no policer of one: such a line is not understood.
        own = {
            name: line for name, line in self._aggregates.items() if shared.count(f"police aggregate {name}") == 1
        }
        terms = self._terms(name)
        actions = read_actions(entry, own, self.policed_dscp, terms)
        for line in actions.unread:
            self.miss(line, entry.text)
        dscp = self._dscp(actions)
        cos = None if dscp is None else self.dscp_to_cos[dscp]
        if actions.set_precedence is not None:
            cos = self.dscp_to_cos[8 * actions.set_precedence]
        return Rule(
            name=name,
            any_of=terms,
            set_dscp=dscp,
            set_cos=cos,
            set_precedence=actions.set_precedence,
            police=actions.police,
        )

    def _dscp(self, actions: Actions) -> int | None:
        """The DSCP that a class gets: its own set, what stays where it is trusted, else what the device gives."""
        if actions.set_dscp is not None or actions.set_precedence is not None or actions.trusted:
            return actions.set_dscp
        return self._unmarked

    def _terms(self, name: str) -> tuple[Term, ...]:
        line = self._class_maps.get(name)
        if line is None:
            return (Term(),) if name == "class-default" else ()
        matches = [c for c in line.children if not c.text.startswith("description ")]
        if len(matches) > 1 and "match-any" not in line.text.split():
            # Everything must match at once: these devices hold one match, so this is none of theirs.
            for entry in matches:
                self.miss(entry, line.text)
            return ()
        return tuple(term for entry in matches for term in self._match(entry, line.text))

    def _match(self, entry: ConfigLine, context: str) -> tuple[Term, ...]:
        match entry.text.split():
            case ["match", "access-group", "name", name] | ["match", "access-group", name] if name in self._lists:
                return self._list(name)
            case ["match", "access-group", "name", name] if name in self._mac_lists:
                return self._mac_list(self._mac_lists[name])
            case ["match", "ip", "dscp", *values] | ["match", "dscp", *values]:
                return (Term(dscp=tuple(sorted(self._numbers(entry, values)))),)
            case ["match", "ip", "precedence", *values] if all(is_number(v, 0, 7) for v in values):
                return (Term(precedence=tuple(sorted(int(v) for v in values))),)
        self.miss(entry, context)
        return ()

    def _list(self, name: str) -> tuple[Term, ...]:
        terms = []
        for entry in self._lists[name]:
            if entry.text.startswith("remark "):
                continue
            try:
                terms.append(read_entry(entry.text))
            except ValueError:
                self.miss(entry, f"ip access-list extended {name}")
        return tuple(terms)

    def _mac_list(self, line: ConfigLine) -> tuple[Term, ...]:
        terms = []
        for entry in line.children:
            try:
                terms.append(read_mac_entry(entry.text))
            except ValueError:
                self.miss(entry, line.text)
        return tuple(terms)
