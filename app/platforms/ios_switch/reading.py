"""Read the ACLs, class-maps, policies and maps that Catalyst running configurations share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.configtree import Line, Tree
from app.dscp import parse_dscp
from app.plan.model import Policer, Rule, Term, UnknownLine
from app.platforms.handwriting import is_number
from app.platforms.ios_switch.acl import read_entry
from app.platforms.ios_switch.marks import DEFAULT_COS_TO_DSCP, DEFAULT_DSCP_TO_COS

PORT = re.compile(r"interface ((?:Fast|Gigabit|TenGigabit)?Ethernet\d\S*)")
"""Heading of a physical port."""


class Reading:
    """One running configuration: its classifiers, the maps so far, and what was not understood."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.cos_to_dscp = list(DEFAULT_COS_TO_DSCP)
        self.dscp_to_cos = list(DEFAULT_DSCP_TO_COS)
        self._unknown: dict[UnknownLine, None] = {}
        self._lists: dict[str, list[Line]] = {}
        self._class_maps: dict[str, Line] = {}
        self._policies: dict[str, Line] = {}
        for line in tree:
            match line.text.split():
                case ["ip", "access-list", "extended", name]:
                    self._lists.setdefault(name, []).extend(line.children)
                case ["access-list", name, *entry]:
                    self._lists.setdefault(name, []).append(Line(" ".join(entry), number=line.number))
                case ["class-map", *_, name]:
                    self._class_maps[name] = line
                case ["policy-map", name]:
                    self._policies[name] = line

    @property
    def unknown(self) -> tuple[UnknownLine, ...]:
        """Lines that were not understood, in the order of the text."""
        return tuple(sorted(self._unknown, key=lambda entry: entry.line))

    def miss(self, line: Line, context: str = "") -> None:
        """Keep a line that is not understood."""
        self._unknown.setdefault(UnknownLine(line=line.number, text=line.text, context=context))

    def read_map(self, line: Line) -> bool:
        """Take a line of the maps between CoS and DSCP; false when it is none."""
        match line.text.split():
            case ["no", "mls", "qos", "map", "cos-dscp" | "dscp-cos"]:
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

    def _numbers(self, line: Line, values: Sequence[str]) -> list[int]:
        try:
            return [parse_dscp(v) for v in values]
        except ValueError:
            self.miss(line)
            return []

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

    def rules(self, attach: Line, policy: str, port: str) -> tuple[Rule, ...]:
        """Rules of the policy that a line attaches; the CoS follows from the DSCP by the map read so far."""
        body = self._policies.get(policy)
        if body is None:
            self.miss(attach, port)
            return ()
        result = []
        for entry in body.children:
            match entry.text.split():
                case ["class", name, *_]:
                    result.append(self._rule(entry, name))
                case _:
                    self.miss(entry, body.text)
        return tuple(result)

    def _rule(self, entry: Line, name: str) -> Rule:
        dscp: int | None = None
        police: Policer | None = None
        for action in entry.children:
            match action.text.split():
                case ["set", "dscp", value] | ["set", "ip", "dscp", value]:
                    found = self._numbers(action, [value])
                    dscp = found[0] if found else dscp
                case ["police", rate, burst, *rest] if (
                    rest in ([], ["exceed-action", "drop"]) and is_number(rate) and is_number(burst)
                ):
                    police = Policer(rate=int(rate), burst=int(burst))
                case _:
                    self.miss(action, entry.text)
        cos = None if dscp is None else self.dscp_to_cos[dscp]
        return Rule(name=name, any_of=self._terms(name), set_dscp=dscp, set_cos=cos, police=police)

    def _terms(self, name: str) -> tuple[Term, ...]:
        line = self._class_maps.get(name)
        if line is None:
            return (Term(),) if name == "class-default" else ()
        matches = [c for c in line.children if not c.text.startswith("description ")]
        if len(matches) > 1 and "match-any" not in line.text.split():
            # Everything must match at once: these boxes hold one match, so this is none of theirs.
            for entry in matches:
                self.miss(entry, line.text)
            return ()
        return tuple(term for entry in matches for term in self._match(entry, line.text))

    def _match(self, entry: Line, context: str) -> tuple[Term, ...]:
        match entry.text.split():
            case ["match", "access-group", "name", name] | ["match", "access-group", name] if name in self._lists:
                return self._list(name)
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
