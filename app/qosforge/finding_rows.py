"""Findings that say the same of several classes and ports of a device, as one with a row for each; and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from qosforge.findings import Finding, FindingRow

_SAID = ("direction", "traffic_class", "requested", "applied", "file", "line")
"""Fields that findings and rows have in common, beside the interfaces: what all rows share is the finding's."""


def gather_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings with those of one device, code and text in one, where the first of them stood."""
    gathered: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        text = (finding.code, finding.variant, finding.severity, finding.device, finding.message, finding.hint)
        gathered.setdefault(text, []).append(finding)
    return tuple(found[0] if len(found) == 1 else _gathered(found) for found in gathered.values())


def expand_finding(finding: Finding) -> Iterator[Finding]:
    """A finding of each row, which has no rows of its own; the interfaces of a row stay together."""
    for row in finding.rows or (FindingRow(),):
        said = {name: getattr(row, name) for name in _SAID if getattr(row, name) is not None}
        if row.interfaces:
            said["interface"] = ", ".join(row.interfaces)
        yield finding.model_copy(update={"rows": (), **said})


def _gathered(findings: Sequence[Finding]) -> Finding:
    rows = _merge_ports(row for finding in findings for row in _rows(finding))
    shared: dict[str, Any] = {
        name: values.pop() for name in _SAID if len(values := {getattr(row, name) for row in rows}) == 1
    }
    if "line" not in shared:  # the file alone would be no place
        shared.pop("file", None)
    ports = {row.interfaces for row in rows}
    interfaces = ports.pop() if len(ports) == 1 else ()
    one_port = len(interfaces) == 1
    bare = dict.fromkeys(shared) | ({"interfaces": ()} if one_port else {})
    left = tuple(dict.fromkeys(row.model_copy(update=bare) for row in rows))
    said = {name: shared.get(name) for name in _SAID}
    return findings[0].model_copy(
        update={
            **said,
            "interface": interfaces[0] if one_port else None,
            "rows": () if left == (FindingRow(),) else left,
        }
    )


def _rows(finding: Finding) -> Iterator[FindingRow]:
    """What a finding says as rows that say all of it."""
    said = {name: getattr(finding, name) for name in _SAID}
    ports = () if finding.interface is None else (finding.interface,)
    for row in finding.rows or (FindingRow(),):
        own = {name: value for name in _SAID if (value := getattr(row, name)) is not None}
        yield row.model_copy(update={**said, **own, "interfaces": row.interfaces or ports})


def _merge_ports(rows: Iterable[FindingRow]) -> list[FindingRow]:
    """Rows that differ in their ports alone as one with all of these; one of no port stays apart."""
    ports: dict[tuple[FindingRow, bool], dict[str, None]] = {}
    for row in rows:
        alike = row.model_copy(update={"interfaces": ()}), bool(row.interfaces)
        ports.setdefault(alike, {}).update(dict.fromkeys(row.interfaces))
    return [row.model_copy(update={"interfaces": tuple(named)}) for (row, _), named in ports.items()]
