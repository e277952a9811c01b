"""Fields that have no counterpart in the other model, as one finding each with the interfaces concerned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.note import Reason, note


@dataclass
class UnmappedFields:
    """Findings on the unmapped fields of one device; the same one on several interfaces is reported once."""

    device: str
    _found: dict[Finding, list[str]] = field(default_factory=dict)

    def note(
        self,
        code: str,
        *,
        interface: str = "",
        direction: str | None = None,
        traffic_class: str | None = None,
        requested: str | None = None,
        applied: str | None = None,
        variant: str = DEFAULT,
        **facts: Any,
    ) -> None:
        """Note the finding of a code (see `qosforge.note.note`); ``interface`` is empty for the whole device."""
        place = Place(device=self.device, direction=direction, traffic_class=traffic_class)
        self._take(note(code, place, requested=requested, applied=applied, variant=variant, **facts), interface)

    def report(self, reason: Reason, where: Place) -> None:
        """Note the finding of a reason."""
        self._take(reason.note(replace(where, device=self.device, interface=None)), where.interface or "")

    def _take(self, finding: Finding, interface: str) -> None:
        places = self._found.setdefault(finding, [])
        if interface and interface not in places:
            places.append(interface)

    def others(self, part: BaseModel, carried: Iterable[str], what: str, interface: str = "") -> None:
        """Note every field of a part of the plan that is set and not among those carried."""
        for name in sorted(part.model_fields_set - set(carried)):
            if getattr(part, name) != type(part).model_fields[name].get_default(call_default_factory=True):
                self.note("openconfig-not-carried", interface=interface, part=what, field=name.replace("_", " "))

    def findings(self) -> tuple[Finding, ...]:
        """All of them, in the order in which they were first met."""
        return tuple(self._located(finding, places) for finding, places in self._found.items())

    @staticmethod
    def _located(finding: Finding, places: list[str]) -> Finding:
        if len(places) <= 1:
            return finding.model_copy(update={"interface": places[0] if places else None})
        return finding.model_copy(update={"message": f"{finding.message} (on {', '.join(places)})"})
