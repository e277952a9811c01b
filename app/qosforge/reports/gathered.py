"""Findings of a whole network, gathered: what is said alike of many devices is said once, with the devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.findings import Severity
from qosforge.reports.preview import FindingDocument

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True)
class Gathered:
    """What is found, and on which devices (and interfaces); none where it is about the policy itself."""

    finding: FindingDocument
    places: tuple[str, ...]


def gathered(findings: Iterable[FindingDocument]) -> tuple[Gathered, ...]:
    """Findings with their places, the gravest first and else in the order that they came in."""
    alike: dict[FindingDocument, list[str]] = {}
    for finding in findings:
        said = finding.model_copy(update={"device": None, "interface": None, "direction": None})
        places = alike.setdefault(said, [])
        where = " ".join(part for part in (finding.device, finding.interface, finding.direction) if part)
        if where and where not in places:
            places.append(where)
    return tuple(
        Gathered(finding, tuple(places))
        for finding, places in sorted(alike.items(), key=lambda entry: _ORDER.index(entry[0].severity))
    )
