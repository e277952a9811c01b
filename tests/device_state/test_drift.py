"""What a device holds, in words, against what a run left on it: no secret of either configuration is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.artifacts.store import FileArtifacts
from qosforge.device_state.drift import Baseline, describe_drift
from qosforge.device_state.qos_state import device_state
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from tests.device_texts import said

pytestmark = pytest.mark.hostile

NETWORK = load_network(root() / "inventories" / "infn-fnal")
DEVICE = next(device for device in NETWORK.devices if device.platform == "cisco_ios")
SETTLED = f"""hostname {DEVICE.name}
snmp-server community PLANTED01 RO
class-map match-any PLANTED01
 match ip dscp ef
policy-map WAN
 class PLANTED01
  bandwidth percent 20
interface {DEVICE.interfaces[0].name}
 service-policy output WAN
"""
NOW = SETTLED.replace(" class PLANTED01\n  bandwidth percent 20\n", "") + " random-detect odd PLANTED01 \x1b\n"


def test_drift_is_told_without_secrets() -> None:
    told = "".join(describe_drift(NETWORK, DEVICE.name, said(SETTLED), said(NOW)))
    assert "********" in told
    assert "PLANTED01" not in told


def test_what_a_page_says_of_a_device_has_none(tmp_path: Path, store: RunStore) -> None:
    artifacts = FileArtifacts(tmp_path / "artifacts")
    run = store.create_run(NETWORK.name, "p", "f" * 64, {})
    found = device_state(NETWORK, DEVICE.name, said(NOW), Baseline(run, artifacts.put_text(SETTLED)), artifacts)
    assert found.drifted
    (unknown,) = found.plan.unknown
    assert unknown.text == "random-detect odd ******** ␛"
    words = [*found.differences, *(word for port in found.ports.values() for word in port.differences)]
    changes = [*found.changes, *(change for port in found.ports.values() for change in port.changes)]
    assert words
    assert changes
    assert "PLANTED01" not in f"{words}{changes}"


def test_a_difference_that_is_cut_has_no_part_of_one() -> None:
    """Wherever the cut falls: a class before the one that is named like the secret makes the words longer."""
    cut = 0
    for length in range(1, 40):
        before = SETTLED.replace(
            "policy-map WAN\n", f"policy-map WAN\n class {'A' * length}\n  bandwidth percent 10\n"
        )
        told = "".join(describe_drift(NETWORK, DEVICE.name, said(before), said(SETTLED)))
        assert "PLANT" not in told
        cut += "…" in told
    assert cut > 20
