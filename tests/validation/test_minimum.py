"""What the links take alone, as configured and as an intent could configure them, beside what the twin does."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.findings import Finding
from qosforge.intent.loader import parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Framing, Link, Network, TrafficSource
from qosforge.platforms.base import platform
from qosforge.tester.twin import TwinTester
from qosforge.validation.context import ValidationContext
from qosforge.validation.minimum import LinkHop, ProbePacket, lone_delay
from qosforge.validation.verification import check_verification
from tests.validation.support import INTENT, NETWORK, compiled

INVENTORY = Path(__file__).parents[2] / "inventories" / "campus"
CAMPUS = """\
version: 1
intent: call
classes:
  - name: voice
    match: {any: [{application: [rtp-audio]}]}
    mark: {dscp: ef}
    treatment: {priority: {percent: 50}}
    objective: {delay: {p99: 9 ms}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 100}}
apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
  - {role: edge, interfaces: lan, direction: input}
verify:
  - {from: phone56, to: vigo1, classes: [voice]}
"""
COMPRESSED = CAMPUS.replace(
    "apply:", "link_efficiency:\n  - {when: {rate_below: 1 Gb/s}, header_compression: rtp}\napply:"
)


def campus(intent: str) -> ValidationContext:
    network = load_network(INVENTORY)
    texts = {d.name: (INVENTORY / (d.startup or "")).read_text() for d in network.devices}
    return ValidationContext(compile_intent(parse_intent(intent, "call.yaml"), network, texts), texts)


def below(known: ValidationContext) -> list[Finding]:
    return [each for each in check_verification(known) if each.code == "objective-below-minimum"]


def alone(known: ValidationContext, name: str) -> float:
    """Seconds that the fastest packet of a flow takes on the twin while nothing else is sent."""
    compilation: Compilation = known.compilation
    network = compilation.network
    scenario = next(s for s in network.traffic if any(flow.name == name for flow in s.flows))
    only = scenario.model_copy(update={"flows": tuple(f for f in scenario.flows if f.name == name)})
    plans = {
        d.name: platform(d.platform, d.name).parse(known.running[d.name], d.name, d.image)
        for d in network.devices
        if d.name in known.running
    }
    plans |= {device.name: device.plan for device in compilation.devices}
    tester = TwinTester(network, plans)
    (flow,) = tester._run(tester.scenario(only, 5, set())).flows
    assert flow.delay_ps.min is not None
    return flow.delay_ps.min / 1e12


def test_what_a_key_of_the_intent_would_keep_is_said_with_the_key() -> None:
    (found,) = below(campus(CAMPUS))

    assert "no configuration" not in found.message
    assert "header_compression: rtp" in found.message
    assert "header_compression: rtp" in str(found.hint)
    assert "b56 Multilink1" in str(found.hint)


def test_with_that_key_the_objective_is_possible_and_the_twin_keeps_it() -> None:
    known = campus(COMPRESSED)

    assert below(known) == []
    assert alone(known, "call-56") < 9e-3 < alone(campus(CAMPUS), "call-56")


def test_an_objective_that_no_key_keeps_is_said_to_be_kept_by_none() -> None:
    for intent in (CAMPUS, COMPRESSED):
        (found,) = below(campus(intent.replace("p99: 9 ms", "p99: 1 ms")))
        assert "no configuration can keep this objective" in found.message
        assert "faster links" in str(found.hint)
    # What could be had, where it is not had already.
    (plain,) = below(campus(CAMPUS.replace("p99: 9 ms", "p99: 1 ms")))
    assert "header_compression: rtp" in plain.message


def test_headers_that_are_not_of_rtp_are_never_compressed() -> None:
    """A page of 40 bytes and more from vigo1: its objective cannot be helped by what compresses calls."""
    paged = INTENT.replace(
        "{bandwidth: {remaining_percent: 70}}",
        "{bandwidth: {remaining_percent: 70}}\n    objective: {delay: {p95: 1 ms}}",
    )
    (found,) = below(
        ValidationContext(compiled(paged.replace("classes: [voice], beside: [web]", "classes: [web]")), {})
    )

    assert "header_compression" not in found.message
    # 40 bytes: 64 twice at 100 Mb/s, 47 at 2 Mb/s, 47 at 256 kb/s, and 3 ms of propagation.
    minimum = 2 * 64 * 8 / 100e6 + 47 * 8 / 2e6 + 47 * 8 / 256e3 + 3e-3
    assert found.applied == f"at least {minimum * 1e3:.6g} ms"
    assert found.facts["minimum_seconds"] == pytest.approx(minimum)
    assert found.facts["requested_seconds"] == pytest.approx(1e-3)


def slow_network() -> Network:
    """The small network with calls of large packets on two slow lines in a row."""
    call = (
        NETWORK.traffic[0]
        .flows[0]
        .model_copy(update={"source": TrafficSource(kind="cbr", rate=8000, ip_bytes=1400)})
    )
    scenario = NETWORK.traffic[0].model_copy(update={"flows": (call,)})
    first = NETWORK.links[0].model_copy(update={"rate": 256_000})
    devices = tuple(
        device.model_copy(
            update={
                "interfaces": tuple(
                    i.model_copy(update={"rate": 256_000}) if i.name.startswith("Serial") else i
                    for i in device.interfaces
                )
            }
        )
        for device in NETWORK.devices
    )
    linked = tuple(station for station in NETWORK.stations if station.name != "island")
    return NETWORK.model_copy(
        update={"traffic": (scenario,), "links": (first, NETWORK.links[1]), "devices": devices, "stations": linked}
    )


SLOW = (
    INTENT.replace(
        "  - {when: {rate_below: 768 kb/s}, header_compression: rtp, fragment: {blocking_delay: 16 ms}}\n", ""
    )
    .replace("link_efficiency:\n", "")
    .replace(", beside: [web]", "")
)
CUT = SLOW.replace(
    "apply:", "link_efficiency:\n  - {when: {rate_below: 768 kb/s}, fragment: {size: 480 B, by: ip-mtu}}\napply:"
)


def test_fragments_that_stay_cut_are_sent_while_others_are_received() -> None:
    """Two lines of 256 kb/s: 1400 bytes take 44 ms on each, and three fragments four thirds of that together."""
    whole, cut = (ValidationContext(compiled(intent, slow_network()), {}) for intent in (SLOW, CUT))
    bound = "p95: 70 ms"

    (found,) = below(ValidationContext(compiled(SLOW.replace("p95: 100 ms", bound), slow_network()), {}))
    assert "by: ip-mtu" in str(found.hint)
    assert below(ValidationContext(compiled(CUT.replace("p95: 100 ms", bound), slow_network()), {})) == []
    assert alone(cut, "call") < 70e-3 < alone(whole, "call")


@pytest.mark.parametrize("intent", [SLOW, CUT, INTENT])
def test_no_packet_is_faster_than_the_links_alone(intent: str) -> None:
    known = ValidationContext(compiled(intent.replace("p95: 100 ms", "p95: 1 ms"), slow_network()), {})

    (found,) = below(known)

    least = float(str(found.applied).split()[2]) * 1e-3
    # The twin writes the headers of a bundle and the checksum of compressed ones, too.
    assert 0.97 * alone(known, "call") <= least <= alone(known, "call") * (1 + 1e-6)


def test_a_packet_that_is_cut_travels_in_parts() -> None:
    line = Link(a=("a", "1"), b=("b", "1"), rate=8000, framing=Framing.HDLC)
    ways = [LinkHop(line, ("a", "1"), mtu=524), LinkHop(line, ("b", "2")), LinkHop(line, ("c", "2"))]

    # 1028 bytes are 524 twice, 531 with framing: the last part waits for the first on the first line only.
    assert lone_delay(ways, ProbePacket(1028)) == pytest.approx(531e-3 * 4)
    assert lone_delay(ways, ProbePacket(524)) == pytest.approx(531e-3 * 3)
