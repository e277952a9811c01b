"""The audit over SSH: it reads every box and changes none."""

from __future__ import annotations

import json

from tests.system.campus import Campus
from tests.system.conftest import campus

__all__ = ["campus"]


def test_boxes_are_read_and_left_as_they_are(campus: Campus) -> None:
    before = campus.all_running()
    ended = campus.command("audit", "--json")
    assert ended.code == 0, ended.text
    document = json.loads(ended.stdout)
    assert set(document["devices"]) == set(campus.names)
    lost = {f["device"] for f in document["findings"] if f["code"] == "mark-rewritten"}
    assert lost == {"s2950", "ers5510"}, "as delivered, these two trust nobody"
    assert campus.all_running() == before
