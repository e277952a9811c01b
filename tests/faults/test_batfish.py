"""The faults that the table says Batfish sees, and the right configurations, put to a real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.batfish.check import prepare_check
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.service import BatfishService
from qosforge.findings import Severity
from tests.batfish.conftest import live  # noqa: F401 (a fixture)

from .support import PlantedFault, Validated, compiled, tables, with_fault
from .test_right_configurations import POLICIES, WRITTEN, compiled_without_errors, written

SEEN = [fault for fault in tables() if "batfish" in fault.seen_by]
SECONDS = 300


@pytest.mark.batfish
@pytest.mark.parametrize("fault", SEEN, ids=lambda fault: f"{fault.platform}-{fault.id}")
def test_batfish_sees_the_fault(fault: PlantedFault, live: Address) -> None:  # noqa: F811
    planted = with_fault(fault)
    check = prepare_check(planted.compilation, planted.running, planted.predicted)
    found = BatfishService(SECONDS).check(check, live)
    serious = [f for f in found if f.severity is not Severity.INFO]
    assert [f for f in serious if f.device == fault.device], found


@pytest.mark.batfish
@pytest.mark.parametrize("policy", POLICIES)
def test_batfish_sees_no_fault_in_what_is_right(policy: str, live: Address) -> None:  # noqa: F811
    names = [right.compilation.devices[0].name for right in compiled_without_errors(policy)]
    assert _alarms(compiled(policy, *names), live) == []


@pytest.mark.batfish
@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_batfish_sees_no_fault_in_what_people_wrote(path: Path, live: Address) -> None:  # noqa: F811
    assert _alarms(written(path.read_text(encoding="utf-8")), live) == []


def _alarms(right: Validated, live: Address) -> list[str]:  # noqa: F811
    """What Batfish finds, and which devices it did not check, of those that it models."""
    check = prepare_check(right.compilation, right.running, right.predicted)
    found = BatfishService(SECONDS).check(check, live)
    checked = {name for f in found if f.code == "batfish-checked" for name in str(f.facts["devices"]).split(", ")}
    missed = {copies.name for copies in check.snapshots.devices.values()} - checked
    serious = [f"{f.device}: {f.code}: {f.message}" for f in found if f.severity is not Severity.INFO]
    return [*serious, *(f"not checked: {name}" for name in sorted(missed))]
