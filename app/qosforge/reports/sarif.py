"""Findings as SARIF 2.1.0 (OASIS), which code hosts show as annotations.

Rules are the codes of the catalogue. Paths are below the root of the sources (``%SRCROOT%``), as hosts want them; a
finding without a file stands at the policy's first line, because they drop what has no place.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qosforge.finding_codes import Explanation, load_codes
from qosforge.finding_rows import expand_finding
from qosforge.findings import Finding, Severity
from qosforge.release import release
from qosforge.reports.row_table import rows_in_words

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
"""Names the standard's schema in the document; nothing reads it from there."""

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = dict[str, Any]


def sarif(findings: Sequence[Finding], policy: str, root: Path) -> Json:
    """A SARIF log with one run.

    ``policy`` is the file that findings without a file are about; ``root`` is the absolute folder that paths count
    from. Files outside it are named as they are.
    """
    known = load_codes().codes
    findings = [shown for finding in findings for shown in _by_line(finding)]
    codes = sorted({finding.code for finding in findings})
    return {
        "version": "2.1.0",
        "$schema": SCHEMA,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "qosforge",
                        "version": release(),
                        "rules": [_rule(code, known.get(code)) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, codes.index(finding.code), policy, root) for finding in findings],
            }
        ],
    }


def _by_line(finding: Finding) -> Iterable[Finding]:
    """A finding for each of its rows, where these stand at lines of their own: hosts mark the first place alone."""
    return expand_finding(finding) if any(row.line for row in finding.rows) else (finding,)


def _rule(code: str, entry: Explanation | None) -> Json:
    """The rule of a code; only its name for a code of a newer service that this catalogue lacks."""
    if entry is None:
        return {"id": code}
    help_ = f"{entry.why}\n\nMend: {entry.hint}\n\nExample: {entry.example}"
    return {
        "id": code,
        "shortDescription": {"text": entry.meaning},
        "fullDescription": {"text": entry.why},
        "help": {"text": help_},
        "defaultConfiguration": {"level": LEVELS[entry.severities[0]]},
    }


def _result(finding: Finding, rule: int, policy: str, root: Path) -> Json:
    place: Json = {
        "physicalLocation": {
            "artifactLocation": _artifact(finding.file or policy, root),
            "region": {"startLine": max(finding.line or 1, 1)},
        }
    }
    logical = _logical(finding)
    if logical:
        place["logicalLocations"] = logical
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": _text(finding)},
        "locations": [place],
        "partialFingerprints": {"finding/v1": _fingerprint(finding)},
    }


def _text(finding: Finding) -> str:
    where = " ".join(part for part in (finding.device, finding.interface, finding.direction) if part)
    named = f"class {finding.traffic_class}" if finding.traffic_class else ""
    place = ", ".join(part for part in (where, named) if part)
    text = f"{place}: {finding.message}" if place else finding.message
    sides = [
        f"{what} {side}" for what, side in (("requested", finding.requested), ("applied", finding.applied)) if side
    ]
    text += f" ({', '.join(sides)})" if sides else ""
    about = rows_in_words(finding.rows)
    text += f": {about}" if about else ""
    return f"{text}. Hint: {finding.hint}" if finding.hint else text


def _logical(finding: Finding) -> list[Json]:
    found = []
    parts = [part for part in (finding.device, finding.interface, finding.direction) if part]
    if parts:
        found.append({"name": parts[-1], "fullyQualifiedName": " ".join(parts), "kind": "resource"})
    if finding.traffic_class:
        found.append({"name": finding.traffic_class, "kind": "member"})
    return found


def _artifact(file: str, root: Path) -> Json:
    """The URI of a file, from its path alone: a file that a request names is never opened."""
    path = Path(os.path.normpath(Path.cwd() / file))
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": "%SRCROOT%"}
    return {"uri": path.as_uri()} if Path(file).is_absolute() else {"uri": quote(Path(file).as_posix())}


def _fingerprint(finding: Finding) -> str:
    """A fingerprint that does not depend on the lines above the finding."""
    parts = (
        finding.code,
        finding.device,
        finding.interface,
        finding.direction,
        finding.traffic_class,
        finding.requested,
    )
    return hashlib.sha256("\0".join(part or "" for part in parts).encode()).hexdigest()[:32]
