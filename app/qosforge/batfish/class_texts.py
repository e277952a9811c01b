"""The classes of a configuration text, as far as Batfish can judge them: what they match, by access lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from qosforge.batfish.analysis_copy import AnalysisCopy
from qosforge.dscp import parse_dscp

_CLASS = re.compile(r"class-map (?:(match-(?:any|all)) )?(\S+)(?: .*)?", re.IGNORECASE)
_POLICY = re.compile(r"policy-map (\S+)(?: .*)?", re.IGNORECASE)
_MEMBER = re.compile(r"class (\S+)", re.IGNORECASE)
_NAMED = re.compile(r"ip access-list (standard|extended) (\S+)", re.IGNORECASE)
_NUMBERED = re.compile(r"access-list (\d+) ((?:permit|deny)\b.*)", re.IGNORECASE)
_ENTRY = re.compile(r"(?:seq \d+ |\d+ )?((?:permit|deny)\b.*)", re.IGNORECASE)
_STANDARD = (*range(1, 100), *range(1300, 2000))

_BY_LIST = re.compile(r"match (?:ip )?access-group (?:name )?(\S+)", re.IGNORECASE)
_BY_MARK = re.compile(r"match (?:ip )?(dscp|precedence) ([\w ]+)", re.IGNORECASE)
_PRECEDENCES = ("routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network")


@dataclass
class AccessList:
    """Entries of an IPv4 access list without their numbers; ``exact`` where Batfish reads all that they say."""

    standard: bool
    line: int
    entries: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    exact: bool = True

    def line_of(self, entry: str) -> int:
        """The line of the last entry that Batfish writes so; that of the list where none is spelt so."""
        wanted = entry.split()
        for text, number in reversed([*zip(self.entries, self.numbers, strict=False)]):
            if text.split() == wanted[-len(text.split()) :]:
                return number
        return self.line


@dataclass
class ClassText:
    """A class-map at its line: each condition is a list of entries, ``None`` where Batfish cannot judge it."""

    line: int
    every: bool
    conditions: list[AccessList | None] = field(default_factory=list)

    @property
    def provable(self) -> bool:
        """Whether what the class matches is all in lists that Batfish reads as they are."""
        return bool(self.conditions) and all(
            condition is not None and condition.exact for condition in self.conditions
        )


@dataclass(frozen=True)
class ClassTexts:
    """What a text has: classes by name, and the order in which policies ask for them, where their lines say it."""

    classes: dict[str, ClassText]
    orders: dict[str, tuple[str, ...]]


def class_texts(copy: AnalysisCopy) -> ClassTexts:
    """The classes of a copy."""
    lists = access_lists(copy)
    classes: dict[str, ClassText] = {}
    orders: dict[str, tuple[str, ...]] = {}
    for head, number, below in _stanzas(copy.lines):
        if found := _CLASS.fullmatch(head):
            text = ClassText(number, every=(found[1] or "match-all").lower() == "match-all")
            text.conditions += [_condition(line, number, lists) for _, line in below if line.startswith("match ")]
            classes[found[2]] = text
        elif found := _POLICY.fullmatch(head):
            members = [_MEMBER.fullmatch(line) for _, line in below]
            orders[found[1]] = tuple(member[1] for member in members if member)
    return ClassTexts(classes, orders)


def _stanzas(lines: tuple[str, ...]) -> Iterator[tuple[str, int, list[tuple[int, str]]]]:
    """Each top line, its number and the lines below it."""
    head, number, below = "", 0, list[tuple[int, str]]()
    for at, line in enumerate(lines, 1):
        if line.startswith(" "):
            below.append((at, line.strip()))
            continue
        if head:
            yield head, number, below
        head, number, below = line.strip(), at, []
    if head:
        yield head, number, below


def access_lists(copy: AnalysisCopy) -> dict[str, AccessList]:
    """The IPv4 access lists of a copy by name."""
    copied = copy.text.splitlines()[1:]
    lists: dict[str, AccessList] = {}
    for head, number, below in _stanzas(copy.lines):
        if found := _NAMED.fullmatch(head):
            held = lists.setdefault(found[2], AccessList(found[1].lower() == "standard", number))
            entries = [(at, copied[at - 1].strip()) for at, _ in below]
        elif found := _NUMBERED.fullmatch(head):
            held = lists.setdefault(found[1], AccessList(int(found[1]) in _STANDARD, number))
            entry = _NUMBERED.fullmatch(copied[number - 1])
            entries = [(number, entry[2] if entry else "")]
        else:
            continue
        for at, text in entries:
            entry = _ENTRY.fullmatch(text)
            if entry:
                held.entries.append(entry[1])
                held.numbers.append(at)
            readable = entry is not None or text.startswith(("remark", "!"))
            held.exact &= readable and at not in copy.inexact and "object-group" not in text
    return lists


def _condition(line: str, number: int, lists: dict[str, AccessList]) -> AccessList | None:
    if line == "match any":
        return AccessList(False, number, ["permit ip any any"])
    if found := _BY_LIST.fullmatch(line):
        return lists.get(found[1])
    if found := _BY_MARK.fullmatch(line):
        try:
            values = [_marks(found[1].lower(), word) for word in found[2].split()]
        except ValueError:
            return None
        return AccessList(False, number, [f"permit ip any any dscp {d}" for marks in values for d in marks])
    return None


def _marks(field_: str, word: str) -> list[int]:
    if field_ == "dscp":
        return [parse_dscp(word)]
    level = _PRECEDENCES.index(word) if word in _PRECEDENCES else int(word)
    return list(range(8 * level, 8 * level + 8))
