"""The audit over SSH: it reads every device and changes none."""

from __future__ import annotations

import json

from tests.system.campus import Campus
from tests.system.conftest import campus

__all__ = ["campus"]


def test_devices_are_read_and_left_as_they_are(campus: Campus) -> None:
    before = campus.all_running()
    ended = campus.command("audit", "--json")
    assert ended.code == 0, ended.text
    document = json.loads(ended.stdout)
    assert set(document["devices"]) == set(campus.names)
    lost = {f["device"] for f in document["findings"] if f["code"] == "mark-rewritten"}
    assert lost == {"s2950", "ers5510"}, "as delivered, these two trust nobody"
    assert campus.all_running() == before


def test_one_that_is_not_reached_leaves_the_rest(campus: Campus) -> None:
    wrong = {"QOSFORGE_USERNAME_R2": "qosforge", "QOSFORGE_PASSWORD_R2": "not-the-one", "QOSFORGE_SECRET_R2": "x"}
    shown = campus.command("audit", environment=wrong)
    assert shown.code == 3, shown.text
    assert "Configured" in shown.stdout
    (problem,) = shown.problems
    assert problem.startswith("error: r2: ")
    assert "refuses the credentials" in problem
    document = json.loads(campus.command("audit", "--json", environment=wrong).stdout)
    assert set(document["devices"]) == set(campus.names) - {"r2"}
    assert [error["device"] for error in document["errors"]] == ["r2"]
    assert [f["device"] for f in document["findings"] if f["code"] == "device-not-read"] == ["r2"]
