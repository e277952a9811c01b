"""The whole loop on Linux routers: a policy is pushed over OpenSSH, judged by real packets, and kept or undone."""

from __future__ import annotations

import json

import pytest

from qosforge.resources import root
from tests.cli.conftest import Command, qosforge

__all__ = ["qosforge"]

pytestmark = [
    pytest.mark.namespaces,
    pytest.mark.needs("namespaces"),
    pytest.mark.needs("ssh-server"),
    pytest.mark.needs("probes"),
]

EXAMPLE = root() / "examples" / "packets"
NETWORK = EXAMPLE / "network"


def test_a_policy_is_kept_by_what_packets_saw_and_one_that_starves_calls_is_taken_back(
    qosforge: Command,
) -> None:
    assert qosforge("lab", "up", "-n", NETWORK).code == 0
    try:
        kept = qosforge("run", EXAMPLE / "voice.yaml", "-n", NETWORK, "--tester", "probes", "--json")
        assert kept.code == 0, kept.stdout
        run = json.loads(kept.stdout)
        assert (run["status"], run["before"], run["after"]) == ("kept", "broken", "met"), kept.stdout
        assert {judged["verdict"]["evidence"] for judged in run["verdicts"]["after"]} == {"measured"}
        audited = qosforge("audit", "-n", NETWORK)
        assert "voice first" in audited.stdout
        starved = qosforge("run", EXAMPLE / "starved.yaml", "-n", NETWORK, "--tester", "probes", "--json")
        assert starved.code == 1
        run = json.loads(starved.stdout)
        assert (run["status"], run["after"]) == ("rolled_back", "broken")
        assert {device["outcome"] for device in run["devices"].values()} == {"undone"}
    finally:
        qosforge("lab", "clean", "-n", NETWORK)
