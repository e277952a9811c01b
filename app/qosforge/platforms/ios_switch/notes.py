"""Collect the findings of one device while its request is lowered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.note import note
from qosforge.plan.request import DeviceRequest


class Notes:
    """Collects findings; every one names the device, and stands once."""

    def __init__(self, request: DeviceRequest) -> None:
        self.request = request
        self._findings: dict[Finding, None] = {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noted, in order."""
        return tuple(self._findings)

    def extend(self, findings: Iterable[Finding]) -> None:
        """Take findings made elsewhere."""
        self._findings.update(dict.fromkeys(findings))

    def note(
        self,
        code: str,
        *,
        traffic_class: str | None = None,
        interface: str | None = None,
        direction: str | None = None,
        requested: str | None = None,
        applied: str | None = None,
        variant: str = DEFAULT,
        **facts: Any,
    ) -> None:
        """Note the finding of a code at a place of the device (see `qosforge.note.note`)."""
        place = Place(
            device=self.request.device, interface=interface, direction=direction, traffic_class=traffic_class
        )
        self.extend([note(code, place, requested=requested, applied=applied, variant=variant, **facts)])
