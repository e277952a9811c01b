"""Declared traffic against the caps of priority classes."""

from __future__ import annotations

import pytest

from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Network
from qosforge.validation.context import ValidationContext
from qosforge.validation.declared import check_declared
from tests.validation.support import INTENT, NETWORK, compiled


def found(intent: str, network: Network = NETWORK) -> list[Finding]:
    return list(check_declared(ValidationContext(compiled(intent, network), {})))


def test_calls_above_the_cap_of_a_slow_link_are_told_with_both_rates() -> None:
    # A call has 200 bytes of IP at 80 kb/s; RTP headers compressed and PPP framing make it 169 bytes.
    (finding,) = found(INTENT.replace("{percent: 30}", "{percent: 20}"))

    assert (finding.code, finding.severity) == ("priority-overdeclared", Severity.WARNING)
    assert (finding.device, finding.interface, finding.traffic_class) == ("r2", "Multilink1", "voice")
    assert (finding.requested, finding.applied) == ("67.6 kb/s", "at most 51.2 kb/s")
    assert finding.line == 4


def test_only_those_calls_count_whose_ports_are_of_the_class() -> None:
    """Four calls from ports 20000 on, of which the class takes the first three."""
    (scenario,) = NETWORK.traffic
    call, page = scenario.flows
    four = scenario.model_copy(update={"flows": (call.model_copy(update={"count": 4}), page)})
    first = INTENT.replace(
        "{any: [{application: [rtp-audio]}, {dscp: [ef, af41]}]}",
        "{any: [{protocol: 17, source_port: 20000-20002}]}",
    )

    (finding,) = found(first, NETWORK.model_copy(update={"traffic": (four,)}))

    assert finding.requested == "202.8 kb/s"


@pytest.mark.parametrize("priority", ["{percent: 30}", "{rate: 90 kb/s}", "true"])
def test_calls_within_the_cap_or_without_one_are_not_told(priority: str) -> None:
    assert found(INTENT.replace("{percent: 30}", priority)) == []


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        ("priority: {percent: 30}", {("calls", "at most 23.04 kb/s")}),
        ("bandwidth: {percent: 30}", set()),
    ],
)
def test_the_cap_of_a_class_below_another_is_a_part_of_what_that_gets(
    inner: str, told: set[tuple[str, str]]
) -> None:
    divided = f"""\
    treatment:
      bandwidth: {{percent: 30}}
      bounded: true
      children:
        - name: calls
          match: {{any: [{{application: rtp-audio}}]}}
          mark: {{dscp: ef}}
          treatment: {{{inner}}}
"""
    intent = INTENT.replace("    treatment: {priority: {percent: 30}}\n", divided)
    intent = intent.replace("remaining_percent", "percent").replace("{percent: 70}", "{percent: 40}")

    assert {(f.traffic_class, f.applied) for f in found(intent) if f.interface == "Multilink1"} == told
