"""Collect the findings of one device while its request is lowered."""

from __future__ import annotations

from collections.abc import Iterable

from qosforge.findings import Finding, Severity
from qosforge.plan.request import DeviceRequest


class Notes:
    """Collects findings; every one names the device, and stands once."""

    def __init__(self, request: DeviceRequest) -> None:
        self._device = request.device
        self._findings: dict[Finding, None] = {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noted, in order."""
        return tuple(self._findings)

    def extend(self, findings: Iterable[Finding]) -> None:
        """Take findings made elsewhere."""
        self._findings.update(dict.fromkeys(findings))

    def add(
        self,
        severity: Severity,
        code: str,
        message: str,
        *,
        traffic_class: str | None = None,
        interface: str | None = None,
        direction: str | None = None,
        requested: str | None = None,
        applied: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Note one finding."""
        finding = Finding(
            code=code,
            severity=severity,
            message=message,
            device=self._device,
            interface=interface,
            direction=direction,
            traffic_class=traffic_class,
            requested=requested,
            applied=applied,
            hint=hint,
        )
        self._findings.setdefault(finding)
