"""What a run was rejected for, as the head of its page says it: how much, where, and the first of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from qosforge.device_names import MOST_NAMED, name_devices
from qosforge.findings import Finding, Severity
from qosforge.reports.grouped_findings import FindingGroup, group_findings
from qosforge.runs.views.failure_reasons import places_of
from qosforge.web.views.finding_fields import is_of_policy


@dataclass(frozen=True)
class RunRefusal:
    """The errors that stand against a run, grouped as its findings are counted; the first is the gravest."""

    groups: tuple[FindingGroup[Finding], ...]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Self | None:
        """The errors among findings; ``None`` where there are none."""
        groups = group_findings(finding for finding in findings if finding.severity is Severity.ERROR)
        return cls(groups) if groups else None

    @property
    def first(self) -> Finding:
        """The error that is told."""
        return self.groups[0].finding

    @property
    def where(self) -> str:
        """Where all of them are, in a few names; empty where they are about no device."""
        devices = self._devices
        few = name_devices(devices)
        return f"{len(devices)} devices ({few})" if len(devices) > MOST_NAMED else few

    @property
    def first_where(self) -> str:
        """Where the first is; empty where that is told by `where`, or it is about no device."""
        devices = set(self._devices)
        alike = len(self.groups) > 1 and len(devices) > 1 and devices == set(self.groups[0].devices)
        return "" if alike else places_of(self.groups[0])

    @property
    def asked(self) -> tuple[str, ...]:
        """What the first says is asked for and cannot be had: where something else is applied, figures say it."""
        if self.first.applied or any(row.applied for row in self.groups[0].rows):
            return ()
        found = (self.first.requested, *(row.requested for row in self.groups[0].rows))
        return tuple(dict.fromkeys(one for one in found if one))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the first is about."""
        return _classes(self.groups[0])

    @property
    def is_of_policy(self) -> bool:
        """Whether the policy can do something about any of them: it is about a class, or what the form has."""
        return any(_classes(group) or is_of_policy(group.finding.code) for group in self.groups)

    @property
    def _devices(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(device for group in self.groups for device in group.devices))


def _classes(group: FindingGroup[Finding]) -> tuple[str, ...]:
    found = (group.finding.traffic_class, *(row.traffic_class for row in group.rows))
    return tuple(dict.fromkeys(one for one in found if one))
