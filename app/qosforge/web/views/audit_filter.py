"""The findings and paths of an audit that fit what a person looks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query

from qosforge.findings import Finding, Severity
from qosforge.web.views.audit import AuditGroup, AuditView, PathView


@dataclass(frozen=True)
class AuditFilter:
    """Findings of a severity, of a device, and with every word of ``q`` in what is said of them; empty ones filter
    nothing.
    """

    severity: Annotated[Severity | Literal[""], Query()] = ""
    device: Annotated[str, Query(max_length=128)] = ""
    q: Annotated[str, Query(max_length=200)] = ""

    @property
    def query(self) -> str:
        """What is looked for, as a query."""
        return urlencode({name: str(value) for name, value in vars(self).items() if value})

    def devices(self, view: AuditView) -> tuple[str, ...]:
        """The devices to choose from, by name: all that something is said of, and the chosen one."""
        return tuple(sorted({*_devices(view), self.device} - {""}))

    def found(self, view: AuditView) -> AuditView:
        """The audit with only what fits. A severity is of findings: paths have none."""
        groups = (self._fitting(group) for group in view.groups if self.severity in ("", group.severity))
        paths = tuple(path for path in view.paths if self._path_fits(path))
        return replace(view, groups=tuple(group for group in groups if group.findings), paths=paths)

    def _fitting(self, group: AuditGroup) -> AuditGroup:
        shared = f"{group.code} {group.meaning} {group.why} {group.hint}"
        return replace(group, findings=tuple(one for one in group.findings if self._fits(one, shared)))

    def _fits(self, finding: Finding, shared: str) -> bool:
        if self.device and finding.device != self.device:
            return False
        own = (finding.device, finding.interface, finding.traffic_class, finding.message)
        return self._has_words(" ".join((shared, *(part for part in own if part))))

    def _path_fits(self, path: PathView) -> bool:
        if self.device and self.device not in {*path.unread, *(one.device for one in path.lost)}:
            return False
        lost = (f"{one.marks} {one.device} {one.port}" for one in path.lost)
        return self._has_words(" ".join((path.source, path.target, path.kept, *lost, *path.unread)))

    def _has_words(self, text: str) -> bool:
        small = text.lower()
        return all(word in small for word in self.q.lower().split())


def _devices(view: AuditView) -> Iterator[str]:
    for group in view.groups:
        yield from (finding.device for finding in group.findings if finding.device)
    for path in view.paths:
        yield from (one.device for one in path.lost)
        yield from path.unread
