"""A device that holds something else than the plan is seen when it is read back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences
from qosforge.intent.loader import LoadedIntent
from qoslab.box import Box

from .catalyst_support import BOXES, REST, WEB, booted, campus, delta, intent, lowered, rendered, startup

FAULTS = [
    ("s2950", r" mls qos trust dscp\n", "", "ingress"),
    ("s2950", r"mls qos trust dscp", "mls qos trust cos", "ingress"),
    ("s2950", r"wrr-queue bandwidth 30 70 3 0", "wrr-queue bandwidth 70 30 3 0", "scheduler"),
    ("s2950", r"wrr-queue bandwidth 30 70 3 0", "wrr-queue bandwidth 30 70 3 1", "scheduler"),
    ("s2950", r"wrr-queue cos-map 4 5\n", "", "cos_to_queue"),
    ("s2950", r"mls qos map cos-dscp .*\n", "", "cos_to_dscp"),
    ("s2950", r"mls qos map dscp-cos .*\n", "", "dscp_to_cos"),
    ("s2970", r"mls qos\n", "", "egress"),
    ("s2970", r" mls qos trust dscp\n", "", "ingress"),
    ("s2970", r" priority-queue out\n", "", "egress"),
    ("s2970", r"share 1 30 70 3", "share 1 70 30 3", "egress"),
    ("s2970", r" srr-queue bandwidth shape 0 0 0 0\n", " srr-queue bandwidth shape 0 0 9 0\n", "egress"),
    ("s2970", r"mls qos srr-queue output cos-map .*\n", "", "cos_to_queue"),
    ("s2970", r"dscp-map queue 1 threshold 1 34", "dscp-map queue 4 threshold 1 34", "dscp_to_queue"),
    ("s2970", r"mls qos map dscp-cos .*\n", "", "dscp_to_cos"),
    ("s2970", r" match ip dscp af41 ef", " match ip dscp af41", "ingress"),
]


IN_POLICIES = [
    (r" service-policy input QOSFORGE-IN\n", ""),
    (r"  set ip dscp 18\n", "  set ip dscp 24\n"),
    (r"any eq www", "any eq 81"),
]


@pytest.mark.parametrize(("device", "pattern", "instead", "where"), FAULTS)
def test_a_planted_fault_is_seen(device: str, pattern: str, instead: str, where: str, tmp_path: Path) -> None:
    box, loaded = booted(device, tmp_path, startup(device)), campus()
    assert_seen(box, device, loaded, lambda text: re.subn(pattern, instead, text, count=1), where)


@pytest.mark.parametrize(("pattern", "instead"), IN_POLICIES)
def test_a_fault_in_a_policy_of_a_2950_is_seen(pattern: str, instead: str, tmp_path: Path) -> None:
    box, loaded = booted("s2950", tmp_path, startup("s2950")), intent(WEB, REST)
    assert_seen(box, "s2950", loaded, lambda text: re.subn(pattern, instead, text, count=1), "ingress")


def assert_seen(
    box: Box, device: str, loaded: LoadedIntent, fault: Callable[[str], tuple[str, int]], where: str
) -> None:
    request, result = lowered(device, loaded, box.running_text())
    forward, _ = delta(BOXES[device].grammar, box.running_text(), rendered(device, request, result))
    assert box.configure(forward) == []
    text, count = fault(box.running_text())
    assert count == 1
    found = find_plan_differences(result.plan, BOXES[device].parse(text, device, request.image))
    assert found
    assert any(re.match(rf"(\S+ )?{where}[.\[:]", difference) for difference in found)
