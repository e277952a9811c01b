"""What was proven of a change, what was refuted with the packet or line that shows it, and what nobody could prove.

Which of these a finding says, the catalogue has by its code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qosforge.finding_codes import Proof, load_codes
from qosforge.findings import Finding
from qosforge.reports.row_table import rows_in_words

CLASSES = "every interface puts the packets into the classes of the intent, but for what findings say"
"""What our own proof over sets of packets shows where it finds nothing."""
_CLASSES = "classification-"
_GATE = "batfish-"
"""A finding of such a code is there whenever a validation was made: whatever becomes of Batfish, it is said."""


@dataclass(frozen=True)
class Proofs:
    """The findings that say what is ``proven``, ``refuted`` and ``open``; ``classes``: `CLASSES` is proven."""

    classes: bool
    proven: tuple[Finding, ...]
    refuted: tuple[Finding, ...]
    open: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return self.classes or bool(self.proven or self.refuted or self.open)


def proofs(findings: Iterable[Finding], *, checked: bool = False) -> Proofs:
    """The proofs that findings tell; none where no validation was made. ``checked``: our own checks were made."""
    found = tuple(findings)
    made = checked or any(finding.code.startswith(_GATE) or finding.code == "set-aside" for finding in found)
    classes = made and not any(finding.code.startswith(_CLASSES) for finding in found)
    return Proofs(classes, *(_of_kind(found, kind) if made else () for kind in ("proven", "refuted", "open")))


def proof_lines(told: Proofs) -> Sequence[tuple[str, str]]:
    """Each proof as a heading and a sentence, for reports in text."""
    lines = [("proven", CLASSES)] if told.classes else []
    for heading, findings in (("proven", told.proven), ("refuted", told.refuted), ("not proven", told.open)):
        lines += [(heading, _sentence(finding)) for finding in findings]
    return lines


def proof_of(code: str) -> Proof | None:
    """What findings of a code say of a proof."""
    explanation = load_codes().codes.get(code)
    return None if explanation is None else explanation.proof


def _of_kind(findings: tuple[Finding, ...], kind: str) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if proof_of(finding.code) == kind)


def _sentence(finding: Finding) -> str:
    about = rows_in_words(finding.rows)
    said = f"{finding.message}: {about}" if about else finding.message
    return f"{finding.where}: {said}" if finding.where else said
