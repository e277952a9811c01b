"""What a preview finds is what the run finds that it is a preview of."""

from __future__ import annotations

import pytest

from benchmarks.campus import bare_configuration
from qosforge.finding_rows import gather_findings
from qosforge.findings import Severity
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.platforms.masked_findings import mask_findings
from qosforge.preview.policy_check import check_policy
from qosforge.resources import root
from qosforge.runs.workflow.candidates import compile_run, validate_run
from qosforge.validation.checks import own_checks

CAMPUS = load_network(root() / "inventories" / "campus")
TEXTS = {device.name: bare_configuration(device) for device in CAMPUS.devices}
PLATFORMS = {device.name: device.platform for device in CAMPUS.devices}


@pytest.mark.parametrize("policy", ["campus-collaboration", "rfc4594-12", "rfc4594-8"])
def test_what_is_found_of_emulated_devices(policy: str) -> None:
    loaded = load_intent(root() / "policies" / f"{policy}.yaml")
    preview = check_policy(loaded, CAMPUS, TEXTS, own_checks=own_checks, accepted=True)
    _, compiled = compile_run(loaded, CAMPUS, TEXTS)
    found = validate_run(compiled, strict=False, accepted=True).findings
    assert preview.findings == gather_findings(mask_findings(found, TEXTS, PLATFORMS))
    doubtful = {one.severity for one in preview.findings if one.code == "lines-unconfirmed"}
    assert doubtful == {Severity.INFO}, "nothing can be harmed"
