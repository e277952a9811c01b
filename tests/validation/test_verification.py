"""What is to be verified exists and is possible."""

from __future__ import annotations

import pytest

from qosforge.findings import Severity
from qosforge.inventory.models import TrafficSource
from qosforge.validation.context import ValidationContext
from qosforge.validation.verification import check_verification, minimum_delay, smallest
from tests.validation.support import INTENT, NETWORK, compiled

CALL, PAGE = NETWORK.traffic[0].flows


def check(intent: str = INTENT, network=NETWORK):
    return list(check_verification(ValidationContext(compiled(intent, network), {})))


def _with_flows(*flows):
    scenario = NETWORK.traffic[0].model_copy(update={"flows": flows})
    return NETWORK.model_copy(update={"traffic": (scenario,)})


def test_sound_verification() -> None:
    assert check() == []


def test_unknown_stations_are_named_with_the_line() -> None:
    found = check(INTENT.replace("from: phone1, to: phone2", "from: fax1, to: fax2"))
    assert [(f.code, f.severity, f.line) for f in found] == [("verify-unknown-station", Severity.ERROR, 24)] * 2
    assert "'fax1'" in found[0].message
    assert "known: phone1, phone2, island" in str(found[0].hint)


def test_stations_that_no_link_connects() -> None:
    found = check(INTENT.replace("to: phone2", "to: island"))
    assert [(f.code, f.severity) for f in found] == [("verify-no-path", Severity.ERROR)]


def test_a_network_without_the_end_hosts_is_told_once_of_all_measurements() -> None:
    bare = NETWORK.model_copy(update={"traffic": (), "stations": ()})
    [found] = check(network=bare)
    told = (found.code, found.severity)
    assert told == ("verify-no-traffic", Severity.WARNING), "who only pushes wants no verdict"
    assert "the end hosts that the policy measures between (phone1, phone2)," in found.message
    assert found.line is not None
    [known] = check(network=NETWORK.model_copy(update={"traffic": ()}))
    assert "describes no traffic" in known.message
    assert "phone1" not in known.message
    assert not check(INTENT[: INTENT.index("verify:")], network=bare), "it measures nothing anyway"


def test_pair_without_traffic() -> None:
    found = check(INTENT.replace("from: phone1, to: phone2", "from: phone2, to: phone1"))
    assert [(f.code, f.severity) for f in found] == [("verify-no-traffic", Severity.ERROR)]
    assert "between phone2 and phone1" in found[0].message


def test_class_without_a_flow_of_the_pair_has_no_verdict() -> None:
    back = CALL.model_copy(update={"from_": "phone2", "to": "phone1"})
    found = check(network=_with_flows(back, PAGE))
    assert [(f.code, f.severity, f.traffic_class) for f in found] == [
        ("verify-no-traffic", Severity.ERROR, "voice")
    ]


def test_traffic_of_a_class_below_is_that_of_the_class_it_divides() -> None:
    tree = "children: [{name: pages, match: {any: [{application: http}]}, treatment: {bandwidth: {percent: 50}}}]"
    divided = INTENT.replace(
        "{bandwidth: {remaining_percent: 70}}", "{bandwidth: {remaining_percent: 70}, " + tree + "}"
    )
    assert check(divided) == []
    assert check(divided.replace("classes: [voice]", "classes: [voice, pages, web]")) == []


def test_load_that_is_missing_is_a_warning() -> None:
    found = check(network=_with_flows(CALL))
    assert [(f.code, f.severity, f.traffic_class) for f in found] == [
        ("verify-no-traffic", Severity.WARNING, "web")
    ]


def test_minimum_delay_counts_every_link() -> None:
    known = ValidationContext(compiled(INTENT.replace(", header_compression: rtp", "")), {})
    ethernet, hdlc, ppp = 218 * 8 / 100e6, 207 * 8 / 2e6, 207 * 8 / 256e3
    expected = 2 * ethernet + hdlc + 1e-3 + ppp + 2e-3
    assert minimum_delay(known, "phone1", "phone2", 200) == pytest.approx(expected, rel=1e-12)


def test_compressed_headers_take_less_time_and_small_frames_are_padded() -> None:
    known = ValidationContext(compiled(), {})
    expected = 2 * 64 * 8 / 100e6 + 47 * 8 / 2e6 + 1e-3 + (2 + 7) * 8 / 256e3 + 2e-3
    assert minimum_delay(known, "phone1", "phone2", 40) == pytest.approx(expected, rel=1e-12)


def test_objective_below_the_minimum_is_a_warning_with_numbers() -> None:
    found = check(INTENT.replace("p95: 100 ms", "p95: 1 ms"))
    (finding,) = found
    assert (finding.code, finding.severity) == ("objective-below-minimum", Severity.WARNING)
    assert finding.requested == "p95 of 1 ms"
    # 200 bytes: 218 twice at 100 Mb/s, 207 at 2 Mb/s, 162 + 7 at 256 kb/s, and 3 ms of propagation.
    minimum = 2 * 218 * 8 / 100e6 + 207 * 8 / 2e6 + 169 * 8 / 256e3 + 3e-3
    assert finding.applied == f"at least {minimum * 1e3:.6g} ms"
    assert finding.traffic_class == "voice"
    assert finding.line == 24


@pytest.mark.parametrize(("bound", "below"), [("9.1 ms", True), ("9.2 ms", False)])
def test_objective_at_the_edge(bound: str, below: bool) -> None:
    assert bool(check(INTENT.replace("p95: 100 ms", f"p95: {bound}"))) is below


@pytest.mark.parametrize(
    ("source", "size"),
    [
        (TrafficSource(kind="cbr", ip_bytes=200), 200),
        (TrafficSource(kind="poisson", ip_bytes=700), 700),
        (TrafficSource(kind="video", ip_bytes=1000), 40),
        (TrafficSource(kind="tcp"), 40),
    ],
)
def test_smallest_packet(source: TrafficSource, size: int) -> None:
    assert smallest(CALL.model_copy(update={"source": source})) == size
