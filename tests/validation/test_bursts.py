"""Priority queues whose policers hold less than a packet, beside what the twin does."""

from __future__ import annotations

import re

import pytest

from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Framing, Link, Network, TrafficSource
from qosforge.plan.model import Efficiency, InterfacePlan
from qosforge.tester.twin import TwinTester
from qosforge.validation.bursts import check_bursts, policed_bytes
from qosforge.validation.context import ValidationContext
from tests.validation.support import INTENT, NETWORK, compiled

CALL, PAGE = NETWORK.traffic[0].flows
NARROW = INTENT.replace("priority: {percent: 30}", "priority: {percent: 5}")
"""On 256 kb/s the bucket of the class is 320 bytes: 200 ms of 5 %."""


def network(size: int, application: str = "rtp-audio") -> Network:
    """The small network with a call of packets of one size beside more of the web than the slow line carries."""
    call = CALL.model_copy(
        update={
            "source": TrafficSource(kind="poisson", rate=100_000, ip_bytes=size),
            "application": application,
            "dscp": 34,
        }
    )
    page = PAGE.model_copy(update={"source": TrafficSource(kind="poisson", rate=500_000, ip_bytes=1000)})
    scenario = NETWORK.traffic[0].model_copy(update={"flows": (call, page)})
    linked = tuple(station for station in NETWORK.stations if station.name != "island")
    return NETWORK.model_copy(update={"traffic": (scenario,), "stations": linked})


def check(intent: str, of: Network) -> list[Finding]:
    return list(check_bursts(ValidationContext(compiled(intent, of), {})))


def warnings(intent: str, of: Network) -> list[Finding]:
    return [each for each in check(intent, of) if each.severity is Severity.WARNING]


def delivered(intent: str, of: Network) -> int:
    """Packets of the call that arrive."""
    plans = {device.name: device.plan for device in compiled(intent, of).devices}
    tester = TwinTester(of, plans)
    answer = tester._run(tester.scenario(of.traffic[0], 20, set()))
    return sum(flow.delivered for flow in answer.flows if flow.name == "call")


def test_a_packet_larger_than_the_burst_is_told_with_its_hint() -> None:
    (found,) = warnings(NARROW, network(700))

    assert (found.code, found.severity) == ("priority-burst-below-packet", Severity.WARNING)
    assert (found.device, found.interface, found.traffic_class) == ("r2", "Multilink1", "voice")
    assert "burst of 320 bytes" in found.message
    assert "packets of 700 bytes" in found.message
    assert found.line == 4
    assert re.search(r"'burst: \d+ B'", str(found.hint))


def test_the_hint_lets_packets_through_that_the_finding_is_about() -> None:
    """All of a class that offers little more than its share is lost, and hardly a packet less than fits is."""
    (found,) = warnings(NARROW, network(700))
    burst = re.search(r"burst: (\d+) B", str(found.hint))
    assert burst is not None
    mended = NARROW.replace("{percent: 5}", f"{{percent: 5, burst: {burst[1]} B}}")
    largest = int(str(found.requested).split()[2])
    one_less = NARROW.replace("{percent: 5}", f"{{percent: 5, burst: {largest - 1} B}}")

    assert check(mended, network(700)) == []
    assert "Multilink1" in {f.interface for f in warnings(one_less, network(700))}
    assert delivered(mended, network(700)) > 10 * delivered(NARROW, network(700))
    assert delivered(mended, network(700)) > 2 * delivered(one_less, network(700))


@pytest.mark.parametrize(("size", "told"), [(200, 0), (300, 0), (340, 0), (360, 1)])
def test_small_packets_pass_and_compressed_headers_count(size: int, told: int) -> None:
    """40 bytes of headers are 4, and framing adds 7 beside the bundle."""
    assert len(warnings(NARROW, network(size))) == told


def test_what_nobody_describes_is_told_once_and_as_information() -> None:
    silent = NETWORK.model_copy(update={"traffic": ()})

    (found,) = check(NARROW, silent)

    assert (found.severity, found.traffic_class, found.interface) == (Severity.INFO, "voice", "Multilink1")
    assert "1500 bytes" in found.message
    assert "(2 interfaces in all)" in found.message


def test_packets_that_a_class_has_elsewhere_are_those_that_could_come() -> None:
    """The way back of the call is not described: its packets are those of the way there."""
    infos = {size: set(check(NARROW, network(size))) - set(warnings(NARROW, network(size))) for size in (200, 700)}

    assert infos[200] == set()
    (found,) = infos[700]
    assert (found.severity, found.device, found.interface) == (Severity.INFO, "r3", "Multilink1")
    assert "packets of 700 bytes" in found.message


def test_an_uncapped_priority_is_never_policed() -> None:
    assert check(INTENT.replace("priority: {percent: 30}", "priority: true"), network(1400)) == []


@pytest.mark.parametrize(
    ("framing", "efficiency", "compressible", "frame"),
    [
        (Framing.HDLC, Efficiency(), False, 707),
        (Framing.HDLC, Efficiency(header_compression=True), False, 707),
        (Framing.HDLC, Efficiency(header_compression=True), True, 671),
        (Framing.MLPPP, Efficiency(), False, 711),
        (Framing.MLPPP, Efficiency(interleave=True), False, 707),
        (Framing.MLPPP, Efficiency(interleave=True, multiclass=True), False, 711),
        (Framing.ATM, Efficiency(), False, 716),
    ],
)
def test_bytes_that_a_policer_counts(
    framing: Framing, efficiency: Efficiency, compressible: bool, frame: int
) -> None:
    link = Link(a=("a", "1"), b=("b", "1"), rate=256_000, framing=framing)

    assert (
        policed_bytes(link, 700, InterfacePlan(name="1", efficiency=efficiency), compressible=compressible) == frame
    )
