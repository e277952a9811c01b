"""Policers of the Catalysts: one per class, or one that several classes of a policy share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.classes import policies
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.packets import Packets
from qoslab.shell import Row, Shell

AGGREGATE = "mls qos aggregate-policer"
_IN_CLASS = "police aggregate"


class Policers:
    """Rows that police. ``limit`` is the pattern of rate and burst, ``exceed`` that of the exceed action."""

    def __init__(self, box: IosBox, limit: str, exceed: str, *, aggregates: bool) -> None:
        self._box = box
        self._limit = limit
        self._exceed = f"exceed-action {exceed}:exceed"
        self._aggregates = aggregates

    def global_rows(self) -> list[Row]:
        """``mls qos aggregate-policer``, where the family has it."""
        if not self._aggregates:
            return []
        profile = f"{self._limit} {self._exceed}"
        return [row(f"{AGGREGATE} WORD:name {profile}", self._define, f"{AGGREGATE} WORD:name [{profile}]")]

    def class_rows(self) -> list[Row]:
        """``police`` in a class; ``no`` wants the rate and the burst too."""
        rows = [row(f"police {self._limit} [{self._exceed}]", self._police, True)]
        if self._aggregates:
            rows.append(row(f"{_IN_CLASS} WORD:name", self._share, True))
        return rows

    def _define(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"{AGGREGATE} {name}"
        if not match.undone:
            shell.store(Section(match.text, key=key, rank=40))
            return
        if any(held.value("police") == f"{_IN_CLASS} {name}" for _, held in self._classes()):
            raise Refused(f"% aggregate policer {name} is being used")  # unconfirmed wording
        shell.section.remove(key)

    def _police(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("police")
            return
        text = match.text if "exceed" in match else f"{match.text} exceed-action drop"
        shell.store(Section(text, key="police", rank=20))

    def _share(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        if match.undone:
            if shell.section.value("police") == match.text:
                shell.section.remove("police")
            return
        if f"{AGGREGATE} {name}" not in self._box.running:
            raise Refused(f"% aggregate policer {name} not configured")  # unconfirmed wording
        own = shell.section.parent
        for policy, held in self._classes():
            if held.value("police") == match.text and policy is not own:
                # A shared policer works within one policy map; the wording is unconfirmed.
                raise Refused(f"% aggregate policer {name} is used by policy map {policy.text.split()[1]}")
        shell.store(Section(match.text, key="police", rank=20))

    def _classes(self) -> Iterator[tuple[Section, Section]]:
        for policy in policies(self._box):
            for held in policing_classes(policy):
                yield policy, held


def policed(running: Section, held: Section) -> tuple[int, int, str] | None:
    """Rate (bit/s), burst (bytes) and exceed action of a class; None when it does not police."""
    text = held.value("police")
    if text.startswith(_IN_CLASS):
        text = running.value(f"{AGGREGATE} {text.split()[2]}")
    found = re.search(r"(\d+) (\d+) exceed-action (.+)", text)
    return None if found is None else (int(found[1]), int(found[2]), found[3].strip())


def meter(held: Section) -> str:
    """What packets of a class share a bucket under: the class's own, or the shared policer's."""
    text = held.value("police")
    return text if text.startswith(_IN_CLASS) else held.text


def policing_classes(policy: Section | None) -> list[Section]:
    """The classes of a policy that police; none without a policy."""
    return [held for held in policy.starting("class ") if "police" in held] if policy is not None else []


def policer_count(policy: Section) -> int:
    """How many policers of a port the policy takes up."""
    return len({meter(held) for held in policing_classes(policy)})


def split_by_policer(
    limit: tuple[int, int, str] | None, packets: Packets, seconds: float, budgets: dict[str, float], key: str
) -> tuple[int, str]:
    """How many packets conform, and what happens to the others. Without a duration all conform."""
    if limit is None or seconds <= 0 or packets.bytes == 0:
        return packets.count, ""
    rate, burst, exceed = limit
    left = budgets.setdefault(key, burst + rate * seconds / 8)
    conforming = min(packets.count, int(left // packets.bytes))
    budgets[key] = left - conforming * packets.bytes
    return conforming, exceed
