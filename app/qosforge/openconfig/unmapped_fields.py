"""Fields that have no counterpart in the other model, as one finding each with the interfaces concerned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import BaseModel

from qosforge.findings import Finding, Severity


@dataclass
class UnmappedFields:
    """Findings on the unmapped fields of one device; the same one on several interfaces is reported once."""

    device: str
    _found: dict[Finding, list[str]] = field(default_factory=dict)

    def add(
        self,
        code: str,
        severity: Severity,
        message: str,
        *,
        interface: str = "",
        direction: str | None = None,
        traffic_class: str | None = None,
        requested: str | None = None,
        applied: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Note a finding; ``interface`` is empty for the whole device."""
        finding = Finding(
            code=code,
            severity=severity,
            message=message,
            device=self.device,
            direction=direction,
            traffic_class=traffic_class,
            requested=requested,
            applied=applied,
            hint=hint,
        )
        places = self._found.setdefault(finding, [])
        if interface and interface not in places:
            places.append(interface)

    def others(self, part: BaseModel, carried: Iterable[str], what: str, interface: str = "") -> None:
        """Note every field of a part of the plan that is set and not among those carried."""
        for name in sorted(part.model_fields_set - set(carried)):
            if getattr(part, name) != type(part).model_fields[name].get_default(call_default_factory=True):
                self.add(
                    "openconfig-not-carried",
                    Severity.WARNING,
                    f"{what}: {name.replace('_', ' ')} is not carried",
                    interface=interface,
                    hint="configure it on the device by other means",
                )

    def findings(self) -> tuple[Finding, ...]:
        """All of them, in the order in which they were first met."""
        return tuple(self._located(finding, places) for finding, places in self._found.items())

    @staticmethod
    def _located(finding: Finding, places: list[str]) -> Finding:
        if len(places) <= 1:
            return finding.model_copy(update={"interface": places[0] if places else None})
        return finding.model_copy(update={"message": f"{finding.message} (on {', '.join(places)})"})
