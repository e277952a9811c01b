"""What a preview quotes of devices that were read: their text leaves through its door."""

from __future__ import annotations

import pytest

from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.platforms.secret_forms import MASK
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import compile_document, validate_document
from qosforge.resources import root
from qosforge.validation.checks import own_checks
from tests.device_texts import said

pytestmark = pytest.mark.hostile

NETWORK = load_network(root() / "inventories" / "campus")
LOADED = load_intent(root() / "policies" / "campus-collaboration.yaml")
STARTUP = (root() / "inventories" / "campus" / "startup" / "r1.cfg").read_text()
HELD = (
    STARTUP.replace("\nend\n", "\n")
    + "snmp-server community PLANTED000 RO\n"
    + "policy-map PLANTED000\n class class-default\n  bandwidth percent 20\n"
    + "interface Serial0/0\n service-policy output PLANTED000\n random-detect password 7 PLANTED001\x1b\nend\n"
)


def test_neither_findings_nor_candidates_quote_it_as_it_is() -> None:
    checked = check_policy(LOADED, NETWORK, {"r1": said(HELD)}, own_checks=own_checks)
    documents = (compile_document(checked), validate_document(checked))
    for document in documents:
        told = document.model_dump_json(by_alias=True)
        assert "PLANTED" not in told
        assert "\\u001b" not in told
    (unread,) = (f for f in documents[0].findings if f.code == "line-not-understood")
    assert f"random-detect password 7 {MASK}" in unread.message
    (device,) = (device for device in documents[0].devices if device.name == "r1")
    assert device.candidate is not None
    assert any(MASK in line for line in device.candidate.inverse), "it would put the old policy back"
