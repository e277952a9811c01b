"""Good practice."""

from __future__ import annotations

import pytest

from qosforge.findings import Severity
from qosforge.validation.context import ValidationContext
from qosforge.validation.intents import check_priority_share, check_routing
from tests.validation.support import INTENT, compiled


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        ("{percent: 30}", None),
        ("{percent: 33}", None),
        ("{percent: 34}", ("34 %", 4, "r1", "Serial0/0")),
        # 100 kb/s is 5 % of 2 Mb/s, and 39 % of 256 kb/s.
        ("{rate: 100 kb/s}", ("39.0625 %", 2, "r2", "Multilink1")),
        ("true", ("100 %", 4, "r1", "Serial0/0")),
    ],
)
def test_priority_share(priority: str, expected: tuple[str, int, str, str] | None) -> None:
    intent = INTENT.replace("{percent: 30}", priority)
    found = list(check_priority_share(ValidationContext(compiled(intent), {})))
    if expected is None:
        assert found == []
        return
    share, count, device, interface = expected
    (finding,) = found
    assert (finding.code, finding.severity) == ("priority-above-third", Severity.INFO)
    assert (finding.requested, finding.device, finding.interface) == (share, device, interface)
    assert f"({count} interfaces in all)" in finding.message


def test_priority_below_a_class_counts_with_what_that_gets() -> None:
    tree = "children: [{name: w, match: {any: [{dscp: 9}]}, treatment: {priority: {percent: 50}}}]"
    intent = INTENT.replace(
        "{bandwidth: {remaining_percent: 70}}", "{bandwidth: {remaining_percent: 70}, " + tree + "}"
    )
    (finding,) = check_priority_share(ValidationContext(compiled(intent), {}))
    # 30 % first, and half of 70 % of what that leaves.
    assert finding.requested == "54.5 %"


@pytest.mark.parametrize(
    ("match", "default", "severity"),
    [
        ("{dscp: [cs6]}", "{bandwidth: {remaining_percent: 25}}", None),
        ("{cos: [7]}", "{}", None),
        ("{dscp: [cs1]}", "{bandwidth: {remaining_percent: 25}}", Severity.INFO),
        ("{dscp: [cs1]}", "{}", Severity.WARNING),
    ],
)
def test_routing(match: str, default: str, severity: Severity | None) -> None:
    intent = INTENT.replace("{dscp: [cs6]}", match).replace("{bandwidth: {remaining_percent: 25}}", default)
    found = list(check_routing(ValidationContext(compiled(intent), {})))
    assert [(f.code, f.severity) for f in found] == (
        [] if severity is None else [("routing-unprotected", severity)]
    )


def test_class_that_only_marks_protects_nothing() -> None:
    intent = INTENT.replace("    treatment: {bandwidth: {remaining_percent: 5}}\n", "    mark: {dscp: cs6}\n")
    assert [f.code for f in check_routing(ValidationContext(compiled(intent), {}))] == ["routing-unprotected"]
