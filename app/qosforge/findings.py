"""Findings: the diagnostics of compiler and validators."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from qosforge.frozen import FrozenModel

DEFAULT = "default"
"""The variant of a code's own message."""

Fact = str | int | float
"""What a placeholder of a message stands for, or whether a condition of a severity holds."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Fidelity(StrEnum):
    """How near a realised treatment is to the one asked for."""

    EXACT = "exact"
    APPROXIMATE = "approximate"
    UNSUPPORTED = "unsupported"


class ComparedByText(BaseModel):
    """A finding that equals another one of the same texts and place, whatever facts the texts were made of."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[Any, ...]:
        return tuple([value for name, value in self.__dict__.items() if name not in ("variant", "facts")])


class FindingRow(FrozenModel):
    """One of several things that a finding is about: what it says beside what the finding says of all of them.

    ``text`` is a thing that is no class and no port, such as a configuration line.
    """

    interfaces: tuple[str, ...] = ()
    direction: str | None = None
    traffic_class: str | None = None
    text: str | None = None
    requested: str | None = None
    applied: str | None = None
    hint: str | None = None
    file: str | None = None
    line: int | None = None


class Finding(ComparedByText, FrozenModel):
    """One diagnostic: a stable code, where it stands, what was requested, what is applied and a hint.

    ``rows`` are what it is about where that is several: what they have in common is said of the finding.
    ``variant`` and ``facts`` say the message and the hint again in another language.
    """

    code: str
    severity: Severity
    message: str
    device: str | None = None
    interface: str | None = None
    direction: str | None = None
    traffic_class: str | None = None
    file: str | None = None
    line: int | None = None
    requested: str | None = None
    applied: str | None = None
    hint: str | None = None
    rows: tuple[FindingRow, ...] = ()
    variant: str = DEFAULT
    facts: dict[str, Fact] = Field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """This finding as plain JSON: every field, ``null`` where nothing is to be said; the class as ``class``."""
        fields = _with_class(self.model_dump(mode="json"))
        return {**fields, "rows": [_with_class(row) for row in fields["rows"]]}

    @property
    def where(self) -> str:
        """Human-readable place of the finding."""
        place = " ".join(p for p in (self.device, self.interface, self.direction) if p)
        parts = [p for p in (place, f"class {self.traffic_class}" if self.traffic_class else "") if p]
        if self.file:
            parts.append(f"{self.file}:{self.line}" if self.line else self.file)
        return ", ".join(parts)


def _with_class(fields: dict[str, Any]) -> dict[str, Any]:
    return {"class" if name == "traffic_class" else name: value for name, value in fields.items()}


def complete_devices(
    findings: Iterable[Finding], devices: Iterable[str], *, strict: bool = False
) -> frozenset[str]:
    """The devices against whose configuration nothing stands; a finding of no device stands against all of them."""
    refused = {f.device for f in findings if has_errors((f,), strict=strict)}
    return frozenset() if None in refused else frozenset(devices) - refused


def has_errors(findings: Iterable[Finding], *, strict: bool = False) -> bool:
    """Whether any finding stands against a push: an error, and when ``strict`` a warning too."""
    against = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return any(f.severity in against for f in findings)
