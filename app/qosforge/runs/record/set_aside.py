"""One finding of Batfish that a person sets aside for one run: it is shown with the reason, and stops nothing.

Batfish models devices in general, and may be wrong about one; our own findings cannot be set aside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note

CODES = "batfish-"
"""What the codes begin with whose findings can be set aside."""

_Line = Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]


class SetAside(BaseModel):
    """Which finding is set aside, and why: the only one of this code and device whose message has ``text``.

    ``device`` is empty for a finding of no device.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(pattern=rf"^{CODES}[a-z-]{{1,60}}$", max_length=64, examples=["batfish-undefined-reference"])
    device: Annotated[_Line, Field(max_length=128)] = Field(default="", examples=["r1"])
    text: _Line = Field(
        default="", examples=["class-map 'web'"], description="What the message of the finding has."
    )
    reason: Annotated[_Line, Field(min_length=1)] = Field(examples=["the router has this class from its image"])

    @property
    def told(self) -> str:
        """Which finding it is, in words."""
        return f"{self.code}{f' of {self.device}' if self.device else ''}{f' ({self.text})' if self.text else ''}"

    def meets(self, finding: Finding) -> bool:
        """Whether a finding is of the code and device and has the text."""
        return finding.code == self.code and (finding.device or "") == self.device and self.text in finding.message


class RecordedSetAside(SetAside):
    """The finding that is set aside for a run, and by whom."""

    by: str


def set_aside(findings: Iterable[Finding], which: RecordedSetAside | None) -> tuple[Finding, ...]:
    """The findings with the one that is set aside as a note; with a finding that says so where none or several are
    meant, and nothing is set aside.
    """
    found = tuple(findings)
    if which is None:
        return found
    meant = [finding for finding in found if which.meets(finding)]
    if len(meant) != 1:
        variant = "several" if meant else "default"
        return (*found, note("set-aside-unmatched", variant=variant, finding=which.told, count=len(meant)))
    return tuple(_noted(finding, which) if finding is meant[0] else finding for finding in found)


def _noted(finding: Finding, which: RecordedSetAside) -> Finding:
    place = Place(
        file=finding.file,
        line=finding.line,
        device=finding.device,
        interface=finding.interface,
        direction=finding.direction,
        traffic_class=finding.traffic_class,
    )
    said = note("set-aside", place, by=which.by, reason=which.reason, finding=finding.code, message=finding.message)
    return said.model_copy(update={"rows": finding.rows})
