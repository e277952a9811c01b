"""Findings of a network, grouped: the same finding of many devices becomes one with a list of places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.findings import Severity
from qosforge.reports.preview import FindingDocument

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True)
class FindingGroup:
    """A finding without its place, and the devices (and interfaces) that have it; none: it is about the policy."""

    finding: FindingDocument
    places: tuple[str, ...]


def group_findings(findings: Iterable[FindingDocument]) -> tuple[FindingGroup, ...]:
    """Group findings by everything but their place, the most severe first, else in the given order."""
    groups: dict[FindingDocument, list[str]] = {}
    for finding in findings:
        common = finding.model_copy(update={"device": None, "interface": None, "direction": None})
        places = groups.setdefault(common, [])
        where = " ".join(part for part in (finding.device, finding.interface, finding.direction) if part)
        if where and where not in places:
            places.append(where)
    return tuple(
        FindingGroup(finding, tuple(places))
        for finding, places in sorted(groups.items(), key=lambda entry: _ORDER.index(entry[0].severity))
    )
