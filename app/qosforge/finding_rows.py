"""Findings that say the same of several classes and ports of a device, as one with a row for each; and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from qosforge.findings import Finding, FindingRow

_SAID = ("direction", "traffic_class", "requested", "applied", "file", "line")
"""Fields that findings and rows have in common, beside the interfaces: what all rows share is the finding's."""


def gather_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings with those of one device, code and text in one, where the first of them stood."""
    gathered: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        gathered.setdefault(what_is_said(finding), []).append(finding)
    return tuple(found[0] if len(found) == 1 else _gathered(found) for found in gathered.values())


def what_is_said(finding: Finding) -> tuple[object, ...]:
    """Device, code and text of a finding: those that have the same are gathered."""
    return finding.code, finding.variant, finding.severity, finding.device, finding.message, finding.hint


def expand_finding(finding: Finding) -> Iterator[Finding]:
    """A finding of each row, which has no rows of its own; the interfaces of a row stay together."""
    for row in finding.rows or (FindingRow(),):
        said = {name: getattr(row, name) for name in _SAID if getattr(row, name) is not None}
        if row.interfaces:
            said["interface"] = ", ".join(row.interfaces)
        yield finding.model_copy(update={"rows": (), **said})


class _Row(NamedTuple):
    """A row by its fields, which are compared and changed many times before a few rows are left."""

    direction: str | None
    traffic_class: str | None
    text: str | None
    requested: str | None
    applied: str | None
    hint: str | None
    file: str | None
    line: int | None


_NO_ROW = FindingRow()
_EMPTY = _Row(*(None,) * len(_Row._fields))


def _gathered(findings: Sequence[Finding]) -> Finding:
    rows = _merge_ports(row for finding in findings for row in _rows(finding))
    shared: dict[str, Any] = {
        name: values.pop() for name in _SAID if len(values := {getattr(row, name) for row, _ in rows}) == 1
    }
    if "line" not in shared:  # the file alone would be no place
        shared.pop("file", None)
    ports = {named for _, named in rows}
    interfaces = ports.pop() if len(ports) == 1 else ()
    one_port = len(interfaces) == 1
    bare = dict.fromkeys(shared)
    left = dict.fromkeys((row._replace(**bare), () if one_port else named) for row, named in rows)
    said = {name: shared.get(name) for name in _SAID}
    made = [_NO_ROW.model_copy(update={"interfaces": named, **row._asdict()}) for row, named in left]
    return findings[0].model_copy(
        update={
            **said,
            "interface": interfaces[0] if one_port else None,
            "rows": () if left.keys() == {(_EMPTY, ())} else tuple(made),
        }
    )


def _rows(finding: Finding) -> Iterator[tuple[_Row, tuple[str, ...]]]:
    """What a finding says as rows that say all of it, each with its interfaces."""
    said = vars(finding)
    ports = () if finding.interface is None else (finding.interface,)
    for row in finding.rows or (_NO_ROW,):
        own = vars(row)
        fields = [said[name] if own[name] is None and name in _SAID else own[name] for name in _Row._fields]
        yield _Row(*fields), row.interfaces or ports


def _merge_ports(
    rows: Iterable[tuple[_Row, tuple[str, ...]]],
) -> list[tuple[_Row, tuple[str, ...]]]:
    """Rows that differ in their ports alone as one with all of these; one of no port stays apart."""
    ports: dict[tuple[_Row, bool], dict[str, None]] = {}
    for row, named in rows:
        ports.setdefault((row, bool(named)), {}).update(dict.fromkeys(named))
    return [(row, tuple(named)) for (row, _), named in ports.items()]
