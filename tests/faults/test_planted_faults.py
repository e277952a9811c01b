"""Each planted fault is named: its code, device and line, and where the table says so its class and interface."""

from __future__ import annotations

from collections import Counter

import pytest

from qosforge.finding_codes import load_codes
from qosforge.findings import Finding, Severity
from qosforge.platforms.base import installed
from qosforge.validation.context import ValidationContext
from qosforge.validation.lines import check_lines

from .support import PlantedFault, tables, with_fault

OWN = [fault for fault in tables() if "own" in fault.seen_by]


def described(findings: tuple[Finding, ...]) -> str:
    """The findings about lines, and the codes of all others."""
    lines = [f"{f.code} {f.where}: {f.message}" for f in findings if "number" in f.facts]
    return "\n".join((*lines, ", ".join(sorted({f.code for f in findings if "number" not in f.facts}))))


@pytest.mark.parametrize("fault", OWN, ids=lambda fault: f"{fault.platform}-{fault.id}")
def test_own_checks_name_the_fault_at_its_line(fault: PlantedFault) -> None:
    found = with_fault(fault).own_findings()
    device = fault.told_of or fault.device
    named = [f for f in found if f.code == fault.code and f.facts.get("text") == fault.line]
    if fault.line is None:
        named = [f for f in named if (f.device, f.interface) == (device, fault.interface)]
    assert named, described(found)
    assert not any(f.code == "round-trip" for f in found) or fault.line is None
    assert all(f.severity is Severity.ERROR and f.device == device and f.hint for f in named)
    if fault.line is not None:
        assert all(isinstance(f.facts["number"], int) and f.facts["number"] > 0 for f in named)
    if fault.traffic_class is not None:
        assert {f.traffic_class for f in named} == {fault.traffic_class}, described(found)
        assert all(f.file and f.line for f in named)
    if fault.interface is not None:
        assert fault.interface in {f.interface for f in named}, described(found)


def test_rendered_faults_are_named_where_nothing_is_known_of_the_device() -> None:
    blind = []
    for fault in (fault for fault in OWN if fault.where == "rendered" and fault.line is not None):
        found = check_lines(ValidationContext(with_fault(fault).compilation, {}))
        if not any(f.code == fault.code and f.facts.get("text") == fault.line for f in found):
            blind.append(fault.id)
    assert blind == ["more-than-75-percent"]  # of what the interface states as its bandwidth


def test_the_table_is_whole() -> None:
    assert not [id_ for id_, count in Counter((f.platform, f.id) for f in tables()).items() if count > 1]
    assert {fault.code for fault in tables()} <= load_codes().codes.keys()
    assert {fault.platform for fault in tables()} == installed().keys()
    assert {by for fault in tables() for by in fault.seen_by} <= {"own", "batfish"}
    assert len(tables()) >= 100
