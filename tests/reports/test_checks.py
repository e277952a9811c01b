"""What a report for a pipeline shows when the intent itself is wrong."""

from __future__ import annotations

from qosforge.errors import DeviceError, InputError, InputErrors, Place
from qosforge.finding_codes import load_codes
from qosforge.reports.checks import as_findings, findings_by_device


def test_every_problem_becomes_a_finding_at_its_place() -> None:
    first = InputError("is no rate", Place(file="p.yaml", line=7, path="classes[0]"), "write 2 Mb/s")
    second = DeviceError("does not answer", Place(device="r1", interface="Serial0"))

    found = as_findings(InputErrors("wrong", errors=[first, second]), "policy.yaml")

    assert [(f.file, f.line, f.device, f.message, f.hint) for f in found] == [
        ("p.yaml", 7, None, "classes[0]: is no rate", "write 2 Mb/s"),
        ("policy.yaml", None, "r1", "does not answer", None),
    ]
    assert {f.code for f in found} <= load_codes().codes.keys()


def test_findings_of_devices_that_are_not_shown_count_for_the_intent() -> None:
    found = as_findings(DeviceError("away", Place(device="r9")), "policy.yaml")

    assert findings_by_device(found, ["r1"]) == {None: list(found), "r1": []}
