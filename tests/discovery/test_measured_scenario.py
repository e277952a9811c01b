"""Pairs of what was counted, parsers of port counters, and parts of classes, without a device."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.discovery.measured_scenario import pairs_of
from qosforge.discovery.port_traffic import Sending, StationTraffic
from qosforge.inventory.models import Device, DeviceRole, Interface, Network, Station
from qosforge.platforms.base import platform
from qosforge.platforms.port_counters import PortCounterForm, PortCounters

# From the records of ntc-templates (cisco_ios_show_interfaces.raw), shortened to the lines around counters.
CISCO = """\
GigabitEthernet0/2 is up, line protocol is up (connected)
  Hardware is iGbE, address is fa16.3ea3.3e49 (bia fa16.3ea3.3e49)
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
  5 minute output rate 1000 bits/sec, 2 packets/sec
     8677 packets input, 1698461 bytes, 0 no buffer
     Received 0 broadcasts (0 multicasts)
     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored
     0 input packets with dribble condition detected
     420798 packets output, 29058795 bytes, 0 underruns
     0 output errors, 0 collisions, 2 interface resets
Loopback0 is up, line protocol is up
     4 packets output, 240 bytes, 0 underruns
"""
# The form of a recorded answer of FTOS 9.
FTOS = """\
TenGigabitEthernet 0/1 is up, line protocol is up
Hardware is DellEth, address is aa:bb:cc:dd:ee:01
LineSpeed 10000 Mbit
Input Statistics:
     1744615501 packets, 4113562169497 bytes
     4256770 64-byte pkts, 444036794 over 64-byte pkts
Output Statistics:
     366 packets, 47000 bytes, 0 underruns
"""


def form(platform_id: str) -> PortCounterForm:
    found = platform(platform_id).port_counters
    assert found is not None
    assert found.command == "show interfaces"
    return found


def test_counters_of_recorded_answers() -> None:
    cisco = form("catalyst_2970").read(CISCO)
    assert cisco == {"GigabitEthernet0/2": PortCounters(8677, 1698461, 420798, 29058795)}
    ftos = form("force10_e300").read(FTOS)
    assert ftos == {"TenGigabitEthernet 0/1": PortCounters(1744615501, 4113562169497, 366, 47000)}


@pytest.mark.parametrize("platform_id", ["cisco_ios", "force10_e300"])
def test_an_answer_without_counters_is_an_error(platform_id: str) -> None:
    with pytest.raises(ValueError, match="shows no packets and bytes"):
        form(platform_id).read("Vlan1 is up, line protocol is up\n")


rates = st.lists(
    st.tuples(st.none() | st.integers(1, 10**9), st.none() | st.integers(1, 10**9)), min_size=1, max_size=12
)


@given(rates)
def test_pairs_keep_every_rate_and_send_nothing_to_its_sender(
    given_rates: list[tuple[int | None, int | None]],
) -> None:
    measured = [
        StationTraffic(f"s{at}", 10.0, Sending(sent, 100) if sent else None, Sending(got, 100) if got else None)
        for at, (sent, got) in enumerate(given_rates)
    ]
    pairs = pairs_of(_network(len(measured)), measured)
    assert all(pair.source != pair.target and pair.rate_bps > 0 for pair in pairs)
    assert len({(pair.source, pair.target) for pair in pairs}) == len(pairs)
    for one in measured:
        out = sum(pair.rate_bps for pair in pairs if pair.source == one.station)
        into = sum(pair.rate_bps for pair in pairs if pair.target == one.station)
        assert out <= (one.sent.rate_bps if one.sent else 0)
        assert into <= (one.received.rate_bps if one.received else 0)
    left = {
        one.station
        for one in measured
        if one.sent and one.sent.rate_bps > sum(pair.rate_bps for pair in pairs if pair.source == one.station)
    }
    open_ = {
        one.station
        for one in measured
        if one.received
        and one.received.rate_bps > sum(pair.rate_bps for pair in pairs if pair.target == one.station)
    }
    # What is left can go nowhere but to its own sender.
    assert not left or not open_ or (left == open_ and len(left) == 1)


def _network(count: int) -> Network:
    device = Device(
        name="sw",
        platform="catalyst_2970",
        image="12.2",
        role=DeviceRole.ACCESS,
        driver="ios_legacy",
        interfaces=tuple(Interface(name=f"Gi0/{at}", rate=10**9, role=DeviceRole.ACCESS) for at in range(count)),
    )
    stations = tuple(
        Station(name=f"s{at}", address=f"198.18.0.{at + 1}", attach=("sw", f"Gi0/{at}"), rate=10**9)
        for at in range(count)
    )
    return Network(name="n", devices=(device,), links=(), stations=stations)
