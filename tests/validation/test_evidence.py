"""A check that cannot end in a verdict is told before anything is pushed."""

from __future__ import annotations

import pytest

from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Network, TrafficFlow, TrafficSource
from qosforge.tester.scenario.traffic import MOST_SAMPLES, expected_samples
from qosforge.validation.context import ValidationContext
from qosforge.validation.evidence import check_evidence
from tests.validation.support import INTENT, NETWORK, compiled

CALL, PAGE = NETWORK.traffic[0].flows


def check(intent: str, network: Network = NETWORK) -> list[Finding]:
    return list(check_evidence(ValidationContext(compiled(intent, network), {})))


def asking(objective: str) -> str:
    changed = INTENT.replace("objective: {delay: {p95: 100 ms, p99: 150 ms}}", f"objective: {objective}")
    assert changed != INTENT
    return changed


def test_what_can_be_shown_is_not_told() -> None:
    assert check(INTENT) == []
    assert check(asking("{preset: y1541-0}")) == []


def test_a_bound_that_no_measurement_can_show_is_a_warning_with_numbers() -> None:
    (finding,) = check(asking("{preset: y1541-6}"))
    assert (finding.code, finding.severity) == ("objective-needs-more-packets", Severity.WARNING)
    assert (finding.traffic_class, finding.line) == ("voice", 24)
    # 50 packets a second, four times the 30 s that the intent says.
    assert (finding.requested, finding.applied) == ("438,201 packets", "about 6,000")
    assert "in 120 s" in finding.message


def test_naming_a_lower_quantile_mends_it() -> None:
    short = asking("{variation: {p99.95: 30 ms}}").replace("beside: [web]", "beside: [web], seconds: 10")
    assert [finding.requested for finding in check(short)] == ["8,762 packets"]
    assert check(short.replace("p99.95: 30 ms", "p99: 30 ms")) == []


def test_stations_that_do_not_exist_are_told_elsewhere() -> None:
    assert check(asking("{preset: y1541-6}").replace("from: phone1", "from: fax1")) == []


@pytest.mark.parametrize("kind", ["tcp", "trace"])
def test_how_many_packets_tcp_and_traces_send_is_not_described(kind: str) -> None:
    flows = (CALL.model_copy(update={"source": CALL.source.model_copy(update={"kind": kind})}), PAGE)
    scenario = NETWORK.traffic[0].model_copy(update={"flows": flows})
    network = NETWORK.model_copy(update={"traffic": (scenario,)})
    assert check(asking("{preset: y1541-6}"), network) == []


@pytest.mark.parametrize(
    ("source", "count", "expected"),
    [
        (TrafficSource(kind="cbr", rate=80_000, ip_bytes=200), 2, 1_000),
        (TrafficSource(kind="poisson", rate=80_000_000, ip_bytes=1_000), 1, MOST_SAMPLES),
        (TrafficSource(kind="video", frames_per_second=15, frame_bytes=3_200, ip_bytes=1_000), 1, 600),
        # 40 bytes of each packet are headers: two packets of 1000 bytes do not hold a frame of 2000.
        (TrafficSource(kind="video", frames_per_second=15, frame_bytes=2_000, ip_bytes=1_000), 1, 450),
        (TrafficSource(kind="tcp"), 1, None),
    ],
)
def test_packets_for_a_verdict(source: TrafficSource, count: int, expected: int | None) -> None:
    flow: TrafficFlow = CALL.model_copy(update={"source": source, "count": count})
    assert expected_samples(flow, 10) == expected
