"""Findings of a network, grouped: what many devices have in common is said once, with a row for each difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from qosforge.findings import Finding, FindingRow, Severity

if TYPE_CHECKING:  # the command line loads this first of all
    from qosforge.reports.preview import FindingDocument, FindingRowDocument

F = TypeVar("F", Finding, "FindingDocument")
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_FIRST = frozenset({"objective-below-minimum"})
"""Codes that say that what is asked for cannot be had at all: of their severity they come first."""
_SHARED = ("traffic_class", "requested", "applied", "file", "line")
"""What a group says once where all of its rows have it alike."""


@dataclass(frozen=True)
class GroupRow:
    """What a finding is about, and the devices (and interfaces) where it is so."""

    traffic_class: str | None
    text: str | None
    requested: str | None
    applied: str | None
    hint: str | None
    file: str | None
    line: int | None
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class FindingGroup(Generic[F]):
    """A finding with what all of its places have in common.

    It has ``rows`` where they differ in more, and ``places`` where all rows have the same (none: it is about the
    policy). ``devices`` are those of all places.
    """

    finding: F
    places: tuple[str, ...]
    rows: tuple[GroupRow, ...] = ()
    devices: tuple[str, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """The fields in which some row says something."""
        return frozenset(name for row in self.rows for name, value in vars(row).items() if value)


def group_findings(findings: Iterable[F]) -> tuple[FindingGroup[F], ...]:
    """Group findings by what they say, the most severe first, then what cannot be had at all, else in
    the given order.
    """
    groups: dict[tuple[object, ...], list[F]] = {}
    for finding in findings:
        said = (finding.code, finding.variant, finding.severity, finding.message, finding.hint)
        groups.setdefault(said, []).append(finding)
    ordered = sorted(groups.values(), key=lambda found: _gravity(found[0]))
    return tuple(_group(found) for found in ordered)


def _group(findings: list[F]) -> FindingGroup[F]:
    found: dict[GroupRow, dict[str, None]] = {}
    for finding in findings:
        for row in finding.rows or (FindingRow(),):
            place = _place(finding, row)
            found.setdefault(_row(finding, row), {}).update({place: None} if place else {})
    values = {name: {getattr(row, name) for row in found} for name in _SHARED}
    shared: dict[str, Any] = {name: each.pop() for name, each in values.items() if len(each) == 1}
    merged: dict[GroupRow, dict[str, None]] = {}
    unsaid: dict[str, Any] = dict.fromkeys(shared)
    for whole, places in found.items():
        merged.setdefault(replace(whole, **unsaid), {}).update(places)
    said = {name: shared.get(name) for name in _SHARED}
    bare = {"device": None, "interface": None, "direction": None, "rows": ()}
    common = findings[0].model_copy(update={**said, **bare})
    rows = [replace(row, places=tuple(places)) for row, places in merged.items()]
    devices = tuple(dict.fromkeys(finding.device for finding in findings if finding.device))
    if len({row.places for row in rows}) > 1:
        return FindingGroup(common, (), tuple(rows), devices)
    bare_rows = tuple(replace(row, places=()) for row in rows)
    said_alike = len(rows) == 1 and not any(vars(bare_rows[0]).values())
    return FindingGroup(common, rows[0].places, () if said_alike else bare_rows, devices)


def _gravity(finding: Finding | FindingDocument) -> tuple[int, bool]:
    return _ORDER.index(finding.severity), finding.code not in _FIRST


def _place(finding: Finding | FindingDocument, row: FindingRow | FindingRowDocument) -> str:
    ports = ", ".join(row.interfaces) or finding.interface
    return " ".join(part for part in (finding.device, ports, row.direction or finding.direction) if part)


def _row(finding: Finding | FindingDocument, row: FindingRow | FindingRowDocument) -> GroupRow:
    return GroupRow(
        traffic_class=row.traffic_class or finding.traffic_class,
        text=row.text,
        requested=row.requested or finding.requested,
        # What a line is counted with is of its device.
        applied=row.applied or (None if row.text else finding.applied),
        hint=row.hint,
        file=row.file or finding.file,
        line=row.line or finding.line,
    )
