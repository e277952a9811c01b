"""Policies beside those of an intent are compared with work for each interface once."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from benchmarks.campus import change_of_all, write_campus
from qosforge.compiler import shared_policy_check
from qosforge.compiler.compile import compile_intent
from qosforge.inventory.loader import load_network


def test_sides_are_brought_into_one_order_once_and_only_where_they_differ(tmp_path: Path) -> None:
    write_campus(tmp_path / "campus", 4, changed=0)
    network = load_network(tmp_path / "campus")
    texts = {device.name: device.text for device in compile_intent(change_of_all(), network).devices}
    original = shared_policy_check.canonical_form
    with patch.object(shared_policy_check, "canonical_form", side_effect=original) as compared:
        compile_intent(change_of_all(), network, texts)
        assert compared.call_count == 0
        others = {name: text.replace("32767", "32765") for name, text in texts.items()}
        compile_intent(change_of_all(), network, others)

    sides = 2 * sum(len(device.interfaces) for device in network.devices)
    assert 0 < compared.call_count <= 2 * sides  # as it is held, and as it will be
