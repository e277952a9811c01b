"""The faults that the table says Batfish sees, put to a real one."""

from __future__ import annotations

import pytest

from qosforge.batfish.check import prepare_check
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.service import BatfishService
from qosforge.findings import Severity
from tests.batfish.conftest import live  # noqa: F401 (a fixture)

from .support import PlantedFault, tables, with_fault
from .test_right_configurations import POLICIES, compiled_without_errors

SEEN = [fault for fault in tables() if "batfish" in fault.seen_by]
SECONDS = 60


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
    for right in compiled_without_errors(policy):
        found = BatfishService(SECONDS).check(
            prepare_check(right.compilation, right.running, right.predicted), live
        )
        assert [f for f in found if f.severity is not Severity.INFO] == [], right.compilation.devices[0].name
