"""``mark-lost`` follows classes that are matched by header fields: one flow stands for each prefix and range."""

from __future__ import annotations

import pytest

from qosforge.intent.models import MatchTerm
from qosforge.inventory.models import Station
from qosforge.plan.model import Ingress
from qosforge.validation.context import ValidationContext
from qosforge.validation.marks import check_marks
from qosforge.validation.samples import _sample
from tests.validation.support import INTENT, compiled, with_interface

FLOWS = "{protocol: udp, source: 10.0.0.0/8, destination: 10.0.0.0/8, destination_port: 5000-5010}"


def lost(match: str) -> list[str]:
    """What is said when the edge's input does not mark, of a voice class that is matched otherwise."""
    old = "{application: [rtp-audio]}, {dscp: [ef, af41]}"
    assert old in INTENT
    compilation = with_interface(compiled(INTENT.replace(old, match)), "r1", "FastEthernet0/0", ingress=Ingress())
    found = check_marks(ValidationContext(compilation, {}))
    return [f.message for f in found if f.traffic_class == "voice"]


def test_a_flow_is_followed() -> None:
    (message,) = lost(FLOWS)
    assert "without its mark af41" in message
    assert "protocol 17 from 10." in message
    assert "port 5000 sent with DSCP default" in message


@pytest.mark.parametrize("match", ["{vlan: 10}", "{source_mac: 001b.54aa.bbcc}"])
def test_what_no_sample_shows_is_not_followed(match: str) -> None:
    assert lost(match) == []


def test_a_sample_has_a_host_of_a_prefix_that_the_station_is_not_in() -> None:
    here = Station(name="a", address="10.0.0.1", attach=("r1", "x"), rate=1)
    there = Station(name="b", address="10.0.0.2", attach=("r1", "y"), rate=1)
    term = MatchTerm(protocol=(6,), source=("192.0.2.0/24",), destination=("10.0.0.0/8",), source_port=((80, 90),))
    packet = _sample(term, here, there, 8, None)
    assert (packet.source, packet.destination, packet.source_port) == ("192.0.2.1", "10.0.0.2", 80)
    assert (packet.protocol, packet.port, packet.dscp) == (6, None, 8)
